"""The most and the least by which T can still grow, by positives at once or last of all.

Both are sums of precisions. As differences of harmonic numbers they would lose digits where
positives are rare, up to all of them among a hundred million items.
"""

import numpy as np
from scipy.special import digamma

from prframe.typing import Floats, Integers

# Precisions of at most so many positives are added up one by one.
_SHORT = 32
# Those at the last ranks are added up for lanes with at most so many positives.
_LISTED = 1 << 16
# A difference of harmonic numbers is a series where both have at least so many terms.
_MANY = 64.0
# The error of that, relative to the number of positives, is less.
_ROUNDING = 1e-14


def growth_at_once(hits: Integers, end: Floats, more: Floats) -> Floats:
    """Return no less than how T grows if all ranks next to `end` hold positives, `more` of them.

    This is ``sum_i (hits + i) / (end + i)`` for i from 1 to `more`; of many positives it is more
    than that by 1e-14 of their number.
    """
    total = np.zeros(more.shape)
    for i in range(1, min(int(more.max(initial=0)), _SHORT) + 1):
        total += np.where(i <= more, (hits + i) / (end + i), 0.0)
    long = np.flatnonzero(more > _SHORT)
    if long.size:
        many, rank = more[long], end[long]
        total[long] = many - (rank - hits[long]) * harmonic_between(rank, many) + _ROUNDING * many
    return total


class GrowthByLast:
    """The growth of T by positives that come last of all, in lanes of n items, n_pos positive.

    If `rest` of them are left, it is ``sum_k (n_pos - k) / (n - k)`` for k from 0 to ``rest - 1``.
    """

    def __init__(self, n: Integers, n_pos: Integers) -> None:
        self._n, self._n_pos = n, n_pos
        listed = np.where(n_pos <= _LISTED, n_pos, 0)
        lane = np.repeat(np.arange(n.size), listed + 1)
        self._begin = np.cumsum(listed + 1) - (listed + 1)
        place = np.arange(lane.size) - self._begin[lane]
        each = np.where(place > 0, (n_pos[lane] - place + 1) / (n[lane] - place + 1.0), 0.0)
        parts = np.split(each, self._begin[1:])
        self._sums = np.concatenate([np.cumsum(part) for part in parts])

    def of(self, lane: Integers, rest: Integers) -> Floats:
        """Return the growth by the positives that are left in lanes."""
        is_listed = self._n_pos[lane] <= _LISTED
        growth = self._sums[self._begin[lane] + np.where(is_listed, rest, 0)]
        if not is_listed.all():
            n, n_pos = self._n[lane].astype(np.float64), self._n_pos[lane]
            many = rest - (n - n_pos) * harmonic_between(n - rest, rest)
            growth = np.where(is_listed, growth, many - _ROUNDING * rest)
        return np.asarray(growth)


def harmonic_between(low: Floats, number: "Floats | Integers") -> Floats:
    """Return ``1/(low + 1) + ... + 1/(low + number)``, with all digits of its own size."""
    high = low + number
    large = np.maximum(low, 1.0)
    series = np.log1p(number / large)
    for factor, power in ((0.5, 1), (-1 / 12, 2), (1 / 120, 4), (-1 / 252, 6)):
        series += factor * (high**-power - large**-power)
    return np.where(low < _MANY, digamma(high + 1.0) - digamma(low + 1.0), series)
