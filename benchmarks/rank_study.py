"""``python -m benchmarks.rank_study``: p-values and intervals of linear rank statistics.

``--quick`` takes fewer of everything, to see that it runs. ``python -m benchmarks`` runs it too.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats import LinearRankNull, parse_phi
from prframe.stats.null.subset_sums import counting
from prframe.stats.rank_statistics.statistic import RankStatistic, rank_null
from prframe.stats.rankings.cells import cells_from_scores
from prframe.stats.score_functions.base import ScoreGeneratingFunction

Floats: TypeAlias = NDArray[np.float64]

ACCURACY = """## rank-accuracy

P(W >= w) of linear rank statistics under random labels: the largest difference of an \
approximation, relative to the probability, *saddlepoint* / *normal*, by the size of the \
probability.
"""
COVERAGE = """## rank-coverage

95 % intervals for W_phi: the share of samples whose interval covers it; in brackets the mean width, \
in standard deviations of the estimate, then its bias and the mean standard error, in the same. *Hard*: a tenth of the negatives are above the \
positives. *Levels*: scores cut into five.
"""
SMOOTH = ("mww", "p-norm-push(q=3)", "van-der-waerden", "logrank", "rtb")
STEEP = ("dcg", "dcg(k=10)", "local-auc", "p-norm-push(q=20)", "rtb(beta=1000, lam=1000)")
SMALL = ((30, 15), (40, 20), (60, 4), (40, 5))
LARGE = ((1000, 4), (1000, 10), (1000, 100))
BINS = ((1, 0.1), (0.1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-5))
LEVELS = (0.5, 0.1, 0.03, 0.01, 0.001)
# Half of the classes of subsets that are counted here, more than the package does.
ENTRIES = 1 << 21
# The scores of each class from which a population's value is computed.
MANY = 1_000_000
SIZES = ((100, 100), (10, 10), (15, 15), (30, 30), (15, 100), (20, 200), (50, 1000), (150, 15))
COVERED = ("mww", "p-norm-push(q=3)", "p-norm-push(q=5)", "van-der-waerden", "logrank")
COVERED += ("rtb", "rtb(u0=0.8)", "local-auc", "median")
Sampler: TypeAlias = Callable[[np.random.Generator, int], Floats]


def _normal(mean: float, deviation: float) -> tuple[Sampler, Sampler]:
    """Return normal scores of positives, and those of negatives with mean 0 and deviation 1."""
    return (
        lambda rng, n: mean + deviation * rng.normal(size=n),
        lambda rng, n: rng.normal(size=n),
    )


def _heavy(mean: float, df: float) -> tuple[Sampler, Sampler]:
    """Return scores of both classes that have Student's distribution."""
    return (
        lambda rng, n: mean + rng.standard_t(df, n),
        lambda rng, n: rng.standard_t(df, n),
    )


def _hard(mean: float) -> tuple[Sampler, Sampler]:
    """Return normal scores, of which a tenth of the negatives are above the positives."""
    return (
        lambda rng, n: rng.normal(mean, 1.0, n),
        lambda rng, n: rng.normal(size=n) + (mean + 1) * (rng.random(n) < 0.1),
    )


def _levels(mean: float) -> tuple[Sampler, Sampler]:
    """Return normal scores that are cut into five."""
    cuts = np.linspace(-1, mean + 1, 4)
    return (
        lambda rng, n: np.searchsorted(cuts, rng.normal(mean, 1.0, n)).astype(np.float64),
        lambda rng, n: np.searchsorted(cuts, rng.normal(size=n)).astype(np.float64),
    )


NORMAL = ((0, 1), (0.5, 1), (1, 1), (2, 1), (3, 1), (1, 2), (0, 0.5))
LAWS: dict[str, tuple[Sampler, Sampler]] = {
    **{f"N({mean:g}, {deviation:g})": _normal(mean, deviation) for mean, deviation in NORMAL},
    "t(2) + 2": _heavy(2, 2),
    "t(3) + 3": _heavy(3, 3),
    "hard, N(2, 1)": _hard(2),
    "levels, N(1.5, 1)": _levels(1.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rank_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--coverage", action="store_true", help="coverage alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.coverage:
        accuracy(quick=options.quick)
    samples = 100 if options.quick else 1000
    print(COVERAGE, flush=True)
    print(f"{samples:,} samples.\n", flush=True)
    header = ["n_pos, n_neg", "positives", *COVERED]
    for row in coverage(samples, header):
        print(row, flush=True)


def accuracy(*, quick: bool) -> None:
    """Print how accurate p-values are."""
    counting.MOST_ENTRIES = ENTRIES
    print(ACCURACY, flush=True)
    print("Where subsets are counted.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p in ({low:g}, {high:g}]" for high, low in BINS)]
    print(table(header, list(counted(quick=quick))), flush=True)
    draws = 20_000 if quick else 1_000_000
    print(f"Where not: the ratio to the share of {draws:,} random labellings.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p = {level:g}" for level in LEVELS)]
    print(table(header, list(simulated(draws))), flush=True)


def _ranks(n: int) -> Floats:
    return np.arange(1, n + 1) / (n + 1)


def counted(*, quick: bool) -> Iterator[list[str]]:
    """Return a row per size and function: approximations against exact probabilities."""
    for n, n_pos in SMALL[:1] if quick else SMALL:
        for name in (*SMOOTH, *STEEP):
            null = LinearRankNull(parse_phi(name).of_size(n)(_ranks(n)), n_pos)
            yield [f"{n}, {n_pos}", name, *_differences(null)]


def _differences(null: LinearRankNull) -> list[str]:
    """Return the largest differences in each bin of probabilities."""
    high = null.support()[1]
    values = np.concatenate(
        [null.rvs(60, rng=SEED), null.mean() + null.std() * np.linspace(1, 6, 60)]
    )
    found = []
    for w in values[values < high - 1e-9]:
        exact, *others = (
            float(null.using(m).logsf(w)) for m in ("exact", "saddlepoint", "normal")
        )
        found.append([np.exp(exact), *(abs(np.expm1(other - exact)) for other in others)])
    rows = np.array(found)
    cells = []
    for most, least in BINS:
        inside = rows[(rows[:, 0] <= most) & (rows[:, 0] > least)]
        cells.append(" / ".join(f"{d:.2g}" for d in inside[:, 1:].max(0)) if len(inside) else "")
    return cells


def simulated(draws: int) -> Iterator[list[str]]:
    """Return a row per size and function: approximations against simulation."""
    for n, n_pos in LARGE:
        for name in (*SMOOTH, *STEEP):
            scores = parse_phi(name).of_size(n)(_ranks(n))
            null = LinearRankNull(scores, n_pos)
            drawn = _drawn(scores, n_pos, draws)
            yield [f"{n}, {n_pos}", name, *(_ratios(null, drawn, level) for level in LEVELS)]


def _drawn(scores: Floats, n_pos: int, draws: int) -> Floats:
    """Return sums of random subsets, rising."""
    rng, some = np.random.default_rng(SEED), 2000
    parts = [
        scores[np.argpartition(rng.random((some, scores.size), np.float32), n_pos)[:, :n_pos]]
        for _ in range(draws // some)
    ]
    return np.sort(np.concatenate([part.sum(1) for part in parts]))


def _ratios(null: LinearRankNull, drawn: Floats, level: float) -> str:
    """Return approximations over the share of draws, at the value nearest to a level."""
    w = drawn[int((1 - level) * drawn.size)]
    share = drawn.size - np.searchsorted(drawn, w - 1e-9)
    values = [null.using(m).sf(w) for m in ("saddlepoint", "normal")]
    ratios = " / ".join(f"{value / share * drawn.size:.3f}" for value in values)
    return f"{ratios} (± {share**-0.5:.3f})"


def coverage(samples: int, header: list[str]) -> Iterator[str]:
    """Return the lines of a table, with a row per size and law."""
    yield from table(header, []).rstrip("\n").split("\n")
    for sizes in SIZES:
        for name, law in LAWS.items():
            cells = [_covered(*sizes, law, phi, samples) for phi in COVERED]
            about = [f"{sizes[0]}, {sizes[1]}", name]
            yield table(header, [[*about, *cells]]).rstrip("\n").split("\n")[-1]


def _covered(n_pos: int, n_neg: int, law: tuple[Sampler, Sampler], name: str, samples: int) -> str:
    """Describe the intervals of one function."""
    n = n_pos + n_neg
    phi = parse_phi(name).of_size(n)
    true = truth(phi, n_pos / n, law)
    label = np.arange(n) < n_pos
    null = rank_null(phi, np.ones(n, dtype=np.int64), n_pos)
    rng = np.random.default_rng([SEED, n_pos, n_neg])
    inside, rows = 0, []
    for _ in range(samples):
        score = np.concatenate([law[0](rng, n_pos), law[1](rng, n_neg)])
        statistic = RankStatistic(phi, cells_from_scores(score, label)[0], null)
        found = statistic.interval()
        inside += found.low <= true <= found.high
        rows.append([found.estimate, found.std_error, found.high - found.low])
    estimate, error, width = np.array(rows).T
    spread = estimate.std()
    covered = f"{inside / samples:.3f}"
    if not spread:
        return covered
    bias = f"{(estimate.mean() - true) / spread:+.2f}, {error.mean() / spread:.2f}"
    return f"{covered} ({width.mean() / spread:.2f}; {bias})"


def truth(phi: ScoreGeneratingFunction, p: float, law: tuple[Sampler, Sampler]) -> float:
    """Return W_phi = E phi(F(X)), from a million scores of each class."""
    of_pos, of_neg = _shares_below(law)
    below = (p * of_pos + (1 - p) * of_neg) / MANY
    return float(phi(np.clip(below, 1e-15, 1 - 1e-15)).mean())


@lru_cache(2)
def _shares_below(law: tuple[Sampler, Sampler]) -> list[Floats]:
    """Return how many positives and negatives stand below each of a million positives."""
    rng = np.random.default_rng(SEED)
    pos, neg = (np.sort(of_class(rng, MANY)) for of_class in law)
    return [
        (np.searchsorted(of_class, pos, "left") + np.searchsorted(of_class, pos, "right")) / 2
        for of_class in (pos, neg)
    ]


if __name__ == "__main__":
    main()
