"""``python -m benchmarks.interval_coverage``: how often intervals cover the population's metrics.

``--quick`` takes fewer samples and resamples, to see that it runs.
"""

import argparse
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS
from benchmarks.report import table
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals.means import mean_interval
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AveragePrecision,
    Bedroc,
    CellStatistic,
    F1At,
    LargestF1,
    LiftAt,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RocArea,
    RPrecision,
    TrapezoidArea,
)
from prframe.stats.rankings.bootstrap import ranking_bootstrap
from prframe.stats.rankings.cells import RankedCells

Floats: TypeAlias = NDArray[np.float64]

METHODS = ("auto", "bayesian-bootstrap", "logit-t", "percentile")
TITLE = """## interval-coverage

95 % intervals: the share of samples whose interval covers the metric of the population, in \
brackets how often it lies above it and below it, and the mean width. P@k, R@k, F1@k and Lift@k at \
k = 2 n_pos, Prec@r at r = 0.5. A sample without an interval, as all of its resamples agree, is not covered, \
and has no width.
"""
LEVEL = 0.5
MEAN_METHODS = ("t", "logit", "percentile", "bca")
MEANS = "Means over groups whose values have a beta distribution.\n"
LAWS = ((0.6, 1.2), (2, 2), (0.3, 3), (5, 0.5))
SETTINGS = [
    *((key, *size) for key in "123" for size in ((0.5, 40), (0.1, 200), (0.1, 1000))),
    *((key, *size) for key in "123" for size in ((0.01, 2000), (0.01, 10_000))),
    ("1", 0.5, 400),
    ("1", 0.001, 20_000),
    ("2", 0.001, 20_000),
    ("2", 0.001, 100_000),
    ("beta", 0.1, 300),
    ("beta", 0.001, 20_000),
    ("ten", 0.1, 500),
    ("ten", 0.01, 2000),
    ("few", 0.01, 2000),
    ("few", 0.01, 10_000),
    *((key, 0.05, n) for key in ("half pure", "third pure") for n in (360, 5000, 20_000)),
    *(("edge", *size) for size in ((0.05, 400), (0.1, 500), (0.3, 300), (0.1, 2000), (0.2, 5000))),
    *((key, *size) for key in ("t(2)", "Cauchy") for size in ((0.05, 400), (0.1, 1000))),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interval_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    quick = parser.parse_args().quick
    samples, resamples = (20, 100) if quick else (1000, 500)
    print(TITLE, flush=True)
    print(f"{samples:,} samples, each with {resamples:,} resamples or draws.\n", flush=True)
    header = ["metric", "scores", "prevalence, n", "n_pos", "value", *METHODS]
    rows = sorted(study(samples, resamples), key=lambda row: row[0])
    print(table(header, rows), flush=True)
    print(MEANS, flush=True)
    print(
        table(["distribution", "groups", "mean", *MEAN_METHODS], list(means(samples, resamples)))
    )


def study(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per setting and metric."""
    for number, (key, prevalence, n) in enumerate(SETTINGS):
        population = POPULATIONS[key]
        statistics = statistics_of(round(prevalence * n))
        share = statistics["P@k"].at_cut(0, n)[0] / n
        true = population.metrics(prevalence, share, LEVEL)
        rng = np.random.default_rng([SEED, number])
        draws = population.samples(prevalence, n, samples, rng)
        found = np.array([_ends(cells, statistics, resamples, rng) for cells in draws])
        for i, name in enumerate(statistics):
            described = [_described(found[:, i, j], true[name]) for j in range(len(METHODS))]
            about = [population.name, f"{prevalence:g}, {n}", f"{prevalence * n:.0f}"]
            yield [name, *about, f"{true[name]:.4g}", *described]


def means(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per distribution of the values and number of groups."""
    for law in LAWS:
        for groups in (10, 25, 50, 200):
            rng = np.random.default_rng([SEED, groups])
            found = np.array(
                [_mean_ends(rng.beta(*law, groups), resamples, rng) for _ in range(samples)]
            )
            true = law[0] / sum(law)
            described = [_described(found[:, j], true) for j in range(len(MEAN_METHODS))]
            yield [f"beta{law}", str(groups), f"{true:.4g}", *described]


def _mean_ends(
    values: Floats, resamples: int, rng: np.random.Generator
) -> list[tuple[float, float]]:
    """Return low and high of the mean by each method."""
    found = [
        mean_interval(values, method, n_resamples=resamples, rng=rng) for method in MEAN_METHODS
    ]
    return [(one.low, one.high) for one in found]


def statistics_of(n_pos: int) -> dict[str, CellStatistic]:
    """Return the metrics; cut-offs at twice the expected number of positives."""
    return {
        "AP": AveragePrecision(),
        "AUPRC": TrapezoidArea(),
        "AUC": RocArea(),
        "P@k": PrecisionAt(2 * n_pos),
        "R@k": RecallAt(2 * n_pos),
        "Prec@r": PrecisionAtRecall(LEVEL),
        "F1@k": F1At(2 * n_pos),
        "Lift@k": LiftAt(2 * n_pos),
        "Rprec": RPrecision(),
        "MaxF1": LargestF1(),
        "BEDROC": Bedroc(),
    }


def _ends(
    cells: RankedCells,
    statistics: dict[str, CellStatistic],
    resamples: int,
    rng: np.random.Generator,
) -> list[list[tuple[float, float]]]:
    """Return low and high of each metric by each method."""
    every = list(statistics.values())
    resampled = ranking_bootstrap(cells, every, resamples, rng)
    drawn = posterior_replicates(cells, every, drawn_weights(resamples, rng))
    return [
        [
            _interval(cells, one, method, of_draws if method in METHODS[:2] else of_samples)
            for method in METHODS
        ]
        for one, of_draws, of_samples in zip(every, drawn, resampled, strict=True)
    ]


def _interval(
    cells: RankedCells, one: CellStatistic, method: str, replicates: Floats
) -> tuple[float, float]:
    """Return low and high."""
    found = ranking_interval(cells, one, method, replicates=replicates)
    return found.low, found.high


def _described(ends: Floats, true: float) -> str:
    """Write coverage, misses on either side and the mean width."""
    low, high = ends.T
    above, below = (low > true + 1e-12).mean(), (high < true - 1e-12).mean()
    if np.isnan(low).all():
        return "no interval"
    covers = ((low <= true + 1e-12) & (true - 1e-12 <= high)).mean()
    return f"{covers:.3f} ({above:.3f}, {below:.3f}) {np.nanmean(high - low):.3f}"


if __name__ == "__main__":
    main()
