"""P(T >= target) by following all rankings at once, down the ranks.

A state is the number of positives that have been met, T so far, and its probability. T never
falls: a state is decided once the target is surely reached or surely missed, and the last positive
is placed in closed form. While the states are few this is branch and bound, and exact. When they
grow many, states with the same number of positives and nearly the same T are merged into their
mean; merged into the least or the largest instead, they give bounds.

Walks of many groups, or towards many targets, go side by side: most have a few states at a time,
so that each would spend its time on small arrays. A state knows its lane, which is the number of
its walk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Steps,
    log_binomial,
)
from prframe.stats.null.average_precision.tails.merged.crowds import WIDEST, most_states
from prframe.stats.null.average_precision.tails.merged.growth_bounds import (
    GrowthByLast,
    growth_at_once,
)
from prframe.typing import Floats, Integers

Chosen: TypeAlias = NDArray[np.bool_] | NDArray[np.int64]
Rounding: TypeAlias = Literal["mean", "low", "high"]

# The steps of a walk: the number of first ranks that are steps of their own, and the share of the
# rank that a step takes beyond them.
_GENERAL = (64, 0.06)
# These are the steps where single rankings carry weight.
_SINGLE = (2048, 0.01)
# These are the steps for bounds, which must allow for all places in a step, and for few positives.
_BOUND = (256, 0.02)
# A group with at most this many positives has the steps for bounds, as general steps would be too
# long for it.
_SPARSE = 8
# States are left out if the natural logarithm of their share of the smaller tail is below this.
_NEGLIGIBLE = -21.0
# At most this many states are each of a kind of its own, as telling kinds apart would take longer.
_APIECE = 512
# The number of walks that go side by side, which bounds the memory.
_LANES = 64


class Tails(NamedTuple):
    """The logarithms of P(T >= target), of P(T < target), and of the chance of all left out.

    `is_exact` tells that every ranking was followed to its end, `is_merged` that states were
    merged, `is_widened` that cells became so wide that they tell little.
    """

    reached: float
    missed: float
    left_out: float
    is_exact: bool
    is_merged: bool
    is_widened: bool


class States(NamedTuple):
    """The lane, positives met, T so far, and the logarithm of the probability of each state."""

    lane: Integers
    hits: Integers
    total: Floats
    log_weight: Floats

    def where(self, chosen: Chosen) -> "States":
        """Return some of the states."""
        lane, hits, total, log_weight = self
        return States(lane[chosen], hits[chosen], total[chosen], log_weight[chosen])


class _Kinds(NamedTuple):
    """The lanes and the numbers of hits that states have, and the kind of each state."""

    lane: Integers
    hits: Integers
    of: "Integers | slice"

    @classmethod
    def among(cls, states: States, count: int) -> "_Kinds":
        """Return the kinds from the fewest to the most hits of each lane, `count` in number."""
        if states.hits.size <= _APIECE:
            return cls(states.lane, states.hits, slice(None))
        low, high = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
        np.minimum.at(low, states.lane, states.hits)
        np.maximum.at(high, states.lane, states.hits)
        number = np.maximum(high - low + 1, 0)
        before = np.cumsum(number) - number
        lane = np.repeat(np.arange(count), number)
        hits = np.arange(lane.size) - before[lane] + low[lane]
        return cls(lane, hits, before[states.lane] + states.hits - low[states.lane])


@dataclass(frozen=True)
class Walk:
    """A walk towards a target.

    Attributes
    ----------
    items : Items
    n_pos : int
        Positives among them.
    target : float
        The value that T is to reach.
    cell : float
        States are merged if they are closer than this share of what they lack, or of `scale` if
        that is less.
    scale : float
        The change of T over which its tail falls by a factor of about e.
    most : float
        Number of states up to which none are merged.
    rounding : {"mean", "low", "high"}
        The value that merged states get: their mean, the least or the largest.
    is_fine : bool
        Whether single rankings carry weight.
    is_counted : bool
        Whether every ranking counts for itself: no states are merged, and each rank is a step.
    is_low : bool
        Whether the target is so low that steps must be fine at the end.
    """

    items: Items
    n_pos: int
    target: float
    cell: float = 0.02
    scale: float = 1.0
    most: float = 1000
    rounding: Rounding = "mean"
    is_fine: bool = False
    is_counted: bool = False
    is_low: bool = False

    def tails(self) -> Tails:
        """Walk down the ranks and return the tails."""
        return walked([self])[0]

    def steps(self) -> Steps:
        """Return the steps of the walk."""
        if self.is_counted:
            return self.items.table(inf, 0.0)
        if self.is_fine and self.rounding == "mean":
            return self.items.table(*_SINGLE, is_fine_below=self.is_low)
        is_long = self.rounding == "mean" and self.n_pos > _SPARSE
        return self.items.table(*(_GENERAL if is_long else _BOUND), is_fine_below=self.is_low)


def walked(walks: Sequence[Walk]) -> list[Tails]:
    """Return the tails of walks with the same rounding, many of which go side by side."""
    steps = [walk.steps() for walk in walks]
    order = sorted(range(len(walks)), key=lambda place: steps[place].size.size)
    tails: dict[int, Tails] = {}
    for begin in range(0, len(order), _LANES):
        chosen = order[begin : begin + _LANES]
        together = _SideBySide([walks[k] for k in chosen], [steps[k] for k in chosen])
        tails |= dict(zip(chosen, together.tails(), strict=True))
    return [tails[place] for place in range(len(walks))]


class _Step(NamedTuple):
    """The steps that all lanes take at once, as in `Step`; of no ranks where a walk has ended."""

    above: Floats
    size: Floats
    single: Floats
    pair: Floats
    first: Floats
    last: Floats

    @property
    def end(self) -> Floats:
        """The rank of the last item of each step."""
        return self.above + self.size

    @property
    def is_exact(self) -> NDArray[np.bool_]:
        """Whether steps are one rank or one tie block, so that their growth is certain."""
        return np.asarray(self.first == self.last)


class _SideBySide:
    """Walks side by side, each in a lane."""

    def __init__(self, walks: Sequence[Walk], steps: Sequence[Steps]) -> None:
        self._items = [walk.items for walk in walks]
        self._rounding = walks[0].rounding
        self._n = np.array([items.n for items in self._items])
        self._depth = np.array([items.depth for items in self._items])
        self._is_tied = np.array([items.is_tied for items in self._items])
        self._n_pos = np.array([walk.n_pos for walk in walks])
        self._target, self._cell, self._scale, self._most = np.array(
            [
                (walk.target, walk.cell, walk.scale, inf if walk.is_counted else walk.most)
                for walk in walks
            ],
            dtype=np.float64,
        ).T
        self._by_last = GrowthByLast(self._n, self._n_pos)
        self._reached, self._missed, self._left_out = np.full((3, len(walks)), -inf)
        self._is_exact, self._is_merged = np.ones(len(walks), np.bool_), self._n < 0
        self._widest = np.maximum(self._cell, WIDEST)
        self._steps = _steps(steps)
        self._crowd = np.full((len(self._steps), len(walks)), inf)
        for lane, (walk, table) in enumerate(zip(walks, steps, strict=True)):
            if walk.items.is_tied and not walk.is_counted:
                self._crowd[: table.size.size, lane] = most_states(table, walk.n_pos, walk.cell)

    def tails(self) -> list[Tails]:
        """Walk down the ranks and return the tails of each lane."""
        lane = np.arange(self._n.size)
        with np.errstate(divide="ignore"):
            self._walk(States(lane, np.zeros_like(lane), np.zeros(lane.size), np.zeros(lane.size)))
        is_exact = self._is_exact & ~self._is_merged
        tails = self._reached, self._missed, self._left_out
        columns = *tails, is_exact, self._is_merged, self._cell > self._widest
        return [Tails(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def _walk(self, states: States) -> None:
        """Walk down the ranks and decide all states."""
        is_last = self._n_pos == 1
        self._place_last(states.where(is_last), np.zeros(self._n.size))
        states = states.where(~is_last)
        for step, crowd in zip(self._steps, self._crowd, strict=True):
            if not states.hits.size:
                break
            states = self._merged(self._open(self._passed(states, step), step.end), crowd)

    def _passed(self, states: States, step: _Step) -> States:
        """Take a step; return the states that are still undecided."""
        kinds = _Kinds.among(states, self._n.size)
        rest, size = (self._n_pos[kinds.lane] - kinds.hits), step.size[kinds.lane]
        left = (self._n - step.above)[kinds.lane]
        fewest, most = np.maximum(size - (left - rest), 0).min(), np.minimum(size, rest).max()
        parts = [states.where(np.zeros(states.hits.size, np.bool_))]
        for j in range(int(fewest), int(most) + 1):
            chance = _log_chance(j, rest, left, size)[kinds.of]
            open_ = self._not_negligible(states, chance)
            lane, hits, total, weight = States(*states[:3], states.log_weight + chance).where(
                open_
            )
            if j:
                self._is_exact[lane[~step.is_exact[lane]]] = False
            after = States(lane, hits + j, total + self._growth(step, lane, hits, j), weight)
            last = after.hits == self._n_pos[lane] - 1
            complete = after.hits == self._n_pos[lane]
            self._place_last(after.where(last), step.end)
            self._add_complete(after.where(complete))
            parts.append(after.where(~(last | complete)))
        columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return States(*columns)

    def _not_negligible(self, states: States, chance: Floats) -> NDArray[np.bool_]:
        """Return the states that may go on with a chance, and note those that are left out."""
        weight = states.log_weight + chance
        total = self._log_sums(weight, states.lane)
        is_negligible = total < _NEGLIGIBLE + np.minimum(self._reached, self._missed)
        if is_negligible.any():
            left_out = np.logaddexp(self._left_out, total)
            self._left_out = np.where(is_negligible, left_out, self._left_out)
        return np.asarray((weight > -inf) & ~is_negligible[states.lane])

    def _growth(self, step: _Step, lane: Integers, hits: Integers, j: int) -> Floats:
        """Return the growth of T in a step with j positives."""
        growth = j * (hits + 1) * step.single[lane] + j * (j - 1) * step.pair[lane]
        if self._rounding == "mean":
            return np.asarray(growth)
        high = np.where(self._is_tied[lane], j * j, j * (j + 1) / 2)
        own = high if self._rounding == "high" else j * (j + 1) / 2
        end = (step.last if self._rounding == "low" else step.first)[lane]
        return np.where(step.is_exact[lane], growth, (j * hits + own) / end)

    def _place_last(self, states: States, rank: Floats) -> None:
        """Decide states with one positive left, which may stand anywhere below a rank."""
        lane, log_weight = states.lane, states.log_weight
        if not lane.size:
            return
        lack = self._target[lane] - states.total
        furthest = np.where(lack > 0, self._n_pos[lane] / np.maximum(lack, 0), np.inf)
        # The rounding of the target's division must not cost a rank.
        below = self._n[lane] - rank[lane]
        near = np.maximum(self._up_to(lane, furthest * (1 + 1e-13)) - rank[lane], 0)
        near = np.where(lack > 0, near, below)
        self._add_reached(lane, log_weight + np.log(near / below))
        self._add_missed(lane, log_weight + np.log1p(-near / below))

    def _up_to(self, lane: Integers, rank: Floats) -> Floats:
        """Return how many items of lanes stand in blocks that end at or above a rank."""
        number = np.minimum(np.floor(rank), self._depth[lane])
        tied = np.flatnonzero(self._is_tied[lane])
        for each in np.unique(lane[tied]).tolist():
            places = tied[lane[tied] == each]
            number[places] = self._items[each].up_to(rank[places])
        return np.asarray(number)

    def _add_complete(self, states: States) -> None:
        """Decide states that have met all positives."""
        if not states.lane.size:
            return
        good = states.total >= self._target[states.lane]
        self._add_reached(states.lane[good], states.log_weight[good])
        self._add_missed(states.lane[~good], states.log_weight[~good])

    def _add_reached(self, lane: Integers, log_weight: Floats) -> None:
        """Add chances of states that reach the target."""
        if lane.size:
            self._reached = np.logaddexp(self._reached, self._log_sums(log_weight, lane))

    def _add_missed(self, lane: Integers, log_weight: Floats) -> None:
        """Add chances of states that miss the target."""
        if lane.size:
            self._missed = np.logaddexp(self._missed, self._log_sums(log_weight, lane))

    def _log_sums(self, logs: Floats, lane: Integers) -> Floats:
        """Return the logarithm of a sum for each lane."""
        if self._n.size == 1:
            # The order of the terms is that of a lane among others, so that the digits are too.
            shift = _finite(logs.max(initial=-inf, keepdims=True))
            return np.asarray(shift + np.log(np.bincount(lane, np.exp(logs - shift), 1)))
        largest = np.full(self._n.size, -inf)
        np.maximum.at(largest, lane, logs)
        shift = _finite(largest)
        return np.asarray(
            shift + np.log(np.bincount(lane, np.exp(logs - shift[lane]), shift.size))
        )

    def _open(self, states: States, rank: Floats) -> States:
        """Decide the states that can be decided; return the others."""
        if not states.hits.size:
            return states
        kinds = _Kinds.among(states, self._n.size)
        least = states.total + self._least_to_come(kinds.lane, kinds.hits)[kinds.of]
        most = states.total + self._most_to_come(kinds.lane, kinds.hits, rank)[kinds.of]
        surely, never = least >= self._target[states.lane], most < self._target[states.lane]
        self._add_reached(states.lane[surely], states.log_weight[surely])
        self._add_missed(states.lane[never], states.log_weight[never])
        return states.where(~(surely | never))

    def _merged(self, states: States, crowd: Floats) -> States:
        """Merge states that lack nearly the same, in lanes with too many states.

        Where there are still more than `crowd` of them, cells become wider.
        """
        number = np.bincount(states.lane, minlength=self._n.size)
        is_full = number > self._most
        if not is_full.any():
            return states
        self._is_merged |= is_full
        while is_full.any():
            full = is_full[states.lane]
            parts = states.where(~full), self._together(states.where(full))
            columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
            states = States(*columns)
            is_full = is_full & (np.bincount(states.lane, minlength=self._n.size) > crowd)
            self._cell[is_full] *= 2
        return states

    def _together(self, states: States) -> States:
        """Merge states that lack nearly the same."""
        lane, hits = states.lane, states.hits
        lack = self._target[lane] - states.total - self._least_to_come(lane, hits)
        part = np.maximum(lack, 1e-300) / self._scale[lane]
        # Cells are equally wide in the logarithm below the scale, and in the lack itself beyond.
        place = np.where(part < 1, np.log(np.minimum(part, 1)), part - 1)
        cell = np.floor(place / self._cell[lane]).astype(np.int64)
        row = lane * (int(hits.max()) + 1) + hits
        cell += row * (int(np.ptp(cell)) + 1) - cell.min()
        # Runs of states are in order already, which a stable sort makes use of.
        order = np.argsort(cell, kind="stable")
        lane, hits, total, weight = states.where(order)
        new = np.flatnonzero(np.diff(cell[order], prepend=-1))
        largest = np.maximum.reduceat(weight, new)
        share = np.exp(weight - np.repeat(largest, np.diff(new, append=weight.size)))
        sums = np.add.reduceat(share, new)
        together = largest + np.log(sums)
        if self._rounding == "mean":
            kept = np.add.reduceat(share * total, new) / sums
        else:
            pick = np.minimum if self._rounding == "low" else np.maximum
            kept = pick.reduceat(total, new)
        return States(lane[new], hits[new], kept, together)

    def _most_to_come(self, lane: Integers, hits: Integers, rank: Floats) -> Floats:
        """Return the most by which T can grow below a rank."""
        n_pos, end = self._n_pos[lane], rank[lane]
        rest = n_pos - hits
        # T grows most if all positives that are left, or fit in, follow at once.
        more = np.clip(self._depth[lane] - end, 0, rest)
        most = growth_at_once(hits, end, more)
        # With ties none of these earns more than the precision where they end.
        tied = more * (hits + more) / np.maximum(end + more, 1)
        return np.where(self._is_tied[lane], tied, most)

    def _least_to_come(self, lane: Integers, hits: Integers) -> Floats:
        """Return the least growth of T to come, where all positives left come last of all.

        In a tied block they count for no less.
        """
        least = self._by_last.of(lane, self._n_pos[lane] - hits)
        return np.where(self._depth[lane] < self._n[lane], 0.0, least)


def _steps(tables: Sequence[Steps]) -> list[_Step]:
    """Return the steps that all lanes take at once."""
    longest = max(table.size.size for table in tables)
    columns = []
    for name in _Step._fields:
        rows = np.zeros((len(tables), longest))
        for row, table in zip(rows, tables, strict=True):
            values = getattr(table, name)
            row[: values.size] = values
        columns.append(rows.T)
    return [_Step(*quantities) for quantities in zip(*columns, strict=True)]


def _log_chance(j: int, rest: Integers, left: Floats, size: Floats) -> Floats:
    """Return the logarithms of the chances that steps hold j positives.

    `left` ranks, of which the step takes `size`, hold the `rest` of the positives.
    """
    share = np.minimum(rest / left, 1.0)
    chance = np.log(share) if j else np.log1p(-share)
    if j > 1:
        chance = np.full(size.shape, -inf)
    longer = np.flatnonzero(size != 1)
    if longer.size:
        rest, left, size = rest[longer], left[longer], size[longer]
        ways = log_binomial(rest, j) + log_binomial(left - rest, size - j)
        chance[longer] = ways - log_binomial(left, size)
    return np.asarray(chance)


def _finite(largest: Floats) -> Floats:
    """Return the largest logarithms, and 0 where there are none."""
    return np.where(largest > -inf, largest, 0.0)
