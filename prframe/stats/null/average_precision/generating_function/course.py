"""The generating function of T = n_pos AP, walked down the ranks.

``V_t(h) = E[exp(sT)]`` over all rankings of t items with h positives obeys

    C(t, h) V_t(h) = sum over j of  C(m, j) exp(s g(h - j, j)) C(t - m, h - j) V_{t-m}(h - j)

for the last m of the t ranks, which hold j of the positives and let T grow by g. One walk down the
ranks holds the value for every n (= t) and n_pos (= h), and takes any number of slopes s at once.
Not every number of hits is needed: they scatter about a path (`ap_path`), and where they scatter
widely a sum over every d-th number, times d, is the sum over all of them, but for less than
rounding. For a real s the terms, as shares, are the chances of a tilted walk, in which large T are
likely; for s + i w they give the tilted walk's characteristic function, which never overflows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.path import Lanes, Path, coupling
from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Steps,
    log_binomial,
)
from prframe.typing import Floats, Integers

Complexes: TypeAlias = NDArray[np.complex128]

# Ranks of their own, and by how much a step grows beyond them.
DENSE, GROWTH = 64, 0.08
# Rows reach so many standard deviations, and hits, to both sides of a path; columns likewise.
_WIDE, _MORE = 7.5, 6.0
_WIDE_GIVEN, _MORE_GIVEN = 5.5, 4.0
# Every number of hits is a row where they scatter less than this, else so many per deviation.
_DENSE_SCATTER, _STRIDE = 3.0, 0.7
# Terms smaller than this never count where every number of hits is a row.
_DROPPED = -100.0
# Shares smaller than this never count for a characteristic function.
_NEGLIGIBLE = 1e-10
# Powers are products of one among so many and one among the rest.
_POWERS = 8
# So many terms are added at a time.
_AT_ONCE = 1 << 16
_LEAST = 1e-300


class Group(NamedTuple):
    """Items, and positives among them."""

    n: int
    n_pos: int


class Rows(NamedTuple):
    """The numbers of hits at the end of a step, by lane: `number` of them, from `low` on.

    Those of a lane begin at the row `start`.
    """

    low: Floats
    stride: Floats
    number: Integers
    start: Integers

    @classmethod
    def of(cls, low: Floats, stride: "Floats | float", count: "Integers | int") -> "Rows":
        """Return the rows of lanes, one lane after the other."""
        number = np.broadcast_to(np.asarray(count, dtype=np.int64), low.shape)
        start = np.cumsum(number) - number
        return cls(low, np.broadcast_to(np.float64(stride), low.shape), number, start)

    @property
    def lane(self) -> Integers:
        """The lane of each row."""
        return np.repeat(np.arange(self.number.size), self.number)

    @property
    def hits(self) -> Floats:
        """The hits of each row."""
        place = np.arange(int(self.number.sum())) - self.start[self.lane]
        return self.low[self.lane] + self.stride[self.lane] * place


class Table(NamedTuple):
    """The terms of the sums of a step, padded to as many for each row.

    Attributes
    ----------
    lane, hits : ndarray, shape (n_rows,)
        Lane, and hits at the end of the step.
    column : ndarray of int, shape (n_rows, n_terms)
        Places of the hits above the step, among the rows before.
    log_ways, growth, variance : ndarray of float, shape (n_rows, n_terms)
        Logarithm of C(m, j), -inf for no term; mean and variance of what T grows by.
    """

    lane: Integers
    hits: Floats
    column: Integers
    log_ways: Floats
    growth: Floats
    variance: Floats | None


class Exit(NamedTuple):
    """The last step of some groups, one row of terms for each, from the rows before a step."""

    step: int
    groups: Integers
    table: Table


@dataclass(frozen=True)
class Tilt:
    """Walks with weights exp(slope T).

    Attributes
    ----------
    slope : float
    log_mgf, mean, variance : ndarray of float, shape (n_groups,)
        Logarithm of E[exp(slope T)]; mean and variance of T under the tilt.
    shares : list of ndarray of float, shape (n_rows, n_terms)
        The tilted chance of each term, by step.
    exits : list of ndarray of float
        The same for the exits.
    """

    slope: float
    log_mgf: Floats
    mean: Floats
    variance: Floats
    shares: list[Floats]
    exits: list[Floats]


class Whereabouts(NamedTuple):
    """Where tilted walks are.

    Attributes
    ----------
    total, variance : ndarray of float, shape (n_lanes,)
        Mean and variance of T.
    mean, deviation : ndarray of float, shape (n_lanes, n_steps - 1)
        Of the hits at the end of each step but the last.
    outside : ndarray of float, shape (n_lanes,)
        The largest chance, over the steps, of a row beyond which there are more.
    """

    total: Floats
    variance: Floats
    mean: Floats
    deviation: Floats
    outside: Floats


class _State(NamedTuple):
    """Logarithm of C(t, h) V, and mean and variance of the tilted T, by row."""

    log_mgf: Floats
    mean: Floats
    variance: Floats


class Course:
    """Walks that lead to groups, each along a lane.

    Made by `shared` or `planned`.

    Attributes
    ----------
    groups : list of Group
    tables : list of Table
        One for each step.
    exits : list of Exit
        In the order of their steps.
    """

    def __init__(
        self, groups: Sequence[Group], tables: Sequence[Table], exits: Sequence[Exit]
    ) -> None:
        self.groups, self.tables, self.exits = list(groups), list(tables), list(exits)
        n, n_pos = np.array(self.groups, dtype=np.float64).T
        self._log_rankings = log_binomial(n, n_pos)

    @classmethod
    def shared(
        cls, groups: Sequence[Group], depth: int | None = None, ends: Integers | None = None
    ) -> "Course":
        """Return one walk through every number of hits, which leads to all groups.

        To one group only if `ends`, the ends of tie blocks, or a `depth` are given.
        """
        most, n_pos = (max(numbers) for numbers in zip(*groups, strict=True))
        items = Items(most, most if depth is None else depth, ends)
        steps = items.table(DENSE, GROWTH)
        sizes = np.array([group.n for group in groups])
        leave = np.searchsorted(steps.end, sizes)
        tables: list[Table] = []
        exits: list[Exit] = []
        before = Rows.of(np.zeros(1), 1, 1)
        for step in range(int(leave.max()) + 1):
            leaving = np.flatnonzero(leave == step)
            if leaving.size:
                hits = np.array([float(groups[index].n_pos) for index in leaving.tolist()])
                cut = items.between(np.full(leaving.size, steps.above[step]), sizes[leaving])
                exits.append(Exit(step, leaving, _last_terms(cut, hits, before)))
            high = float(min(steps.end[step], n_pos))
            one = Lanes.of([steps.one(step)], [n_pos])
            after = Rows.of(np.zeros(1), 1, int(high) + 1)
            ends_at = float(steps.above[step]), float(steps.end[step])
            tables.append(_trimmed(_terms(one, 0, before, after), *ends_at))
            before = after
        return cls(groups, tables[:-1], exits)

    @classmethod
    def planned(cls, lanes: Lanes, path: Path) -> "Course":
        """Return a walk for each lane through the numbers of hits about its path."""
        tables: list[Table] = []
        before = Rows.of(np.zeros(lanes.n.size), 1, 1)
        last = lanes.size.shape[1] - 1
        scatter, rise = coupling(lanes, path)
        guide = path, rise
        for step in range(last):
            after = _about(lanes, path, step, scatter[:, step])
            tables.append(_terms(lanes, step, before, after, guide))
            before = after
        table = _terms(lanes, last, before, Rows.of(lanes.n_pos, 1, 1), guide)
        pairs = zip(lanes.n.tolist(), lanes.n_pos.tolist(), strict=True)
        groups = [Group(int(n), int(n_pos)) for n, n_pos in pairs]
        return cls(groups, tables, [Exit(last, np.arange(lanes.n.size), table)])

    @property
    def size(self) -> int:
        """How many terms there are."""
        return sum(table.log_ways.size for table in self.tables)

    def log_mgf(self, slopes: Floats) -> Floats:
        """Return log E[exp(slope T)], ndarray of float, shape (n_groups, n_slopes).

        `slopes` has the shape (n_lanes, n_slopes).
        """
        found = np.zeros((len(self.groups), slopes.shape[1]))
        level = np.zeros((slopes.shape[0], slopes.shape[1]))
        exits = iter([*self.exits, None])
        leaving = next(exits)
        for step in range(len(self.tables) + 1):
            while leaving is not None and leaving.step == step:
                found[leaving.groups] = _summed(leaving.table, level, slopes)
                leaving = next(exits)
            if step < len(self.tables):
                level = _summed(self.tables[step], level, slopes)
        return found - self._log_rankings[:, None]

    def tilt(self, slope: float) -> Tilt:
        """Walk with weights exp(slope T)."""
        return self._walked(np.full(self._n_lanes, slope), slope)

    def _walked(self, slopes: Floats, slope: float) -> Tilt:
        """Walk with a slope for each lane."""
        none = np.zeros(slopes.size)
        state = _State(none, none, none)
        shares: list[Floats] = []
        exits: list[Floats] = []
        found = np.zeros((3, len(self.groups)))
        for step in range(len(self.tables) + 1):
            for leaving in self._leaving(step):
                last, share = _tilted(leaving.table, slopes, state)
                found[:, leaving.groups] = last
                exits.append(share)
            if step < len(self.tables):
                state, share = _tilted(self.tables[step], slopes, state)
                shares.append(share)
        log_mgf, mean, variance = found
        return Tilt(slope, log_mgf - self._log_rankings, mean, variance, shares, exits)

    def whereabouts(self, lanes: Lanes, slopes: Floats) -> Whereabouts:
        """Return where the tilted walks of a planned course are, a slope for each lane."""
        tilt = self._walked(slopes, 0.0)
        needs = self.needs(tilt, np.ones(len(self.groups), np.bool_))
        count = slopes.size
        mean, deviation = np.zeros((2, count, len(self.tables)))
        outside = np.zeros(count)
        for step, (table, need) in enumerate(zip(self.tables, needs[1:], strict=True)):
            lane, hits = table.lane, table.hits
            mean[:, step] = np.bincount(lane, need * hits, count)
            far = (hits - mean[lane, step]) ** 2
            deviation[:, step] = np.sqrt(np.bincount(lane, need * far, count))
            end = lanes.end[lane, step]
            low = np.maximum(0.0, lanes.n_pos[lane] - (lanes.n[lane] - end))
            high = np.minimum(end, lanes.n_pos[lane])
            first, last = np.diff(lane, prepend=-1) > 0, np.diff(lane, append=count) > 0
            stride = np.where(first, 0.0, np.diff(hits, prepend=0.0))
            edge = (first & (hits > low)) | (last & (hits + stride < high))
            outside = np.maximum(outside, np.bincount(lane, need * edge, count))
        return Whereabouts(tilt.mean, tilt.variance, mean, deviation, outside)

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Return the tilted characteristic functions of some groups, of a course with one lane.

        `frequencies` are equally spaced, and a multiple of 8 in number.
        """
        wanted = np.zeros(len(self.groups), np.bool_)
        wanted[list(groups)] = True
        needs = self.needs(tilt, wanted)
        wave = np.ones((1, frequencies.size), dtype=np.complex128)
        found: dict[int, Complexes] = {}
        for step in range(len(needs)):
            for leaving, share in zip(self.exits, tilt.exits, strict=True):
                if leaving.step == step and wanted[leaving.groups].any():
                    last = _waved(leaving.table, share, tilt.slope, wave, frequencies)
                    found |= dict(zip(leaving.groups.tolist(), last, strict=True))
            if step + 1 < len(needs):
                share = np.where(needs[step + 1][:, None] > _NEGLIGIBLE, tilt.shares[step], 0.0)
                wave = _waved(self.tables[step], share, tilt.slope, wave, frequencies)
        return found

    def needs(self, tilt: Tilt, wanted: NDArray[np.bool_]) -> list[Floats]:
        """Return the tilted chance of every row, summed over groups, before each step."""
        chances = list(zip(self.exits, tilt.exits, strict=True))
        last = max(leaving.step for leaving in self.exits if wanted[leaving.groups].any())
        need: Floats = np.zeros(0)
        needs: list[Floats] = []
        for step in range(last, -1, -1):
            rows = self.tables[step - 1].hits.size if step else self._n_lanes
            table = self.tables[step] if needs else None
            need = _handed(table, tilt.shares[step], need, rows) if table else np.zeros(rows)
            for leaving, share in chances:
                if leaving.step == step:
                    weight = wanted[leaving.groups].astype(np.float64)
                    need = need + _handed(leaving.table, share, weight, rows)
            needs.append(need)
        return needs[::-1]

    @property
    def _n_lanes(self) -> int:
        return 1 + int(max(leaving.table.lane.max() for leaving in self.exits))

    def _leaving(self, step: int) -> list[Exit]:
        """Return the exits before a step."""
        return [leaving for leaving in self.exits if leaving.step == step]


def _last_terms(cut: Steps, hits: Floats, before: Rows) -> Table:
    """Return the terms of last steps, one per group, all from the same rows."""
    lanes = Lanes.of([cut.one(k) for k in range(hits.size)], hits)
    none = np.zeros(hits.size, np.int64)
    shared = Rows(none + before.low, none + before.stride, none + before.number, none)
    table = _terms(lanes, 0, shared, Rows.of(hits, 1, 1))
    return table._replace(lane=none)


def _about(lanes: Lanes, path: Path, step: int, scatter: Floats) -> Rows:
    """Return the numbers of hits about a path at the end of a step.

    `scatter` is how they scatter under the tilt when those at the end of the next step are known.
    """
    end, centre = lanes.end[:, step], path.hits[:, step + 1]
    half = _WIDE * path.scatter[:, step] + _MORE
    # No fewer than the ranks below can do without, no more than there are.
    low = np.maximum(np.floor(centre - half), np.maximum(0.0, lanes.n_pos - (lanes.n - end)))
    high = np.minimum(np.ceil(centre + half), np.minimum(end, lanes.n_pos))
    given = np.minimum(_given(lanes, path, step + 1), scatter)
    stride = np.where(given < _DENSE_SCATTER, 1.0, np.maximum(np.floor(_STRIDE * given), 1.0))
    count = np.maximum((high - low) // stride, 0).astype(np.int64) + 1
    return Rows.of(np.minimum(low, high), stride, count)


def _given(lanes: Lanes, path: Path, step: int) -> Floats:
    """Return how much the hits above a step scatter when those at its end are known."""
    size, end, hits = lanes.size[:, step], lanes.end[:, step], path.hits[:, step + 1]
    above = end - size
    share = np.clip(hits / end, 0.0, 1.0)
    return np.asarray(np.sqrt(above * size * share * (1 - share) / end))


def _terms(
    lanes: Lanes,
    step: int,
    before: Rows,
    after: Rows,
    guide: tuple[Path, Floats] | None = None,
) -> Table:
    """Return the terms of a step; with a path and its coupling, those near what these expect."""
    lane, hits = after.lane, after.hits
    size = lanes.size[lane, step]
    low, high = np.maximum(hits - size, 0.0), hits
    if guide is not None and step:
        path, rise = guide[0], hits - guide[0].hits[lane, step + 1]
        # Between what random ranking and what the tilt makes of more hits at the end.
        moved = np.stack([1 - size / lanes.end[lane, step], guide[1][lane, step - 1]]) * rise
        half = (_WIDE_GIVEN * _given(lanes, path, step) + _MORE_GIVEN)[lane]
        low = np.maximum(low, path.hits[lane, step] + moved.min(axis=0) - half)
        high = np.minimum(high, path.hits[lane, step] + moved.max(axis=0) + half)
    begin, stride = before.low[lane], before.stride[lane]
    first = np.maximum(np.ceil((low - begin) / stride), 0).astype(np.int64)
    last = np.minimum(np.floor((high - begin) / stride).astype(np.int64), before.number[lane] - 1)
    place = first[:, None] + np.arange(max(int((last - first).max()), 0) + 1)
    inside = place <= last[:, None]
    column = before.start[lane][:, None] + np.where(inside, place, 0)
    above = begin[:, None] + stride[:, None] * place
    terms = np.where(inside, above, np.nan)
    return _table(lanes, step, (lane, hits, stride), column, terms)


def _table(
    lanes: Lanes, step: int, rows: tuple[Integers, Floats, Floats], column: Integers, above: Floats
) -> Table:
    """Return the terms for hits above the step, NaN where there is no term."""
    lane, hits, stride = rows
    size, single, pair, spread = (
        values[lane, step][:, None]
        for values in (lanes.size, lanes.single, lanes.pair, lanes.spread)
    )
    none = np.isnan(above)
    h = np.where(none, 0.0, above)
    j = np.where(none, 0.0, hits[:, None] - h)
    ways = np.where(none, -np.inf, log_binomial(size, j)) + np.log(stride)[:, None]
    growth = j * (h + 1) * single + j * (j - 1) * pair
    # The variance of the mean influence of a positive's place.
    variance = j * (1 - j / np.maximum(size, 1)) * (h + j / 2) ** 2 * spread
    return Table(lane, hits, column, ways, growth, variance if spread.any() else None)


def _trimmed(table: Table, above: float, end: float) -> Table:
    """Leave out the terms that are never likely, which come first in each row."""
    hits = table.hits[:, None]
    before = table.column.astype(np.float64)
    chance = table.log_ways + log_binomial(above, before) - log_binomial(end, hits)
    first = np.argmax(chance > _DROPPED, axis=1)
    width = int((np.isfinite(table.log_ways).sum(axis=1) - first).max())
    place = first[:, None] + np.arange(width)
    inside = place < chance.shape[1]
    place = np.where(inside, place, 0)
    ways, growth = (
        np.take_along_axis(values, place, axis=1) for values in (table.log_ways, table.growth)
    )
    column = np.take_along_axis(table.column, place, axis=1)
    variance = table.variance
    if variance is not None:
        variance = np.take_along_axis(variance, place, axis=1)
    return table._replace(
        column=column,
        log_ways=np.where(inside, ways, -np.inf),
        growth=growth,
        variance=variance,
    )


def _summed(table: Table, level: Floats, slopes: Floats) -> Floats:
    """Take a step with all slopes at once; return the logarithms of C(t, h) V by row."""
    rows, terms = table.log_ways.shape
    at_once = max(1, _AT_ONCE // (terms * slopes.shape[1]))
    parts = []
    for begin in range(0, rows, at_once):
        part = slice(begin, begin + at_once)
        slope = slopes[table.lane[part], None, :]
        exponent = table.growth[part, :, None] * slope
        if table.variance is not None:
            exponent += 0.5 * table.variance[part, :, None] * slope**2
        exponent += level[table.column[part]] + table.log_ways[part, :, None]
        largest = _finite(exponent.max(axis=1))
        exponent -= largest[:, None]
        with np.errstate(divide="ignore"):
            parts.append(largest + np.log(np.exp(exponent, out=exponent).sum(axis=1)))
    return np.concatenate(parts)


def _tilted(table: Table, slopes: Floats, state: _State) -> tuple[_State, Floats]:
    """Take a step with a slope for each lane; return the state behind it and terms' chances."""
    drift, slope = table.growth, slopes[table.lane][:, None]
    exponent = table.log_ways + slope * drift + state.log_mgf[table.column]
    if table.variance is not None:
        drift = drift + slope * table.variance
        exponent += 0.5 * slope**2 * table.variance
    largest = _finite(exponent.max(axis=1))
    weight = np.exp(exponent - largest[:, None])
    total = weight.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_mgf = largest + np.log(total)
    share = weight / np.maximum(total, _LEAST)[:, None]
    grown = drift + state.mean[table.column]
    mean = (share * grown).sum(axis=1)
    scatter = (grown - mean[:, None]) ** 2 + state.variance[table.column]
    if table.variance is not None:
        scatter += table.variance
    return _State(log_mgf, mean, (share * scatter).sum(axis=1)), share


def _finite(largest: Floats) -> Floats:
    """Return the exponents, and 0 where no term is possible."""
    return np.where(np.isfinite(largest), largest, 0.0)


def _handed(table: Table, share: Floats, need: Floats, rows: int) -> Floats:
    """Return the chances of the rows before a step from those of the rows behind."""
    weight = share * need[:, None]
    return np.bincount(table.column.ravel(), weight.ravel(), minlength=rows).astype(np.float64)


def _waved(
    table: Table, share: Floats, slope: float, wave: Complexes, frequencies: Floats
) -> Complexes:
    """Take a step; return the waves behind it."""
    row, term = np.nonzero(share > _NEGLIGIBLE)
    drift = table.growth[row, term]
    variance = None if table.variance is None else table.variance[row, term]
    if variance is not None:
        drift = drift + slope * variance
    terms = _turned(share[row, term], drift, frequencies)
    if variance is not None:
        terms *= np.exp(-0.5 * variance[:, None] * frequencies**2)
    terms *= wave[table.column[row, term]]
    rows, starts = np.unique(row, return_index=True)
    after = np.zeros((table.hits.size, frequencies.size), dtype=np.complex128)
    after[rows] = np.add.reduceat(terms, starts, axis=0)
    return after


def _turned(share: Floats, drift: Floats, frequencies: Floats) -> Complexes:
    """Return share * exp(i drift frequency), an entry per row."""
    spacing = frequencies[1] - frequencies[0]
    fine = np.exp(1j * spacing * drift[:, None] * np.arange(_POWERS))
    coarse = np.exp(1j * drift[:, None] * frequencies[::_POWERS]) * share[:, None]
    turned = coarse[:, :, None] * fine[:, None, :]
    return np.asarray(turned.reshape(drift.size, frequencies.size))
