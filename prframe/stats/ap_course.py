"""The generating function of T = n_pos AP, for many groups in one walk.

``V_t(h) = E[exp(sT)]`` over all rankings of t items with h positives obeys

    V_t(h) = (1 - h/t) V_{t-1}(h) + (h/t) exp(s h/t) V_{t-1}(h - 1),

so one walk down the ranks holds the value for every n (= t) and n_pos (= h). A step over several
ranks sums over how many of the h positives stand above it, a hypergeometric number. For a real s
the terms of these sums, as shares, are the chances of a tilted walk, in which large T are likely;
for s + i w they give the tilted walk's characteristic function, which never overflows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.ap_steps import Floats, Integers, Items, Step, log_binomial

Complexes: TypeAlias = NDArray[np.complex128]

# Ranks of their own, and by how much a step grows beyond them.
_DENSE, _GROWTH = 64, 0.1
# Terms smaller than this never count where steps are short; nor do shares smaller than that.
_DROPPED, _NEGLIGIBLE = -100.0, 1e-10
# Up to so many positives every number of hits is a row; beyond, a grid of so many at first.
MOST_ROWS, _COARSE_ROWS, _MOST_FINE = 256, 160, 1024
# Grid points per standard deviation, which the sum over a bell needs, and half a window.
_PER_DEVIATION, _WINDOW = 2.0, 10.0
# Powers are products of one among so many and one among the rest.
_POWERS = 8


class Group(NamedTuple):
    """Items, and positives among them."""

    n: int
    n_pos: int


@dataclass(frozen=True)
class Transitions:
    """The terms of the sums for some h: one entry for each h' above the step that is possible.

    Attributes
    ----------
    hits : ndarray of int, shape (n_rows,)
        The h, one per row.
    row, column : ndarray of int, shape (n_entries,)
        Places of h, and of h' among the rows before.
    log_chance, growth, variance : ndarray of float, shape (n_entries,)
        Logarithm of the chance of h' given h; mean and variance of what T grows by.
    """

    hits: Integers
    row: Integers
    column: Integers
    log_chance: Floats
    growth: Floats
    variance: Floats

    @classmethod
    def over(
        cls, step: Step, before: Integers, after: Integers, dropped: float = -np.inf
    ) -> "Transitions":
        """Return the transitions of a step, from rows `before` to rows `after`."""
        # A row may stand for several numbers of hits.
        width = np.diff([before[0] - 0.5, *(before[1:] + before[:-1]) / 2, before[-1] + 0.5])
        chance = log_binomial(step.size, after[:, None] - before) + np.log(width)
        chance += log_binomial(step.above, before) - log_binomial(step.end, after)[:, None]
        row, column = np.nonzero(chance > dropped)
        possible, row = np.unique(row, return_inverse=True)
        hits = after[possible]
        above, positives = before[column], hits[row] - before[column]
        return cls(
            hits=hits,
            row=row,
            column=column,
            log_chance=chance[possible[row], column],
            growth=step.growth(above, positives),
            variance=step.variance(above, positives) if not step.is_exact else np.zeros(row.size),
        )

    @property
    def starts(self) -> Integers:
        """The first entry of each row."""
        return np.searchsorted(self.row, np.arange(self.hits.size))


class State(NamedTuple):
    """Logarithm of V, and mean and variance of the tilted T, by row."""

    log_mgf: Floats
    mean: Floats
    variance: Floats


@dataclass(frozen=True)
class Tilt:
    """A walk with weights exp(slope T).

    Attributes
    ----------
    slope : float
    log_mgf, mean, variance : ndarray of float, shape (n_groups,)
        Logarithm of E[exp(slope T)]; mean and variance of T under the tilt.
    shares : list of ndarray of float
        The tilted chance of each entry, by step.
    exits : list of ndarray of float
        The same for the last step of each group.
    """

    slope: float
    log_mgf: Floats
    mean: Floats
    variance: Floats
    shares: list[Floats]
    exits: list[Floats]


def tilted(table: Transitions, slope: float, state: State) -> tuple[State, Floats]:
    """Take a step; return the state behind it and the tilted chance of each entry."""
    row, column, starts = table.row, table.column, table.starts
    drift = table.growth + slope * table.variance
    exponent = table.log_chance + slope * (table.growth + drift) / 2 + state.log_mgf[column]
    largest = np.maximum.reduceat(exponent, starts)
    weight = np.exp(exponent - largest[row])
    total = np.add.reduceat(weight, starts)
    share = weight / total[row]
    grown = drift + state.mean[column]
    mean = np.add.reduceat(share * grown, starts)
    scatter = (grown - mean[row]) ** 2 + state.variance[column] + table.variance
    variance = np.add.reduceat(share * scatter, starts)
    return State(largest + np.log(total), mean, variance), share


class Course:
    """The transitions of a walk that leads to every group.

    Parameters
    ----------
    groups : sequence of Group
        One group only if it is tied or has more than ``MOST_ROWS`` positives.
    depth : int, optional
        So many items are retrieved in every group; all, if absent.
    ends : ndarray of int, optional
        Ends of the tie blocks.
    rows : list of ndarray of int, optional
        The numbers of hits to keep at the end of each step; else every number, or a coarse grid.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        depth: int | None = None,
        ends: Integers | None = None,
        rows: Sequence[Integers] | None = None,
    ) -> None:
        self.groups = list(groups)
        self.tables: list[Transitions] = []
        self.steps: list[Step] = []
        exits: dict[int, Transitions] = {}
        self._leave: dict[int, list[int]] = {}
        self._shape = depth, ends
        most = max(group.n for group in groups)
        items = Items(most, most if depth is None else depth, ends)
        order = sorted(range(len(groups)), key=lambda index: groups[index].n)
        before = np.zeros(1, dtype=np.int64)
        drop = _DROPPED if ends is None and self._most <= MOST_ROWS else -np.inf
        for step in items.steps(_DENSE, _GROWTH):
            while order and groups[order[0]].n <= step.end:
                index = order.pop(0)
                last = items.step(step.above, groups[index].n)
                exits[index] = Transitions.over(last, before, np.array([groups[index].n_pos]))
                self._leave.setdefault(len(self.tables), []).append(index)
            if not order:
                break
            after = rows[len(self.tables)] if rows else self._rows(step)
            table = Transitions.over(step, before, after, drop)
            self.tables.append(table)
            self.steps.append(step)
            before = table.hits
        self.exits = [exits[index] for index in range(len(groups))]

    @property
    def _most(self) -> int:
        return max(group.n_pos for group in self.groups)

    def _rows(self, step: Step) -> Integers:
        """Return every number of hits at the end of a step, or a coarse grid of them."""
        high = min(step.end, self._most)
        if self._most <= MOST_ROWS:
            return np.arange(high + 1)
        n, n_pos = self.groups[0]
        low = max(0, step.end - (n - n_pos))
        # As far apart as binomial numbers scatter: dense at both ends.
        angle = np.linspace(0, np.pi / 2, _COARSE_ROWS)
        return np.unique(np.rint(low + (high - low) * np.sin(angle) ** 2).astype(np.int64))

    def refined(self, slope: float) -> "Course":
        """Return a course for the only group whose rows are where a tilt leads."""
        rows = []
        needs = self._needs(self.tilt(slope), {0})[1:]
        n, n_pos = self.groups[0]
        means = [float(need @ table.hits) for need, table in zip(needs, self.tables, strict=True)]
        reached = [*((step.end, mean) for step, mean in zip(self.steps, means, strict=True))]
        for table, need, (end, mean), (later, total) in zip(
            self.tables, needs, reached, [*reached[1:], (n, n_pos)], strict=True
        ):
            hits = table.hits
            deviation = np.sqrt(max(float(need @ (hits - mean) ** 2), 0.0))
            margin = _WINDOW * (deviation + 1)
            low = max(int(hits[0]), int(mean - margin))
            high = min(int(hits[-1]), int(mean + margin))
            # The scatter of hits up to here, given those up to the end of the next step.
            scatter = min(_scatter(mean, end, total - mean, later - end), deviation)
            stride = max(1, int(scatter / _PER_DEVIATION), 1 + (high - low) // _MOST_FINE)
            rows.append(np.arange(low, high + 1, stride))
        return Course(self.groups, *self._shape, rows)

    def tilt(self, slope: float) -> Tilt:
        """Walk with weights exp(slope T)."""
        state = State(np.zeros(1), np.zeros(1), np.zeros(1))
        shares: list[Floats] = []
        exits: list[Floats] = [np.zeros(0)] * len(self.groups)
        found = np.zeros((3, len(self.groups)))
        for depth in range(len(self.tables) + 1):
            for index in self._leave.get(depth, []):
                last, exits[index] = tilted(self.exits[index], slope, state)
                found[:, index] = [column[0] for column in last]
            if depth < len(self.tables):
                state, share = tilted(self.tables[depth], slope, state)
                shares.append(share)
        log_mgf, mean, variance = found
        return Tilt(slope, log_mgf, mean, variance, shares, exits)

    def waves(
        self, tilt: Tilt, groups: Iterable[int], frequencies: Floats
    ) -> dict[int, Complexes]:
        """Return the tilted characteristic functions of some groups.

        `frequencies` are equally spaced, and a multiple of 8 in number.
        """
        wanted = set(groups)
        needs = self._needs(tilt, wanted)
        wave = np.ones((1, frequencies.size), dtype=np.complex128)
        found: dict[int, Complexes] = {}
        for depth in range(len(needs)):
            for index in wanted.intersection(self._leave.get(depth, [])):
                last = self.exits[index]
                found[index] = _passed(last, tilt.exits[index], tilt.slope, wave, frequencies)[0]
            if depth + 1 < len(needs):
                table = self.tables[depth]
                share = np.where(needs[depth + 1][table.row] > _NEGLIGIBLE, tilt.shares[depth], 0)
                wave = _passed(table, share, tilt.slope, wave, frequencies)
        return found

    def _needs(self, tilt: Tilt, wanted: set[int]) -> list[Floats]:
        """Return the tilted chance of every row, summed over groups, before each step."""
        depths = [d for d, leaving in self._leave.items() if wanted.intersection(leaving)]
        need: Floats = np.zeros(0)
        needs: list[Floats] = []
        for depth in range(max(depths), -1, -1):
            rows = self.tables[depth - 1].hits.size if depth else 1
            if needs:
                table = self.tables[depth]
                weight = tilt.shares[depth] * need[table.row]
                need = np.bincount(table.column, weight, minlength=rows).astype(np.float64)
            else:
                need = np.zeros(rows)
            for index in wanted.intersection(self._leave.get(depth, [])):
                need = need + np.bincount(
                    self.exits[index].column, tilt.exits[index], minlength=rows
                )
            needs.append(need)
        return needs[::-1]


def _scatter(above: float, end: int, within: float, size: int) -> float:
    """Return how much positives above and within a step scatter when their sum is given."""
    first, second = above * max(1 - above / end, 0.0), within * max(1 - within / size, 0.0)
    return float(np.sqrt(first * second / (first + second))) if first * second > 0 else 0.0


def _passed(
    table: Transitions, share: Floats, slope: float, wave: Complexes, frequencies: Floats
) -> Complexes:
    """Take a step; return the waves behind it."""
    kept = np.flatnonzero(share > _NEGLIGIBLE)
    drift = table.growth[kept] + slope * table.variance[kept]
    term = _turned(share[kept], drift, frequencies)
    if (variance := table.variance[kept]).any():
        term *= np.exp(-0.5 * variance[:, None] * frequencies**2)
    term *= wave[table.column[kept]]
    rows, starts = np.unique(table.row[kept], return_index=True)
    after = np.zeros((table.hits.size, frequencies.size), dtype=np.complex128)
    after[rows] = np.add.reduceat(term, starts, axis=0)
    return after


def _turned(share: Floats, drift: Floats, frequencies: Floats) -> Complexes:
    """Return share * exp(i drift frequency), an entry per row."""
    spacing = frequencies[1] - frequencies[0]
    fine = np.exp(1j * spacing * drift[:, None] * np.arange(_POWERS))
    coarse = np.exp(1j * drift[:, None] * frequencies[::_POWERS]) * share[:, None]
    turned = coarse[:, :, None] * fine[:, None, :]
    return np.asarray(turned.reshape(drift.size, frequencies.size))
