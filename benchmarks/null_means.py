"""References of the mean of AP over independent queries under random ranking."""

from dataclasses import dataclass

import numpy as np

from benchmarks.null_draws import permuted
from benchmarks.null_reference import (
    NONE,
    Reference,
    best_of,
    better_slope,
    cumulants,
    location,
    series,
    smoothed,
    tallied,
    weighed,
)
from benchmarks.null_steps import Floats, Shape, Steps, steps_of
from benchmarks.null_tilt import Sample, Tilt, Tilted


@dataclass(frozen=True)
class Queries:
    """Shapes of queries, and how many queries have each."""

    name: str
    shapes: tuple[Shape, ...]
    often: tuple[int, ...]

    @property
    def count(self) -> int:
        """How many queries there are."""
        return sum(self.often)

    def moments(self) -> tuple[float, float]:
        """Return mean and standard deviation of the mean of AP."""
        where = [location(shape) for shape in self.shapes]
        parts = list(zip(where, self.shapes, self.often, strict=True))
        mean = sum(often * at.mean / shape.n_pos for at, shape, often in parts)
        variance = sum(often * (at.deviation / shape.n_pos) ** 2 for at, shape, often in parts)
        return mean / self.count, variance**0.5 / self.count


def sampled(
    queries: Queries, values: Floats, draws: int, rng: np.random.Generator
) -> list[Reference]:
    """Return how often means of random rankings reach values."""
    total = np.zeros(draws)
    for shape, often in zip(queries.shapes, queries.often, strict=True):
        drawn = permuted(shape, often * draws, rng) / shape.n_pos
        total += drawn.reshape(often, draws).sum(axis=0)
    return tallied(total / queries.count, values)


def edgeworth(queries: Queries, values: Floats) -> list[Reference]:
    """Return the Edgeworth series with the cumulants of the sum."""
    if any(shape.depth < shape.n for shape in queries.shapes):
        return [NONE] * values.size
    third = fourth = 0.0
    for shape, often in zip(queries.shapes, queries.often, strict=True):
        skew, kurtosis = cumulants(shape)
        deviation = location(shape).deviation / shape.n_pos
        third += often * skew * deviation**3
        fourth += often * kurtosis * deviation**4
    mean, deviation = queries.moments()
    total = deviation * queries.count
    shape_of_sum = third / total**3, fourth / total**4
    return [series((value - mean) / deviation, *shape_of_sum) for value in values]


def tilted(queries: Queries, value: float, draws: int, rng: np.random.Generator) -> Reference:
    """Return P(mean >= value) with one slope for all queries, their mean being near the value."""
    mean, deviation = queries.moments()
    slope = (value - mean) / deviation**2
    steps = [steps_of(shape) for shape in queries.shapes]
    # The normal slope is too large where the law is skew: it is approached from below.
    slope /= 1 + (value - mean) / deviation / 3
    for _ in range(6):
        pilot = _draw(queries, steps, slope, 200, rng)
        better = better_slope(pilot, slope, value)
        if abs(better - slope) < 0.02 * slope:
            break
        slope = better
    sample = _draw(queries, steps, slope, draws, rng)
    return best_of([weighed(sample, value), smoothed(sample, slope, value)])


def _draw(
    queries: Queries, steps: list[Steps], slope: float, draws: int, rng: np.random.Generator
) -> Sample:
    """Draw the mean under the slope."""
    total, log_weight = np.zeros(draws), np.zeros(draws)
    for shape, often, walk in zip(queries.shapes, queries.often, steps, strict=True):
        law = Tilted(walk, shape, Tilt(slope / queries.count / shape.n_pos))
        sample = law.draw(often * draws, rng)
        total += sample.total.reshape(often, draws).sum(axis=0) / shape.n_pos
        log_weight += sample.log_weight.reshape(often, draws).sum(axis=0)
    return Sample(total / queries.count, log_weight)
