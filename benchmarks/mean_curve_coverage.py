"""``python -m benchmarks.mean_curve_coverage``: how often bands cover mean curves of queries.

``--quick`` takes fewer samples and resamples, to see that it runs.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats.intervals import Confidence, MeanBand, mean_band, mean_interval
from prframe.stats.paired_values import PairedFamily

Floats: TypeAlias = NDArray[np.float64]

ITEMS, POPULATION = 200, 8_000
LEVELS = np.arange(101) / 100
QUERIES = [10, 20, 50, 200]
UNIT, DIFFERENCE = Confidence(limits=(0, 1)), Confidence(limits=(-1, 1))
TITLE = """## mean-curve-coverage

95 % bands of the mean precision-recall curve over queries, at 101 levels from 0 to 1. Each query \
has 200 items with normal scores; its number of positives and how far they stand apart are random. \
The share of samples whose band covers the mean curve of the population at all levels, and its mean \
width; the share of levels that intervals for single levels cover; the same band for the difference \
of two models whose scores are correlated by .67, and how often the test by random signs rejects.
"""


class Setting(NamedTuple):
    """How queries are drawn: further positives beside one, and how far they stand apart."""

    positives: float
    apart: float
    spread: float
    better: float


class Pair(NamedTuple):
    """Curves of a model, a row per query, and those of a better one less these; or their means."""

    one: Floats
    difference: Floats


SETTINGS = [
    Setting(8, 2.0, 0.8, 0.0),
    Setting(8, 2.0, 0.8, 0.4),
    Setting(8, 0.7, 0.4, 0.2),
    Setting(1, 2.0, 0.8, 0.2),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mean_curve_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    parser.add_argument("--samples", type=int, default=400, help="samples of each setting")
    options = parser.parse_args()
    samples, resamples = (20, 100) if options.quick else (options.samples, 499)
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting, {resamples:,} resamples.\n", flush=True)
    header = ["positives", "apart", "better", "queries", "band", "single levels"]
    print(table([*header, "band of the difference", "rejected"], []), end="", flush=True)
    for row in study(samples, resamples):
        print(f"| {' | '.join(row)} |", flush=True)


def study(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per setting and number of queries."""
    for number, setting in enumerate(SETTINGS):
        everything = population(setting, np.random.default_rng([SEED, number]))
        true = Pair(*(curves.mean(axis=0) for curves in everything))
        for queries in QUERIES:
            judged = []
            for i in range(samples):
                rng = np.random.default_rng([SEED, number, queries, i])
                chosen = rng.integers(0, POPULATION, queries)
                sample = Pair(*(curves[chosen] for curves in everything))
                judged.append(_judged(sample, true, resamples, rng))
            covered, width, single, both, wide, rejected = np.mean(judged, axis=0)
            apart = f"{setting.apart:g} ({setting.spread:g})"
            head = [f"1 + {setting.positives:g}", apart, f"{setting.better:g}", str(queries)]
            bands = [f"{covered:.3f} ({width:.3f})", f"{single:.3f}", f"{both:.3f} ({wide:.3f})"]
            yield [*head, *bands, f"{rejected:.3f}"]


def population(setting: Setting, rng: np.random.Generator) -> Pair:
    """Draw the curves of two models for many queries."""
    n_pos = 1 + rng.poisson(setting.positives, POPULATION)
    positive = np.arange(ITEMS) < n_pos[:, None]
    apart = rng.normal(setting.apart, setting.spread, POPULATION)[:, None]
    common = np.sqrt(0.67) * rng.standard_normal(positive.shape)
    one, other = (
        curves(
            common + np.sqrt(0.33) * rng.standard_normal(positive.shape) + mean * positive, n_pos
        )
        for mean in (apart, apart + setting.better)
    )
    return Pair(one, other - one)


def curves(score: Floats, n_pos: NDArray[np.int64]) -> Floats:
    """Return the precision at which each query's recall first reaches the levels."""
    order = np.argsort(-score, axis=1)
    hits = (order < n_pos[:, None]).cumsum(axis=1)
    needed = np.ceil(LEVELS * n_pos[:, None] - 1e-9).clip(min=1)
    place = np.stack([np.searchsorted(*row) for row in zip(hits, needed, strict=True)])
    precision: Floats = np.take_along_axis(hits, place, axis=1) / (place + 1)
    precision[:, 0] = 1.0
    return precision


def _judged(curves: Pair, true: Pair, resamples: int, rng: np.random.Generator) -> list[float]:
    """Tell whether both bands cover, their widths, the cover of single levels, and a test."""
    band = mean_band(curves.one, UNIT, resamples, rng)
    ends = [mean_interval(values, "logit", UNIT) for values in curves.one.T[1:]]
    single = [end.low <= mean <= end.high for end, mean in zip(ends, true.one[1:], strict=True)]
    paired = mean_band(curves.difference, DIFFERENCE, resamples, rng)
    family = PairedFamily(curves.difference, np.ones_like(curves.difference))
    p_value = family.max_t(resamples, rng, "two-sided").p_values.min()
    return [
        _covers(band, true.one),
        float((band.high - band.low).mean()),
        float(np.mean(single)),
        _covers(paired, true.difference),
        float((paired.high - paired.low).mean()),
        float(p_value <= 0.05),
    ]


def _covers(band: MeanBand, true: Floats) -> float:
    """Tell whether a band holds a curve throughout, except for rounding."""
    return float(((band.low <= true + 1e-12) & (true - 1e-12 <= band.high)).all())


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
