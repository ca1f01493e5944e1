"""``python -m benchmarks.level_coverage``: how often intervals at single levels of recall cover.

``--quick`` and ``--samples`` take fewer samples, ``--only KEY ...`` some of the populations, those of
`benchmarks.populations` among them, ``--levels`` other levels.
"""

import argparse
import warnings
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS, SUNK, Population
from benchmarks.report import table
from prframe.stats._arrays import Interval
from prframe.stats.curves.bayesian_bootstrap import posterior_of
from prframe.stats.curves.drawn.gamma_walks import Weights, drawn_weights
from prframe.stats.intervals import posterior_replicates
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import AtPrior, CellStatistic, PrecisionAtRecall, RankedCells
from prframe.typing import Floats

TITLE = """## level-coverage

95 % intervals of precision at single levels of recall: the share of {samples:,} samples whose \
interval covers the precision of the population, in brackets how often it lies above and below it, \
and the mean width. *Band* is `band(simultaneous=False)`, *metric* the interval of Prec@r. A prior is the known share of positives \
of the population; without it that is the share of the sample's. {draws:,} draws.
"""
LEVELS = (0.5, 0.7, 0.8, 0.9)
DRAWS, SHARED, PRIOR = 1000, 20, 0.05
STUDIED = SUNK | POPULATIONS
SIZES = ((0.2, 100), (0.05, 400), (0.3, 100), (0.1, 1000))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.level_coverage", description=__doc__
    )
    parser.add_argument("--quick", action="store_true", help="20 samples")
    parser.add_argument("--samples", type=int, default=400, help="samples per setting")
    parser.add_argument("--only", nargs="+", choices=STUDIED, default=[*SUNK, "wide"])
    parser.add_argument("--levels", nargs="+", type=float, default=LEVELS)
    options = parser.parse_args()
    samples = 20 if options.quick else options.samples
    print(TITLE.format(samples=samples, draws=DRAWS), flush=True)
    levels = np.array(sorted(options.levels))
    header = ["scores", "share, n", "prior", "interval", *(f"{level:g}" for level in levels)]
    print(table(header, []), end="", flush=True)
    for key, size, prior in product(options.only, SIZES, (None, PRIOR)):
        for row in of_setting(STUDIED[key], size, levels, prior, samples):
            print(f"| {' | '.join(row)} |", flush=True)


def of_setting(
    population: Population,
    size: tuple[float, int],
    levels: Floats,
    prior: float | None,
    samples: int,
) -> Iterator[list[str]]:
    """Return a row for intervals of the band and one for those of the metric."""
    share, n = size
    true = population.precision(share if prior is None else prior, levels)
    rng = np.random.default_rng([SEED, n, round(1000 * share)])
    found = []
    for number, cells in enumerate(population.samples(share, n, samples, rng)):
        if number % SHARED == 0:
            weights = drawn_weights(DRAWS, rng)
        band = posterior_of(cells, levels, weights, prior, simultaneous=False)
        of_metric = _of_metric(cells, levels, weights, prior)
        found.append((band.band(simultaneous=False), of_metric))
    about = [population.name, f"{share:g}, {n}", "" if prior is None else f"{prior:g}"]
    for name, ends in zip(("band", "metric"), zip(*found, strict=True), strict=True):
        low, high = np.moveaxis(np.array(ends), 1, 0)
        yield [*about, name, *_described(low, high, true)]


def _of_metric(
    cells: RankedCells, levels: Floats, weights: Sequence[Weights], prior: float | None
) -> Interval:
    """Return the ends of the intervals of Prec@r."""
    metrics: list[CellStatistic] = [PrecisionAtRecall(level) for level in levels]
    if prior is not None:
        metrics = [AtPrior(metric, prior) for metric in metrics]
    drawn = posterior_replicates(cells, metrics, weights)
    found = [
        ranking_interval(cells, metric, replicates=of_metric)
        for metric, of_metric in zip(metrics, drawn, strict=True)
    ]
    return Interval(*np.array([(one.low, one.high) for one in found]).T)


def _described(low: Floats, high: Floats, true: Floats) -> list[str]:
    """Write coverage, misses on either side and the mean width at each level."""
    above, below = (low > true + 1e-12).mean(axis=0), (high < true - 1e-12).mean(axis=0)
    width = (high - low).mean(axis=0)
    return [
        f"{1 - one - other:.3f} ({one:.3f}, {other:.3f}) {wide:.3f}"
        for one, other, wide in zip(above, below, width, strict=True)
    ]


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
