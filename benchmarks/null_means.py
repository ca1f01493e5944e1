"""References of the mean of AP over independent queries under random ranking."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.null_draws import permuted
from benchmarks.null_plane import levels
from benchmarks.null_reference import (
    NONE,
    Reference,
    best,
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


def mixed_queries() -> Iterator[Queries]:
    """Return sets of queries with mixed sizes."""
    mixed = ((100, 10), (300, 60), (1000, 15), (1000, 300), (3000, 30))
    cuts = np.linspace(0, 1, 6)[1:-1]
    for count in (2, 10, 100, 1000):
        some = mixed[: min(5, count)]
        often = tuple(count // len(some) for _ in some)
        yield Queries("no ties", tuple(Shape(n, n_pos, n) for n, n_pos in some), often)
        tied = tuple(Shape(n, n_pos, n, levels(n, cuts)) for n, n_pos in some)
        yield Queries("5 levels", tied, often)
    large = tuple(Shape(n, n_pos, n) for n, n_pos in ((5 * 10**4, 5000), (10**5, 50_000)))
    yield from (Queries("large", large, (count // 2, count // 2)) for count in (2, 10))
    yield Queries("depth 1,000", (Shape(11_429, 18, 1000), Shape(11_429, 60, 1000)), (10, 10))


def references(
    queries: Queries, z: Floats, values: Floats, rng: np.random.Generator
) -> list[Reference]:
    """Return the best reference of each value of a mean, z deviations above that of the mean."""
    found = edgeworth(queries, values)
    if queries.count > 100:
        return [best([one]) for one in found]
    drawn = sampled(queries, values, 20_000, rng)
    found = [best([one, some]) for one, some in zip(found, drawn, strict=True)]
    for i in np.flatnonzero(z > 1).tolist():
        if found[i].error > 0.015:
            draws = 6000 if queries.count < 100 else 1000
            found[i] = best([found[i], tilted(queries, float(values[i]), draws, rng)])
    return found
