"""Bands about curves from their draws: at all levels at once, or at each."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from scipy.special import ndtri, stdtrit

from prframe.stats._batches import batches
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import Units
from prframe.typing import Flags, Floats, Integers

# The level of the pointwise intervals that give a band its shape.
_SHAPE = 0.99
# So many deviations are computed at a time, few enough for the processor's cache.
_AT_ONCE = 1 << 17


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far whole curves lie from the middle of their draws, in pointwise units.

    The middles are the pointwise medians, and the units the distances from there to the ends of
    the pointwise 99 % intervals. Where a unit is 0 or infinite, the draws that keep within the
    band elsewhere set its end. Each draw is measured in the units that the other draws have: by
    units that it has set itself, it would seem less far, and bands would be too narrow.
    """

    # Draws for either end, shape (n_resamples, levels), `upper` nowhere below `lower`; some may be
    # infinite.
    lower: Floats
    upper: Floats
    # By which the width of the band is multiplied.
    factor: float = 1.0
    # Levels at which the upper end of the band is infinite, and no draw leaves it there.
    unlimited: Flags | None = None

    def band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the band from ``median - c (median - low)`` to ``median + c (high - median)``.

        `low` and `high` are the ends of the pointwise 99 % intervals, and c is the factor times
        the largest deviation of the draw that `covering_rank` chooses.
        """
        last = np.argsort(self._worst)[covering_rank(confidence_level, self._worst.size) - 1]
        within = self._worst <= self._worst[last]
        c = float(self._worst[last]) * self.factor
        (bottom, top), (below, above) = self._middle, self._units
        low, high = bottom - c * below, top + c * above
        if (alone := np.isnan(below)).any():
            low[alone] = self.lower[np.ix_(within, alone)].min(axis=0)
        if (alone := np.isnan(above)).any():
            high[alone] = self.upper[np.ix_(within, alone)].max(axis=0)
        return low, high if self.unlimited is None else np.where(self.unlimited, np.inf, high)

    def pointwise_band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the equal-tailed interval at each level, whose ends are draws."""
        n = len(self.lower)
        last = covering_rank((1 + confidence_level) / 2, n)
        lower, upper = self._in_order
        return lower[:, n - last], upper[:, last - 1]

    def p_value(self, value: float, estimate: Floats) -> float:
        """Return the smallest alpha at which a band that holds the estimate lacks a constant."""
        held = self._is_held(value, estimate)
        lower, upper = (
            np.broadcast_to(np.where(held, far, value), self.lower.shape[1])
            for far in (np.inf, -np.inf)
        )
        farthest = self._largest(lower, upper)
        beyond = (self._worst >= farthest / self.factor).sum()
        return float((1 + beyond) / (1 + self._worst.size))

    def pointwise_p_value(self, value: float, estimate: Floats) -> Floats:
        """Return the same for each level and its interval."""
        beyond = np.minimum((self.lower <= value).sum(axis=0), (self.upper >= value).sum(axis=0))
        alpha = np.minimum(1.0, 2 * (1 + beyond) / (1 + len(self.lower)))
        return np.where(self._is_held(value, estimate), 1.0, alpha)

    def _is_held(self, value: float, estimate: Floats) -> Flags:
        """Return where a constant is the estimate, or lies between it and the median."""
        above = np.sign(estimate - value)
        return np.logical_or(*(above * (middle - value) <= 0 for middle in self._middle))

    @cached_property
    def _in_order(self) -> tuple[Floats, Floats]:
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
        """By how much a draw of a unit or more is farther in the units that the others have."""
        n = len(self.lower)
        last = max(1, covering_rank((1 + _SHAPE) / 2, n - 1))
        (lower, upper), (bottom, top) = self._in_order, self._middle
        others = _unit(lower[:, n - last], bottom), _unit(top, upper[:, last - 1])
        below, above = (
            np.nan_to_num(own / other, nan=1.0)
            for own, other in zip(self._units, others, strict=True)
        )
        return below, above

    @cached_property
    def _worst(self) -> Floats:
        """The largest deviation of each draw, in the units of the others."""
        return self._largest(self.lower, self.upper, self._farther)

    def _largest(
        self, lower: Floats, upper: Floats, beyond: tuple[Floats, Floats] | None = None
    ) -> Floats:
        """Return the largest deviation of curves, those of a unit or more times `beyond`."""
        (bottom, top), (below, above) = self._middle, self._units
        least, most = self._in_order[0][:, :1], self._in_order[1][:, -1:]
        # Levels are the first dimension here, which is fast for maxima over them.
        lower, upper = (np.atleast_2d(curves).T for curves in (lower, upper))
        largest = np.full(lower.shape[1], -np.inf)
        for at in batches(lower.shape[0], lower.shape[1], _AT_ONCE):
            down = _deviation(lower[at], bottom[at], below[at], least[at], -1)
            up = _deviation(upper[at], top[at], above[at], most[at], 1)
            if beyond is not None:
                for deviation, times in zip((down, up), beyond, strict=True):
                    by_level = times[at][:, None]
                    np.multiply(deviation, by_level, out=deviation, where=deviation >= 1)
            if self.unlimited is not None:
                up[self.unlimited[at]] = 0.0
            np.maximum(largest, np.maximum(down, up, out=down).max(axis=0), out=largest)
        return largest


def holding(estimate: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the ends of a band, which with a handful of items may not hold the estimate."""
    return np.minimum(low, estimate), np.maximum(high, estimate)


def clusters_of_either_class(positive: Flags, cluster: Integers) -> int:
    """Return the number of clusters that hold positives, or negatives if these are fewer."""
    units = Units.of(cluster)
    return min(units.number_among(positive), units.number_among(~positive))


def of_few_units(draws: Floats, n: int) -> Floats:
    """Return draws of n units that are as far from their medians as those of samples would be.

    At each level the deviation of the k-th smallest of m draws from their median is multiplied by
    ``sqrt(n / (n - 1)) t(a) / z(a)``, with the quantiles of Student's distribution with n - 1
    degrees of freedom and of the normal one at ``a = k / (m + 1)``. Infinite draws stay.
    """
    n = max(n, 2)
    tail = np.arange(1, len(draws) + 1) / (len(draws) + 1)
    z = ndtri(tail)
    middle = np.abs(z) < EQUAL
    ratio = np.divide(stdtrit(n - 1, tail), z, out=np.ones_like(z), where=~middle)
    order = np.argsort(draws, axis=0, kind="stable")
    rising = np.take_along_axis(draws, order, axis=0)
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
    curves: Floats, middle: Floats, unit: Floats, farthest: Floats, sign: int
) -> Floats:
    """Return deviations in units; without a unit, what no draw reaches is infinitely far."""
    lacking = np.isnan(unit)
    # Inf - inf: a curve that lies where the median lies, where there is no unit.
    with np.errstate(invalid="ignore"):
        deviation = (curves - middle[:, None]) / (sign * unit[:, None])
        is_far = sign * (curves[lacking] - farthest[lacking]) > 0
    deviation[lacking] = np.where(is_far, np.inf, 0.0)
    return np.asarray(deviation)


def covering_rank(share: float, n: int) -> int:
    """Return the k such that the k-th smallest of n draws bounds another one often enough.

    One more draw is at most the k-th smallest of the others with probability ``k / (n + 1)``.
    """
    return min(n, ceil(share * (n + 1) * (1 - EQUAL)))


def _unit(low: Floats, high: Floats) -> Floats:
    """Return the distance of both, or NaN where it is 0 or infinite and cannot serve as a unit."""
    distance = np.subtract(high, low, where=low != high, out=np.zeros_like(low))
    return np.where((distance > 0) & (distance < np.inf), distance, np.nan)
