"""Levels of recall above which, or below which, the population may have no negative."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincc, betaincinv

from prframe.stats.rankings.cells import RankedCells
from prframe.typing import Floats, Integers


@dataclass(frozen=True, eq=False)
class LeastPrecision:
    """Precision at levels below which no negative of the population stands.

    All negatives are above such a level, so that precision is ``p b / (p b + 1 - p)`` at recall b,
    and nowhere is it less. `chance` says how probable that is (`pure_bottom`); `n_pos` and `n_neg`
    tell of p, unless it is given as `prior`.
    """

    recall: Floats
    chance: Floats
    n_pos: float
    n_neg: float
    prior: float | None = None

    @classmethod
    def of(
        cls, cells: RankedCells, recall: Floats, prior: float | None = None, each: float = 1.0
    ) -> "LeastPrecision":
        """Find the levels of a ranking; an item counts as so much of an independent one."""
        chance = pure_bottom(cells, recall, each)
        return cls(recall, chance, each * cells.n_pos, each * cells.n_neg, prior)

    def at(self, tail: float) -> Floats:
        """Return this precision where it is as probable as a tail; infinite elsewhere.

        An unknown p has the value below which it is with the probability of the tail.
        """
        p = self.prior
        if p is None:
            p = float(betaincinv(self.n_pos + 0.5, self.n_neg + 0.5, tail))
        found = p * self.recall
        return np.where(self.chance >= tail, found / (found + 1 - p), np.inf)


def pure_top(cells: RankedCells, recall: Floats, each: float = 1.0) -> Floats:
    """Return how probable it is that no negative of the population stands above each level.

    That is ``P(Beta(j + 1, n_pos - j) >= recall)`` for j positives before the first negative of
    the sample and what is tied with it; 0 if j = 0. `each` is the weight of a positive.
    """
    return _pure(cells.pos, cells.neg, recall, each)


def pure_bottom(cells: RankedCells, recall: Floats, each: float = 1.0) -> Floats:
    """Return how probable it is that no negative of the population stands below each level.

    It is ``P(Beta(j + 1, n_pos - j) >= 1 - recall)`` for j positives after the last negative; 0 if
    there are none, or positives that are not retrieved.
    """
    pos, neg = cells.pos[::-1], cells.neg[::-1]
    if pos[0] or not pos[: np.argmax(neg > 0)].any():
        return np.zeros(recall.shape)
    return _pure(pos, neg, 1 - recall, each)


def _pure(pos: Integers, neg: Integers, shares: Floats, each: float) -> Floats:
    """Return how probable it is that no negative is among the first shares of the positives."""
    first, n_pos = int(np.argmax(neg > 0)) if neg.any() else neg.size, int(pos.sum())
    before = int(pos[:first].sum())
    if before == n_pos:
        return np.ones(shares.shape)
    if pos[first] and not before:
        return np.zeros(shares.shape)
    return _beyond(each * before + 1, each * (n_pos - before), shares.tobytes())


@lru_cache(maxsize=256)
def _beyond(a: float, b: float, shares: bytes) -> Floats:
    """Return the chances of a beta variate above shares, which groups have in common."""
    return np.asarray(betaincc(a, b, np.frombuffer(shares)))
