"""Tails of T = n_pos AP where two or three of very many items are negative, without ties.

With negatives at the ranks q_1 < q_2 < ..., of which those down to a depth d count,

    T  =  d - sum over k of  (1 + H_d - H_{q_k} - (k - 1) / q_k),

H_t being the sum of 1/1, 1/2, ..., 1/t (see `counting`). The chances of how many are down to d are
known. The last rank is found for every choice of cells of the others: the first ranks and the last
are cells of their own, and further ones take a share of their distance from the nearer end, over
which the terms hardly change.
"""

from math import comb, log

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.counted.counting import bad_ranks, harmonic
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats

# With two negatives, or three, among at most so many items every rank is counted instead.
_COUNTED = {2: 1 << 18, 3: 11_585}
# So many of the ranks at each end are cells, and further cells take this share of their distance.
_DENSE, _GROWTH = 256, {2: 0.005, 3: 0.02}
# So many choices of two cells are treated at a time.
_AT_ONCE = 1 << 20


def few_negatives_tail(items: Items, n_pos: int, target: float) -> Tail | None:
    """Return the tails of a value of T; None where there are other numbers of these."""
    few, depth = items.n - n_pos, items.depth
    if items.is_tied or few not in _COUNTED or items.n <= _COUNTED[few]:
        return None
    lack = target - depth
    good, bad = 0.0, 0.0
    for inside in range(min(few, depth) + 1):
        ways = float(comb(items.n - depth, few - inside))
        if ways:
            enough, short = _COUNTS[inside](depth, lack)
            good, bad = good + ways * enough, bad + ways * short
    reached, missed = (log(part / (good + bad)) if part else -np.inf for part in (good, bad))
    return Tail(reached, missed, "lattice")


def _of_none(depth: int, lack: float) -> tuple[float, float]:  # noqa: ARG001 - as the others
    """Return whether a list without negatives is good, and whether it is not."""
    return float(lack <= 0), float(lack > 0)


def _of_one(depth: int, lack: float) -> tuple[float, float]:
    """Return how many ranks of one negative are good, and how many are not."""
    short = bad_ranks(depth, lack)
    return float(depth - short), float(short)


def _of_two(depth: int, lack: float) -> tuple[float, float]:
    """Return how many pairs of ranks are good, and how many are not."""
    edges = _edges(depth, _GROWTH[2])
    size, middle = np.diff(edges), (edges[:-1] + edges[1:] + 1) / 2
    good, bad = _last(edges, middle, 2, lack - _term(middle, depth, 1))
    return float(size @ good), float(size @ bad)


def _of_three(depth: int, lack: float) -> tuple[float, float]:
    """Return how many choices of three ranks are good, and how many are not."""
    edges = _edges(depth, _GROWTH[3])
    size, middle = np.diff(edges), (edges[:-1] + edges[1:] + 1) / 2
    first, second = (_term(middle, depth, k) for k in (1, 2))
    total = np.zeros(2)
    at_once = max(1, _AT_ONCE // size.size)
    for begin in range(0, size.size, at_once):
        row, column = np.triu_indices(min(at_once, size.size - begin), begin, size.size)
        row += begin
        same = row == column
        ways = np.where(same, size[row] * (size[row] - 1) / 2, size[row] * size[column])
        # The lower of two ranks in a cell is two thirds of the way down, in the mean.
        above = np.where(same, middle[row] + (size[row] + 1) / 6, middle[column])
        counts = _last(edges, above, 3, lack - first[row] - second[column])
        total += [ways @ count for count in counts]
    return float(total[0]), float(total[1])


_COUNTS = (_of_none, _of_one, _of_two, _of_three)


def _last(edges: Floats, above: Floats, k: int, lack: Floats) -> tuple[Floats, Floats]:
    """Return how many ranks below others have a k-th term of `lack` or more, and how many less."""
    depth, ends = edges[-1], edges[k:]
    term = _term(ends, depth, k)
    # The first end at which the term suffices, and the one before it.
    place = np.searchsorted(term, lack, side="left")
    high = np.clip(place, 1, term.size - 1)
    low = high - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        # A single end has nothing before it, and is a whole rank.
        share = np.clip((lack - term[low]) / (term[high] - term[low]), 0.0, 1.0)
    # The first rank that suffices is half a rank further on in the mean, and falls short no more.
    short = ends[low] + np.maximum(share * (ends[high] - ends[low]) - 0.5, 0.0)
    short = np.where(ends[high] - ends[low] <= 1, ends[low], short)
    short = np.where(place == 0, 0.0, np.where(place == term.size, depth, short))
    good = depth - np.clip(short, above, depth)
    return good, depth - above - good


def _edges(depth: int, growth: float) -> Floats:
    """Return the ends of cells of ranks."""
    half = depth // 2
    dense = np.arange(min(_DENSE, half) + 1, dtype=np.float64)
    number = int(log(max(half / _DENSE, 1.0)) / growth) + 1
    away = np.append(dense, np.rint(np.geomspace(max(dense[-1], 1.0), max(half, 1), number)))
    return np.unique(np.clip([*away, *(depth - away)], 0, depth))


def _term(rank: Floats, depth: float, k: int) -> Floats:
    """Return what the k-th negative at a rank adds to T - d."""
    return harmonic(rank) - 1 - harmonic(depth) + (k - 1) / rank
