"""Simultaneous bands from draws of a curve."""

import numpy as np

from prframe.stats.inputs import Floats

# The tails by which the shape of a band is measured: the pointwise 99 % intervals.
_SHAPE = 0.005


def studentized_band(draws: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Return the band around the pointwise medians that encloses a share of whole curves.

    `draws`, shape (n_resamples, levels), may hold infinities. The band reaches
    ``median - c (median - low)`` to ``median + c (high - median)`` with `low` and `high` the ends
    of the pointwise 99 % intervals; c is the `confidence_level` quantile of the largest deviation
    of a draw in these units.
    """
    low, middle, high = np.quantile(
        draws, [_SHAPE, 0.5, 1 - _SHAPE], axis=0, method="inverted_cdf"
    )
    below, above = _spread(low, middle), _spread(middle, high)
    with np.errstate(invalid="ignore"):
        deviation = draws - middle
        deviation /= np.where(deviation < 0, -below, above)
    # Inf - inf and 0 / 0: a curve does not leave a band that has no width or no end there.
    worst = np.nanmax(np.where(np.isnan(deviation), 0.0, deviation), axis=1)
    c = np.quantile(worst, confidence_level, method="inverted_cdf")
    # Where the median is infinite and `high` is not, the draws that stay within set the end.
    upper = draws[worst <= c].max(axis=0)
    return middle - c * below, np.add(middle, c * above, where=above < np.inf, out=upper)


def pointwise_band(draws: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """Return the equal-tailed interval at each level."""
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0, method="inverted_cdf")
    return low, high


def _spread(low: Floats, high: Floats) -> Floats:
    """Return the distance; between equal infinities it is 0."""
    return np.subtract(high, low, where=low != high, out=np.zeros_like(low))
