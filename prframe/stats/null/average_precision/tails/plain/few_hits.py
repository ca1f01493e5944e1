"""Tails of T = n_pos AP where no more than two positives are retrieved, which are counted.

Of a list that is cut off, few hits at its end are the smallest values of T. A lattice takes many
ranks there at once, and would tell neither them nor their single values apart.
"""

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import (
    Items,
    log_hypergeometric,
)
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.typing import Integers

# Pairs of hits are counted where there are at most so many ranks or tie blocks.
_LISTED = 100_000
# Values of T are raised to this before their inverse is taken.
_LEAST = 1e-300


class FewHits:
    """The chances that few positives are retrieved and T is a value or more, or less.

    Parameters
    ----------
    case : Retrieved
    ends : ndarray of int, optional
        Ends of the tie blocks.
    never : float
        The logarithm of chances that do not count.

    Attributes
    ----------
    most : int
        The largest number of hits that is counted; -1 where so few are out of the question.
    """

    def __init__(self, case: Retrieved, ends: Integers | None, never: float) -> None:
        n, n_pos, depth = case
        self._items = Items(depth, depth, ends)
        number = depth if ends is None else ends.size
        fewest = max(0, n_pos - (n - depth))
        hits = np.arange(fewest, min(2 if number <= _LISTED else 1, depth, n_pos) + 1)
        logs = log_hypergeometric(n, n_pos, depth, hits)
        is_likely = bool((logs > never).any())
        self.most = int(hits[-1]) if is_likely else -1
        self._chance = dict(zip(hits.tolist(), np.exp(logs).tolist(), strict=True))

    def tails(self, x: float) -> tuple[float, float]:
        """Return the chances of few hits with T >= x, and with T < x."""
        reached = float(x <= 0), self._of_one(x), self._of_pairs(x)
        chances = [(chance, reached[hits]) for hits, chance in self._chance.items()]
        return sum(c * share for c, share in chances), sum(c * (1 - share) for c, share in chances)

    def _of_one(self, x: float) -> float:
        """Return P(T >= x) of one hit."""
        return float(self._items.up_to(np.array(1 / max(x, _LEAST)))) / self._items.depth

    def _of_pairs(self, x: float) -> float:
        """Return P(T >= x) of two hits, 0 where these are not counted."""
        if self.most <= 1:
            return 0.0
        depth, ends = self._items.depth, self._items.ends
        end = np.arange(1, depth + 1) if ends is None else ends
        size = np.diff(end, prepend=0).astype(np.float64)
        lack = x - 2 / end
        # The first of both hits stands above the block of the second, or in it.
        furthest = np.where(lack > 0, 1 / np.maximum(lack, _LEAST), np.inf)
        first = np.minimum(self._items.up_to(furthest), end - size)
        inside = np.where(4 / end >= x, size * (size - 1) / 2, 0.0)
        return float((size * first + inside).sum() / (depth * (depth - 1) / 2))
