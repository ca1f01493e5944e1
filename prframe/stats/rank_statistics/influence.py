"""Linear rank statistics of a ranking in cells, and the contribution of each item.

The Hajek projection (Clemencon, Limnios & Vayatis 2021, Proposition 4) writes W as a sum over
items: ``phi(F(x)) + int_x^inf phi'(F) dF_pos`` for a positive and the integral alone for a
negative, where F is the distribution of all scores and ``F_pos`` the positives' part of it. The
items of a cell have the same value.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prframe.stats._tolerances import WHOLE
from prframe.stats.rankings import RankedCells, local_precision
from prframe.stats.score_functions import Jump, ScoreGeneratingFunction
from prframe.typing import Floats, Integers


class Effects(NamedTuple):
    """The contributions to W of one positive and of one negative of each cell."""

    pos: Floats
    neg: Floats


class Deviations(NamedTuple):
    """Values, and the number of items with each."""

    values: Floats
    number: Integers


@dataclass(frozen=True, eq=False)
class RankSum:
    """``W = sum over positives of phi(rank / (N + 1))`` of a ranking.

    Attributes
    ----------
    cells : RankedCells
    phi : ScoreGeneratingFunction
        The score-generating function for this number of items.
    """

    cells: RankedCells
    phi: ScoreGeneratingFunction

    @cached_property
    def _u(self) -> Floats:
        """The mid-ranks divided by N + 1."""
        return normalised_mid_ranks(self.cells.pos + self.cells.neg)

    @cached_property
    def statistic(self) -> float:
        """The statistic W."""
        hit = self.cells.pos > 0
        return float(self.cells.pos[hit] @ self.phi(self._u[hit]))

    @cached_property
    def effects(self) -> Effects:
        """The projection, cell by cell; ties count half, and an item does not move itself."""
        pos, u = self.cells.pos, self._u
        slope = self.phi.derivative(u) / (self.cells.n + 1)
        above = np.cumsum(pos * slope) - pos * slope
        for jump in self.phi.jumps:
            above = above + jump.size * self._density(jump) * (u < jump.at)
        return Effects(self.phi(u) + above + (pos - 1) / 2 * slope, above + pos / 2 * slope)

    @cached_property
    def deviations(self) -> list[Deviations]:
        """The effects of positives and of negatives, less the mean of their class."""
        classes = zip(self.effects, (self.cells.pos, self.cells.neg), strict=True)
        return [_centred(effect[number > 0], number[number > 0]) for effect, number in classes]

    @cached_property
    def variance(self) -> float:
        """The estimated variance of W; NaN if a class has one item, or none."""
        return sum(_variance(*of_class) for of_class in self.deviations)

    @property
    def moved_by_ties(self) -> float:
        """How far items tied across a jump of phi may move W, in standard errors.

        The mid-rank of their block is on one side of the jump in a sample, and may be on the other
        one in the population, whose jump is as far away as the number of items above it varies. It
        is 0 without such items, or without a standard error.
        """
        pos, size = self.cells.pos, self.cells.pos + self.cells.neg
        if np.count_nonzero(size) == 1:
            return 0.0
        end, tied, moved = np.cumsum(size), (pos > 0) & (size > 1), 0.0
        for jump in self.phi.jumps:
            rank = rank_of(jump, self.cells.n)
            reach = np.sqrt(self.cells.n * jump.at * (1 - jump.at))
            near = tied & (end > rank - reach) & (end - size < rank + reach)
            moved += jump.size * pos[near].max(initial=0)
        if not moved or np.isnan(self.variance):
            return 0.0
        return float(moved / np.sqrt(self.variance)) if self.variance else np.inf

    def _density(self, jump: Jump) -> float:
        """Return the share of positives near a jump: the mean number one item moves across it."""
        # An empty cell is appended, because the last cell is a tie block here, as the others are.
        pos, neg = (np.append(part, 0.0) for part in (self.cells.pos, self.cells.neg))
        return local_precision(pos, neg, rank_of(jump, self.cells.n), self.cells.n)


def moved_by_ties(phi: ScoreGeneratingFunction, cells: RankedCells) -> float:
    """Return by how many standard errors items tied across a jump of phi may move W.

    Parameters
    ----------
    phi : ScoreGeneratingFunction
        The score-generating function for this number of items.
    cells : RankedCells
        The ranking.

    Returns
    -------
    float
        0 without such items, or without a standard error.

    Examples
    --------
    >>> from prframe.stats import RankedCells, parse_phi
    >>> tied = RankedCells(pos=[1, 2, 1], neg=[1, 2, 1])
    >>> round(moved_by_ties(parse_phi("median"), tied), 2)
    2.83
    >>> moved_by_ties(parse_phi("mww"), tied)
    0.0
    """
    return RankSum(cut_at_jumps(cells, phi), phi).moved_by_ties if phi.projected else 0.0


def normalised_mid_ranks(sizes: Integers) -> Floats:
    """Return mid-ranks of blocks, best first, over N + 1; an empty block counts as one item."""
    n = int(sizes.sum())
    rank = n - (np.cumsum(sizes) - sizes) - (sizes - 1) / 2
    return np.asarray(np.clip(rank, 1, n) / (n + 1))


def rank_of(jump: Jump, n: int) -> int:
    """Return how many of n items lie above a jump."""
    return min(max(int((n + 1) * (1 - jump.at) + WHOLE), 1), n)


def cut_at_jumps(cells: RankedCells, phi: ScoreGeneratingFunction) -> RankedCells:
    """Cut runs of negatives in two where phi jumps, so that each cell is on one side of it."""
    pos, neg = cells.pos, cells.neg
    for jump in phi.jumps:
        pos, neg = _cut(pos, neg, rank_of(jump, cells.n))
    return RankedCells(pos, neg)


def _cut(pos: Integers, neg: Integers, rank: int) -> tuple[Integers, Integers]:
    """Cut a run of negatives in two behind a rank."""
    end = np.cumsum(pos + neg)
    at = int(np.searchsorted(end, rank))
    below = int(end[at]) - rank
    if pos[at] or not 0 < below < neg[at]:
        return pos, neg
    halves = np.insert(neg, at, neg[at] - below)
    halves[at + 1] = below
    return np.insert(pos, at, 0), halves


def _centred(effect: Floats, number: Integers) -> Deviations:
    """Return effects less their mean, which counts each as often as there are items with it."""
    mean = number @ effect / number.sum() if number.size else 0.0
    return Deviations(effect - mean, number)


def _variance(deviation: Floats, number: Integers) -> float:
    """Return the size of a class times the sample variance of its effects."""
    total = int(number.sum())
    if total < 2:  # noqa: PLR2004 - a variance needs two
        return np.nan
    return float(number @ deviation**2) * total / (total - 1)
