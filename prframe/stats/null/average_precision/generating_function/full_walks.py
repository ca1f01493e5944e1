"""The generating function of T = n_pos AP for many rankings of few positives, side by side.

The walk is that of `Course`, but every likely number of hits is a row. Items are positive
independently of each other, with one chance for all of them, and the walk holds

    W_t(h) = E[exp(sT); h hits]  =  sum over j of  P(j) exp(s g(h - j, j)) W_{t-m}(h - j)

where P(j) is the binomial chance that the last m of t ranks hold j positives. Given n_pos
positives among all n items all rankings are equally likely, whatever the chance of an item is, so
that E[exp(sT)] is W_n(n_pos) over the binomial chance of n_pos positives. Only products are
needed, no logarithms. Slopes are bounded, so that no value leaves the range of a float; they may
be complex.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats

# The numbers are floats or complex.
AnyNumbers: TypeAlias = NDArray[Any]

# The logarithm of exp(slope T) is at most this large, in absolute value.
_LARGEST = 500.0
# A number of hits is no longer a row if its share of the result has a smaller logarithm than this,
# as far as that can be told before the end of the walk; nor are more positives taken for a step.
NEVER = -40.0
# A walk with at most this many rows keeps all of them, as choosing among them would take longer.
_FEW_ROWS = 16
# Values are raised to this before their logarithm is taken.
_LEAST = 1e-300


class _Step(NamedTuple):
    """A step of all lanes, as in `Step`: ndarrays of float of shape (n_lanes,), by quantity.

    Attributes
    ----------
    log_chance : ndarray of float, shape (n_numbers, n_lanes)
        log P(j) for j = 0, 1, ...
    later : ndarray of float, shape (n_lanes,)
        Sum of 1/rank over the retrieved items below the step.
    retrieved_later : ndarray of float, shape (n_lanes,)
        Number of these items.
    """

    size: Floats
    single: Floats
    pair: Floats
    spread: Floats
    end: Floats
    log_chance: Floats
    later: Floats
    retrieved_later: Floats


class _Terms(NamedTuple):
    """The factors P(j) exp(s g) of a step, for hits h at its end.

    The factor of j positives is weight[j] times the product of the ratios of 0, 1, ..., j - 1
    positives. From one number of positives to the next lower one the ratio is multiplied by the
    bend, and the bend by the twist.

    Attributes
    ----------
    weight : ndarray of float or complex, shape (n_numbers, n_slopes, n_lanes)
        The part of the factor that does not depend on h.
    ratio : ndarray of float or complex, shape (n_rows, n_slopes, n_lanes)
        By how much the other part grows with the last of the most positives of each row.
    bend, twist : ndarray of float or complex, shape (n_rows, n_slopes, n_lanes), optional
        None where growth within the step does not vary, as they would be 1.
    """

    weight: AnyNumbers
    ratio: AnyNumbers
    bend: AnyNumbers | None
    twist: AnyNumbers | None


class WholeWalk:
    """Walks through every likely number of hits, side by side.

    Parameters
    ----------
    lanes : Lanes
    """

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._most = int(lanes.n_pos.max())
        chance = (lanes.n_pos + 0.5) / (lanes.n + 1)
        self._log_hit, self._log_miss = np.log(chance), np.log1p(-chance)
        columns = (
            *(lanes.size.T, lanes.single.T, lanes.pair.T, lanes.spread.T, lanes.end.T),
            [self._log_chance(size) for size in lanes.size.T],
            _below(lanes.size * lanes.single).T,
            _below(np.where(lanes.single > 0, lanes.size, 0.0)).T,
        )
        self._steps = [_Step(*quantities) for quantities in zip(*columns, strict=True)]

    @staticmethod
    def limit(n_pos: Floats) -> float:
        """Return the largest slope that is possible with so many positives."""
        return _LARGEST / float(n_pos.max())

    def mgf(self, slopes: AnyNumbers, never: float = NEVER) -> AnyNumbers:
        """Return E[exp(slope T)].

        Parameters
        ----------
        slopes : ndarray of float or complex, shape (n_lanes, n_slopes)
            At most `limit` in absolute value. If they are complex, the first slope of each lane
            is real, and the others have the same real part.
        never : float
            Numbers of hits count if the logarithm of their share of the result is larger.

        Returns
        -------
        ndarray of float or complex
            In the shape of `slopes`.
        """
        slope = slopes.T
        low, value = 0, np.ones((1, *slope.shape), slopes.dtype)
        for step in self._steps:
            low, value = self._passed(step, slope, low, value, never)
            if value.shape[0] > _FEW_ROWS:
                likely = self._likely(step, slope, low, value, never)
                low, value = low + likely.start, value[likely]
        n, n_pos = self.lanes.n, self.lanes.n_pos
        last = value[n_pos.astype(np.int64) - low, :, np.arange(n_pos.size)]
        return np.asarray(last / np.exp(self._log_binomial_chance(n, n_pos))[:, None])

    def _log_chance(self, size: Floats) -> Floats:
        """Return log P(j) for j = 0, 1, ... in a step, shape (n_numbers, n_lanes)."""
        numbers = np.arange(min(size.max(), self._most) + 1)[:, None]
        return self._log_binomial_chance(size, numbers)

    def _log_binomial_chance(self, size: Floats, number: Floats) -> Floats:
        """Return the logarithm of the chance of so many positives among so many items."""
        ways = log_binomial(size, number)
        return ways + number * self._log_hit + (size - number) * self._log_miss

    def _passed(
        self, step: _Step, slope: AnyNumbers, low: int, value: AnyNumbers, never: float
    ) -> tuple[int, AnyNumbers]:
        """Take a step; return the least number of hits at its end, and the values by hits.

        Values at both ends of it have the shape (n_rows, n_slopes, n_lanes).
        """
        rows = value.shape[0]
        fewest, most = self._numbers(step, slope, low + rows, never)
        first = low + fewest
        hits = np.arange(first, min(low + rows + most, self._most + 1), dtype=np.float64)
        begin = np.minimum(hits - low, most)[:, None, None]
        weight, ratio, bend, twist = _terms(step, slope, hits[:, None, None], begin)
        after = np.zeros((hits.size, *slope.shape), value.dtype)
        part = np.empty_like(value)
        for j in range(most, -1, -1):
            # These rows have terms of more positives already.
            more = slice(max(j - fewest + 1, 0), None)
            if j < most:
                after[more] *= ratio[more]
                if bend is not None and twist is not None:
                    ratio[more] *= bend[more]
                    bend[more] *= twist[more]
            if j >= fewest:
                own = after[j - fewest : j - fewest + rows]
                own += np.multiply(value[: len(own)], weight[j], out=part[: len(own)])
        return first, after

    def _numbers(self, step: _Step, slope: AnyNumbers, high: int, never: float) -> tuple[int, int]:
        """Return the fewest and the most likely positives of a step, with fewer hits than `high`.

        One more positive earns no more than its own share, the share that it adds to the others,
        and what it adds to those that are to be expected later on.
        """
        number = np.arange(step.log_chance.shape[0])[:, None]
        gain = 2 * high * step.single + self.lanes.n_pos / self.lanes.n * step.later
        gain = gain * np.abs(np.real(slope)).max(axis=0)
        likely = np.flatnonzero((step.log_chance + number * gain > never).any(axis=1))
        return int(likely[0]), int(likely[-1])

    def _likely(
        self, step: _Step, slope: AnyNumbers, low: int, value: AnyNumbers, never: float
    ) -> slice:
        """Return the rows that matter for the positives of a lane under the extreme slopes.

        T is expected to grow further as it does if the other positives are placed at random.
        """
        n, n_pos = self.lanes.n, self.lanes.n_pos
        hits = low + np.arange(value.shape[0], dtype=np.float64)[:, None]
        rest, left = n - step.end, n_pos - hits
        share = left / np.maximum(rest, 1.0)
        growth = share * hits * step.later
        growth += share**2 * (step.retrieved_later - step.end * step.later)
        odds = log_binomial(rest, left) + left * (self._log_hit - self._log_miss)
        lane, real = np.arange(n.size), np.real(slope)
        likely = np.zeros(hits.size, np.bool_)
        for place in (real.argmin(axis=0), real.argmax(axis=0)):
            size = np.maximum(np.abs(value[:, place, lane]), _LEAST)
            score = np.log(size) + odds + real[place, lane] * growth
            likely |= (score > score.max(axis=0) + never).any(axis=1)
        chosen = np.flatnonzero(likely)
        return slice(int(chosen[0]), int(chosen[-1]) + 1)


def _terms(step: _Step, slope: AnyNumbers, hits: Floats, begin: Floats) -> _Terms:
    """Return the factors P(j) exp(s g) of a step for hits at its end.

    Given h hits at its end, j positives in a step of m ranks raise T by
    ``j h single + j (j - 1) (pair - single)`` on average, with variance
    ``j (1 - j/m) (h - j/2)^2 spread``. This growth is taken to be normal, so that the exponent is
    the slope times its mean plus half the square of the slope times its variance: a polynomial in
    j. Its terms without h are part of the weight. The others have degree 3 at most, so that their
    third differences do not depend on j.

    Parameters
    ----------
    hits, begin : ndarray of float, shape (n_rows, 1, 1)
        Hits at the end of the step, and the most positives that the step may hold given these.
    """
    m = np.maximum(step.size, 1.0)
    h = np.minimum(hits, step.end)
    number = np.arange(step.log_chance.shape[0], dtype=np.float64)[:, None, None]
    weight = step.log_chance[:, None] + slope * (
        (step.pair - step.single) * (number * (number - 1))
    )
    ratio = slope * (step.single * h)
    if not step.spread.any():
        return _Terms(np.exp(weight), np.exp(ratio), None, None)
    square, share, j = slope**2 * (step.spread / 2), h / m, begin - 1
    weight = weight + square * (number**3 / 4 * (1 - number / m))
    ratio = ratio + square * (
        h * h - h * (1 + share) * (2 * j + 1) + share * (3 * j * (j + 1) + 1)
    )
    bend, twist = square * (2 * h * (1 + share) - 6 * j * share), square * (6 * share)
    return _Terms(*(np.exp(exponent) for exponent in (weight, ratio, bend, twist)))


def _below(values: Floats) -> Floats:
    """Return the sum of values over the later steps, for each step."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=1)[:, ::-1] - values)
