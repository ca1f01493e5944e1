"""Tails of T = n_pos AP of lists that positives nearly fill, by what they lack.

If no more items are retrieved than there are positives, or few items are negative, T is at most
the number D of the former, and lacks at least 1 for each negative among them. A walk down the
ranks with a row for each number of negatives v, from 0 to what may be lacking, has few rows where
T is close to D, and a lattice of what is lacking beyond v has points close to each other there,
where one of T has not. With h positives above the m items of a step, j of them positive, the step
lacks j less what it adds to T. As on other lattices (`plain`), row v of rank t has the
distribution over all lists of t items with v negatives.
"""

from collections import deque
from functools import cached_property
from itertools import repeat
from math import ceil, floor, inf, log

import numpy as np
from scipy.linalg.blas import daxpy

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Steps,
    log_binomial,
    log_hypergeometric,
)
from prframe.stats.null.average_precision.tails.plain.lattice import LatticeTails, combined_tails
from prframe.stats.null.average_precision.tails.plain.plans import ranges
from prframe.stats.null.average_precision.tails.plain.walk import nearby
from prframe.typing import Floats, Integers

# The numbers of points between 0 and the end of a lattice. The later ones are tried where the ones
# before are too coarse.
_POINTS = 2048, 8192
# T lacks at most this share of the largest value. Where it lacks more other methods are better.
_LACKING = 0.45
# A lattice ends at the next power of this beyond what is lacking, and so many points further on.
_BASE, _BEYOND = 1.25, 64
# Up to so many negatives are few.
_FEW = 16
# The chance that T is less is 1 less the other one, which would have few digits if its logarithm
# were below this.
_LEAST_MISSED = -14.0
# Lists with up to so many negatives, of up to so many items, are numbered.
_MANY, _LONG = 1000, 5000
# Logarithms of chances are no less than the first number, and below 0 by the second at least.
_LEAST, _TINY = -1e4, 1e-300


def log_full_lists(items: Items, n_pos: int, target: float) -> float:
    """Return the logarithm of how many lists reach T at most; inf where it is not known.

    Rankings of items that are not retrieved are not told apart.
    """
    if items.depth > min(n_pos, _LONG):
        return inf
    # So many already stand for more lists than anybody counts.
    negatives = np.arange(min(_most_negatives(items, target), _MANY) + 1)
    return float(np.logaddexp.reduce(log_binomial(items.depth, negatives)))


def _most_negatives(items: Items, target: float) -> int:
    """Return how many negatives may be retrieved where T reaches a target."""
    return min(floor(max(items.depth - target, 0.0) + EQUAL * items.depth), items.depth)


class FullLists:
    """The upper tails of T of a case, whose lattices are kept for further values.

    Parameters
    ----------
    items : Items
    n_pos : int
    """

    def __init__(self, items: Items, n_pos: int) -> None:
        self._items, self._n_pos = items, n_pos
        self._known: dict[tuple[float, int], Floats] = {}

    @cached_property
    def _steps(self) -> Steps:
        """The steps, each of one rank or tie block."""
        items = self._items
        ends = np.arange(items.depth) + 1 if items.ends is None else items.ends
        return items.between(np.append(0, ends[:-1]), ends)

    def tails(self, target: float, most_rows: int) -> LatticeTails | None:
        """Return the tails of a value of T; None where a walk to it has more rows.

        The rows of all steps count, those of a lattice with so many times as many points as the
        first one so many times.
        """
        lack = self._items.depth - target
        is_filled = self._items.depth <= self._n_pos or self._n_neg <= _FEW
        beyond = lack - self._fewest
        if not is_filled or beyond <= 0 or lack >= _LACKING * self._items.depth:
            return None
        top = _BASE ** ceil(log(beyond) / log(_BASE))
        steps = self._items.depth if self._items.ends is None else self._items.ends.size
        rows = self._negatives(top).size * steps
        tails = None
        for points in _POINTS:
            if rows * points > most_rows * _POINTS[0]:
                break
            cell = top / points
            fine, coarse = (self._pairs(top, few, target, cell) for few in (points, points // 2))
            (reached, missed, slope), lumpy = combined_tails(fine, coarse, cell, -inf)
            if missed[0] < _LEAST_MISSED:
                return None
            tails = LatticeTails(reached, missed, slope, lumpy)
            if not lumpy[0]:
                break
        return tails

    @property
    def _n_neg(self) -> int:
        """The number of negatives."""
        return self._items.n - self._n_pos

    @property
    def _fewest(self) -> int:
        """The least number of negatives that are retrieved."""
        return max(0, self._items.depth - self._n_pos)

    def _negatives(self, top: float) -> Integers:
        """Return the numbers of negatives, from 0, for a lattice that ends there."""
        return np.arange(min(floor(top) + self._fewest, self._n_neg) + 1)

    def _pairs(self, top: float, points: int, target: float, cell: float) -> Floats:
        """Return the logarithms of P(T >= y) and P(T < y) where `nearby` has it for a cell."""
        if (top, points) not in self._known:
            self._known[top, points] = self._log_chances(top, points)
        known = self._known[top, points]
        lack = self._items.depth - target - nearby(cell)
        rows = [
            np.interp((lack - v) * points / top, np.arange(row.size), row, left=_LEAST)
            for v, row in enumerate(known)
        ]
        with np.errstate(divide="ignore"):
            log_reached = np.logaddexp.reduce(rows + self._log_shares(len(known)), axis=0)
            log_missed = np.log(-np.expm1(np.minimum(log_reached, -_TINY)))
        return np.stack([log_reached, log_missed], axis=1)[:, :, None]

    def _log_shares(self, number: int) -> Floats:
        """Return the logarithms of the chances of 0, 1, ... negatives, shape (number, 1)."""
        n, depth = self._items.n, self._items.depth
        hits = depth - np.arange(number)
        return log_hypergeometric(n, self._n_pos, depth, hits)[:, None]

    def _log_chances(self, top: float, points: int) -> Floats:
        """Return the logarithms of the chances, given v, that a list lacks at most v and a point.

        There is a row for each number v of negatives.
        """
        cell, number = top / points, self._negatives(top).size
        weight = np.zeros((number, points + _BEYOND))
        weight[0, 0] = 1.0
        for place in range(self._steps.size.size):
            weight = _moved(weight, self._steps.at(place), cell)
        # A point stands for all values that are nearer to it than to its neighbours.
        with np.errstate(divide="ignore"):
            logs = np.log(np.cumsum(weight, axis=1) - weight / 2)
        return np.asarray(np.maximum(logs, _LEAST), dtype=np.float64)


def _moved(weight: Floats, step: Steps, cell: float) -> Floats:
    """Return the distributions below a step, from those above it."""
    rows, width = weight.shape
    above, size = int(step.above[0]), int(step.size[0])
    below = np.arange(min(rows - 1, above + size) + 1)
    fewest = np.maximum(below - above, 0)
    row, more = ranges(np.minimum(size, below) - fewest + 1)
    inside = fewest[row] + more
    negatives = below[row] - inside
    log_chance = log_binomial(size, inside) + log_binomial(above, negatives)
    chance = np.exp(log_chance - log_binomial(above + size, below[row]))
    hits, positives = above - negatives, size - inside
    growth = step.growth(0, hits, positives)
    part, whole = np.modf(np.maximum(positives - growth, 0.0) / cell)
    shift = np.append(whole, whole + 1).astype(np.int64)
    share = np.append((1 - part) * chance, part * chance)
    kept = np.flatnonzero((shift < width) & (share > 0))
    shift, share = shift[kept], share[kept]
    source = np.tile(negatives * width, 2)[kept]
    target = np.tile(below[row] * width, 2)[kept] + shift
    after = np.zeros_like(weight)
    every = (width - shift).tolist(), share.tolist(), source.tolist(), repeat(1), target.tolist()
    # No loop of Python's own is as quick.
    deque(map(daxpy, repeat(weight.ravel()), repeat(after.ravel()), *every, repeat(1)), maxlen=0)
    return after
