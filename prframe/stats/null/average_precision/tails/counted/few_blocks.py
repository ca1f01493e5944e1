"""Exact tails of T = n_pos AP where positives spread over tie blocks in few ways.

The ways are listed but for the last two blocks, which hold the r positives that are left. With h
hits above both and j of the r in the first of them,

    T  =  G + j (h + j) / e + (r - j) n_pos / e',

where G is gained above, and e and e' are the ends of both blocks; what is not retrieved is a last
block that adds nothing. This is convex in j, so that T is below a value for j between two numbers,
and j has a hypergeometric distribution given r. There are as many ways as there are without two of
the blocks: with four blocks the square of n_pos, not its cube.
"""

from math import log

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.plain.plans import ranges
from prframe.stats.null.average_precision.tails.tail import Tail, log_rest
from prframe.typing import Flags, Floats, Integers

# At most so many ways are listed, times the number of blocks, and so many numbers of positives of
# the last two blocks have tables, which take some tenths of a second.
_MOST_WAYS, _MOST_ENTRIES = 1 << 20, 1 << 22
# Roots of the convex function are rounded, and are at most so many numbers away.
_NEXT = 2


class FewBlocks:
    """The tails of T of a group with tie blocks.

    Parameters
    ----------
    items : Items
        Of two blocks at least, one of which may hold what is not retrieved.
    n_pos : int
    """

    def __init__(self, items: Items, n_pos: int) -> None:
        ends, shares = _blocks(items)
        self._n_pos, self._shares = n_pos, shares[-2:]
        sizes = np.diff(ends, prepend=0)
        self._hits, self._gained, log_ways = _listed(ends[:-2], (items.n, n_pos))
        self._left = n_pos - self._hits
        both = sizes[-2:].sum()
        self._log_chance = log_ways + log_binomial(float(both), self._left)
        self._log_chance -= log_binomial(items.n, n_pos)
        self._table = _Table(sizes[-2:], self._left)

    @staticmethod
    def serve(items: Items, n_pos: int) -> bool:
        """Whether a group has few ways, and two blocks at least."""
        ends, _ = _blocks(items)
        few = min(n_pos, items.n - n_pos)
        if not items.is_tied or ends.size < 2:  # noqa: PLR2004 - the last two blocks
            return False
        listed = log_states(ends[:-2], few, all_are_retrieved=False)
        if listed + log(ends.size) > log(_MOST_WAYS):
            return False
        sizes = np.minimum(np.diff(ends, prepend=0), few)
        above, below = int(sizes[:-2].sum()), sizes[-2:]
        rows = min(above, few) + 1
        return bool(rows * (min(int(below.min()), few) + 1) <= _MOST_ENTRIES)

    def tail(self, target: float) -> Tail:
        """Return the logarithms of P(T >= target) and P(T < target)."""
        low, high = self._table.ends
        last, first = self._good(target, low, high)
        good, bad = self._table.log_chances(last, first)
        reached, missed = (
            min(float(np.logaddexp.reduce(self._log_chance + logs)), 0.0) for logs in (good, bad)
        )
        # The larger one is the rest of the other, which has more digits.
        if reached > missed:
            return Tail(log_rest(missed), missed, "exact")
        return Tail(reached, log_rest(reached), "exact")

    def _good(self, target: float, low: Integers, high: Integers) -> tuple[Integers, Integers]:
        """Return the last j from below, and the first one beyond it, with which T is reached.

        The former is low - 1 if there is none, and the latter high + 1; where T is reached by all
        of them they follow each other.
        """
        first_share, second_share = self._shares
        slope = (first_share * self._hits - second_share * self._n_pos) / (2 * first_share)
        lack = target - self._gained - self._left * (self._n_pos * second_share)
        square = slope**2 + lack / first_share
        root, middle = np.sqrt(np.maximum(square, 0.0)), np.floor(-slope)
        last = np.minimum(np.floor(-slope - root) + _NEXT, middle)
        first = np.maximum(np.ceil(-slope + root) - _NEXT, middle + 1)
        last = np.clip(last, low - 1, high).astype(np.int64)
        first = np.clip(first, low, high + 1).astype(np.int64)
        for _ in range(2 * _NEXT):
            last -= (last >= low) & ~self._is_reached(target, last)
            first += (first <= high) & ~self._is_reached(target, first)
        first = np.where(first <= last, last + 1, first)
        return last, first

    def _is_reached(self, target: float, j: Integers) -> Flags:
        """Whether T is reached with so many positives in the last block but one."""
        first, second = self._shares
        total = self._gained + j * ((self._hits + j) * first)
        return np.asarray(total + (self._left - j) * (self._n_pos * second) >= target)


class _Table:
    """Chances of how many of the positives of two blocks are in the first of them.

    Parameters
    ----------
    sizes : ndarray of int, shape (2,)
        Of the blocks.
    left : ndarray of int, shape (ways,)
        How many positives there are in both.
    """

    def __init__(self, sizes: Integers, left: Integers) -> None:
        first, second = (int(size) for size in sizes)
        number, self._row = np.unique(left, return_inverse=True)
        least, most = np.maximum(number - second, 0), np.minimum(number, first)
        self.ends = least[self._row], most[self._row]
        row, place = ranges(most - least + 1)
        j = least[row] + place
        log_chance = log_binomial(float(first), j) + log_binomial(float(second), number[row] - j)
        log_chance -= log_binomial(float(first + second), number)[row]
        width = int((most - least).max()) + 1
        table = np.full((number.size, width), -np.inf)
        table[row, place] = log_chance
        self._mode = np.argmax(table, axis=1)[self._row]
        nothing = np.full((number.size, 1), -np.inf)
        up_to = np.logaddexp.accumulate(table, axis=1)
        onwards = np.logaddexp.accumulate(table[:, ::-1], axis=1)[:, ::-1]
        # Entry k has the sum of the first k numbers, or of all from the k-th one on.
        self._below = np.concatenate([nothing, up_to], axis=1)
        self._from = np.concatenate([onwards, nothing], axis=1)

    def log_chances(self, last: Integers, first: Integers) -> tuple[Floats, Floats]:
        """Return the logarithms of the chances of numbers up to one or from another on, and rest.

        The numbers are given for each way.
        """
        begin, end = last + 1 - self.ends[0], first - self.ends[0]
        below, beyond = self._below[self._row, begin], self._from[self._row, end]
        is_low = (begin + end) / 2 <= self._mode
        larger = np.where(is_low, self._below[self._row, end], self._from[self._row, begin])
        smaller = np.where(is_low, below, beyond)
        with np.errstate(invalid="ignore", divide="ignore"):
            between = larger + np.log(-np.expm1(np.minimum(smaller - larger, 0.0)))
        between = np.where((begin == end) | np.isneginf(larger), -np.inf, between)
        return np.logaddexp(below, beyond), between


def log_states(ends: Integers, number: int, *, all_are_retrieved: bool) -> float:
    """Return the logarithm of how many ways there are to spread items over tie blocks.

    Those that are not retrieved are one more block, whose number follows from the others.
    """
    sizes = np.diff(ends, prepend=0)
    apart = float(np.log(np.minimum(sizes, number) + 1.0).sum())
    blocks = float(sizes.size + (not all_are_retrieved))
    return min(apart, float(log_binomial(number + blocks - 1, blocks - 1)))


def _blocks(items: Items) -> tuple[Integers, Floats]:
    """Return the ends of all blocks, and 1 over those that are retrieved."""
    ends = np.asarray(items.ends, dtype=np.int64)
    share = 1 / ends
    if items.depth == items.n:
        return ends, share
    return np.append(ends, items.n), np.append(share, 0.0)


def _listed(ends: Integers, group: tuple[int, int]) -> tuple[Integers, Floats, Floats]:
    """Return hits, what they add to T and the logarithms of their ways, down to the last block."""
    n, n_pos = group
    hits, gained, log_ways = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    for end, size in zip(ends.tolist(), np.diff(ends, prepend=0).tolist(), strict=True):
        least = np.maximum(n_pos - (n - end) - hits, 0)
        row, more = ranges(np.minimum(size, n_pos - hits) - least + 1)
        more = more + least[row]
        hits = hits[row] + more
        gained = gained[row] + more * (hits / end)
        log_ways = log_ways[row] + log_binomial(float(size), more)
    return hits, gained, log_ways
