"""The plane of the study of the null of AP: sizes, shares, ties, depths and deviations."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks.null_reference import location
from benchmarks.null_steps import Floats, Shape

SIZES: tuple[int, ...] = (
    10,
    30,
    100,
    300,
    1000,
    3000,
    10**4,
    3 * 10**4,
    5 * 10**4,
    10**5,
    2 * 10**5,
)
SIZES += (10**6, 3 * 10**6, 10**7, 2 * 10**7)
SHARES = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
DEVIATIONS = (-3, -2, -1, 0, 0.27, 0.63, 0.9, 1, 1.5, 2, 2.3, 3, 4, 6, 10, 20, 40)
TIED_SIZES = (300, 3000, 5 * 10**4, 10**7)
TIED_SHARES = (0.01, 0.1, 0.5)
TIED_DEVIATIONS = (-1, 0, 0.9, 2, 4, 10, 40)
QUICK_SIZES = (30, 1000, 10**5)
QUICK_SHARES = (1e-3, 0.1, 0.5)
QUICK_DEVIATIONS = (-1, 0.27, 2, 4, 10)
FEW_LISTS = (
    (1449, 4, 69),
    (5000, 5, 200),
    (10**5, 10, 100),
    (10**5, 60, 300),
    (10**6, 30, 1000),
    (10**6, 500, 1000),
)
FEW_IN_BLOCKS = ((300, 5), (1500, 8), (5000, 12), (5000, 40))
FEW_DEVIATIONS = (-1, -0.5, 0, 0.3, 0.9, 2)
# Blocks of one item, one by one, up to so many items.
_MOST_BLOCKS = 10**4


class Place(NamedTuple):
    """A ranking, how its ties or its depth are called, and the values asked for."""

    shape: Shape
    kind: str
    share: float
    deviations: Floats
    ap: Floats


def untied(*, quick: bool) -> Iterator[Place]:
    """Return rankings without ties, each number of positives of a size once."""
    deviations = QUICK_DEVIATIONS if quick else DEVIATIONS
    for n in QUICK_SIZES if quick else SIZES:
        seen = set()
        for share in QUICK_SHARES if quick else SHARES:
            n_pos = max(1, round(n * share))
            if n_pos not in seen:
                seen.add(n_pos)
                yield place(Shape(n, n_pos, n), "no ties", share, deviations)


def tied(*, quick: bool) -> Iterator[Place]:
    """Return rankings with ties, and rankings retrieved in part."""
    deviations = QUICK_DEVIATIONS if quick else TIED_DEVIATIONS
    for n in (300, 5 * 10**4) if quick else TIED_SIZES:
        for share in (0.1,) if quick else TIED_SHARES:
            n_pos = round(n * share)
            if n_pos:
                for kind, depth, ties in kinds(n):
                    yield place(Shape(n, n_pos, depth, ties), kind, share, deviations)


def kinds(n: int) -> Iterator[tuple[str, int, tuple[int, ...] | None]]:
    """Return ties and depths of n items: name, depth and sizes of the blocks."""
    yield "5 levels", n, levels(n, np.linspace(0, 1, 6)[1:-1])
    if n >= 300:
        yield "100 levels", n, levels(n, ndtr(np.linspace(-3, 3, 99)))
        yield "blocks at the top", n, top_blocks(n)
        yield "uneven blocks", n, levels(n, np.random.default_rng(n).random(min(200, n // 50)))
    yield "depth n/10", n // 10, None
    if n > 10**4:
        yield "depth 1,000", 1000, None
        yield "depth n/10, 5 levels", n // 10, levels(n // 10, np.linspace(0, 1, 6)[1:-1])


def few_hits(*, quick: bool) -> Iterator[Place]:
    """Return lists that hold few positives, and rankings with a large block and few positives.

    Of lists these are values of one hit at three ranks, of large blocks deviations.
    """
    for n, n_pos, depth in FEW_LISTS[:2] if quick else FEW_LISTS:
        ranks = np.array([depth, depth * 2 // 3, depth // 3])
        shape, ap = Shape(n, n_pos, depth), 1 / (ranks * n_pos)
        where = location(shape)
        yield Place(
            shape, "short list", n_pos / n, (n_pos * ap - where.mean) / where.deviation, ap
        )
    for n, n_pos in FEW_IN_BLOCKS[:1] if quick else FEW_IN_BLOCKS:
        for above, size in ((0.1, 0.8), (0.4, 0.4)):
            first, block = round(above * n), round(size * n)
            ties = (*[1] * first, block, *[1] * (n - first - block))
            yield place(Shape(n, n_pos, n, ties), "large block", n_pos / n, FEW_DEVIATIONS)


def levels(n: int, cuts: Floats) -> tuple[int, ...]:
    """Return the sizes of blocks that end at shares of the items."""
    ends = np.unique(np.append(np.rint(n * cuts), [0, n]).astype(np.int64))
    return tuple(np.diff(ends).tolist())


def top_blocks(n: int) -> tuple[int, ...]:
    """Return three large blocks at the top; below them items of their own, or small blocks."""
    block = n // 50
    rest = n - 3 * block
    small = [1] * rest if n <= _MOST_BLOCKS else list(levels(rest, np.linspace(0, 1, 501)[1:-1]))
    return (block, block, block, *small)


def place(shape: Shape, kind: str, share: float, deviations: tuple[float, ...]) -> Place:
    """Return a ranking, with the values of AP at deviations from the mean as far as there are any.

    The first value beyond AP = 1 becomes 1.
    """
    where = location(shape)
    z = np.array(deviations, dtype=np.float64)
    ap = (where.mean + z * where.deviation) / shape.n_pos
    inside = (ap > 0) & (ap < 1)
    full = shape.ties is None and shape.depth >= shape.n_pos
    if full and not inside[-1] and where.deviation:
        first = int(np.flatnonzero(ap >= 1)[0])
        inside[first], ap[first] = True, 1.0
        z[first] = (shape.n_pos - where.mean) / where.deviation
    return Place(shape, kind, share, z[inside], ap[inside])
