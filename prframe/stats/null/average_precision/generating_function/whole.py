"""The generating function of T = n_pos AP for many rankings of few positives, side by side.

As in `Course`, but every number of hits is a row, and what is walked with is

    V_t(h) = E[exp(sT)]  =  sum over j of  P(j | t, h) exp(s g(h - j, j)) V_{t-m}(h - j)

itself instead of its logarithm, P(j | t, h) being the chance that the last m of t ranks hold j of
h positives. Nothing but products is left, and as ``g = j h single + j (j - 1) (pair - single)``
the sum is a polynomial in exp(s h single), or nearly so. Slopes are bounded, so that no value
leaves the range of a float; they may be complex.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.path import Lanes
from prframe.stats.null.average_precision.generating_function.steps import log_factorial
from prframe.typing import Floats, Integers

# Of floats, or complex.
AnyNumbers: TypeAlias = NDArray[Any]

# exp(slope T) stays within exp(-500) and exp(500).
_LARGEST = 500.0
# Chances with smaller logarithms never count.
NEVER = -32.0
# So many numbers of positives in a step are looked at together.
_AT_ONCE = 8


class _Term(NamedTuple):
    """One number of positives in a step, for the hits `first`, `first` + 1, ... at its end.

    Attributes
    ----------
    number, first : int
    chance : ndarray of float, shape (n_rows, 1, n_lanes)
        P(j | t, h).
    half_variance : ndarray of float, shape (n_rows, 1, n_lanes), optional
        Half the variance of what T grows by.
    """

    number: int
    first: int
    chance: Floats
    half_variance: Floats | None


class WholeWalk:
    """Walks through every number of hits.

    Parameters
    ----------
    lanes : Lanes
    steepest : ndarray of float, shape (n_lanes,)
        The largest absolute value of the slopes that will be asked for, `limit` at most.
    never : float
        Chances with smaller logarithms never count, times what the slope makes of them.
    """

    def __init__(self, lanes: Lanes, steepest: Floats, never: float = NEVER) -> None:
        self.lanes, self._never = lanes, never
        self._steepest = steepest
        self._most = int(lanes.n_pos.max())
        self._steps = [self._terms(step) for step in range(lanes.size.shape[1])]

    @staticmethod
    def limit(n_pos: Floats) -> float:
        """Return the largest slope that is possible with so many positives."""
        return _LARGEST / float(n_pos.max())

    def mgf(self, slopes: AnyNumbers) -> AnyNumbers:
        """Return E[exp(slope T)].

        Of the shape of `slopes`, (n_lanes, n_slopes), and complex where these are.
        """
        slope = slopes.T
        value = np.ones((self._most + 1, *slope.shape), slopes.dtype)
        for step, terms in enumerate(self._steps):
            value = self._passed(step, terms, slope, value)
        last = self.lanes.n_pos.astype(np.int64)
        return np.asarray(value[last, :, np.arange(last.size)])

    def _terms(self, step: int) -> list[_Term]:
        """Return the terms of a step, those with most positives in it first."""
        size, end, spread = (
            column[:, step] for column in (self.lanes.size, self.lanes.end, self.lanes.spread)
        )
        hits = np.arange(self._most + 1)[:, None]
        # The last row is for hits that are less than none.
        above = np.pad(_log_ways(end - size, hits), ((0, 1), (0, 0)), constant_values=-np.inf)
        ways = _log_ways(end, hits)
        # Where more hits are asked for than there are ranks there are no ways.
        ways = np.where(np.isfinite(ways), ways, 0.0)
        # What a positive hardly earns more than here, or a little above.
        near = 2 * hits + 2 + np.log(np.maximum(end, 1))
        gain = self._steepest * near / np.maximum(end - size, 1.0)
        expected = hits * (size / np.maximum(end, 1.0))
        most = int(min(size.max(), self._most))
        terms: list[_Term] = []
        for begin in range(0, most + 1, _AT_ONCE):
            numbers = np.arange(begin, min(begin + _AT_ONCE, most + 1))[:, None]
            log_chance = above[np.maximum(hits[:, 0] - numbers, -1)] - ways
            log_chance += _log_ways(size, numbers)[:, None]
            moved = np.maximum(numbers[:, :, None], expected)
            likely = np.any(log_chance + moved * gain > self._never, axis=2)
            if begin and not likely.any() and terms:
                break
            for j, values in zip(numbers[:, 0].tolist(), log_chance, strict=True):
                rows = np.flatnonzero(likely[j - begin])
                if rows.size:
                    part = slice(int(rows[0]), int(rows[-1]) + 1)
                    varies = None
                    if j and spread.any():
                        share = j * (1 - j / np.maximum(size, 1.0)) * spread / 2
                        varies = (share * (hits[part] - j / 2) ** 2)[:, None, :]
                    terms.append(_Term(j, part.start, np.exp(values[part, None, :]), varies))
        return terms[::-1]

    def _passed(
        self, step: int, terms: list[_Term], slope: AnyNumbers, value: AnyNumbers
    ) -> AnyNumbers:
        """Take a step, from and to values of shape (n_rows, n_slopes, n_lanes)."""
        single, pair, end = (
            column[:, step] for column in (self.lanes.single, self.lanes.pair, self.lanes.end)
        )
        after, part = np.zeros_like(value), np.empty_like(value)
        hits = np.minimum(np.arange(self._most + 1.0)[:, None, None], end)
        # The factor of one more positive, and what it changes by for two.
        factor = np.exp(slope * (single * hits))
        change = slope * (2 * (pair - single))
        bends = bool(change.any())
        low, high, number = self._most + 1, 0, terms[0].number
        for j, first, chance, half_variance in terms:
            rows = slice(first, first + chance.shape[0])
            for more in range(number, j, -1):
                after[low:high] *= factor[low:high]
                if bends:
                    after[low:high] *= np.exp((more - 1) * change)
            number, low, high = j, min(low, rows.start), max(high, rows.stop)
            own = np.multiply(value[first - j : rows.stop - j], chance, out=part[rows])
            if half_variance is not None:
                own *= np.exp(half_variance * slope**2)
            after[rows] += own
        for more in range(number, 0, -1):
            after[low:high] *= factor[low:high] * np.exp((more - 1) * change)
        return after


def _log_ways(n: Floats, k: Integers) -> Floats:
    """Return log C(n, k), -inf where k > n."""
    rest = n - k
    possible = rest >= 0
    ways = log_factorial(n) - log_factorial(k.astype(np.float64)) - log_factorial(rest * possible)
    return np.where(possible, ways, -np.inf)
