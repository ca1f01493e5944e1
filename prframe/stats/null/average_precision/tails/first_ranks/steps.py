"""The steps below the first ranks: which numbers of hits are met, and which follow."""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    log_binomial,
    log_hypergeometric,
)
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.typing import Floats, Integers

# Hits, and positives of a step, are left out if the natural logarithm of their chance, times that
# of the tail given them, is this much below that of a lower bound of the tail.
BELOW = 18.0


class Terms(NamedTuple):
    """The terms of a step: the hits above, those at its end, and how T grows with what chance.

    Hits above are counted from `low`, and are `rows` in number.
    """

    low: int
    rows: int
    row: Integers
    after: Integers
    growth: Floats
    spread: Floats
    chance: Floats


class StepTerms:
    """The terms of the steps of a case with lists of so many hits, which lattices share."""

    def __init__(self, case: Retrieved, listed: int, never: float) -> None:
        self.case, self.never = case, never
        self._listed = listed
        self._items = Items(case.n, case.depth)
        self._known: dict[tuple[int, int], Terms] = {}
        self._hits: dict[int, tuple[Integers, Floats]] = {}

    def at(self, above: int, end: int) -> Terms:
        """Return the terms of a step."""
        if (above, end) not in self._known:
            self._known[above, end] = self._terms(above, end)
        return self._known[above, end]

    def likely(self, rank: int) -> tuple[Integers, Floats]:
        """Return the likely numbers of hits at a rank, and the logarithms of their chances."""
        if rank not in self._hits:
            self._hits[rank] = self._likely(rank)
        return self._hits[rank]

    def _likely(self, rank: int) -> tuple[Integers, Floats]:
        """Compute the likely numbers of hits at a rank."""
        n, n_pos, _ = self.case
        hits = np.arange(max(0, n_pos - (n - rank)), min(rank, n_pos) + 1)
        log_chance = log_hypergeometric(n, n_pos, rank, hits)
        likely = log_chance + self._log_rest(rank, hits) > self.never
        return hits[likely], log_chance[likely]

    def _log_rest(self, rank: int, hits: Integers) -> Floats:
        """Return rough bounds of the logarithm of the tail, given the hits above a rank.

        Where there are r times as many as expected, lists of k hits are r^k times as likely.
        """
        n, n_pos, _ = self.case
        more = np.log(np.maximum(hits * n / (rank * n_pos), 1.0))
        return np.minimum(self.never + BELOW + self._listed * more, 0.0)

    def _terms(self, above: int, end: int) -> Terms:
        """Compute the terms of a step."""
        n, n_pos, _ = self.case
        size = end - above
        met, log_chance = self.likely(above)
        low, high = (int(hits) for hits in self.likely(end)[0][[0, -1]])
        number = np.arange(max(0, low - int(met[-1])), min(size, high - int(met[0])) + 1)
        after = met[:, None] + number
        log_share = log_binomial(size, number) + log_binomial(n - end, n_pos - after)
        log_share -= log_binomial(n - above, n_pos - met)[:, None]
        rest = np.maximum(self._log_rest(above, met)[:, None], self._log_rest(end, after))
        likely = log_share + log_chance[:, None] + rest > self.never
        row, column = np.nonzero(likely & (low <= after) & (after <= high))
        step = self._items.between(np.array([above]), np.array([end]))
        hits, j = met[row], number[column]
        growth, spread = step.growth(0, hits, j), step.deviation(0, hits, j)
        share = np.exp(log_share[row, column])
        return Terms(int(met[0]), met.size, row, hits + j - low, growth, spread, share)
