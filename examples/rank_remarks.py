"""Two remarks of Clemencon, Limnios & Vayatis 2021, section 5.3, on the location models.

"Only the ROC curves above the diagonal were kept" for RTB in Loc1: with the steps in print, 1 /
sqrt(T) along the gradient of W / n, some curves end below it. `below_the_diagonal` counts them.

"RTB yields to a scoring function that generalizes best", at the beginning of the curve: a linear rule
has the ROC curve ``Phi(d_theta - Phi^-1(1 - a))`` with ``d_theta = <theta, mu_X - mu_Y> / sqrt(theta' S
theta)``, so that all curves are ordered, and one that begins better is better everywhere.
`best_of_groups` counts how often the best of many curves is that of RTB, by its slopes.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from rank_experiments import (
    N_TRAIN,
    SEED,
    Floats,
    Method,
    Model,
    criteria,
    line,
    location,
    paired,
    say,
    spread,
)
from scipy.special import ndtr

SLOPES, GROUPS = (3, 5, 8, 20), 6
STEPS, MIN_CHANGE = 50, 1e-3
MORE_STEPS = 100 * STEPS


class LinearRules(NamedTuple):
    """d_theta of what has been learned from each sample, and the number of steps."""

    distance: Floats
    steps: Floats

    @property
    def auc(self) -> Floats:
        """Return AUC, which follows from d_theta."""
        return ndtr(self.distance / 2**0.5)


def learned(model: Model, method: Method, n_replications: int) -> LinearRules:
    """Learn from each sample."""
    shift, covariance = model.means[0] - model.means[1], model.covariances[0]
    pairs = []
    for b in range(n_replications):
        train = model.sample(N_TRAIN, np.random.default_rng([SEED, 1, b]))
        form, path = method.learn(model, train, b)
        theta = form.linear
        pairs.append((theta @ shift / np.sqrt(theta @ covariance @ theta), len(path) - 1))
    return LinearRules(*np.transpose(pairs))


def printed_steps(max_iter: int = STEPS, min_change: float = 0.0) -> list[Method]:
    """Return MWW, Pol and RTB by Algorithm 1 with steps 1 / sqrt(50)."""
    step = STEPS**-0.5
    return [
        one._replace(max_iter=max_iter, step_size=step, min_change=min_change)
        for one in criteria(["gradient-ascent"])
    ]


def below_the_diagonal(n_replications: int) -> Iterator[list[str]]:
    """Return rows that tell how often steps 1 / sqrt(50) end below the diagonal.

    In Loc1 they also go on until theta hardly changes, with fewer samples.
    """
    until = f"until theta changes by less than {MIN_CHANGE:g}"
    ways = [
        (number, f"T = {STEPS}", printed_steps(), GROUPS * n_replications) for number in (1, 2, 3)
    ]
    ways.append((1, until, printed_steps(MORE_STEPS, MIN_CHANGE), n_replications))
    for number, way, methods, n_samples in ways:
        model = location(number)
        for method in methods:
            rules = learned(model, method, n_samples)
            steps = f"{way}: {np.median(rules.steps):.0f}"
            below = f"{(rules.auc < 0.5).mean():.3f} of {n_samples}"
            yield [model.name, method.name, steps, spread(rules.auc), below]


def best_of_groups(n_replications: int) -> Iterator[list[str]]:
    """Return rows that compare the best and the mean of RTB with those of MWW, by slopes."""
    models = [location(number) for number in (1, 2, 3)]
    n_samples = GROUPS * n_replications
    mww = criteria(["gradient-ascent"])[0]
    peers = [learned(model, mww, n_samples).distance for model in models]
    for slope in SLOPES:
        method = Method("RTB", f"rtb(u0=0.9, beta={slope}, lam={slope})", "gradient-ascent")
        rtb = [learned(model, method, n_samples).distance for model in models]
        best = [
            one.reshape(GROUPS, -1).max(1) > other.reshape(GROUPS, -1).max(1)
            for one, other in zip(rtb, peers, strict=True)
        ]
        differences = (one - other for one, other in zip(rtb, peers, strict=True))
        yield [
            f"{slope}",
            f"{np.sum(best)} of {np.size(best)}",
            *(paired(difference) for difference in differences),
        ]


def say_remarks(n_replications: int) -> None:
    """Print both tables, which need no test items."""
    header = ["model", "method", "steps: median", "AUC", "below the diagonal"]
    say(line(header) + "\n" + line(["---"] * len(header)))
    for cells in below_the_diagonal(n_replications):
        say(line(cells))
    header = [
        "slopes",
        "best of RTB exceeds best of MWW",
        *(f"Loc{i}: d_theta" for i in (1, 2, 3)),
    ]
    say("\n" + line(header) + "\n" + line(["---"] * len(header)))
    for cells in best_of_groups(n_replications):
        say(line(cells))
    say("")
