"""Means of the AP of rankings with few positives among many items, drawn rank by rank.

Such a mean clusters about what single rankings with a positive near the top add to it. Beside them
there may be rankings with very many positives. References are shares of draws of which others gave
the values, so that values lie where means do.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.null_means import Queries
from benchmarks.null_reference import Reference, tallied
from benchmarks.null_steps import Floats, Integers, Shape

# Shares of random means that reach the values.
SHARES = (0.9, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
# The number of ranks that are drawn at a time, which bounds the memory.
_AT_ONCE = 4_000_000


def queries_of(*, quick: bool) -> Iterator[Queries]:
    """Return sets of queries with few positives."""

    def alike(count: int, n: int, n_pos: int) -> Queries:
        """Return queries of one size."""
        return Queries(f"{n_pos} of {n:,}", (Shape(n, n_pos, n),), (count,))

    yield alike(2, 10_000, 3)
    yield alike(100, 100_000, 3)
    if quick:
        return
    yield alike(10, 1_000_000, 20)
    yield alike(50, 1_000_000, 5)
    yield alike(50, 1_000_000, 20)
    yield alike(300, 100_000, 5)
    yield alike(1000, 10_000, 2)
    yield alike(1000, 100_000, 10)
    yield alike(1000, 1_000_000, 5)
    yield alike(20, 10_000_000, 100)
    sizes = ((1_000_000, 5), (1_000_000, 40), (100_000, 20), (10_000, 3), (3_000_000, 1))
    shapes = tuple(Shape(n, n_pos, n) for n, n_pos in sizes)
    yield Queries("mixed sizes", shapes, (40,) * len(shapes))
    yield Queries("depth 1,000", (Shape(1_000_000, 60, 1000), Shape(300_000, 9, 1000)), (50, 50))
    ties = (1, 4, 15, 80, 900, 9_000, 90_000)
    yield Queries("blocks", (Shape(100_000, 6, 100_000, ties),), (200,))


def mixed_queries_of(*, quick: bool) -> Iterator[Queries]:
    """Return sets of queries, or segments, of which some have few positives and others many."""

    def complete(name: str, often: int, *sizes: tuple[int, int]) -> Queries:
        """Return complete rankings of some sizes, each so many times."""
        shapes = tuple(Shape(n, n_pos, n) for n, n_pos in sizes)
        return Queries(name, shapes, (often,) * len(sizes))

    yield complete("1 of 1,000 and 2,000 of 20,000", 1, (1000, 1), (20_000, 2000))
    if quick:
        return
    uneven = [(2078, 1), (1732, 85), (11_762, 30), (200_840, 37), (110_225, 1720), (131_433, 760)]
    yield complete("300 to 200,000 items", 1, *uneven)
    yield complete("the same, 3 of each", 3, *uneven)
    small = [(126, 1), (183, 3), (412, 1), (964, 108), (1110, 230), (2204, 56), (9000, 1500)]
    yield complete("100 to 10,000 items", 1, *small)
    yield complete("the same, 5 of each", 5, *small)
    yield complete("a fifth of 10,000, 3 of 500", 2, (10_000, 2000), (500, 3))
    yield complete("a tenth of 30,000, 20 of 1,000,000", 1, (30_000, 3000), (1_000_000, 20))
    blocks = (Shape(4000, 1000, 4000, (800,) * 5), Shape(1000, 5, 1000))
    yield Queries("blocks of 800, 5 of 1,000", blocks, (1, 3))
    yield Queries("depth 5,000", (Shape(50_000, 9000, 5000), Shape(50_000, 9, 5000)), (2, 5))


def drawn(queries: Queries, draws: int, rng: np.random.Generator) -> Floats:
    """Draw means of random rankings."""
    total = np.zeros(draws)
    for shape, often in zip(queries.shapes, queries.often, strict=True):
        at_once = max(1, _AT_ONCE // (often * shape.n_pos))
        for first in range(0, draws, at_once):
            number = min(at_once, draws - first)
            ap = _ap(shape, _ranks(shape.n, (number * often, shape.n_pos), rng))
            total[first : first + number] += ap.reshape(number, often).sum(axis=1)
    return total / queries.count


def _ranks(n: int, size: tuple[int, int], rng: np.random.Generator) -> Integers:
    """Draw the ranks of positives, each row in order, all of them different."""
    if size[1] ** 2 > n:
        # Ranks drawn one by one would hardly ever be different.
        rows = [rng.choice(n, size[1], replace=False, shuffle=False) for _ in range(size[0])]
        return np.sort(np.stack(rows), axis=1) + 1
    ranks = np.sort(rng.integers(1, n + 1, size), axis=1)
    while (alike := np.flatnonzero((np.diff(ranks, axis=1) == 0).any(axis=1))).size:
        ranks[alike] = np.sort(rng.integers(1, n + 1, (alike.size, size[1])), axis=1)
    return ranks


def _ap(shape: Shape, ranks: Integers) -> Floats:
    """Return AP, which counts a positive at the end of its tie block, and not beyond the depth."""
    if shape.ties is None:
        hits = np.arange(1, shape.n_pos + 1)
        return np.asarray(((ranks <= shape.depth) * hits / ranks).sum(axis=1) / shape.n_pos)
    ends = np.cumsum(shape.ties)
    block = np.searchsorted(ends, ranks)
    each = np.stack([(block == number).sum(axis=1) for number in range(ends.size)], axis=1)
    hits = np.take_along_axis(np.cumsum(each, axis=1), block, axis=1)
    return np.asarray((hits / ends[block]).sum(axis=1) / shape.n_pos)


def known_of(
    queries: Queries, draws: int, rng: np.random.Generator
) -> tuple[Floats, list[Reference]]:
    """Return values of means, and how often other means reach them."""
    values = np.quantile(drawn(queries, draws, rng), 1 - np.array(SHARES))
    return values, tallied(drawn(queries, draws, rng), values)
