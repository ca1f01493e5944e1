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

Which rows there are follows from the likeliest path to the value (`likely_path`), and is checked:
where the outermost rows are not negligible, more are added.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import daxpy

from prframe.stats.null.average_precision.generating_function.likely_path import (
    Lanes,
    Path,
    most_likely,
)
from prframe.stats.null.average_precision.generating_function.steps import Items, Steps
from prframe.stats.null.average_precision.likely_tails import likely_log_tails
from prframe.stats.null.average_precision.tails.lattice import (
    LatticeTails,
    combined_tails,
)
from prframe.stats.null.average_precision.tails.lattice_plans import split_growth, step_terms
from prframe.stats.null.average_precision.tails.lattice_walk import nearby
from prframe.typing import Floats, Integers

# Each of the first ranks, this many, is a step of its own; further ones take this share of the
# rank.
_DENSE, _GROWTH = 96, 0.05
# Values share walks if they are in one range of T. The tail falls by about this much, in natural
# logarithms, within a range.
_RANGE = 4.0
# Of so many ranges the walks are kept, which take some 30 MB each with 1,000 positives.
_KEPT = 4
# What is left out changes the natural logarithm of a tail by less than this power of e, about.
_NEGLIGIBLE = -14.0
# There is no answer where the logarithm of a tail is not at least this far above that of what was
# left out, as the rough tail beforehand was too large.
_CLEAR = 9.0
# Slopes whose bounds are compared, as multiples of that of the path.
_SLOPES = np.array([0.0, 0.5, 0.8, 0.92, 1.0, 1.08, 1.2, 1.5])
_OWN = 4
# The slopes whose bounds tell which terms count.
_CHECKED = np.array([1.0, 1.15])
# Rows reach this many standard deviations of the hits, and this many hits, beyond the path. Where
# that is not enough they reach this many times as far, and so on, for so many tries.
_WIDE, _MORE, _WIDER, _TRIES = 7.0, 8.0, 1.5, 5
# The numbers of points by which the tail falls by a factor of e. The larger one is tried where the
# smaller one is too coarse.
_POINTS = 32.0, 128.0
# The lattice ends where tilted weights no longer count, this many powers of e beyond the values.
_END = 30.0
# It begins this many points below them.
_BELOW = 64
# At the first ranks, this many, there are rows for every number of hits.
_WHOLE = 400
# A walk has at most so many terms. Where there would be more there is no answer.
_MOST_TERMS = 8e6
# The natural logarithm of a term's chance, given the hits at the end of its step, is above this.
_NEVER = -700.0
# The size of numbers that stand for infinite ones.
_HUGE = 1e300


class _Terms(NamedTuple):
    """The terms of a step, in the order of the rows at its end.

    `row` and `above` are places among the rows at the end of the step, `rows` in number, and among
    those above it.
    """

    rows: int
    row: Integers
    above: Integers
    growth: Floats
    spread: Floats
    log_chance: Floats

    def kept(self, wanted: NDArray[np.bool_]) -> "_Terms":
        """Return some of the terms."""
        return _Terms(
            self.rows,
            self.row[wanted],
            self.above[wanted],
            self.growth[wanted],
            self.spread[wanted],
            self.log_chance[wanted],
        )

    def gain(self, slopes: Floats) -> Floats:
        """Return the logarithms of the chances times E[exp(slope growth)], a row per slope."""
        s = slopes[:, None]
        return np.asarray(self.log_chance + s * self.growth + np.log(np.cosh(s * self.spread)))


class _Window(NamedTuple):
    """The first points and the numbers of points of the rows at the end of each step."""

    first: list[Integers]
    number: list[Integers]


class _Levels(NamedTuple):
    """log V and log N of the rows above the first step and at the end of each, by slope."""

    slopes: Floats
    down: list[Floats]
    up: list[Floats]


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

    def tails(self, x: Floats) -> LatticeTails:
        """Return the tails of values of T, NaN where there is no answer.

        They do not depend on the other values.
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
                columns[:, chosen], lumpy[chosen] = own.tails(x[chosen])
        reached, missed, slope = columns
        return LatticeTails(reached, missed, slope, lumpy)

    def _range(self, low: float) -> "_Range | None":
        """Return the range of values that begins at one; None where no path leads there."""
        steps = self._items.table(_DENSE, _GROWTH)
        lanes = Lanes.of([steps], [self._n_pos])
        path = most_likely(lanes, np.array([low]))
        if low <= self._mean or path.slope[0] <= 0:
            return None
        rough = float(likely_log_tails([self._items], [self._n_pos], np.array([low]))[0])
        slope = float(path.slope[0])
        if not np.isfinite(rough):
            return None
        least = rough - slope * self._width + _NEGLIGIBLE
        terms = _likely_terms(steps, lanes, path, (low, least))
        return None if terms is None else _Range(terms, slope, (low, low + self._width), least)


class _Range:
    """The tails of values in a range, given the terms of the steps that lead there.

    Parts of the tail whose logarithm is below `least` are left out.
    """

    def __init__(
        self, terms: Sequence[_Terms], slope: float, ends: tuple[float, float], least: float
    ) -> None:
        self._terms, self._slope, self._ends, self._least = terms, slope, ends, least
        self._levels = _levels(terms, slope * _SLOPES)
        self._low, self._high = _limits(self._levels, ends[0], least)
        self._survivals: dict[float, _Survival] = {}

    def tails(self, x: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return both tails of values and the slopes, and whether lattices are too coarse."""
        columns, lumpy = np.full((3, x.size), np.nan), np.ones(x.size, np.bool_)
        for points in _POINTS:
            open_ = np.flatnonzero(lumpy)
            cell = float(2.0 ** np.floor(-np.log2(points * self._slope)))
            at = x[open_] + nearby(cell)[:, None]
            fine, coarse = (self._survival(width).at(at) for width in (cell, 2 * cell))
            columns[:, open_], lumpy[open_] = combined_tails(
                _both(fine), _both(coarse), cell, self._least + _CLEAR
            )
            if not lumpy.any():
                break
        return columns, lumpy

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
            end_row = np.where(np.isfinite(end_row), end_row, _HUGE)
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
        with np.errstate(divide="ignore"):
            log_tail = np.log(np.maximum(beyond, 0.0))
        log_tail += down[-1][0] - self._slope * self._ends[0]
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
    add_multiple: Any = daxpy
    pieces = (column[chosen].tolist() for column in columns)
    for count, share, source, target in zip(*pieces, strict=True):
        add_multiple(weight, after, count, share, source, 1, target, 1)


def _both(log_tail: Floats) -> Floats:
    """Return the logarithms of tails and of their complements, of shape (n_offsets, 2, n)."""
    with np.errstate(divide="ignore"):
        rest = np.log(-np.expm1(np.minimum(log_tail, 0.0)))
    return np.stack([log_tail, rest], axis=1)


def _likely_terms(
    steps: Steps, lanes: Lanes, path: Path, value: tuple[float, float]
) -> list[_Terms] | None:
    """Return the terms of the steps that count for a value of T; None where they are too many.

    The value comes with the logarithm of what is negligible.
    """
    x, least = value
    slopes = path.slope[0] * _CHECKED
    for number in range(_TRIES):
        rows = _Rows.about(lanes, path, _WIDER**number)
        terms = rows.terms(steps)
        if terms is None:
            return None
        bounds = _bounds(terms, slopes, x)
        if not rows.are_cut(terms, bounds, least):
            return [step.kept(bound > least) for step, bound in zip(terms, bounds, strict=True)]
    return None


class _Rows(NamedTuple):
    """The hits from which and to which the steps go.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_steps + 1,)
        The least and the most hits above the first step, and at the end of each.
    fewest, most : ndarray of int, shape (n_steps + 1,)
        The least and the most hits that there can be.
    sizes : ndarray of float, shape (n_steps,)
        The ranks of each step.
    middle, rise, reach : ndarray of float, shape (n_steps,)
        Hits h at the end of a step come from those within `reach` of ``middle + rise h`` above it.
    """

    low: Integers
    high: Integers
    fewest: Integers
    most: Integers
    sizes: Floats
    middle: Floats
    rise: Floats
    reach: Floats

    @classmethod
    def about(cls, lanes: Lanes, path: Path, wide: float) -> "_Rows":
        """Return the rows about a path, so many times as wide as they are at first."""
        end = np.append(0, lanes.end[0].astype(np.int64))
        n, n_pos = int(end[-1]), int(lanes.n_pos[0])
        hits, scatter = path.hits[0], np.pad(path.scatter[0], 1)
        fewest, most = np.maximum(0, n_pos - (n - end)), np.minimum(end, n_pos)
        half = np.where(end <= _WHOLE, n_pos, wide * (_WIDE * scatter + _MORE))
        low = np.minimum(np.maximum(np.floor(hits - half), fewest), most).astype(np.int64)
        high = np.maximum(np.minimum(np.ceil(hits + half), most), fewest).astype(np.int64)
        # Under random ranking the hits above a step are those at its end times this.
        size, share = lanes.size[0], 1 - lanes.size[0] / lanes.end[0]
        even = np.clip(hits[1:] / end[1:], 0.0, 1.0)
        given = np.sqrt(end[:-1] * size * even * (1 - even) / end[1:])
        reach = wide * (_WIDE * given + _MORE)
        middle = hits[:-1] - share * hits[1:]
        return cls(low, high, fewest, most, size, middle, share, reach)

    def terms(self, steps: Steps) -> list[_Terms] | None:
        """Return the terms of the steps; None where they are too many."""
        rows = self.high - self.low + 1
        above = np.minimum(np.minimum(rows[:-1], steps.size + 1), 2 * self.reach + 1)
        if (rows[1:] * above).sum() > _MOST_TERMS:
            return None
        return [self._terms(steps.at(place), place) for place in range(steps.size.size)]

    def _terms(self, step: Steps, place: int) -> _Terms:
        """Return the terms of a step."""
        hits = np.arange(self.low[place + 1], self.high[place + 1] + 1)
        middle = self.middle[place] + self.rise[place] * hits
        low = np.maximum(np.floor(middle - self.reach[place]), self.low[place])
        high = np.minimum(np.ceil(middle + self.reach[place]), self.high[place])
        met = low.astype(np.int64), high.astype(np.int64)
        none = np.zeros(hits.size, np.int64)
        terms = step_terms(step, none, hits, met, np.full(hits.size, _NEVER))
        row, above, growth, spread, log_chance = terms
        return _Terms(hits.size, row, above - self.low[place], growth, spread, log_chance)

    def are_cut(self, terms: Sequence[_Terms], bounds: Sequence[Floats], least: float) -> bool:
        """Whether terms at the edges of the rows count, beyond which there might be others."""
        for place, (step, bound) in enumerate(zip(terms, bounds, strict=True)):
            counts = bound > least
            row = step.row[counts] + self.low[place + 1]
            above = step.above[counts] + self.low[place]
            for hits, at in ((row, place + 1), (above, place)):
                is_low = (hits == self.low[at]) & (self.low[at] > self.fewest[at])
                is_high = (hits == self.high[at]) & (self.high[at] < self.most[at])
                if is_low.any() or is_high.any():
                    return True
            off = above - self.middle[place] - self.rise[place] * row
            is_free = np.where(off > 0, row > above, row - above < self.sizes[place])
            if (is_free & (np.abs(off) > self.reach[place] - 1)).any():
                return True
        return False


def _levels(terms: Sequence[_Terms], slopes: Floats) -> _Levels:
    """Return log V and log N at slopes."""
    gains = [step.gain(slopes) for step in terms]
    down, up = [np.zeros((slopes.size, 1))], [np.zeros((slopes.size, 1))]
    for step, gain in zip(terms, gains, strict=True):
        down.append(_log_sums(gain + down[-1][:, step.above], step.row, step.rows))
    rows_above = [1, *(step.rows for step in terms[:-1])]
    for step, gain, rows in zip(terms[::-1], gains[::-1], rows_above[::-1], strict=True):
        order = np.argsort(step.above, kind="stable")
        value = (gain + up[-1][:, step.row])[:, order]
        up.append(_log_sums(value, step.above[order], rows))
    return _Levels(slopes, down, up[::-1])


def _bounds(terms: Sequence[_Terms], slopes: Floats, x: float) -> list[Floats]:
    """Return bounds of what the terms add to P(T >= x), in logarithms."""
    levels = _levels(terms, slopes)
    return [
        (step.gain(slopes) + down[:, step.above] + up[:, step.row] - (slopes * x)[:, None]).min(
            axis=0
        )
        for step, down, up in zip(terms, levels.down[:-1], levels.up[1:], strict=True)
    ]


def _log_sums(log_values: Floats, row: Integers, rows: int) -> Floats:
    """Return the logarithms of the sums of what is in rows, given in their order."""
    sums = np.full((log_values.shape[0], rows), -np.inf)
    if not row.size:
        return sums
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    number = np.diff(np.append(starts, row.size))
    largest = np.maximum(np.maximum.reduceat(log_values, starts, axis=1), -_HUGE)
    total = np.add.reduceat(
        np.exp(log_values - np.repeat(largest, number, axis=1)), starts, axis=1
    )
    with np.errstate(divide="ignore"):
        sums[:, row[starts]] = largest + np.log(total)
    return sums


def _limits(levels: _Levels, x: float, least: float) -> tuple[list[Floats], list[Floats]]:
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
        highest = np.nanmin(np.where((steeper < 0)[..., None], y, _HUGE), axis=(0, 1))
        low.append(np.where(is_gone, 0.0, lowest))
        high.append(np.where(is_gone | (highest >= _HUGE), -1.0, highest))
    return low, high
