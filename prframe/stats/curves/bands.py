"""Bands about curves from their draws: at all levels at once, or at each."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from prframe.stats._batches import batches
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import Units
from prframe.typing import Flags, Floats, Integers

# Curves in either precision, in which their deviations are computed.
_Curves: TypeAlias = NDArray[np.floating]
# The level of the pointwise intervals by which the shape of a band is measured.
_SHAPE = 0.99
# So many deviations are computed at a time, few enough for the processor's cache.
_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far whole curves lie from the middle of their draws, in pointwise units.

    The middles are the pointwise medians, and the units the distances from there to the ends of
    the pointwise 99 % intervals. A unit of 0, or an infinite one, is none: there the draws that
    keep within the band elsewhere set its end.

    Draws are measured in the units that the other draws have. The ends of the intervals are among
    the few farthest draws of each level, and a draw is no measure of itself: in units that it has
    set, it would seem less far than another one, and bands would be too narrow.

    Attributes
    ----------
    lower, upper : ndarray, shape (n_resamples, levels)
        The draws for either end of the band, `upper` nowhere below `lower`. Some may be infinite.
    factor : float
        By which the width of the band is multiplied.
    unlimited : ndarray of bool, shape (levels,), or None
        Levels at which the upper end of the band is infinite, and no draw leaves it there.
    """

    lower: _Curves
    upper: _Curves
    factor: float = 1.0
    unlimited: Flags | None = None

    def band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the band that encloses a share of whole curves.

        It reaches from ``median - c (median - low)`` to ``median + c (high - median)``, `low` and
        `high` being the ends of the pointwise 99 % intervals, and c the factor times the largest
        deviation of a draw that `covering_rank` chooses.
        """
        last = np.argsort(self._worst)[covering_rank(confidence_level, self._worst.size) - 1]
        within = self._worst <= self._worst[last]
        # In double precision the band reaches as far as the draw that sets its width.
        ends = self._curve(self.lower, last), self._curve(self.upper, last)
        widest = self._largest(*ends, self._farther)
        c = float(widest[0]) * self.factor
        (bottom, top), (below, above) = self._middle, self._units
        low, high = bottom - c * below, top + c * above
        if (alone := np.isnan(below)).any():
            low[alone] = self.lower[np.ix_(within, alone)].min(axis=0)
        if (alone := np.isnan(above)).any():
            high[alone] = self.upper[np.ix_(within, alone)].max(axis=0)
        return low, high if self.unlimited is None else np.where(self.unlimited, np.inf, high)

    def pointwise_band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the equal-tailed interval at each level; its ends are draws: `covering_rank`."""
        n = len(self.lower)
        last = covering_rank((1 + confidence_level) / 2, n)
        lower, upper = self._in_order
        return lower[:, n - last].astype(np.float64), upper[:, last - 1].astype(np.float64)

    def p_value(self, value: float, estimate: Floats | None = None) -> float:
        """Return the smallest alpha at which a band of level 1 - alpha leaves out a constant.

        With the estimate, bands hold it, and what lies between it and the draws.
        """
        held = self._is_held(value, estimate)
        lower, upper = (
            np.broadcast_to(np.where(held, far, value), self.lower.shape[1])
            for far in (np.inf, -np.inf)
        )
        farthest = self._largest(lower, upper)
        beyond = (self._worst >= farthest / self.factor).sum()
        return float((1 + beyond) / (1 + self._worst.size))

    def pointwise_p_value(self, value: float, estimate: Floats | None = None) -> Floats:
        """Return for each level the smallest alpha at which its interval leaves out a constant.

        With the estimate, intervals hold it, and what lies between it and the draws.
        """
        beyond = np.minimum((self.lower <= value).sum(axis=0), (self.upper >= value).sum(axis=0))
        alpha = np.minimum(1.0, 2 * (1 + beyond) / (1 + len(self.lower)))
        return np.where(self._is_held(value, estimate), 1.0, alpha)

    def _is_held(self, value: float, estimate: Floats | None) -> NDArray[np.bool_]:
        """Whether a constant is the estimate, or lies between it and the median of the draws."""
        if estimate is None:
            return np.zeros(self.lower.shape[1], np.bool_)
        above = np.sign(estimate - value)
        return np.logical_or(*(above * (middle - value) <= 0 for middle in self._middle))

    @cached_property
    def _in_order(self) -> tuple[_Curves, _Curves]:
        """The draws for either end in rising order at each level, shape (levels, n_resamples)."""
        lower = np.sort(self.lower.T, axis=1)
        return lower, lower if self.upper is self.lower else np.sort(self.upper.T, axis=1)

    @cached_property
    def _middle(self) -> tuple[Floats, Floats]:
        """The medians from which the band reaches down and up, the same but for one draw."""
        return self.pointwise_band(0.0)

    @cached_property
    def _units(self) -> tuple[Floats, Floats]:
        """The units in which it reaches down and up; NaN where there is none."""
        (low, high), (bottom, top) = self.pointwise_band(_SHAPE), self._middle
        return _unit(low, bottom), _unit(top, high)

    @cached_property
    def _farther(self) -> tuple[Floats, Floats]:
        """By how much a draw of a unit or more is farther in the units that the others have.

        Without such a draw the end of an interval is one draw farther in, as a rule. Without one
        between the ends both stay where they are.
        """
        n = len(self.lower)
        last = max(1, covering_rank((1 + _SHAPE) / 2, n - 1))
        (lower, upper), (bottom, top) = self._in_order, self._middle
        low, high = (end.astype(np.float64) for end in (lower[:, n - last], upper[:, last - 1]))
        others = _unit(low, bottom), _unit(top, high)
        below, above = (
            np.nan_to_num(own / other, nan=1.0)
            for own, other in zip(self._units, others, strict=True)
        )
        return below, above

    @cached_property
    def _worst(self) -> Floats:
        """The largest deviation of each draw, in the units of the others."""
        return self._largest(self.lower, self.upper, self._farther)

    @staticmethod
    def _curve(draws: _Curves, number: int) -> Floats:
        """Return one of the draws."""
        return np.asarray(draws[number], dtype=np.float64)

    def _largest(
        self, lower: _Curves, upper: _Curves, beyond: tuple[Floats, Floats] | None = None
    ) -> Floats:
        """Return the largest deviation of curves, whose last dimension are the levels.

        Deviations of a unit or more are multiplied by what is given for either side.
        """
        (bottom, top), (below, above) = self._middle, self._units
        least, most = self._in_order[0][:, :1], self._in_order[1][:, -1:]
        # Levels are the first dimension here, which is fast for maxima over them.
        lower, upper = (np.atleast_2d(curves).T for curves in (lower, upper))
        largest = np.full(lower.shape[1], -np.inf)
        for at in batches(lower.shape[0], lower.shape[1], _AT_ONCE):
            down = _deviation(lower[at], bottom[at], -below[at], np.less, least[at])
            up = _deviation(upper[at], top[at], above[at], np.greater, most[at])
            if beyond is not None:
                _multiply_beyond(down, beyond[0][at])
                _multiply_beyond(up, beyond[1][at])
            if self.unlimited is not None:
                up[self.unlimited[at]] = 0.0
            np.maximum(largest, np.maximum(down, up, out=down).max(axis=0), out=largest)
        return largest


def holding(estimate: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the ends of a band moved out to the estimate where it lies outside.

    Draws have half counts that the estimate lacks. With a handful of items these may carry all
    draws of a level to one side of it.
    """
    return np.minimum(low, estimate), np.maximum(high, estimate)


def clusters_of_either_class(positive: Flags, cluster: Integers) -> int:
    """Return the number of clusters that hold positives, or negatives if these are fewer."""
    units = Units.of(cluster)
    return min(units.number_among(positive), units.number_among(~positive))


def of_few_units(draws: _Curves, n: int) -> Floats:
    """Return draws of n units that are as far from their medians as those of samples would be.

    As in `Confidence.expanded`, draws of n units vary too little by ``sqrt((n - 1) / n)``, and as
    a normal distribution where Student's with n - 1 degrees of freedom would be right. There the
    level of an interval is moved to allow for that. Here the draws are, as a band of few units
    would ask for quantiles beyond all of them: at each level the deviation of the k-th smallest of
    m draws from their median is multiplied by ``sqrt(n / (n - 1)) t(a) / z(a)``, with the
    quantiles of both distributions at ``a = k / (m + 1)``. Their order stays, and infinite draws
    stay where they are.

    Parameters
    ----------
    draws : ndarray, shape (n_resamples, levels)
    n : int
        Fewer than 2 count as 2.

    Returns
    -------
    ndarray, shape (n_resamples, levels)
    """
    n = max(n, 2)
    tail = np.arange(1, len(draws) + 1) / (len(draws) + 1)
    z = ndtri(tail)
    middle = np.abs(z) < EQUAL
    ratio = np.divide(stdtrit(n - 1, tail), z, out=np.ones_like(z), where=~middle)
    order = np.argsort(draws, axis=0, kind="stable")
    rising = np.take_along_axis(draws, order, axis=0).astype(np.float64)
    # Inf - inf: what is infinite, or lies about an infinite median, stays.
    with np.errstate(invalid="ignore"):
        median = np.median(rising, axis=0)
        apart = np.sqrt(n / (n - 1)) * ratio[:, None] * (rising - median)
        moved = median + apart
    moved = np.where(np.isfinite(moved), moved, rising)
    expanded = np.empty_like(moved)
    np.put_along_axis(expanded, order, moved, axis=0)
    return expanded


def _deviation(
    curves: _Curves, middle: Floats, unit: Floats, beyond: np.ufunc, farthest: _Curves
) -> _Curves:
    """Return the deviations of curves in units; without a unit, what no draw reaches is far."""
    # Inf - inf: a curve that lies where the median lies, where there is no unit.
    with np.errstate(invalid="ignore"):
        deviation = curves - middle[:, None].astype(curves.dtype)
        deviation /= unit[:, None].astype(curves.dtype)
    lacking = np.isnan(unit)
    if lacking.any():
        far = beyond(curves[lacking], farthest[lacking])
        deviation[lacking] = np.where(far, np.inf, 0.0)
    return deviation


def _multiply_beyond(deviation: _Curves, times: Floats) -> None:
    """Multiply deviations of a unit or more, in place."""
    by_level = times[:, None].astype(deviation.dtype)
    np.multiply(deviation, by_level, out=deviation, where=deviation >= 1)


def covering_rank(share: float, n: int) -> int:
    """Return the k such that the k-th smallest of n draws bounds another one often enough.

    One more draw is as likely to come first, second, ... or last among all n + 1, so that it is
    at most the k-th smallest of the others with probability ``k / (n + 1)``: this is at least the
    share asked for from ``k = ceil(share (n + 1))`` on, if there are enough draws. A smaller k, as
    ``ceil(share n)``, or an interpolated quantile covers less often. By the same count a band
    leaves out just those curves whose p-value ``(1 + number beyond) / (1 + n)`` is at most alpha.
    """
    return min(n, ceil(share * (n + 1) * (1 - EQUAL)))


def _unit(low: Floats, high: Floats) -> Floats:
    """Return the distance of both, or NaN where it is 0 or infinite and cannot serve as a unit."""
    distance = np.subtract(high, low, where=low != high, out=np.zeros_like(low))
    return np.where((distance > 0) & (distance < np.inf), distance, np.nan)
