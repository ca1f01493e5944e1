"""Simultaneous bands from draws of a curve."""

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Floats

# The shape of a band is that of the pointwise 99 % intervals, which have these tails.
_SHAPE = 0.005


def studentized_band(
    draws: Floats,
    confidence_level: float,
    unlimited: NDArray[np.bool_] | None = None,
    factor: float = 1.0,
) -> tuple[Floats, Floats]:
    """Return the band around the pointwise medians that encloses a share of whole curves.

    `draws`, shape (n_resamples, levels), may hold infinities. The band reaches
    ``median - c (median - low)`` to ``median + c (high - median)`` with `low` and `high` the ends
    of the pointwise 99 % intervals; c is the `confidence_level` quantile of the largest deviation
    of a draw in these units, times `factor`. Where such a unit is 0 or infinite, the draws that
    keep within the band elsewhere set its end. At levels that are `unlimited` its upper end is
    infinite, and no draw leaves it there.
    """
    low, middle, high = np.quantile(
        draws, [_SHAPE, 0.5, 1 - _SHAPE], axis=0, method="inverted_cdf"
    )
    below, above = _unit(low, middle), _unit(middle, high)
    # The difference inf - inf stands for a curve that lies at the median.
    with np.errstate(invalid="ignore"):
        deviation = draws - middle
        deviation /= np.where(deviation < 0, -below, above)
    deviation[np.isnan(deviation)] = 0.0
    if unlimited is not None:
        deviation[:, unlimited] *= draws[:, unlimited] < middle[unlimited]
    worst = deviation.max(axis=1)
    c = np.quantile(worst, confidence_level, method="inverted_cdf")
    within = draws[worst <= c]
    c *= factor
    low = np.where(np.isnan(below), within.min(axis=0), middle - c * below)
    high = np.where(np.isnan(above), within.max(axis=0), middle + c * above)
    return low, high if unlimited is None else np.where(unlimited, np.inf, high)


def pointwise_band(draws: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Return the equal-tailed interval at each level."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0, method="inverted_cdf")
    return low, high


def _unit(low: Floats, high: Floats) -> Floats:
    """Return the distance of both, or NaN where it is 0 or infinite and cannot serve as a unit."""
    distance = np.subtract(high, low, where=low != high, out=np.zeros_like(low))
    return np.where((distance > 0) & (distance < np.inf), distance, np.nan)


class Deviations:
    """The deviations of whole curves from the medians of their draws, in pointwise units.

    `lower` and `upper`, shape (n_resamples, levels), are the draws for the lower and the upper end
    of the band. They are finite, and `upper` is nowhere below `lower`. The units are the distances
    from the medians to the pointwise 0.5 % and 99.5 % quantiles. The width of the band is
    multiplied by `factor`.
    """

    def __init__(self, lower: Floats, upper: Floats, factor: float = 1.0) -> None:
        self._lower, self._upper, self._factor = lower, upper, factor
        self._middle = np.median(lower, axis=0), np.median(upper, axis=0)
        self._below = _unit(np.quantile(lower, _SHAPE, axis=0), self._middle[0])
        self._above = _unit(self._middle[1], np.quantile(upper, 1 - _SHAPE, axis=0))
        self._range = lower.min(axis=0), upper.max(axis=0)
        self._worst = self._largest(lower, upper)

    def band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the band that encloses a share of whole curves."""
        c = np.quantile(self._worst, confidence_level, method="inverted_cdf")
        within = self._worst <= c
        low = self._middle[0] - c * self._factor * self._below
        high = self._middle[1] + c * self._factor * self._above
        # Where there is no unit, the draws that stay within the band elsewhere set its end.
        low = np.where(np.isnan(low), self._lower[within].min(axis=0), low)
        high = np.where(np.isnan(high), self._upper[within].max(axis=0), high)
        return low, high

    def pointwise_band(self, confidence_level: float) -> tuple[Floats, Floats]:
        """Return the equal-tailed interval at each level."""
        tail = (1 - confidence_level) / 2
        return np.quantile(self._lower, tail, axis=0), np.quantile(self._upper, 1 - tail, axis=0)

    def p_value(self, value: float) -> float:
        """Return the smallest alpha at which a band of level 1 - alpha leaves out a constant."""
        curve = np.full(self._below.shape, value)
        beyond = (self._worst >= self._largest(curve, curve) / self._factor).sum()
        return float((1 + beyond) / (1 + self._worst.size))

    def pointwise_p_value(self, value: float) -> Floats:
        """Return for each level the smallest alpha at which its interval leaves out a constant."""
        beyond = np.minimum((self._lower <= value).sum(axis=0), (self._upper >= value).sum(axis=0))
        return np.asarray(np.minimum(1.0, 2 * (1 + beyond) / (1 + self._worst.size)))

    def _largest(self, lower: Floats, upper: Floats) -> Floats:
        """Return the largest deviation of each curve.

        Where there is no unit, values beyond all draws deviate infinitely, and others not at all.
        """
        down = (self._middle[0] - lower) / self._below
        up = (upper - self._middle[1]) / self._above
        down = np.where(np.isnan(down), np.where(lower < self._range[0], np.inf, 0.0), down)
        up = np.where(np.isnan(up), np.where(upper > self._range[1], np.inf, 0.0), up)
        return np.asarray(np.maximum(down, up).max(axis=-1))
