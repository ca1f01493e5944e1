"""``python -m benchmarks.interval_coverage``: how often intervals cover the AP of the population.

``--quick`` takes fewer samples and resamples, to see that it runs.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtr, ndtri

from benchmarks.data import SEED
from benchmarks.report import table
from prframe.stats.cell_bootstrap import bootstrap
from prframe.stats.cell_statistics import AveragePrecision
from prframe.stats.ranked_cells import RankedCells
from prframe.stats.ranking_intervals import ranking_interval

Floats: TypeAlias = NDArray[np.float64]
# The rate of false positives at a level of recall.
FalsePositiveRate: TypeAlias = Callable[[Floats], Floats]

METHODS = ("wald", "logit", "logit-t", "percentile", "bca")
TITLE = """## interval-coverage

95 % intervals for AP: the share of samples whose interval covers the AP of the population, in \
brackets how often it lies above the AP and below it, and the mean width.
"""
_SIZES = (
    (0.5, 40),
    (0.5, 400),
    (0.1, 200),
    (0.1, 1000),
    (0.01, 2000),
    (0.01, 10_000),
    (0.001, 20_000),
    (0.001, 100_000),
)
# Recall at the thresholds of a score with few levels.
_FEW_LEVELS = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)


@dataclass(frozen=True)
class Population:
    """Scores of positives and negatives, of which samples are drawn.

    A score is the recall at its threshold, which is uniform over the positives.
    """

    name: str
    rate: FalsePositiveRate
    levels: tuple[float, ...] = ()

    def ap(self, prevalence: float) -> float:
        """Return the integral of precision over recall."""
        if self.levels:
            recall = np.array(self.levels)
            steps = np.diff(recall, prepend=0.0)
        else:
            z, step = np.linspace(-12, 8.2, 200_001, retstep=True)
            recall = ndtr(z)
            steps = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * step
        found, wrong = prevalence * recall, (1 - prevalence) * self._false(recall)
        return float(steps @ (found / (found + wrong)))

    def samples(
        self, prevalence: float, n: int, number: int, rng: np.random.Generator
    ) -> Iterator[RankedCells]:
        """Draw samples of n items that hold positives."""
        while number:
            n_pos = int(rng.binomial(n, prevalence))
            if n_pos:
                yield self._sample(n_pos, n, rng)
                number -= 1

    def _sample(self, n_pos: int, n: int, rng: np.random.Generator) -> RankedCells:
        """Draw n items; the time is that of drawing the positives."""
        if self.levels:
            recall = np.array(self.levels)
            pos = rng.multinomial(n_pos, np.diff(recall, prepend=0.0))
            neg = rng.multinomial(n - n_pos, np.diff(self._false(recall), prepend=0.0))
            return RankedCells(np.append(pos, 0), np.append(neg, 0))
        false = self._false(np.append(np.sort(rng.random(n_pos)), 1.0))
        pos, neg = np.zeros((2, 2 * n_pos + 2), dtype=np.int64)
        pos[1:-1:2] = 1
        neg[::2] = rng.multinomial(n - n_pos, np.maximum(np.diff(false, prepend=0.0), 0.0))
        return RankedCells(pos, neg)

    def _false(self, recall: Floats) -> Floats:
        """Return the rate of false positives, 1 at recall 1."""
        return np.where(recall < 1, self.rate(recall), 1.0)


def binormal(mu: float) -> FalsePositiveRate:
    """Return the rate of normal scores whose means are mu apart."""
    return lambda recall: ndtr(ndtri(recall) - mu)


def beta(pos: tuple[float, float], neg: tuple[float, float]) -> FalsePositiveRate:
    """Return the rate of scores with beta laws."""
    return lambda recall: betainc(*reversed(neg), betaincinv(*reversed(pos), recall))


POPULATIONS = [
    *(Population(f"binormal, mu = {mu}", binormal(mu)) for mu in (1, 2, 3)),
    Population("beta(2, 1), beta(1, 2)", beta((2, 1), (1, 2))),
    Population("7 scores, mu = 1.5", binormal(1.5), _FEW_LEVELS),
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interval_coverage")
    parser.add_argument("--quick", action="store_true", help="fewer samples and resamples")
    quick = parser.parse_args().quick
    samples, resamples = (20, 100) if quick else (1000, 1000)
    print(TITLE, flush=True)
    print(f"{samples:,} samples, each with {resamples:,} resamples.\n", flush=True)
    header = ["scores", "prevalence, n", "n_pos", "AP", "mean estimate", *METHODS]
    print(table(header, list(study(samples, resamples))), flush=True)


def study(samples: int, resamples: int) -> Iterator[list[str]]:
    """Return a row per population, prevalence and size."""
    for number, population in enumerate(POPULATIONS):
        for prevalence, n in _SIZES:
            rng = np.random.default_rng([SEED, number, n])
            draws = population.samples(prevalence, n, samples, rng)
            found = np.array([_intervals(cells, resamples, rng) for cells in draws])
            true = population.ap(prevalence)
            columns = [_described(found[:, i, 1:], true) for i in range(len(METHODS))]
            about = [f"{prevalence:g}, {n}", f"{prevalence * n:.0f}", f"{true:.4g}"]
            yield [population.name, *about, f"{found[:, 0, 0].mean():.4g}", *columns]


def _intervals(
    cells: RankedCells, resamples: int, rng: np.random.Generator
) -> list[tuple[float, float, float]]:
    """Return estimate, low and high by each method."""
    replicates = bootstrap(cells, [AveragePrecision()], resamples, rng)[0]
    found = (
        ranking_interval(cells, AveragePrecision(), method, replicates=replicates)
        for method in METHODS
    )
    return [(one.estimate, one.low, one.high) for one in found]


def _described(ends: Floats, true: float) -> str:
    """Write coverage, misses on either side and the mean width."""
    low, high = ends.T
    above, below = (low > true).mean(), (high < true).mean()
    covers = ((low <= true) & (true <= high)).mean()
    return f"{covers:.3f} ({above:.3f}, {below:.3f}) {np.nanmean(high - low):.3f}"


if __name__ == "__main__":
    main()
