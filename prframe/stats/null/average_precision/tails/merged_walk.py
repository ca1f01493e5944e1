"""P(T >= target) by following all rankings at once, down the ranks.

A state is the number of positives that have been met, T so far, and its probability. T never
falls: a state is decided once the target is surely reached or surely missed, and the last positive
is placed in closed form. While the states are few this is branch and bound, and exact. When they
grow many, states with the same number of positives and nearly the same T are merged into their
mean; merged into the least or the largest instead, they give bounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    Step,
    log_binomial,
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


class Tails(NamedTuple):
    """The logarithms of P(T >= target), of P(T < target), and of the chance of all left out.

    `is_exact` tells that every ranking was followed to its end, `is_merged` that states were
    merged.
    """

    reached: float
    missed: float
    left_out: float
    is_exact: bool
    is_merged: bool


class States(NamedTuple):
    """Positives met, T so far, and the logarithm of the probability of each state."""

    hits: Integers
    total: Floats
    log_weight: Floats

    def where(self, chosen: Chosen) -> "States":
        """Return some of the states."""
        return States(self.hits[chosen], self.total[chosen], self.log_weight[chosen])


Parts: TypeAlias = list[States]


@dataclass
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

    def __post_init__(self) -> None:
        """Begin with no decided states."""
        self._reached = self._missed = self._left_out = -inf
        self._is_exact, self._is_merged = True, False

    def tails(self) -> Tails:
        """Walk down the ranks and return the tails."""
        states = States(np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
        if self.n_pos == 1:
            self._place_last(states, 0)
            return self._result()
        for step in self._steps():
            states = self._open(self._passed(states, step), step.end)
            if not states.hits.size:
                break
            if states.hits.size > self.most and not self.is_counted:
                states = self._merged(states)
        return self._result()

    def _steps(self) -> Iterator[Step]:
        """Return the steps of the walk."""
        if self.is_counted:
            return self.items.steps(inf, 0.0)
        if self.rounding != "mean":
            return self.items.steps(*_BOUND)
        if self.is_fine:
            return self.items.steps(*_SINGLE)
        return self.items.steps(*(_BOUND if self.n_pos <= _SPARSE else _GENERAL))

    def _result(self) -> Tails:
        """Return the tails that the decided states add up to."""
        is_exact = self._is_exact and not self._is_merged
        return Tails(self._reached, self._missed, self._left_out, is_exact, self._is_merged)

    def _passed(self, states: States, step: Step) -> States:
        """Take a step; return the states that are still undecided."""
        low = int(states.hits.min())
        met = np.arange(low, int(states.hits.max()) + 1)
        positives, chances = self._chances(step, met)
        parts: Parts = [states.where(np.zeros(states.hits.size, np.bool_))]
        for j, chance in zip(positives.tolist(), chances, strict=True):
            weight = states.log_weight + chance[states.hits - low]
            if (total := _log_sum(weight)) < _NEGLIGIBLE + min(self._reached, self._missed):
                self._left_out = float(np.logaddexp(self._left_out, total))
                continue
            possible = weight > -inf
            if j and not step.is_exact:
                self._is_exact = False
            hits, reached, _ = states.where(possible)
            after = States(hits + j, reached + self._growth(step, hits, j), weight[possible])
            last, complete = after.hits == self.n_pos - 1, after.hits == self.n_pos
            self._place_last(after.where(last), step.end)
            self._add_complete(after.where(complete))
            parts.append(after.where(~(last | complete)))
        return States(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _growth(self, step: Step, hits: Integers, j: int) -> Floats:
        """Return the growth of T in a step with j positives."""
        if step.is_exact or self.rounding == "mean":
            return step.growth(hits, np.full(hits.size, j))
        own = j * j if self.items.is_tied and self.rounding == "high" else j * (j + 1) / 2
        end = step.last if self.rounding == "low" else step.first
        return np.asarray((j * hits + own) / end)

    def _chances(self, step: Step, met: Integers) -> tuple[Integers, Floats]:
        """Return the possible numbers of positives in a step, and log chances, by those met."""
        left, rest = float(self.items.n - step.above), self.n_pos - met
        if step.size == 1:
            share = np.clip(rest / left, 0, 1)
            with np.errstate(divide="ignore"):
                return np.arange(2), np.stack([np.log1p(-share), np.log(share)])
        least = max(0, step.size - int(left - rest.min()))
        j = np.arange(least, min(step.size, int(rest.max())) + 1)
        ways = log_binomial(rest, j[:, None]) + log_binomial(left - rest, step.size - j[:, None])
        return j, ways - log_binomial(left, step.size)

    def _place_last(self, states: States, rank: int) -> None:
        """Decide states with one positive left, which may stand anywhere below a rank."""
        if not states.hits.size:
            return
        lack = self.target - states.total
        with np.errstate(divide="ignore"):
            furthest = np.where(lack > 0, self.n_pos / np.maximum(lack, 0), np.inf)
        # The rounding of the target's division must not cost a rank.
        below = self.items.n - rank
        near = np.maximum(self.items.up_to(furthest * (1 + 1e-13)) - rank, 0)
        near = np.where(lack > 0, near, below)
        with np.errstate(divide="ignore"):
            self._add(
                states.log_weight + np.log(near / below),
                states.log_weight + np.log1p(-near / below),
            )

    def _add_complete(self, states: States) -> None:
        """Decide states that have met all positives."""
        good = states.total >= self.target
        self._add(states.log_weight[good], states.log_weight[~good])

    def _add(self, reached: Floats, missed: Floats) -> None:
        """Add the chances of decided states to the result."""
        self._reached = float(np.logaddexp(self._reached, _log_sum(reached)))
        self._missed = float(np.logaddexp(self._missed, _log_sum(missed)))

    def _open(self, states: States, rank: int) -> States:
        """Decide the states that can be decided; return the others."""
        if not states.hits.size:
            return states
        low = int(states.hits.min())
        met = np.arange(low, int(states.hits.max()) + 1)
        surely = states.total + self._least_to_come(met)[states.hits - low] >= self.target
        never = states.total + self._most_to_come(met, rank)[states.hits - low] < self.target
        self._add(states.log_weight[surely], states.log_weight[never])
        return states.where(~(surely | never))

    def _merged(self, states: States) -> States:
        """Merge states that lack nearly the same."""
        self._is_merged = True
        lack = self.target - states.total - self._least_to_come(states.hits)
        part = np.maximum(lack, 1e-300) / self.scale
        # Cells are equally wide in the logarithm below the scale, and in the lack itself beyond.
        place = np.where(part < 1, np.log(np.minimum(part, 1)), part - 1)
        cell = np.floor(place / self.cell).astype(np.int64)
        cell += (states.hits - states.hits.min()) * (int(np.ptp(cell)) + 1) - cell.min()
        # Runs of states are in order already, which a stable sort makes use of.
        order = np.argsort(cell, kind="stable")
        hits, total, weight = states.where(order)
        new = np.flatnonzero(np.diff(cell[order], prepend=-1))
        largest = np.maximum.reduceat(weight, new)
        share = np.exp(weight - np.repeat(largest, np.diff(new, append=weight.size)))
        sums = np.add.reduceat(share, new)
        together = largest + np.log(sums)
        if self.rounding == "mean":
            kept = np.add.reduceat(share * total, new) / sums
        else:
            pick = np.minimum if self.rounding == "low" else np.maximum
            kept = pick.reduceat(total, new)
        return States(hits[new], kept, together)

    def _most_to_come(self, hits: Integers, rank: int) -> Floats:
        """Return the most by which T can grow below a rank."""
        rest = self.n_pos - hits
        if self.items.is_tied:
            # All positives left earn at most the precision n_pos / (rank + those left).
            return np.asarray(rest * self.n_pos / np.maximum(rank + rest, 1))
        # T grows most if all positives that are left, or fit in, follow at once.
        more = np.clip(self.items.depth - rank, 0, rest)
        return np.asarray(more - (rank - hits) * (_harmonic(rank + more) - _harmonic(rank)))

    def _least_to_come(self, hits: Integers) -> Floats:
        """Return the least growth of T to come, where all positives left come last of all.

        In a tied block they count for no less.
        """
        if self.items.depth < self.items.n:
            return np.zeros(hits.size)
        rest = self.n_pos - hits
        spread = _harmonic(self.items.n) - _harmonic(self.items.n - rest)
        return np.asarray(rest - (self.items.n - self.n_pos) * spread)


def _log_sum(logs: Floats) -> float:
    """Return the logarithm of a sum."""
    largest = float(logs.max(initial=-inf))
    return largest + log(np.exp(logs - largest).sum()) if largest > -inf else -inf


def _harmonic(n: "Integers | int") -> Floats:
    """Return 1 + 1/2 + ... + 1/n up to a constant."""
    return np.asarray(digamma(np.asarray(n) + 1.0))
