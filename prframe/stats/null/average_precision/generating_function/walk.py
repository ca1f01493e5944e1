"""The generating function of T = n_pos AP, walked down the ranks.

``V_t(h) = E[exp(sT)]`` over all rankings of t items with h positives obeys

    C(t, h) V_t(h) = sum over j of  C(m, j) exp(s g(h - j, j)) C(t - m, h - j) V_{t-m}(h - j)

for the last m of the t ranks, which hold j of the positives and increase T by g. One walk down the
ranks holds the value for every n (= t) and n_pos (= h), and takes any number of slopes s at once.
Not every number of hits is needed: they scatter about a path (`path`), and where they scatter
widely a sum over every d-th number, times d, differs from the sum over all of them by less than
rounding does. For a real s the terms, divided by their sum, are the chances of a tilted walk, in
which large T are likely; for s + i w they give the tilted walk's characteristic function, which
never overflows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import coupling
from prframe.stats.null.average_precision.generating_function.step_sums import (
    NEGLIGIBLE,
    State,
    handed,
    summed,
    tilted,
    waved,
)
from prframe.stats.null.average_precision.generating_function.step_terms import (
    Rows,
    Table,
    last_table,
    rows_about,
    step_table,
    trimmed,
)
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.generating_function.upward_waves import (
    Complexes,
    UpwardWaves,
)
from prframe.typing import Floats, Integers

# Each of the first ranks, this many, is a step of its own.
DENSE = 64
# A step beyond them takes this share of the rank.
GROWTH = 0.08
# Variances are raised to this before they divide.
_LEAST = 1e-300


class Group(NamedTuple):
    """Items, and positives among them."""

    n: int
    n_pos: int


class Exit(NamedTuple):
    """The last step to some groups, a row of terms for each, from the rows before step `step`."""

    step: int
    groups: Integers
    table: Table


@dataclass(frozen=True)
class Tilt:
    """The walks of a course with weights exp(slope T).

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
    """The place and the scatter of tilted walks.

    Attributes
    ----------
    total, variance, skewness : ndarray of float, shape (n_lanes,)
        Of T; without a variance the skewness is 0.
    mean, deviation : ndarray of float, shape (n_lanes, n_steps - 1)
        Of the hits at the end of each step but the last.
    outside : ndarray of float, shape (n_lanes, n_steps - 1)
        The chance of outermost rows beyond which hits are possible, at the same places.
    """

    total: Floats
    variance: Floats
    skewness: Floats
    mean: Floats
    deviation: Floats
    outside: Floats


class Course:
    """Walks that lead to groups, each along a lane.

    Courses are made by `shared` or `planned`.

    Attributes
    ----------
    groups : list of Group
    tables : list of Table
        One for each step.
    exits : list of Exit
        In the order of their steps.
    is_planned : bool
        Whether walks go through numbers of hits about a path, each to one group.
    is_upward : bool
        Whether characteristic functions are found from the last ranks up, of one group alone.
    is_tied : bool
        Whether a shared walk is over tie blocks.
    """

    is_planned = is_upward = is_tied = False

    def __init__(
        self, groups: Sequence[Group], tables: Sequence[Table], exits: Sequence[Exit]
    ) -> None:
        self.groups, self.tables, self.exits = list(groups), list(tables), list(exits)
        n, n_pos = np.array(self.groups, dtype=np.float64).T
        self._log_rankings = log_binomial(n, n_pos)
        self._upward: dict[float, UpwardWaves] = {}

    @classmethod
    def shared(
        cls,
        groups: Sequence[Group],
        depth: int | None = None,
        ends: Integers | None = None,
        *,
        is_upward: bool = False,
    ) -> "Course":
        """Return one walk through every number of hits, which leads to all groups.

        There must be just one group if `ends`, the ends of tie blocks, or a `depth` are given, or
        if characteristic functions are to be found from the last ranks up.
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
                exits.append(Exit(step, leaving, last_table(cut, hits, before)))
            high = float(min(steps.end[step], n_pos))
            lane = Lanes.of([steps.at(step)], [n_pos])
            after = Rows.of(np.zeros(1), 1, int(high) + 1)
            ends_at = float(steps.above[step]), float(steps.end[step])
            tables.append(trimmed(step_table(lane, 0, before, after), *ends_at))
            before = after
        course = cls(groups, tables[:-1], exits)
        course.is_upward, course.is_tied = is_upward, items.is_tied
        return course

    @classmethod
    def planned(cls, lanes: Lanes, path: Path) -> "Course":
        """Return a walk for each lane through the numbers of hits about its path."""
        tables: list[Table] = []
        before = Rows.of(np.zeros(lanes.n.size), 1, 1)
        last = lanes.size.shape[1] - 1
        scatter, rise = coupling(lanes, path)
        guide = path, rise
        for step in range(last):
            after = rows_about(lanes, path, step, scatter[:, step])
            tables.append(step_table(lanes, step, before, after, guide))
            before = after
        table = step_table(lanes, last, before, Rows.of(lanes.n_pos, 1, 1), guide)
        pairs = zip(lanes.n.tolist(), lanes.n_pos.tolist(), strict=True)
        groups = [Group(int(n), int(n_pos)) for n, n_pos in pairs]
        course = cls(groups, tables, [Exit(last, np.arange(lanes.n.size), table)])
        course.is_planned = course.is_upward = True
        return course

    @property
    def size(self) -> int:
        """The number of terms of all steps."""
        return sum(table.log_ways.size for table in self.tables)

    def log_mgf(self, slopes: Floats) -> Floats:
        """Return log E[exp(slope T)], an ndarray of float of shape (n_groups, n_slopes).

        `slopes` has the shape (n_lanes, n_slopes).
        """
        logs = np.zeros((len(self.groups), slopes.shape[1]))
        level = np.zeros((slopes.shape[0], slopes.shape[1]))
        exits = iter([*self.exits, None])
        leaving = next(exits)
        for step in range(len(self.tables) + 1):
            while leaving is not None and leaving.step == step:
                logs[leaving.groups] = summed(leaving.table, level, slopes)
                leaving = next(exits)
            if step < len(self.tables):
                level = summed(self.tables[step], level, slopes)
        return logs - self._log_rankings[:, None]

    def tilt(self, slope: float) -> Tilt:
        """Return the walks with weights exp(slope T)."""
        return self._walked(np.full(self._n_lanes, slope), slope)[0]

    def _walked(self, slopes: Floats, slope: float) -> tuple[Tilt, Floats]:
        """Return the walks with a slope for each lane, and the third cumulants of T.

        The walks are labelled with `slope`.
        """
        state = State(*np.zeros((4, slopes.size)))
        shares: list[Floats] = []
        exits: list[Floats] = []
        moments = np.zeros((4, len(self.groups)))
        for step in range(len(self.tables) + 1):
            for leaving in self._leaving(step):
                last, share = tilted(leaving.table, slopes, state)
                moments[:, leaving.groups] = last
                exits.append(share)
            if step < len(self.tables):
                state, share = tilted(self.tables[step], slopes, state)
                shares.append(share)
        log_mgf, mean, variance, third = moments
        log_mgf = log_mgf - self._log_rankings
        return Tilt(slope, log_mgf, mean, variance, shares, exits), third

    def whereabouts(self, lanes: Lanes, slopes: Floats) -> Whereabouts:
        """Return where the tilted walks of a planned course are, with a slope for each lane."""
        tilt, third = self._walked(slopes, 0.0)
        needs = self.needs(tilt, np.ones(len(self.groups), np.bool_))
        count = slopes.size
        mean, deviation, outside = np.zeros((3, count, len(self.tables)))
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
            outside[:, step] = np.bincount(lane, need * edge, count)
        skewness = third / np.maximum(tilt.variance**1.5, _LEAST)
        return Whereabouts(tilt.mean, tilt.variance, skewness, mean, deviation, outside)

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Return the tilted characteristic functions of some groups, of a course with one lane.

        `frequencies` are equally spaced, and a multiple of 8 in number.
        """
        wanted = np.zeros(len(self.groups), np.bool_)
        wanted[list(groups)] = True
        if self.is_upward:
            return {0: self._upward_waves(tilt).at(frequencies)}
        needed = self._within_reach(tilt, wanted)
        wave = np.ones((1, frequencies.size), dtype=np.complex64)
        functions: dict[int, Complexes] = {}
        for step in range(len(needed)):
            for leaving, share in zip(self.exits, tilt.exits, strict=True):
                if leaving.step == step and wanted[leaving.groups].any():
                    last = waved(leaving.table, share, tilt.slope, wave, frequencies)
                    functions |= dict(zip(leaving.groups.tolist(), last, strict=True))
            if step + 1 < len(needed):
                share = np.where(needed[step + 1][:, None], tilt.shares[step], 0.0)
                wave = waved(self.tables[step], share, tilt.slope, wave, frequencies)
        return functions

    def wave_cost(self, tilt: Tilt, frequencies: Floats) -> float:
        """Return how many terms `waves` takes at some frequencies, of an upward course."""
        return self._upward_waves(tilt).cost(frequencies)

    def _within_reach(self, tilt: Tilt, wanted: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Return from which rows before each step terms that count lead to groups.

        The rows before a row that is needed are needed too, so that its characteristic function
        has the same digits whatever other groups there are.
        """
        last = max(leaving.step for leaving in self.exits if wanted[leaving.groups].any())
        within: NDArray[np.bool_] = np.zeros(0, np.bool_)
        needed: list[NDArray[np.bool_]] = []
        for step in range(last, -1, -1):
            rows = self.tables[step - 1].hits.size if step else self._n_lanes
            before = np.zeros(rows, np.bool_)
            if needed:
                counts = tilt.shares[step] > NEGLIGIBLE
                before[self.tables[step].column[counts & within[:, None]]] = True
            for leaving, share in zip(self.exits, tilt.exits, strict=True):
                if leaving.step == step:
                    counts = (share > NEGLIGIBLE) & wanted[leaving.groups][:, None]
                    before[leaving.table.column[counts]] = True
            within = before
            needed.append(within)
        return needed[::-1]

    def _upward_waves(self, tilt: Tilt) -> UpwardWaves:
        """Return the characteristic function of the only walk, which is prepared only once."""
        if tilt.slope not in self._upward:
            tables = [*self.tables, self.exits[0].table]
            shares = [*tilt.shares, tilt.exits[0]]
            needs = self.needs(tilt, np.ones(1, np.bool_))
            self._upward[tilt.slope] = UpwardWaves(tables, shares, needs, tilt.slope)
        return self._upward[tilt.slope]

    def needs(self, tilt: Tilt, wanted: NDArray[np.bool_]) -> list[Floats]:
        """Return the tilted chance of every row, summed over groups, before each step."""
        chances = list(zip(self.exits, tilt.exits, strict=True))
        last = max(leaving.step for leaving in self.exits if wanted[leaving.groups].any())
        need: Floats = np.zeros(0)
        needs: list[Floats] = []
        for step in range(last, -1, -1):
            rows = self.tables[step - 1].hits.size if step else self._n_lanes
            table = self.tables[step] if needs else None
            need = handed(table, tilt.shares[step], need, rows) if table else np.zeros(rows)
            for leaving, share in chances:
                if leaving.step == step:
                    weight = wanted[leaving.groups].astype(np.float64)
                    need = need + handed(leaving.table, share, weight, rows)
            needs.append(need)
        return needs[::-1]

    @property
    def _n_lanes(self) -> int:
        """The number of walks that go side by side."""
        return 1 + int(max(leaving.table.lane.max() for leaving in self.exits))

    def _leaving(self, step: int) -> list[Exit]:
        """Return the exits before a step."""
        return [leaving for leaving in self.exits if leaving.step == step]
