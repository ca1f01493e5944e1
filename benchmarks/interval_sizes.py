"""``python -m benchmarks.interval_sizes``: coverage of intervals by draws in groups of many sizes.

``--quick`` takes fewer samples and sizes, to see that it runs. ``--samples`` takes another number.
"""

import argparse
from itertools import product
from multiprocessing import Pool
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.populations import Population, binormal
from benchmarks.report import table
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AveragePrecision,
    AveragePrecisionAt,
    CellStatistic,
    GainArea,
    LargestF1,
    LinearRankMean,
    PartialAveragePrecision,
    PartialRocArea,
    RecallAtPrecision,
)
from prframe.stats.rankings.cells import RankedCells

Floats: TypeAlias = NDArray[np.float64]
Setting: TypeAlias = tuple[float, float, int, int]

TITLE = """## interval-sizes

95 % intervals by `"bayesian-bootstrap"`: the share of {samples} samples whose interval covers the metric of the \
population, and in brackets how often it lies above it and below it. Normal scores. AP@k at k = 2 % of the items, pAP \
up to recall .3, pAUC up to a false positive rate of .1, R at the precision that the population has at recall .5. \
{draws} draws, which {shared} samples share. `python -m benchmarks.interval_sizes`.
"""
APART, PREVALENCES, POSITIVES = (1.0, 2.0, 4.0), (0.1, 0.5, 0.9), (20, 200, 2000, 20_000)
DRAWS, SHARED, SAMPLES = 500, 20, 300
# The population's own metrics are those of so many positives at equal steps of recall.
_FINE = 400_000


def main() -> None:
    """Print a table for each number of positives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples of small groups")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples per setting")
    asked = parser.parse_args()
    samples = 20 if asked.quick else asked.samples
    sizes = POSITIVES[:2] if asked.quick else POSITIVES
    settings = [(*one, samples) for one in product(APART, PREVALENCES, sizes)]
    with Pool() as pool:
        rows = dict(zip(settings, pool.imap(_row, settings), strict=True))
    print(TITLE.format(samples=samples, draws=DRAWS, shared=SHARED))
    names = list(_statistics(binormal(1.0), 0.5, 100))
    for n_pos in sizes:
        print(f"{n_pos:,} positives:\n")
        of_size = [row for setting, row in rows.items() if setting[2] == n_pos]
        print(table(["apart", "positive", *names], of_size), "\n", flush=True)


def _row(setting: Setting) -> list[str]:
    """Return how often each metric is covered."""
    apart, prevalence, n_pos, samples = setting
    population, n = binormal(apart), round(n_pos / prevalence)
    statistics = _statistics(population, prevalence, n)
    true = _true(population, prevalence, statistics, n)
    rng = np.random.default_rng([SEED, round(10 * apart), round(100 * prevalence), n_pos])
    ends = []
    for number, cells in enumerate(population.samples(prevalence, n, samples, rng)):
        if number % SHARED == 0:
            weights = drawn_weights(DRAWS, rng)
        drawn = posterior_replicates(cells, list(statistics.values()), weights)
        ends.append([_ends(cells, *one) for one in zip(statistics.values(), drawn, strict=True)])
    low, high = np.moveaxis(np.array(ends), -1, 0)
    above, below = (low > true).mean(axis=0), (high < true).mean(axis=0)
    covered = (f"{1 - a - b:.3f} ({a:.3f}, {b:.3f})" for a, b in zip(above, below, strict=True))
    return [f"{apart:g}", f"{prevalence:g}", *covered]


def _ends(cells: RankedCells, one: CellStatistic, drawn: Floats) -> tuple[float, float]:
    """Return the ends of an interval."""
    found = ranking_interval(cells, one, "bayesian-bootstrap", replicates=drawn)
    return found.low, found.high


def _statistics(population: Population, prevalence: float, n: int) -> dict[str, CellStatistic]:
    """Return the metrics by what they are called here."""
    precision = float(population.precision(prevalence, np.array([0.5]))[0])
    return {
        "AP": AveragePrecision(),
        "AP@k": AveragePrecisionAt(max(1, n // 50)),
        "pAP": PartialAveragePrecision(0.3),
        "pAUC": PartialRocArea(0.1),
        "AUPRG": GainArea(),
        "W": LinearRankMean("mww"),
        "MaxF1": LargestF1(),
        "R at a precision": RecallAtPrecision(precision),
    }


def _true(
    population: Population, prevalence: float, statistics: dict[str, CellStatistic], n: int
) -> Floats:
    """Return the metrics of a very large ranking that has the curve of the population.

    A rank of the sample is one of as large a share of it.
    """
    recall = (np.arange(_FINE) + 0.5) / _FINE
    n_neg = _FINE * (1 - prevalence) / prevalence
    pos, neg = np.zeros((2, 2 * _FINE + 2))
    pos[1:-1:2] = 1
    neg[::2] = n_neg * np.diff(population.false(recall), prepend=0.0, append=1.0)
    k = max(1, n // 50) * (_FINE + n_neg) / n
    whole = statistics | {"AP@k": AveragePrecisionAt(round(k))}
    return np.array([float(one.values(pos, neg)) for one in whole.values()])


if __name__ == "__main__":
    main()
