"""Simultaneous bands from draws of a curve."""

import numpy as np
from numpy.typing import NDArray

from prframe.stats.inputs import Floats

# The tails by which the shape of a band is measured: the pointwise 99 % intervals.
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
    # Inf - inf: a curve that lies where the median lies.
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
    """Return the distance if it is a unit to measure in, else NaN."""
    distance = np.subtract(high, low, where=low != high, out=np.zeros_like(low))
    return np.where((distance > 0) & (distance < np.inf), distance, np.nan)
