"""Far upper tails of T = n_pos AP, on a lattice that is tilted and holds no more than matters.

Row h of rank t has the distribution of T_t, the part of T that the first t ranks give, over their
rankings with h positives. A lattice from 0 to the value in question has rows and points that
hardly ever lead there. For a slope s let

    V_t(h; s) = E[exp(s T_t) | h],    N_t(h; s) = P(h) E[exp(s (T - T_t)) | h],

which two walks over the rows give, one down the ranks and one up. For any slopes c < b,

    P(h, T_t <= y, T >= x)  <=  V_t(h; c) N_t(h; b) exp((b - c) y - b x),

and for c > b the right side bounds P(h, T_t >= y, T >= x). Where the least of these bounds is a
negligible share of the tail, points are left out. Weights are multiplied by exp(b T_t) and divided
by V_t(h; b), so that no tail is too small for floats.

Which rows there are, and which terms lead from one to another, `terms` has.
"""

from collections import deque
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.likely_path import most_likely
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.likely_tails import likely_log_tails
from prframe.stats.null.average_precision.tails.plain.lattice import (
    LatticeTails,
    combined_tails,
    logs,
)
from prframe.stats.null.average_precision.tails.plain.plans import split_growth
from prframe.stats.null.average_precision.tails.plain.walk import nearby
from prframe.stats.null.average_precision.tails.tilted.terms import (
    HUGE,
    Levels,
    Terms,
    levels_at,
    likely_terms,
    terms_above,
)
from prframe.typing import Floats, Integers

# Each of the first ranks, this many, is a step of its own; further ones take this share of the
# rank, or the second share with more than so many positives, whose terms would be too many.
_DENSE, _GROWTH, _VERY_MANY, _GROWTH_OF_VERY_MANY = 96, 0.07, 2000, 0.1
# Values share walks if they are in one range of T. The tail falls by about this much, in natural
# logarithms, within a range.
_RANGE = 8.0
# Of so many ranges the walks are kept, which take some 30 MB each with 1,000 positives.
_KEPT = 4
# What is left out changes the natural logarithm of a tail by less than this power of e, about.
_NEGLIGIBLE = -11.0
# There is no answer where the logarithm of a tail is not at least this far above that of what was
# left out, as the rough tail beforehand was too large.
_CLEAR = 9.0
# Slopes whose bounds are compared, as multiples of that of the path.
_SLOPES = np.array([0.0, 0.5, 0.8, 0.92, 1.0, 1.08, 1.2, 1.5])
_OWN = 4
# The least and the largest number of points by which the tail falls by a factor of e. Where points
# are too far apart there are twice as many, and so on. With more than so many positives tails are
# smooth, and the second numbers are taken.
_POINTS, _MANY, _POINTS_OF_MANY = (32.0, 512.0), 500, (16.0, 128.0)
# Values share those with more points than the first one if they are in one part of a range, which
# has so many.
_PARTS = 4
# The lattice ends where tilted weights no longer count, this many powers of e beyond the values.
_END = 30.0
# It begins this many points below them.
_BELOW = 64
# So many numbers are added at a time. Beyond 10,000 BLAS libraries start threads for this, which
# wait for each other for most of the time where other processes are busy.
_AT_ONCE = 8192


class _Window(NamedTuple):
    """The first points and the numbers of points of the rows at the end of each step."""

    first: list[Integers]
    number: list[Integers]


class _Survival(NamedTuple):
    """The logarithm of P(T >= y) at points y, from the first one on, `cell` apart."""

    first: int
    cell: float
    log_tail: Floats

    def at(self, y: Floats) -> Floats:
        """Return the logarithms of P(T >= y)."""
        place = np.arange(self.first, self.first + self.log_tail.size)
        return np.asarray(np.interp(y / self.cell, place, self.log_tail))


class TiltedLattice:
    """The upper tails of a case, whose walks are kept for further values.

    Parameters
    ----------
    items : Items
    n_pos : int
    mean : float
        Of T.
    """

    def __init__(self, items: Items, n_pos: int, mean: float) -> None:
        self._items, self._n_pos, self._mean = items, n_pos, mean
        # About the slope of the logarithm of a tail, as hits one rank after the other cost this.
        slope = np.log(items.n / n_pos)
        self._width = float(2.0 ** np.floor(np.log2(_RANGE / slope)))
        self._ranges: dict[int, _Range | None] = {}

    def tails(self, x: Floats, *, is_rough: bool = False) -> LatticeTails:
        """Return the tails of values of T, NaN where there is no answer.

        They do not depend on the other values. Rough ones are from the first lattice alone.
        """
        columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
        ranges = np.floor(x / self._width).astype(np.int64)
        for place in np.unique(ranges).tolist():
            if place not in self._ranges:
                self._ranges[place] = self._range(place * self._width)
                if len(self._ranges) > _KEPT:
                    del self._ranges[next(iter(self._ranges))]
            own, chosen = self._ranges[place], np.flatnonzero(ranges == place)
            if own is not None:
                columns[:, chosen], lumpy[chosen] = own.tails(x[chosen], is_rough=is_rough)
        reached, missed, slope = columns
        return LatticeTails(reached, missed, slope, lumpy)

    def _range(self, low: float) -> "_Range | None":
        """Return the range of values that begins at one; None where no path leads there."""
        growth = _GROWTH if self._n_pos <= _VERY_MANY else _GROWTH_OF_VERY_MANY
        steps = self._items.table(_DENSE, growth)
        lanes = Lanes.of([steps], [self._n_pos])
        path = most_likely(lanes, np.array([low]))
        if low <= self._mean or path.slope[0] <= 0:
            return None
        rough = float(likely_log_tails([self._items], [self._n_pos], np.array([low]))[0])
        slope = float(path.slope[0])
        if not np.isfinite(rough):
            return None
        least = rough - slope * self._width + _NEGLIGIBLE
        terms = likely_terms(steps, lanes, path, (low, least))
        if terms is None:
            return None
        points = _POINTS_OF_MANY if self._n_pos > _MANY else _POINTS
        slopes = slope * _SLOPES
        gains = [step.gain(slopes) for step in terms]
        levels = levels_at(terms, slopes, gains)
        if not np.isfinite(levels.down[-1][_OWN, 0]):
            return None
        kept = terms_above(terms, levels, (low, least), gains)
        return _Range(kept, levels, (low, low + self._width), least, points)


class _Range:
    """The tails of values in a range, given the terms of the steps that lead there.

    Parts of the tail whose logarithm is below `least` are left out. `points` are the numbers of
    points of the first lattice and of the last one that are tried.
    """

    def __init__(
        self,
        terms: Sequence[Terms],
        levels: Levels,
        ends: tuple[float, float],
        least: float,
        points: tuple[float, float],
    ) -> None:
        self._levels, self._slope, self._points = levels, float(levels.slopes[_OWN]), points
        self._ends, self._least = ends, least
        self._terms = terms
        self._low, self._high = _limits(levels, ends[0], least)
        self._survivals: dict[float, _Survival] = {}
        self._parts: dict[int, _Range] = {}

    def tails(self, x: Floats, *, is_rough: bool) -> tuple[Floats, NDArray[np.bool_]]:
        """Return both tails of values and the slopes, and whether lattices are too coarse."""
        cell = self._cell(self._points[0])
        columns, lumpy = self._compared(x, self._survival(cell), self._survival(2 * cell))
        if is_rough:
            return columns, lumpy
        width = (self._ends[1] - self._ends[0]) / _PARTS
        parts = np.floor((x - self._ends[0]) / width).astype(np.int64)
        for place in np.unique(parts[lumpy]).tolist():
            chosen = np.flatnonzero(lumpy & (parts == place))
            columns[:, chosen], lumpy[chosen] = self._part(place).closer(x[chosen])
        return columns, lumpy

    def closer(self, x: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return what `tails` does, from lattices with more points than the first one."""
        columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
        points = 2 * self._points[0]
        while points <= self._points[1] and lumpy.any():
            cell, open_ = self._cell(points), np.flatnonzero(lumpy)
            pair = self._survival(cell), self._survival(2 * cell)
            columns[:, open_], lumpy[open_] = self._compared(x[open_], *pair)
            points *= 2
        return columns, lumpy

    def _part(self, place: int) -> "_Range":
        """Return a part of the range, with the walk of the first lattice."""
        if place not in self._parts:
            low, high = self._ends
            ends = (low + (high - low) * share / _PARTS for share in (place, place + 1))
            first, last = ends
            cell = self._cell(self._points[0])
            least = float(self._survival(cell).at(np.array([last]))[0]) + _NEGLIGIBLE
            gains = [step.gain(self._levels.slopes) for step in self._terms]
            terms = terms_above(self._terms, self._levels, (first, least), gains)
            own = _Range(terms, self._levels, (first, last), least, self._points)
            own._survivals[cell] = self._survival(cell)
            self._parts[place] = own
        return self._parts[place]

    def _cell(self, points: float) -> float:
        """Return how far points are apart, so many of which the tail takes to fall by e."""
        return float(2.0 ** np.floor(-np.log2(points * self._slope)))

    def _compared(
        self, x: Floats, fine: "_Survival", coarse: "_Survival"
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return both tails of values and the slopes, and whether two lattices are too coarse."""
        at = x + nearby(fine.cell)[:, None]
        both = _both(fine.at(at)), _both(coarse.at(at))
        return combined_tails(*both, fine.cell, self._least + _CLEAR)

    def _survival(self, cell: float) -> _Survival:
        """Return the tails from a walk, which is made only once."""
        if cell not in self._survivals:
            self._survivals[cell] = self._walked(cell)
        return self._survivals[cell]

    def _walked(self, cell: float) -> _Survival:
        """Walk down the ranks on a lattice."""
        first, number = self._window(cell)
        down = [levels[_OWN] for levels in self._levels.down]
        weight, begin = np.ones(1), np.zeros(1, np.int64)
        for place, terms in enumerate(self._terms):
            begin_after = np.cumsum(number[place + 1]) - number[place + 1]
            after = np.zeros(int(number[place + 1].sum()))
            again, growth, share = split_growth(
                terms.growth, terms.spread, np.ones(terms.row.size), cell
            )
            row, above = np.tile(terms.row[again], 2), np.tile(terms.above[again], 2)
            above_row, end_row = down[place], down[place + 1]
            # Rows that nothing leads to have no weight to share.
            end_row = np.where(np.isfinite(end_row), end_row, HUGE)
            log_share = terms.log_chance[again] + self._slope * growth
            log_share += above_row[terms.above[again]] - end_row[terms.row[again]]
            share *= np.exp(log_share)
            part, whole = np.modf(growth / cell)
            move = whole.astype(np.int64)
            move, share = np.append(move, move + 1), np.append((1 - part) * share, part * share)
            low = np.maximum(first[place][above], first[place + 1][row] - move)
            high = np.minimum(
                first[place][above] + number[place][above],
                first[place + 1][row] + number[place + 1][row] - move,
            )
            source = begin[above] + low - first[place][above]
            target = begin_after[row] + low + move - first[place + 1][row]
            inside = np.flatnonzero((high > low) & (share > 0))
            _add(weight, after, (high - low, share, source, target), inside)
            weight, begin = after, begin_after
        start = int(first[-1][0])
        total = (start + np.arange(weight.size)) * cell
        untilted = weight * np.exp(-self._slope * (total - self._ends[0]))
        # A point stands for all values that are nearer to it than to its neighbours.
        beyond = np.cumsum(untilted[::-1])[::-1] - untilted / 2
        log_tail = logs(beyond) + down[-1][0] - self._slope * self._ends[0]
        return _Survival(start, cell, log_tail)

    def _window(self, cell: float) -> _Window:
        """Return the points of each row."""
        first = [np.floor(low / cell).astype(np.int64) for low in self._low]
        number = [
            np.where(high >= low, np.ceil(high / cell) - begin + 2, 0).astype(np.int64)
            for low, high, begin in zip(self._low, self._high, first, strict=True)
        ]
        first[0][:], number[0][:] = 0, 1
        low, high = self._ends
        start = int(np.floor(low / cell)) - _BELOW
        end = int(np.ceil((high + _END / self._slope) / cell))
        first[-1][:], number[-1][:] = start, end - start
        return _Window(first, number)


def _add(weight: Floats, after: Floats, columns: Sequence[NDArray[Any]], chosen: Integers) -> None:
    """Add pieces of rows times their shares to other rows."""
    count, share, source, target = (column[chosen] for column in columns)
    parts = -(-count // _AT_ONCE)
    piece = np.repeat(np.arange(count.size), parts)
    done = _AT_ONCE * (np.arange(piece.size) - np.repeat(np.cumsum(parts) - parts, parts))
    size = np.minimum(count[piece] - done, _AT_ONCE).tolist()
    begin, end = ((place[piece] + done).tolist() for place in (source, target))
    # No loop of Python's own is as quick.
    every = repeat(weight), repeat(after), size, share[piece].tolist(), begin, repeat(1), end
    deque(map(daxpy, *every, repeat(1)), maxlen=0)


def _both(log_tail: Floats) -> Floats:
    """Return the logarithms of tails and of their complements, of shape (n_offsets, 2, n)."""
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(log_tail, 0.0)))
    return np.stack([log_tail, rest], axis=1)


def _limits(levels: Levels, x: float, least: float) -> tuple[list[Floats], list[Floats]]:
    """Return between which T the rows above the first step and at the end of each step count."""
    slopes = levels.slopes
    steeper = slopes[:, None] - slopes
    low, high = [], []
    for down, up in zip(levels.down, levels.up, strict=True):
        with np.errstate(invalid="ignore", divide="ignore"):
            # The first axis is that of b, the second one that of c.
            log_bound = up[:, None] + down - (slopes * x)[:, None, None]
            y = (least - log_bound) / steeper[..., None]
        y = np.where(np.isfinite(y), y, np.nan)
        is_gone = ~np.isfinite(down[_OWN] + up[_OWN])
        lowest = np.nanmax(np.where((steeper > 0)[..., None], y, 0.0), axis=(0, 1))
        highest = np.nanmin(np.where((steeper < 0)[..., None], y, HUGE), axis=(0, 1))
        low.append(np.where(is_gone, 0.0, lowest))
        high.append(np.where(is_gone | (highest >= HUGE), -1.0, highest))
    return low, high
