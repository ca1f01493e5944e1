"""Bands about the mean of curves, independent or in clusters, at all levels at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe.stats._batches import batches
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import units_of
from prframe.stats.curves import covering_rank
from prframe.stats.intervals.ends import Confidence
from prframe.stats.rankings import multiplicities
from prframe.typing import Floats

# The number of draws of multiplicities, or of means, that are made at a time.
_CHUNK = 1 << 20
# The standard error of a resample counts as at least this share of that of the sample, because it
# nearly vanishes where few curves differ from the others; see ADR 21 for its choice.
_LEAST_SPREAD = 0.3


class MeanBand(NamedTuple):
    """The mean of curves and the ends of its band, level by level."""

    mean: Floats
    low: Floats
    high: Floats


class _Scale(NamedTuple):
    """A scale on which a band is symmetric: a transformation, its derivative and its inverse."""

    forth: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]


def _logit(p: Floats) -> Floats:
    """Return the log odds; what rounding leaves of a mean of 0 or 1 counts as that."""
    return np.asarray(logit(np.where(np.minimum(p, 1 - p) <= EQUAL, np.round(p), p)))


_LOGIT = _Scale(_logit, lambda p: 1 / (p * (1 - p)), expit)
_PLAIN = _Scale(np.positive, np.ones_like, np.positive)


def mean_band(
    curves: Floats,
    confidence: Confidence,
    n_resamples: int,
    rng: np.random.Generator,
    cluster: ArrayLike | None = None,
) -> MeanBand:
    """Return a band about the mean of curves, one a row, that covers it at all levels at once.

    The band is ``m(r) -+ c s(r)``, where c is the level's quantile of ``max_r |m*(r) - m(r)| /
    s*(r)`` over bootstrap means ``m*`` of whole curves or clusters. Values within [0, 1] are taken
    on the logit scale. Where all curves are equal, both ends are their value; with fewer than two
    units the ends are NaN.

    The mean of c clusters is a ratio ``sum S_j / sum n_j`` of the sums S_j of n_j curves, and its
    standard error ``sqrt(c / (c - 1) sum (S_j - n_j m)^2) / n`` (Davison & Hinkley 1997, sections
    2.4 and 4.2.4; Cochran 1977, chapter 9A). ``s*`` is at least .3 s, because few curves that
    differ from the others make it nearly vanish.
    """
    n, n_levels = curves.shape
    nothing = np.full(n_levels, np.nan)
    units = units_of(cluster, n)
    mean = curves.mean(axis=0) if n else nothing
    if units.number < 2:  # noqa: PLR2004
        return MeanBand(mean, nothing, nothing)
    size = n / units.number
    residuals = units.sums_of_rows(curves - mean) / size
    sizes = units.sums_of_rows(np.ones(n)) / size
    varies = np.abs(residuals).max(axis=0) > EQUAL * np.abs(curves).max(axis=0)
    scale = _LOGIT if confidence.limits == (0, 1) else _PLAIN
    low, high = mean.copy(), mean.copy()
    if varies.any():
        middle, residuals = mean[varies], residuals[:, varies]
        spread = residuals.std(axis=0) / np.sqrt(units.number - 1)
        largest = _largest_deviations(middle, residuals, sizes, scale, n_resamples, rng)
        factor = np.sort(largest)[covering_rank(confidence.level, n_resamples) - 1]
        reach = factor * spread * scale.slope(middle)
        for end, sign in ((low, -1), (high, 1)):
            end[varies] = scale.back(scale.forth(middle) + sign * reach)
    return MeanBand(mean, *(np.clip(end, *confidence.limits) for end in (low, high)))


def _largest_deviations(  # noqa: PLR0913, PLR0917
    mean: Floats,
    residuals: Floats,
    sizes: Floats,
    scale: _Scale,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return the largest studentized deviation of each bootstrap mean.

    Each unit, a curve or a cluster of curves, has the sum of its curves less as many means, over
    the mean size of units, as residuals; sizes are numbers of curves over their mean.
    """
    n, n_levels = residuals.shape
    squares, uneven = residuals**2, np.ptp(sizes) > 0
    least = _LEAST_SPREAD * np.sqrt(squares.mean(axis=0)) * scale.slope(mean)
    largest = np.empty(n_resamples)
    for rows in batches(n_resamples, max(n, n_levels), _CHUNK):
        counts = multiplicities(n, rows.stop - rows.start, rng).astype(np.float64)
        size, square_size = (counts @ np.stack([sizes, sizes**2], axis=1) / n).T[..., None]
        shift = counts @ residuals / n / size
        product = counts @ (residuals * sizes[:, None]) / n if uneven else shift
        # The mean of (R - w shift)^2 over the units drawn, w being their sizes.
        square = counts @ squares / n - shift * (2 * product - shift * square_size)
        error = np.sqrt(np.maximum(square, 0.0)) / size
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.maximum(error * scale.slope(mean + shift), least)
            deviation = (scale.forth(mean + shift) - scale.forth(mean)) / spread
        deviation[~np.isfinite(deviation)] = 0.0
        largest[rows] = np.abs(deviation).max(axis=1)
    return np.asarray(largest * np.sqrt(n - 1))
