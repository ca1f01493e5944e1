"""``python -m benchmarks.curve_coverage``: how often bands cover the difference of two curves.

``--quick`` takes fewer samples and resamples, to see that it runs. ``--settings`` takes a part of
the study, whose numbers are those of all of it.
"""

import argparse
import warnings
from collections.abc import Iterator
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import SEED
from benchmarks.populations import binormal
from benchmarks.report import table
from prframe.stats.curves.difference import CurveDifference, pr_curve_difference

Floats: TypeAlias = NDArray[np.float64]

LEVELS = np.linspace(0.05, 0.95, 91)
TITLE = """## curve-coverage

95 % bands of the difference of two precision-recall curves over the recalls .05 to .95, of normal \
scores that are correlated given the label: the share of samples whose band covers the difference \
in the population at all levels, in brackets how often it lies above it somewhere and below it, \
the mean width, and the share of samples with a p-value of .05 or less.
"""
SIZES = [(0.3, 200), (0.3, 1000), (0.1, 200), (0.1, 1000), (0.1, 5000), (0.01, 5000)]
# Means of the positives of either model.
MEANS = [(1.5, 1.5), (1.7, 1.5), (2.5, 1.0)]
# Nearly perfect models among them.
SETTINGS = [
    *product(SIZES, MEANS),
    *product([(0.1, 600), (0.1, 2000), (0.5, 600)], [(4.0, 4.0), (5.0, 4.0)]),
    ((0.5, 300), (4.0, 4.0)),
    ((0.02, 2000), (5.0, 4.0)),
    ((0.5, 600), (4.0, 2.0)),
    ((0.9, 1000), (4.0, 4.0)),
]
CORRELATIONS = [0.0, 0.5, 0.9, 0.99]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curve_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    parser.add_argument("--samples", type=int, default=500, help="samples of each setting")
    parser.add_argument("--settings", nargs="+", type=int, help="numbers of rows, from 1 on")
    options = parser.parse_args()
    samples, resamples = (20, 100) if options.quick else (options.samples, 1000)
    print(TITLE, flush=True)
    print(f"{samples:,} samples of each setting, {resamples:,} draws.\n", flush=True)
    header = ["prevalence, n", "apart", *(f"correlation {rho:g}" for rho in CORRELATIONS)]
    # It takes long: each row is shown when it is there.
    print(table(header, []), end="", flush=True)
    numbers = options.settings or range(1, len(SETTINGS) + 1)
    for row in study(samples, resamples, [SETTINGS[number - 1] for number in numbers]):
        print(f"| {' | '.join(row)} |", flush=True)


def study(
    samples: int, resamples: int, settings: list[tuple[tuple[float, int], tuple[float, float]]]
) -> Iterator[list[str]]:
    """Return a row per number of items and pair of models."""
    for (prevalence, n), means in settings:
        one, other = (binormal(mu).precision(prevalence, LEVELS) for mu in means)
        row = [f"{prevalence:g}, {n}", f"{means[0]:g} and {means[1]:g}"]
        for number, rho in enumerate(CORRELATIONS):
            found = []
            for i in range(samples):
                rng = np.random.default_rng([SEED, n, int(1000 * prevalence), number, i])
                scores, label = drawn(prevalence, n, means, rho, rng)
                band = pr_curve_difference(*scores, label, LEVELS, n_resamples=resamples, rng=rng)
                found.append(_judged(band, one - other))
            row.append(_described(found))
        yield row


def drawn(
    prevalence: float, n: int, means: tuple[float, float], rho: float, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw the scores of n items by two models, with three positives at least."""
    label = np.zeros(n, dtype=np.bool_)
    while not 3 <= label.sum() < n:
        label = rng.random(n) < prevalence
    common, *own = rng.standard_normal((3, n))
    noise = np.sqrt(rho) * common + np.sqrt(1 - rho) * np.stack(own)
    return noise + np.outer(means, label), label


def _judged(band: CurveDifference, true: Floats) -> tuple[bool, bool, float, bool]:
    """Tell whether the band lies above the difference somewhere, or below, its width, a test."""
    above, below = bool((band.low > true + 1e-12).any()), bool((band.high < true - 1e-12).any())
    return above, below, float((band.high - band.low).mean()), bool(band.p_value[0] <= 0.05)


def _described(rows: list[tuple[bool, bool, float, bool]]) -> str:
    """Write coverage, misses on either side, the mean width and how often a test rejects."""
    above, below, width, rejected = np.array(rows, dtype=np.float64).T
    covers = ((above + below) == 0).mean()
    return (
        f"{covers:.3f} ({above.mean():.3f}, {below.mean():.3f}) {width.mean():.3f}, "
        f"{rejected.mean():.3f}"
    )


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
