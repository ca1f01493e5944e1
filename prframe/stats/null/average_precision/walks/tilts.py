"""The generating function of T = n_pos AP, walked down the ranks.

``V_t(h) = E[exp(sT)]`` over all rankings of t items with h positives obeys

    C(t, h) V_t(h) = sum over j of  C(m, j) exp(s g(h - j, j)) C(t - m, h - j) V_{t-m}(h - j)

for the last m of the t ranks, which hold j of the positives and increase T by g. One walk down the
ranks holds the value for every n (= t) and n_pos (= h). For a real slope s the terms, divided by
their sum, are the chances of a tilted walk, in which large T are likely; its cumulants go down
with it. For s + i w they give the characteristic function of the tilted T, which never overflows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.steps import Items, log_binomial
from prframe.stats.null.average_precision.walks.path import coupling
from prframe.stats.null.average_precision.walks.rows import (
    Lanes,
    Path,
    Rows,
    Table,
    rows_about,
    step_table,
    trimmed,
)
from prframe.typing import Flags, Floats, Integers

# Sums of weights, and variances, are raised to this before they divide.
_LEAST = 1e-300
# The saddlepoint is enough for an estimate where the logarithm of the tail is below the first
# number less so many slopes, as one more hit at the top changes it by about a slope.
_FAR, _SLOPES = -70.0, 40.0


class State(NamedTuple):
    """The logarithm of C(t, h) V, and the first four cumulants of the tilted T, by row."""

    log_mgf: Floats
    mean: Floats
    variance: Floats
    third: Floats
    fourth: Floats


class LastStep(NamedTuple):
    """The last step to some groups, a row of terms for each, from the rows before step `step`."""

    step: int
    groups: Integers
    table: Table


@dataclass(frozen=True)
class Tilt:
    """The walks of a course with weights exp(slope T), the slopes by lane."""

    slopes: Floats
    # K(s) and the tilted cumulants of T by group.
    state: State
    # The tilted chance of each term given its row, by step and by exit.
    shares: list[Floats]
    exits: list[Floats]


class Course:
    """Walks to groups of n items and n_pos positives: tables by step, exits in their order."""

    def __init__(
        self, sizes: tuple[Floats, Floats], tables: Sequence[Table], exits: Sequence[LastStep]
    ) -> None:
        self.tables, self.exits = list(tables), list(exits)
        self._log_rankings = log_binomial(*sizes)

    @classmethod
    def shared(
        cls, n: Integers, n_pos: Integers, depth: int | None, *, is_fine_below: bool
    ) -> "Course":
        """Return one walk through every number of hits, which leads to all groups without ties."""
        # Groups with a depth all retrieve that many items; those that are fine below have one n.
        items = Items(int(n.max()), int(n.max()) if depth is None else depth)
        steps = items.table(is_fine_below=is_fine_below)
        leave = np.searchsorted(steps.end, n)
        tables: list[Table] = []
        exits: list[LastStep] = []
        before = Rows.of(np.zeros(1), 1, 1)
        for step in range(int(leave.max()) + 1):
            if (leaving := np.flatnonzero(leave == step)).size:
                cut = items.between(np.full(leaving.size, steps.above[step]), n[leaving])
                each = [cut.part(slice(place, place + 1)) for place in range(leaving.size)]
                lanes = Lanes.of(each, n_pos[leaving])
                none, stride = np.zeros(leaving.size, np.int64), np.ones(leaving.size)
                shared = Rows(stride * before.low, stride, none + before.number, none)
                last = step_table(lanes, 0, shared, Rows.of(lanes.n_pos, 1, 1))
                exits.append(LastStep(step, leaving, last._replace(lane=none)))
            high = int(min(steps.end[step], n_pos.max()))
            lane = Lanes.of([steps.part(slice(step, step + 1))], [high])
            after = Rows.of(np.zeros(1), 1, high + 1)
            ends = float(steps.above[step]), float(steps.end[step])
            tables.append(trimmed(step_table(lane, 0, before, after), *ends))
            before = after
        return cls((n.astype(np.float64), n_pos.astype(np.float64)), tables[:-1], exits)

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
        exits = [LastStep(last, np.arange(lanes.n.size), table)]
        return cls((lanes.n, lanes.n_pos), tables, exits)

    def tilt(self, slopes: Floats) -> Tilt:
        """Return the walks with weights exp(slope T), with a slope for each lane."""
        state = State(*np.zeros((5, slopes.size)))
        shares: list[Floats] = []
        exits: list[Floats] = []
        found = np.zeros((5, self._log_rankings.size))
        for step in range(len(self.tables) + 1):
            for leaving in self.exits:
                if leaving.step == step:
                    found[:, leaving.groups], share = _tilted(leaving.table, slopes, state)
                    exits.append(share)
            if step < len(self.tables):
                state, share = _tilted(self.tables[step], slopes, state)
                shares.append(share)
        found[0] -= self._log_rankings
        return Tilt(slopes, State(*found), shares, exits)

    def walk(self, slopes: Floats) -> "Walk":
        """Return the tilted walks to one exit, of which the first lane is chosen."""
        tilt = self.tilt(slopes)
        need: Floats = np.ones(self._log_rankings.size)
        needs: list[Floats] = []
        tables = [*self.tables, self.exits[0].table]
        shares = [*tilt.shares, tilt.exits[0]]
        for step in range(len(tables) - 1, -1, -1):
            rows = self.tables[step - 1].hits.size if step else slopes.size
            weight = shares[step] * need[:, None]
            column = tables[step].column.ravel()
            need = np.bincount(column, weight.ravel(), rows).astype(np.float64)
            needs.append(need)
        return Walk(self, tilt, needs[::-1], 0)


class Walk(NamedTuple):
    """A lane of a tilted course; `needs` are the chances of all rows before each step."""

    course: Course
    tilt: Tilt
    needs: list[Floats]
    lane: int

    def upward(self) -> Iterator[tuple[Table, Floats, Floats]]:
        """Yield tables, chances of their terms, and of the rows before, last steps first."""
        tables = [*self.course.tables, self.course.exits[0].table]
        shares = [*self.tilt.shares, self.tilt.exits[0]]
        rows = [slice(self.lane, self.lane + 1)]
        for table in tables:
            begin, end = np.searchsorted(table.lane, [self.lane, self.lane + 1]).tolist()
            rows.append(slice(begin, end))
        for step in range(len(tables) - 1, -1, -1):
            before, own = rows[step], rows[step + 1]
            table = Table._make(column[own] for column in tables[step])
            table = table._replace(column=np.maximum(table.column - before.start, 0))
            yield table, shares[step][own], self.needs[step][before]


def _tilted(table: Table, slopes: Floats, state: State) -> tuple[State, Floats]:
    """Take a step with a slope for each lane; return the state after it and terms' chances."""
    slope, column = slopes[table.lane][:, None], table.column
    exponent = table.log_ways + slope * table.growth + state.log_mgf[column]
    exponent += _gained(slope, table)
    largest = exponent.max(axis=1)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    weight = np.exp(exponent - largest[:, None])
    total = weight.sum(axis=1)
    with np.errstate(divide="ignore"):
        log_mgf = largest + np.log(total)
    share = weight / np.maximum(total, _LEAST)[:, None]
    grown = table.growth + drifted(slope, table) + state.mean[column]
    mean = (share * grown).sum(axis=1)
    away, own = grown - mean[:, None], state.variance[column] + table.variance
    square, third = away**2, state.third[column]
    variance = (share * (square + own)).sum(axis=1)
    skew = (share * (away * (square + 3 * own) + third)).sum(axis=1)
    fourth = square * (square + 6 * own) + 4 * away * third + state.fourth[column] + 3 * own**2
    peak = (share * fourth).sum(axis=1) - 3 * variance**2
    return State(log_mgf, mean, variance, skew, peak), share


def is_far(bound: Floats, slope: "Floats | float") -> Flags:
    """Whether the saddlepoint is enough for an estimate, from the bound K - slope x."""
    return np.asarray(bound < _FAR - _SLOPES * np.abs(slope))


def _gained(slope: Floats, table: Table) -> Floats:
    """Return log E[exp(slope growth)], less slope times the mean, of nearly normal growth."""
    # No growth is below the least, where steep negative slopes lead.
    gained = 0.5 * slope**2 * table.variance
    if (slope >= 0).all():
        return np.asarray(gained)
    with np.errstate(over="ignore"):
        beyond = -table.slack * (slope + table.slack / 2 / np.maximum(table.variance, _LEAST))
    return np.where(slope * table.variance >= -table.slack, gained, beyond)


def drifted(slope: "Floats | float", table: Table) -> Floats:
    """Return by how much the tilted mean of growth differs from the mean."""
    return np.maximum(slope * table.variance, -table.slack)
