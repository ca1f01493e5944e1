"""What intervals ask of replicates of metrics: quantiles, the range, and how far they spread."""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, isinf, isnan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL, RESIDUE
from prframe.stats.intervals.confidence import Confidence
from prframe.typing import Floats


@dataclass(frozen=True)
class Summary:
    """The range, two quantiles and the `spread` of replicates of one metric, NaN left out."""

    least: float
    largest: float
    quantiles: tuple[float, float]
    spread: float

    @classmethod
    def of(cls, replicates: Floats, tail: float) -> Summary:
        """Summarise replicates, of which a share of `tail` is beyond either quantile."""
        values = defined(replicates)
        if not values.size:
            return cls(np.nan, np.nan, (np.nan, np.nan), np.nan)
        quantiles = _between(values, tail, 1 - tail)
        return cls(float(values.min()), float(values.max()), quantiles, spread(values))

    def is_all(self, estimate: float, n: float) -> bool:
        """Return whether no replicate differs from the estimate; see `all_equal`."""
        return isnan(self.least) or all_equal(self.least, self.largest, estimate, n)


def percentile_interval(replicates: ArrayLike, confidence: Confidence) -> tuple[float, float]:
    """Return quantiles of the resampled estimates, NaN left out; NaN without any."""
    tail = confidence.tail
    return confidence.ends(*_between(defined(replicates), tail, 1 - tail))


def bca_interval(
    estimate: float, replicates: ArrayLike, acceleration: float, confidence: Confidence
) -> tuple[float, float]:
    """Return quantiles of the resampled estimates, corrected for bias and acceleration.

    The quantiles are at the levels ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))``, where z are the
    normal quantiles of the tails, a is the acceleration and ``z0 = Phi^{-1}(share of replicates
    below the estimate)``, equal ones counting half. The ends are NaN if all replicates lie on one
    side of the estimate (Efron 1987).
    """
    values = defined(replicates)
    if not values.size:
        return np.nan, np.nan
    rounding = RESIDUE * float(np.abs(values).max())
    share = ((values < estimate - rounding).mean() + (values <= estimate + rounding).mean()) / 2
    if not 0 < share < 1:
        return np.nan, np.nan
    bias, z = ndtri(share), ndtri(confidence.tail)
    low, high = (float(ndtr(bias + (bias + q) / (1 - acceleration * (bias + q)))) for q in (z, -z))
    return confidence.ends(*_between(values, low, high))


def spread(replicates: ArrayLike) -> float:
    """Return the standard deviation of replicates, NaN left out; NaN with fewer than two.

    It is infinite if some of the replicates are, and others are not or have the other sign.
    """
    values = defined(replicates)
    largest = float(np.abs(values).max(initial=0.0))
    if largest == np.inf:
        return 0.0 if (values == values[0]).all() else np.inf
    if values.size <= 1:
        return np.nan
    # The squares of large numbers overflow; a power of 2 divides and multiplies without rounding.
    exponent = frexp(largest)[1]
    return float(np.ldexp(np.ldexp(values, -exponent).std(ddof=1), exponent))


def all_equal(least: float, largest: float, estimate: float, n: float) -> bool:
    """Return whether replicates within a range are all the estimate, except for rounding.

    Next to 0 they are compared with 1 / n, for n items.
    """
    if isinf(estimate):
        return least == estimate == largest
    slack = EQUAL * (abs(estimate) + 1 / n)
    return largest - estimate <= slack and estimate - least <= slack


def defined(replicates: ArrayLike) -> Floats:
    """Return the replicates that are not NaN."""
    values = reals("replicates", replicates)
    return values[~np.isnan(values)] if isnan(values.min(initial=np.inf)) else values


def _between(values: Floats, low: float, high: float) -> tuple[float, float]:
    """Return two quantiles of values; NaN without values."""
    if not values.size:
        return np.nan, np.nan
    # No number lies between two infinite values, so that the ends are values themselves.
    is_finite = bool(np.isfinite(values).all())
    if is_finite:
        low_end, high_end = np.quantile(values, [low, high])
    else:
        low_end = np.quantile(values, low, method="lower")
        high_end = np.quantile(values, high, method="higher")
    return float(low_end), float(high_end)
