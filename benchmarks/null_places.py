"""What the study of the null of AP asks: sizes, shares, ties and depths, values, and sets of queries."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from benchmarks.null_reference import Queries, location
from benchmarks.null_steps import Floats, Shape
from prframe.stats import APNull

SIZES = (10, 30, 100, 300, 1000, 3000, 10**4, 3 * 10**4, 5 * 10**4, 10**5, 2 * 10**5)
SIZES += (10**6, 3 * 10**6, 10**7, 2 * 10**7)
SHARES = (1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9)
DEVIATIONS = (-3, -2, -1, 0, 0.27, 0.63, 0.9, 1, 1.5, 2, 2.3, 3, 4, 6, 10, 20, 40)
TIED_SIZES = (300, 3000, 5 * 10**4, 10**7)
TIED_SHARES = (0.01, 0.1, 0.5)
TIED_DEVIATIONS = (-1, 0, 0.9, 2, 4, 10, 40)
FEW_LISTS = ((1449, 4, 69), (5000, 5, 200), (10**5, 10, 100), (10**5, 60, 300))
FEW_LISTS += ((10**6, 30, 1000), (10**6, 500, 1000))
FEW_IN_BLOCKS = ((300, 5), (1500, 8), (5000, 12), (5000, 40))
FEW_DEVIATIONS = (-1, -0.5, 0, 0.3, 0.9, 2)
LOWER_SIZES = (100, 1000, 10**4, 10**5, 10**6, 10**7)
# Values lie at these shares of the way from the least value of AP to its mean.
WAY = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


class Place(NamedTuple):
    """A ranking, how its ties or its depth are called, and the values asked for."""

    shape: Shape
    kind: str
    deviations: Floats
    ap: Floats

    @property
    def name(self) -> str:
        """What the ranking is called in the file of references."""
        return f"{self.shape.n} {self.shape.n_pos} {self.kind}"


def untied() -> Iterator[Place]:
    """Return rankings without ties, each number of positives of a size once."""
    for n in SIZES:
        seen = set()
        for share in SHARES:
            n_pos = max(1, round(n * share))
            if n_pos not in seen:
                seen.add(n_pos)
                yield place(Shape(n, n_pos, n), "no ties", DEVIATIONS)


def tied() -> Iterator[Place]:
    """Return rankings with ties, and rankings retrieved in part."""
    for n in TIED_SIZES:
        for share in TIED_SHARES:
            n_pos = round(n * share)
            if n_pos:
                for kind, depth, ties in kinds(n):
                    yield place(Shape(n, n_pos, depth, ties), kind, TIED_DEVIATIONS)


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


def few_hits() -> Iterator[Place]:
    """Return lists that hold few positives, and rankings with a large block and few positives.

    Of lists these are values of one hit at three ranks, of large blocks deviations.
    """
    for n, n_pos, depth in FEW_LISTS:
        ranks = np.array([depth, depth * 2 // 3, depth // 3])
        shape, ap = Shape(n, n_pos, depth), 1 / (ranks * n_pos)
        where = location(shape)
        yield Place(shape, "short list", (n_pos * ap - where.mean) / where.deviation, ap)
    for n, n_pos in FEW_IN_BLOCKS:
        for above, size in ((0.1, 0.8), (0.4, 0.4)):
            first, block = round(above * n), round(size * n)
            ties = (*[1] * first, block, *[1] * (n - first - block))
            yield place(Shape(n, n_pos, n, ties), "large block", FEW_DEVIATIONS)


def levels(n: int, cuts: Floats) -> tuple[int, ...]:
    """Return the sizes of blocks that end at shares of the items."""
    ends = np.unique(np.append(np.rint(n * cuts), [0, n]).astype(np.int64))
    return tuple(np.diff(ends).tolist())


def top_blocks(n: int) -> tuple[int, ...]:
    """Return three large blocks at the top; below them items of their own, or small blocks."""
    block = n // 50
    rest = n - 3 * block
    small = [1] * rest if n <= 10**4 else list(levels(rest, np.linspace(0, 1, 501)[1:-1]))
    return (block, block, block, *small)


def place(shape: Shape, kind: str, deviations: tuple[float, ...]) -> Place:
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
    return Place(shape, kind, z[inside], ap[inside])


def below() -> Iterator[Place]:
    """Return rankings with values below the mean: without ties, with ties, and cut off."""
    for n in LOWER_SIZES:
        numbers = {round(n * share) for share in SHARES}
        for n_pos in sorted(numbers | {5} if n > 100 else numbers):
            if min(n_pos, n - n_pos) >= 4:
                yield _place_below(Shape(n, n_pos, n), "no ties")
    some = (1000, 10), (1000, 50), (10**4, 100), (10**4, 1000)
    for n, n_pos in some:
        yield _place_below(Shape(n, n_pos, n, (2,) * (n // 2)), "pairs")
        yield _place_below(Shape(n, n_pos, n, (5,) * (n // 5)), "fives")
        yield _place_below(
            Shape(n, n_pos, n, levels(n, np.linspace(0, 1, 101)[1:-1])), "100 levels"
        )
        yield _place_below(Shape(n, n_pos, n - n // 50), "depth .98 n")


def _place_below(shape: Shape, kind: str) -> Place:
    """Return a ranking with the values that are asked for."""
    where = location(shape)
    mean = where.mean / shape.n_pos
    depth = shape.depth if shape.depth < shape.n else None
    least = APNull(shape.n, shape.n_pos, shape.ties, depth=depth).support()[0]
    ap = least + np.array(WAY) * (mean - least)
    deviations = (shape.n_pos * ap - where.mean) / where.deviation
    return Place(shape, f"{kind}, below", deviations, ap)


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
