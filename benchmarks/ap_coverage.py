"""``python -m benchmarks.ap_coverage``: how often intervals cover the AP of populations.

``--quick`` and ``--samples`` take fewer samples, ``--only KEY ...`` the populations of these keys in
`benchmarks.populations`.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.data import SEED
from benchmarks.populations import POPULATIONS
from benchmarks.report import table
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import AveragePrecision, RankedCells
from prframe.typing import Floats

METHODS = ("bayesian-bootstrap", "logit-t")
PREVALENCES = (0.01, 0.05, 0.1, 0.5)
POSITIVES = (10, 20, 50, 100)
DRAWS = 500
# Where scores have a few levels, "auto" takes "logit-t" anyway.
UNTIED = [key for key, population in POPULATIONS.items() if not population.levels]
TITLE = """## ap-coverage

95 % intervals of AP: the share of samples whose interval covers the AP of the population, in \
brackets how often it lies above it and below it, and the mean width. *hard*: that share of the \
negatives stands above the positives.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ap_coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--samples", type=int, default=500, help="samples per setting")
    parser.add_argument("--only", nargs="+", choices=POPULATIONS, default=UNTIED)
    options = parser.parse_args()
    samples = 20 if options.quick else options.samples
    print(TITLE, flush=True)
    print(f"{samples:,} samples, each with {DRAWS:,} draws.\n", flush=True)
    header = ["scores", "prevalence", "n_pos", "AP", *METHODS]
    print(table(header, list(study(options.only, samples))), flush=True)


def study(keys: Sequence[str], samples: int) -> Iterator[list[str]]:
    """Return a row per population, prevalence and number of positives."""
    for key in keys:
        population = POPULATIONS[key]
        for prevalence in PREVALENCES:
            true = population.metrics(prevalence, 0.5, 0.5)["AP"]
            for n_pos in POSITIVES:
                n = round(n_pos / prevalence)
                rng = np.random.default_rng([SEED, n, n_pos])
                drawn = population.samples(prevalence, n, samples, rng)
                ends = np.array([_ends(cells, rng) for cells in drawn])
                described = [_described(ends[:, i], true) for i in range(len(METHODS))]
                yield [population.name, f"{prevalence:g}", f"{n_pos}", f"{true:.3g}", *described]


def _ends(cells: RankedCells, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Return low and high by each method."""
    intervals = [
        ranking_interval(cells, AveragePrecision(), method, n_resamples=DRAWS, rng=rng)
        for method in METHODS
    ]
    return [(interval.low, interval.high) for interval in intervals]


def _described(ends: Floats, true: float) -> str:
    """Write coverage, misses on either side and the mean width."""
    low, high = ends.T
    above, below = (low > true).mean(), (high < true).mean()
    return f"{1 - above - below:.3f} ({above:.3f}, {below:.3f}) {(high - low).mean():.3f}"


if __name__ == "__main__":
    main()
