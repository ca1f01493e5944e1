"""``python -m benchmarks.rank_study``: p-values and intervals of linear rank statistics.

``--quick`` takes fewer of everything, to see that it runs. ``python -m benchmarks`` runs it too.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

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

95 % intervals for W_phi: the share of samples whose interval covers it, *logit* / *wald*; in \
brackets the bias of the estimate and the mean standard error, both in standard deviations of the \
estimate.
"""
SMOOTH = ("mww", "p-norm-push(q=3)", "van-der-waerden", "logrank", "rtb")
STEEP = ("dcg", "dcg(k=10)", "local-auc", "p-norm-push(q=20)", "rtb(beta=1000, lam=1000)")
SMALL = ((30, 15), (40, 20), (60, 4), (40, 5))
LARGE = ((1000, 4), (1000, 10), (1000, 100))
BINS = ((1, 0.1), (0.1, 1e-2), (1e-2, 1e-3), (1e-3, 1e-5))
LEVELS = (0.5, 0.1, 0.03, 0.01, 0.001)
# Half of the classes of subsets that are counted here, more than the package does.
ENTRIES = 1 << 21
SIZES = ((100, 100), (10, 10), (20, 200), (50, 1000))
COVERED = ("mww", "p-norm-push(q=3)", "van-der-waerden", "logrank", "rtb", "local-auc", "median")
# Mean and standard deviation of the positives' scores; those of negatives are 0 and 1.
LAWS = ((0, 1), (0.5, 1), (1, 1), (2, 1), (3, 1), (1, 2), (0, 0.5))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rank_study", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    counting.MOST_ENTRIES = ENTRIES
    print(ACCURACY, flush=True)
    print("Where subsets are counted.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p in ({low:g}, {high:g}]" for high, low in BINS)]
    print(table(header, list(counted(quick=quick))), flush=True)
    draws = 20_000 if quick else 1_000_000
    print(f"Where not: the ratio to the share of {draws:,} random labellings.\n", flush=True)
    header = ["N, n_pos", "phi", *(f"p = {level:g}" for level in LEVELS)]
    print(table(header, list(simulated(draws))), flush=True)
    samples = 100 if quick else 4000
    print(COVERAGE, flush=True)
    print(f"{samples:,} samples.\n", flush=True)
    header = ["n_pos, n_neg", "positives", *COVERED]
    for row in coverage(samples, header):
        print(row, flush=True)


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
        for law in LAWS:
            cells = [_covered(*sizes, law, name, samples) for name in COVERED]
            about = [f"{sizes[0]}, {sizes[1]}", f"N({law[0]:g}, {law[1]:g})"]
            yield table(header, [[*about, *cells]]).rstrip("\n").split("\n")[-1]


def _covered(n_pos: int, n_neg: int, law: tuple[float, float], name: str, samples: int) -> str:
    """Describe the intervals of one function."""
    n = n_pos + n_neg
    phi = parse_phi(name).of_size(n)
    true = _truth(phi, n_pos / n, law)
    label = np.arange(n) < n_pos
    null = rank_null(phi, np.ones(n, dtype=np.int64), n_pos)
    rng = np.random.default_rng([SEED, n_pos, n_neg])
    inside, found = np.zeros(2), []
    for _ in range(samples):
        score = rng.normal(size=n)
        score[label] = law[0] + law[1] * score[label]
        one = RankStatistic(phi, cells_from_scores(score, label)[0], null)
        ends = [one.interval(method=method) for method in ("logit", "wald")]
        inside += [end.low <= true <= end.high for end in ends]
        found.append([one.estimate, one.std_error])
    estimate, error = np.array(found).T
    spread = estimate.std()
    covered = " / ".join(f"{share:.3f}" for share in inside / samples)
    if not spread:
        return covered
    return f"{covered} ({(estimate.mean() - true) / spread:+.2f}, {error.mean() / spread:.2f})"


def _truth(phi: ScoreGeneratingFunction, p: float, law: tuple[float, float]) -> float:
    """Return W_phi = E phi(F(X)) by a million quantiles of X."""
    u = (np.arange(1_000_000) + 0.5) / 1_000_000
    below = np.minimum(p * u + (1 - p) * ndtr(law[0] + law[1] * ndtri(u)), 1 - 1e-15)
    return float(phi(below).mean())


if __name__ == "__main__":
    main()
