"""Coverage of metrics at a threshold, and of those of the first positive.

`benchmarks.interval_parts` runs these parts.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from scipy.special import ndtr

from benchmarks.data import SEED
from benchmarks.paired_study import rows_of
from benchmarks.populations import POPULATIONS, Population
from prframe.draws import INTERVAL_DRAWS
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import posterior_replicates, suited_method
from prframe.stats.intervals.rankings import POSTERIOR, ranking_interval
from prframe.stats.rankings import (
    CellStatistic,
    RankedCells,
    ReciprocalRank,
    SetBalancedAccuracy,
    SetFMeasure,
    SetMatthews,
    SetPrecision,
    SetRecall,
    SetSpecificity,
    SuccessAt,
)
from prframe.typing import Floats, Integers

# So many samples have the same draws.
SHARED = 20
SHARES = (0.01, 0.1, 0.5, 0.95)
NUMBERS = (40, 200, 1000, 20_000)
LEAST_POSITIVES = 2
APART = (1.0, 2.0, 4.0)
AT_THRESHOLD: dict[str, CellStatistic] = {
    "P": SetPrecision(),
    "R": SetRecall(),
    "Specificity": SetSpecificity(),
    "F1": SetFMeasure(),
    "F(beta=2)": SetFMeasure(beta=2.0),
    "BalancedAccuracy": SetBalancedAccuracy(),
    "MCC": SetMatthews(),
}
OF_FIRST: tuple[CellStatistic, ...] = (
    SuccessAt(1),
    SuccessAt(3),
    SuccessAt(5),
    SuccessAt(10),
    ReciprocalRank(),
    ReciprocalRank(10),
)
FIRST_SIZES = ((0.5, 40), (0.1, 200), (0.2, 300), (0.1, 1000), (0.01, 2000))
THRESHOLDS = f"""## interval-thresholds

95 % intervals of metrics at a threshold: the least and the largest coverage over normal scores 1, 2 and 4 \
apart and seven thresholds each, from one that nearly all items pass to one that nearly none does; how often \
the value of the population lies below and above the interval, at the most; the number of settings covered in \
less than .93 and in less than .915; the mean width. {{samples:,}} samples, {INTERVAL_DRAWS:,} draws, which \
{SHARED} samples share. Precision of no item has no interval and is left out.
"""
FIRST = f"""## interval-first

95 % intervals of metrics of the first positive: the share of samples whose interval covers the metric of the \
population, which is its mean over rankings of as many items; in brackets how often the interval lies above it and \
below it, and the mean width. {{samples:,}} samples, {INTERVAL_DRAWS:,} draws, which {SHARED} samples share.
"""


def thresholds_of(apart: float) -> tuple[float, ...]:
    """Return thresholds of normal scores of negatives around 0 and of positives around `apart`."""
    return (-4.0, -2.0, -0.5, apart / 2, apart, apart + 1.5, apart + 3.0)


def thresholds(_keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study metrics at a threshold over sizes, shares of positives and thresholds."""
    yield THRESHOLDS.format(samples=samples)
    about = ["metric", "positive", "n", "settings"]
    header = [*about, "coverage", "below, above", "under .93, .915", "width"]
    yield from rows_of(header, _of_thresholds(samples))


def _of_thresholds(samples: int) -> Iterator[list[str]]:
    """Return a row per metric, share and number of items."""
    for share, n in product(SHARES, NUMBERS):
        if n * min(share, 1 - share) < LEAST_POSITIVES:
            continue
        settings = [(apart, t) for apart in APART for t in thresholds_of(apart)]
        found = [_at_threshold(share, n, *setting, samples) for setting in settings]
        for name in AT_THRESHOLD:
            parts = np.array([of[name] for of in found if name in of])
            covers = 1 - parts[:, 0] - parts[:, 1]
            few = f"{(covers < 0.93).sum()}, {(covers < 0.915).sum()}"
            misses = f"{parts[:, 0].max():.3f}, {parts[:, 1].max():.3f}"
            yield [
                name,
                f"{share:g}",
                f"{n:,}",
                f"{len(parts)}",
                f"{covers.min():.3f} to {covers.max():.3f}",
                misses,
                few,
                f"{parts[:, 2].mean():.3f}",
            ]


def _at_threshold(
    share: float, n: int, apart: float, threshold: float, samples: int
) -> dict[str, tuple[float, float, float]]:
    """Return how often each metric lies below and above its interval, and the mean width."""
    passing = np.array([ndtr(apart - threshold), ndtr(-threshold)])
    pos, neg = np.outer([share, 1 - share], [1.0, 1.0]) * np.stack([passing, 1 - passing], axis=1)
    rng = np.random.default_rng([SEED, n, round(100 * share), round(10 * (threshold + 9))])
    drawn = _tables(np.concatenate([pos, neg]), n, samples, rng)
    ends = _ends(drawn, list(AT_THRESHOLD.values()), rng)
    described = {}
    for i, (name, metric) in enumerate(AT_THRESHOLD.items()):
        true, known = float(metric.values(pos, neg)), ends[~np.isnan(ends[:, i, 0]), i]
        if len(known) > samples / 2:
            described[name] = _missed(known, true)
    return described


def _tables(
    chances: Floats, n: int, samples: int, rng: np.random.Generator
) -> Iterator[RankedCells]:
    """Draw samples of n items that hold both labels."""
    while samples:
        counts = rng.multinomial(n, chances / chances.sum()).reshape(2, 2)
        if counts.sum(axis=1).all():
            yield RankedCells(*counts)
            samples -= 1


def _ends(
    drawn: Iterator[RankedCells], metrics: Sequence[CellStatistic], rng: np.random.Generator
) -> Floats:
    """Return low and high of each metric in each sample by the default method."""
    ends = []
    for number, cells in enumerate(drawn):
        if number % SHARED == 0:
            weights = drawn_weights(INTERVAL_DRAWS, np.random.default_rng([SEED, number]))
        taking = [m for m in metrics if suited_method(cells, m, clustered=False) == POSTERIOR]
        replicates = posterior_replicates(cells, taking, weights) if taking else ()
        known = dict(zip(taking, replicates, strict=True))
        intervals = [ranking_interval(cells, m, replicates=known.get(m), rng=rng) for m in metrics]
        ends.append([(interval.low, interval.high) for interval in intervals])
    return np.array(ends)


def _missed(ends: Floats, true: float) -> tuple[float, float, float]:
    """Return how often a value lies below intervals and above them, and their mean width."""
    low, high = ends.T
    below, above = (low > true + 1e-12).mean(), (high < true - 1e-12).mean()
    return float(below), float(above), float(np.mean(high - low))


def first(keys: Sequence[str], samples: int) -> Iterator[str]:
    """Study metrics of the first positive."""
    yield FIRST.format(samples=samples)
    header = ["metric", "scores", "prevalence, n", "value", "coverage"]
    yield from rows_of(header, (row for key in keys for row in _of_first(key, samples)))


def _of_first(key: str, samples: int) -> Iterator[list[str]]:
    """Return a row per size of the sample and metric."""
    population = POPULATIONS[key]
    for share, n in FIRST_SIZES:
        rng = np.random.default_rng([SEED, n])
        true = true_of_first(population, share, n)
        ends = _ends(population.samples(share, n, samples, rng), OF_FIRST, rng)
        for i, (metric, value) in enumerate(zip(OF_FIRST, true, strict=True)):
            above, below, width = _missed(ends[:, i], value)
            described = f"{1 - above - below:.3f} ({above:.3f}, {below:.3f}) {width:.3f}"
            about = [population.name, f"{share:g}, {n}", f"{value:.4f}"]
            yield [metric.name, *about, described]


def true_of_first(population: Population, share: float, n: int, number: int = 1_000_000) -> Floats:
    """Return the means of metrics of the first positive over many rankings of n items."""
    rng = np.random.default_rng([SEED, n, 1])
    n_pos = rng.binomial(n, share, number)
    n_pos = n_pos[(n_pos > 0) & (n_pos < n)]
    # The recall of the first of so many positives.
    first = -np.expm1(-rng.standard_exponential(n_pos.size) / n_pos)
    rank = 1 + rng.binomial(n - n_pos, population.false(first))
    return np.array([_credit(metric, rank) for metric in OF_FIRST])


def _credit(metric: CellStatistic, rank: Integers) -> float:
    """Return the mean credit of the ranks of first positives."""
    if isinstance(metric, SuccessAt):
        return float((rank <= metric.k).mean())
    within = rank <= (getattr(metric, "k", None) or np.inf)
    return float((within / rank).mean())
