"""P-values by the alternative, from tails or from a statistic."""

from collections.abc import Callable
from typing import SupportsFloat, get_args

import numpy as np
from scipy.special import ndtr

from prframe import checks
from prframe.typing import Alternative, Floats


def check_alternative(alternative: str) -> None:
    """Require the name of an alternative."""
    checks.one_of("alternative", alternative, get_args(Alternative))


def from_tails(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return p-values from P(X >= x) and P(X <= x).

    The two-sided one is twice the smaller of both, at most 1. A tail that the alternative does not
    need may be NaN.
    """
    if alternative == "two-sided":
        return np.asarray(np.minimum(2 * np.minimum(upper, lower), 1.0))
    return upper if alternative == "greater" else lower


def from_log_tails(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return the logarithms of p-values from those of P(X >= x) and P(X <= x)."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(np.log(2) + np.minimum(upper, lower), 0.0))
    return upper if alternative == "greater" else lower


def from_symmetric(
    cdf: Callable[[float], SupportsFloat], statistic: float, alternative: Alternative
) -> float:
    """Return the p-value of a statistic whose null distribution is symmetric about 0."""
    if alternative == "two-sided":
        return 2 * float(cdf(-abs(statistic)))
    return float(cdf(statistic if alternative == "less" else -statistic))


def from_normal(z: float, alternative: Alternative) -> float:
    """Return the p-value of a standard normal statistic."""
    return from_symmetric(ndtr, z, alternative)


def extremeness(values: Floats, alternative: Alternative) -> Floats:
    """Return numbers that are the larger the more extreme values about 0 are."""
    if alternative == "two-sided":
        return np.abs(values)
    return values if alternative == "greater" else -values
