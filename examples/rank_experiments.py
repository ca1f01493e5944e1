"""The experiments of Clemencon, Limnios & Vayatis 2021, section 5 and appendix C, done again.

``python examples/rank_experiments.py`` takes half a minute; ``--full`` takes the sizes of the
source (50 replications, 10^6 test items of each class) and about half an hour; ``--only PART`` runs
a part, and ``--replications`` and ``--test-items`` set the sizes. ``--out DIR`` also keeps figures.

The models are those of `rank_models`. Scoring rules are learned from 150 items of each class and
judged by a test sample that is the same for all. "MWW" is phi(u) = u, "Pol" u^3 and "RTB" a smooth
step, for which the source gives no slopes; here they are those of `prframe.stats.RTB`. "best" is the
replication with the largest criterion on the test items, and "W_phi, optimum" the criterion of the
best rule there. "less MWW" is the mean of paired differences to MWW by the same solver. "inverse" is
the rule z' theta^-1 z of the source, which elsewhere is z' theta z.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rank_models import (
    D,
    Floats,
    Form,
    Model,
    Sample,
    both_signs,
    location,
    optimal_location_roc,
    scale,
)
from scipy.special import ndtr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from tqdm import tqdm

from prframe.learn import ParametricRule, RankStatisticRanker
from prframe.stats import parse_phi

N_TRAIN, SEED = 150, 2021
# Finer where few negatives have been let in.
FPR = np.unique(np.r_[np.linspace(0, 0.2, 101), np.linspace(0.2, 1, 161)].round(6))
AT = int(np.flatnonzero(FPR == 0.05)[0])


# Methods -----------------------------------------------------------------------------------------


def inverse_score(z: Floats, theta: Floats) -> Floats:
    """Return ``z' theta^-1 z``."""
    return np.einsum("ij,ij->i", z @ np.linalg.inv(theta), z)


def inverse_gradient(z: Floats, theta: Floats) -> Floats:
    """Return its derivatives by theta, ``-theta^-1 z z' theta^-1``."""
    turned = z @ np.linalg.inv(theta)
    return -turned[:, :, None] * turned[:, None, :]


def wishart(d: int, random: np.random.RandomState) -> Floats:
    """Draw a positive definite matrix of norm 1."""
    root = random.standard_normal((d, d))
    return root @ root.T / np.linalg.norm(root @ root.T)


def raised(theta: Floats) -> Floats:
    """Raise eigenvalues to a hundredth of the largest, so that none of the inverse is infinite."""
    values, vectors = np.linalg.eigh((theta + theta.T) / 2)
    return (vectors * np.maximum(values, 0.01 * values.max())) @ vectors.T


INVERSE = ParametricRule(inverse_score, inverse_gradient, wishart, raised)


class Learned(NamedTuple):
    """A rule, and the criterion at each iteration if there are any."""

    form: Form
    path: Floats | None = None


class Method(NamedTuple):
    """A way to learn a rule. Those without a solver are scikit-learn's."""

    name: str
    phi: str = "mww"
    solver: str = ""
    max_iter: int | None = None
    step_size: float | None = None
    inverse: bool = False
    min_change: float = 0.0

    def __str__(self) -> str:
        """Return the name and the solver."""
        if not self.solver:
            return self.name
        return f"{self.name}, {SOLVERS[self.solver]}{', inverse' * self.inverse}"

    def learn(self, model: Model, train: Sample, seed: int) -> Learned:
        """Fit the rule."""
        z, y = train.pooled()
        if not self.solver:
            return Learned(PEERS[self.name](z, y, model.rule))
        ranker = RankStatisticRanker(
            self.phi,
            INVERSE if self.inverse else model.rule,
            positive_definite=model.definite and not self.inverse,
            solver=self.solver,
            max_iter=self.max_iter,
            step_size=self.step_size,
            min_change=self.min_change,
            random_state=seed,
        ).fit(z, y)
        if model.rule == "linear":
            return Learned(Form(None, ranker.coef_), ranker.path_)
        theta = np.linalg.inv(ranker.coef_) if self.inverse else ranker.coef_
        return Learned(Form(theta, np.zeros(D)), ranker.path_)


def lda(z: Floats, y: NDArray[np.int64], _rule: str) -> Form:
    """Fit linear discriminants."""
    return Form(None, LinearDiscriminantAnalysis().fit(z, y).coef_[0])


def qda(z: Floats, y: NDArray[np.int64], _rule: str) -> Form:
    """Fit quadratic discriminants."""
    fitted = QuadraticDiscriminantAnalysis(store_covariance=True).fit(z, y)
    negative, positive = (np.linalg.inv(one) for one in fitted.covariance_)
    linear = positive @ fitted.means_[1] - negative @ fitted.means_[0]
    return Form((negative - positive) / 2, linear)


def logistic(z: Floats, y: NDArray[np.int64], rule: str) -> Form:
    """Fit a logistic regression, or one on all products of two features, lightly penalised."""
    if rule == "linear":
        return Form(None, LogisticRegression(C=np.inf, max_iter=1000).fit(z, y).coef_[0])
    # 120 products and 300 items: without a penalty, the classes can often be separated.
    rows, columns = np.triu_indices(D)
    fitted = LogisticRegression(C=1.0, max_iter=1000).fit(z[:, rows] * z[:, columns], y)
    upper = np.zeros((D, D))
    upper[rows, columns] = fitted.coef_[0]
    return Form((upper + upper.T) / 2, np.zeros(D))


def identity(_z: Floats, _y: NDArray[np.int64], _rule: str) -> Form:
    """Return the squared length, which is not learned."""
    return Form(np.eye(D), np.zeros(D))


PEERS = {"LDA": lda, "QDA": qda, "logistic regression": logistic, "theta = I": identity}
SOLVERS = {"gradient-ascent": "Algorithm 1", "l-bfgs": "L-BFGS"}
CRITERIA = {"MWW": "mww", "Pol": "p-norm-push(q=3)", "RTB": "rtb(u0=0.9)"}


def criteria(solvers: Iterable[str] = SOLVERS) -> list[Method]:
    """Return MWW, Pol and RTB by each solver."""
    return [Method(name, phi, one) for one in solvers for name, phi in CRITERIA.items()]


def inverses() -> list[Method]:
    """Return MWW, Pol and RTB by Algorithm 1, with the rule ``z' theta^-1 z``."""
    return [one._replace(inverse=True) for one in criteria(["gradient-ascent"])]


def peers(model: Model) -> list[Method]:
    """Return what to compare with."""
    names = ["LDA" if model.rule == "linear" else "QDA", "logistic regression"]
    return [Method(name) for name in (*names, *["theta = I"] * model.definite)]


def three_u0(rule: str, solvers: Iterable[str] = SOLVERS) -> list[Method]:
    """Return RTB with three u0, .9 being the RTB above; for scale, Algorithm 1 takes 70 steps."""
    chosen = (0.7, 0.9, 0.95) if rule == "linear" else (0.6, 0.7, 0.8)
    found = []
    for solver in solvers:
        longer = rule == "quadratic" and solver == "gradient-ascent"
        steps = 70 if longer else None
        for u0 in chosen:
            name = "RTB" if u0 == 0.9 else f"RTB u0={u0:g}"
            found.append(Method(name, f"rtb(u0={u0})", solver, steps))
    return found


# The study ---------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """A rule on a sample: TPR at `FPR`, AUC, and ``W_phi / n_pos``."""

    roc: Floats
    auc: float
    w: float


def judge(form: Form, sample: Sample, phi: str = "mww") -> Judged:
    """Score and sort the items, and compare."""
    positives, negatives = np.sort(form(sample.positives)), np.sort(form(sample.negatives))
    n_pos, n_neg = positives.size, negatives.size
    below = np.searchsorted(negatives, positives)
    ranks = (below + np.arange(1, n_pos + 1)) / (n_pos + n_neg + 1)
    # The threshold lets in the share `FPR` of the negatives, but for rounding.
    position = n_neg - 1 - np.floor(FPR * n_neg + 1e-9).astype(int)
    threshold = np.where(position < 0, -np.inf, negatives[position])
    roc = 1 - np.searchsorted(positives, threshold.astype(positives.dtype), "right") / n_pos
    return Judged(roc, float(below.mean() / n_neg), float(parse_phi(phi)(ranks).mean()))


@dataclass(frozen=True)
class Result:
    """What a method has learned from B training samples."""

    rocs: Floats
    auc: Floats
    w_train: Floats
    w_test: Floats
    paths: Floats | None

    @property
    def tpr(self) -> Floats:
        """Return the TPR at an FPR of .05."""
        return self.rocs[:, AT]

    @cached_property
    def best(self) -> int:
        """Return the replication with the largest criterion on the test sample."""
        return int(self.w_test.argmax())

    @cached_property
    def worst(self) -> int:
        """Return the one with the smallest."""
        return int(self.w_test.argmin())


@dataclass(frozen=True)
class Study:
    """The methods on one model, and the optimum: ROC curve and AUC, and on the test sample."""

    model: Model
    results: dict[Method, Result]
    optimum: Judged
    optimal_w: dict[str, float]
    optimal_test_auc: float


# On the test sample, W_phi on the training sample, and the path there.
Row: TypeAlias = tuple[Judged, float, Floats | None]


def run(
    model: Model,
    methods: Sequence[Method],
    n_replications: int,
    n_test: int,
    *,
    n_train: int = N_TRAIN,
) -> Study:
    """Learn from `n_replications` samples, judge by one sample of `n_test` items of each class."""
    test = model.sample(n_test, np.random.default_rng([SEED, 0]), np.float32)
    found: dict[Method, list[Row]] = {one: [] for one in methods}
    for b in tqdm(range(n_replications), desc=model.name, disable=None):
        train = model.sample(n_train, np.random.default_rng([SEED, 1, b]))
        for method, rows in found.items():
            form, path = method.learn(model, train, b)
            rows.append((judge(form, test, method.phi), judge(form, train, method.phi).w, path))
    best = {phi: judge(model.optimum(), test, phi) for phi in {one.phi for one in methods}}
    optimum = sampled = next(iter(best.values()))
    if model.rule == "linear":
        distance = model.distance()
        roc, auc = optimal_location_roc(FPR, distance), float(ndtr(distance / 2**0.5))
        optimum = optimum._replace(roc=roc, auc=auc)
    results = {method: _result(rows) for method, rows in found.items()}
    optimal_w = {phi: one.w for phi, one in best.items()}
    return Study(model, results, optimum, optimal_w, sampled.auc)


def _result(rows: list[Row]) -> Result:
    """Put replications together; L-BFGS, whose paths differ in length, keeps none."""
    judged, w_train, paths = zip(*rows, strict=True)
    rocs, auc, w_test = (np.array(column) for column in zip(*judged, strict=True))
    kept = None
    if paths[0] is not None and len({len(path) for path in paths}) == 1:
        kept = np.array(paths)
    return Result(rocs, auc, np.array(w_train), w_test, kept)


# Tables ------------------------------------------------------------------------------------------

HEADER = [
    "model",
    "method",
    "AUC",
    "less LDA or QDA",
    "less MWW: AUC, TPR",
    "TPR at FPR .05",
    "best: AUC, TPR",
    "W_phi: training, test, optimum",
]


def rows(study: Study) -> Iterator[list[str]]:
    """Return a row per method."""
    name, optimum = study.model.name, study.optimum
    peer = next(study.results[one].auc for one in study.results if one.name in {"LDA", "QDA"})
    yield [name, "optimum", f"{optimum.auc:.3f}", "", "", f"{optimum.roc[AT]:.3f}", "", ""]
    for method, one in study.results.items():
        w = (one.w_train.mean(), one.w_test.mean(), study.optimal_w[method.phi])
        yield [
            name,
            str(method),
            spread(one.auc),
            "" if one.auc is peer else paired(one.auc - peer),
            less_mww(study, method),
            spread(one.tpr),
            f"{one.auc[one.best]:.3f}, {one.tpr[one.best]:.3f}",
            ", ".join(f"{value:.3f}" for value in w) if method.solver else "",
        ]


def less_mww(study: Study, method: Method) -> str:
    """Return the differences to MWW that has been learned in the same way, if it has been."""
    one = study.results[method]
    other = study.results.get(method._replace(name="MWW", phi="mww"))
    if other is None or other is one or not method.solver:
        return ""
    return f"{paired(one.auc - other.auc)}, {paired(one.tpr - other.tpr)}"


def spread(values: Floats) -> str:
    """Return mean and standard deviation."""
    return f"{values.mean():.3f} ± {values.std(ddof=1):.3f}"


def paired(differences: Floats) -> str:
    """Return mean and standard error."""
    return f"{differences.mean():+.4f} ({differences.std(ddof=1) / differences.size**0.5:.4f})"


def line(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


# Replications and test items of each class: of the study, and where steps and sizes vary.
FULL, REDUCED = (50, 1_000_000, 10, 100_000), (3, 20_000, 2, 5000)
STEPS, SIZES = (5, 15, 50, 150, 500), (150, 600, 2400)


def by_steps(model: Model, n_replications: int, n_test: int) -> dict[int, Study]:
    """Run Algorithm 1 with more and fewer steps of one size."""
    size, solver = 10 / 50**0.5, "gradient-ascent"
    return {
        steps: run(
            model,
            [Method(name, phi, solver, steps, size) for name, phi in CRITERIA.items()],
            n_replications,
            n_test,
        )
        for steps in STEPS
    }


def by_size(model: Model, n_replications: int, n_test: int) -> dict[int, Study]:
    """Run the default solver, and its peers, with more training items."""
    methods = [*criteria(["l-bfgs"]), *peers(model)]
    return {n: run(model, methods, n_replications, n_test, n_train=n) for n in SIZES}


def varied(what: str, studies: dict[int, Study]) -> Iterator[str]:
    """Return the lines of a table of test AUC."""
    first = next(iter(studies.values()))
    header = ["model", "method", *(f"{what} = {value}" for value in studies)]
    yield from (line(header), line(["---"] * len(header)))
    for i, method in enumerate(first.results):
        cells = (spread(list(study.results.values())[i].auc) for study in studies.values())
        yield line([first.model.name, str(method), *cells])


def say(text: str) -> None:
    """Print at once."""
    print(text, flush=True)


def studies_of(part: str, n_replications: int, n_test: int) -> Iterator[Study]:
    """Run the studies of "location", "scale" or "variants"."""
    models = {
        "location": [location(number) for number in (1, 2, 3)],
        "scale": [scale(number) for number in (1, 2, 3)],
        "variants": [scale(3, high=24.0), *(both_signs(number) for number in (1, 2, 3))],
    }[part]
    for model in models:
        methods = [*criteria(), *peers(model)]
        if part == "scale":
            methods += inverses()
        if model.name in {"Loc2", "Loc3", "Scale2"}:
            methods += three_u0(model.rule)
        yield run(model, methods, n_replications, n_test)


def say_studies(part: str, n_replications: int, n_test: int) -> list[Study]:
    """Run a part, print its table and return the studies."""
    say(line(HEADER) + "\n" + line(["---"] * len(HEADER)))
    studies = []
    for study in studies_of(part, n_replications, n_test):
        studies.append(study)
        for cells in rows(study):
            say(line(cells))
    say("")
    return studies


def say_varied(n_replications: int, n_test: int) -> None:
    """Vary the steps of Algorithm 1 and the training items, and print tables."""
    for what, vary in (("steps", by_steps), ("n = m", by_size)):
        for model in (location(2), scale(2)):
            for text in varied(what, vary(model, n_replications, n_test)):
                say(text)
            say("")


PARTS = ("location", "scale", "variants", "remarks", "steps-and-sizes")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it all, print tables, keep figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--full", action="store_true", help="the sizes of the source")
    parser.add_argument("--only", choices=PARTS, help="run one part")
    parser.add_argument("--replications", type=int, help="number of training samples")
    parser.add_argument("--test-items", type=int, help="test items of each class")
    parser.add_argument("--out", type=Path, help="directory for figures")
    options = parser.parse_args(arguments)
    n_replications, n_test, few, some = FULL if options.full else REDUCED
    n_replications = options.replications or n_replications
    n_test = options.test_items or n_test
    say(f"{n_replications} replications, {n_test:,} test items of each class; mean ± sd (se)\n")
    studies, began = [], perf_counter()
    for part in [options.only] if options.only else PARTS:
        if part == "remarks":
            from rank_remarks import say_remarks  # noqa: PLC0415 - it builds on this module

            say_remarks(n_replications)
        elif part == "steps-and-sizes":
            say_varied(few, some)
        else:
            studies += say_studies(part, n_replications, n_test)
    print(f"{perf_counter() - began:.0f} s", file=sys.stderr)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        curves = {
            f"{study.model.name}: {method}": one.rocs
            for study in studies
            for method, one in study.results.items()
        }
        np.savez_compressed(options.out / "curves.npz", fpr=FPR, **curves)
        from rank_figures import keep_all  # noqa: PLC0415 - needs matplotlib

        keep_all(studies, options.out)


if __name__ == "__main__":
    main()
