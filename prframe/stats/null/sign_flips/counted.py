"""All sums of numbers with random signs, counted as pairs of sums of two halves."""

import numpy as np
from scipy.special import comb

from prframe.stats.null.sign_flips.sizes import Kinds
from prframe.typing import Floats, Integers

# SciPy's binomial coefficients overflow for larger numbers, which no half has many of.
MOST_ALIKE = 1000


class CountedSums:
    """The sums of each half of the kinds, rising, with their probabilities.

    Equal numbers count as one with a binomial number of plus signs.

    Examples
    --------
    >>> sums = CountedSums(Kinds(np.array([1.0, 2.0]), np.array([2, 1])))
    >>> sums.at_least(2.0), sums.at_least(4.0)
    (0.375, 0.125)
    """

    def __init__(self, kinds: Kinds) -> None:
        # Frequent values alternate between the halves, which become about equally long.
        order = np.argsort(-kinds.counts, kind="stable")
        values, counts = kinds.values[order], kinds.counts[order]
        self._left, self._chance = _half(values[::2], counts[::2])
        self._right, right_chance = _half(values[1::2], counts[1::2])
        self._above = np.append(np.cumsum(right_chance[::-1])[::-1], 0.0)

    def at_least(self, limit: float) -> float:
        """Return P(S >= limit)."""
        # Rising queries are quicker, because neighbouring places are in the cache.
        first = np.searchsorted(self._right, limit - self._left[::-1])
        return min(float(self._chance[::-1] @ self._above[first]), 1.0)


def _half(values: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Return the sums of some values under all signs, rising, and their probabilities."""
    sums, chances = np.zeros(1), np.ones(1)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        steps = np.arange(-count, count + 1, 2)
        ways = comb(count, np.arange(count + 1.0)) * 0.5**count
        sums = (steps[:, None] * value + sums).ravel()
        chances = np.multiply.outer(ways, chances).ravel()
    order = np.argsort(sums, kind="stable")
    return sums[order], chances[order]
