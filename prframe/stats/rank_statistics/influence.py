"""Linear rank statistics of a ranking in cells, and the contribution of each item.

The Hajek projection (Clemencon, Limnios & Vayatis 2021, Prop. 4) writes W as a sum over items:
``phi(F(x)) + int_x^inf phi'(F) dF_pos`` for a positive, the integral alone for a negative, where F
is the distribution of all scores and ``F_pos`` the positives' part. Items of a cell share a value.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prframe.stats._tolerances import WHOLE
from prframe.stats.rankings import RankedCells, local_precision
from prframe.stats.score_functions import Jump, ScoreGeneratingFunction
from prframe.typing import Floats, Integers


@dataclass(frozen=True, eq=False)
class RankSum:
    """``W = sum over positives of phi(rank / (N + 1))``, with the phi of this number of items."""

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
    def effects(self) -> tuple[Floats, Floats]:
        """The projections of one positive and of one negative of each cell.

        Ties count half, and an item does not move itself.
        """
        pos, u = self.cells.pos, self._u
        slope = self.phi.derivative(u) / (self.cells.n + 1)
        above = np.cumsum(pos * slope) - pos * slope
        for jump in self.phi.jumps:
            above = above + jump.size * self._density(jump) * (u < jump.at)
        return self.phi(u) + above + (pos - 1) / 2 * slope, above + pos / 2 * slope

    @cached_property
    def variance(self) -> float:
        """The estimated variance of W; NaN if a class has one item, or none."""
        classes = zip(self.effects, (self.cells.pos, self.cells.neg), strict=True)
        return sum(_variance(effect[number > 0], number[number > 0]) for effect, number in classes)

    @property
    def moved_by_ties(self) -> float:
        """How far items tied across a jump of phi may move W, in standard errors.

        Their mid-rank is on one side of the jump in a sample, and may be on the other one in the
        population, whose jump is as far away as the number of items above it varies.
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
        """Return the share of positives near a jump: how many one item moves across it."""
        # An empty cell is appended, because the last cell is a tie block here, as the others are.
        pos, neg = (np.append(part, 0.0) for part in (self.cells.pos, self.cells.neg))
        return local_precision(pos, neg, rank_of(jump, self.cells.n), self.cells.n)


def moved_by_ties(phi: ScoreGeneratingFunction, cells: RankedCells) -> float:
    """Return by how many standard errors items tied across a jump of phi may move W, or 0."""
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


def _variance(effect: Floats, number: Integers) -> float:
    """Return the size of a class times the sample variance of its effects."""
    total = int(number.sum())
    if total < 2:  # noqa: PLR2004 - a variance needs two
        return np.nan
    deviation = effect - number @ effect / total
    return float(number @ deviation**2) * total / (total - 1)
