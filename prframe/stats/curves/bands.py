"""Bands about curves from their draws: at all levels at once, or at each."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.typing import Flags, Floats

# The level of the pointwise intervals by which the shape of a band is measured.
_SHAPE = 0.99


@dataclass(frozen=True, eq=False)
class Deviations:
    """How far whole curves lie from the middle of their draws, in pointwise units.

    The middles are the pointwise medians, and the units the distances from there to the ends of
    the pointwise 99 % intervals. A unit of 0, or an infinite one, is none: there the draws that
    keep within the band elsewhere set its end.

    Attributes
    ----------
    lower, upper : ndarray, shape (n_resamples, levels)
        The draws for either end of the band, `upper` nowhere below `lower`. Some may be infinite.
    factor : float
        By which the width of the band is multiplied.
    unlimited : ndarray of bool, shape (levels,), or None
        Levels at which the upper end of the band is infinite, and no draw leaves it there.
    """

    lower: Floats
    upper: Floats
    factor: float = 1.0
    unlimited: Flags | None = None

    def band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the band that encloses a share of whole curves.

        It reaches from ``median - c (median - low)`` to ``median + c (high - median)``, `low` and
        `high` being the ends of the pointwise 99 % intervals, and c the factor times the largest
        deviation of a draw that `_rank` chooses.
        """
        widest = np.sort(self._worst)[_rank(confidence_level, self._worst.size) - 1]
        within, c = self._worst <= widest, widest * self.factor
        (bottom, top), (below, above) = self._middle, self._units
        low = np.where(np.isnan(below), self.lower[within].min(axis=0), bottom - c * below)
        high = np.where(np.isnan(above), self.upper[within].max(axis=0), top + c * above)
        return low, high if self.unlimited is None else np.where(self.unlimited, np.inf, high)

    def pointwise_band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the equal-tailed interval at each level, whose ends are draws; see `_rank`."""
        n = len(self.lower)
        last = _rank((1 + confidence_level) / 2, n)
        return _smallest(self.lower, n + 1 - last), _smallest(self.upper, last)

    def p_value(self, value: float) -> float:
        """Return the smallest alpha at which a band of level 1 - alpha leaves out a constant."""
        curve = np.full(self.lower.shape[1], value)
        beyond = (self._worst >= self._largest(curve, curve) / self.factor).sum()
        return float((1 + beyond) / (1 + self._worst.size))

    def pointwise_p_value(self, value: float) -> Floats:
        """Return for each level the smallest alpha at which its interval leaves out a constant."""
        beyond = np.minimum((self.lower <= value).sum(axis=0), (self.upper >= value).sum(axis=0))
        return np.asarray(np.minimum(1.0, 2 * (1 + beyond) / (1 + len(self.lower))))

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
    def _worst(self) -> Floats:
        """The largest deviation of each draw."""
        return self._largest(self.lower, self.upper)

    def _largest(self, lower: Floats, upper: Floats) -> Floats:
        """Return the largest deviation of curves; without a unit, what no draw reaches is far."""
        (bottom, top), (below, above) = self._middle, self._units
        # Inf - inf: a curve that lies where the median lies.
        with np.errstate(invalid="ignore"):
            down, up = (bottom - lower) / below, (upper - top) / above
        beyond = lower < self.lower.min(axis=0), upper > self.upper.max(axis=0)
        down = np.where(np.isnan(down), np.where(beyond[0], np.inf, 0.0), down)
        up = np.where(np.isnan(up), np.where(beyond[1], np.inf, 0.0), up)
        if self.unlimited is not None:
            up = np.where(self.unlimited, 0.0, up)
        return np.asarray(np.maximum(down, up).max(axis=-1))


def _rank(share: float, n: int) -> int:
    """Return the k such that the k-th smallest of n draws bounds another one often enough.

    One more draw is as likely to come first, second, ... or last among all n + 1, so that it is
    at most the k-th smallest of the others with probability ``k / (n + 1)``: this is at least the
    share asked for from ``k = ceil(share (n + 1))`` on, if there are enough draws. A smaller k, as
    ``ceil(share n)``, or an interpolated quantile covers less often. By the same count a band
    leaves out just those curves whose p-value ``(1 + number beyond) / (1 + n)`` is at most alpha.
    """
    return min(n, ceil(share * (n + 1) * (1 - EQUAL)))


def _smallest(draws: Floats, k: int) -> Floats:
    """Return the k-th smallest draw at each level."""
    return np.asarray(np.partition(draws, k - 1, axis=0)[k - 1])


def _unit(low: Floats, high: Floats) -> Floats:
    """Return the distance of both, or NaN where it is 0 or infinite and cannot serve as a unit."""
    distance = np.subtract(high, low, where=low != high, out=np.zeros_like(low))
    return np.where((distance > 0) & (distance < np.inf), distance, np.nan)
