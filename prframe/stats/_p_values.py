"""P-values by the alternative, from tails or from a statistic."""

from collections.abc import Callable
from typing import NamedTuple, SupportsFloat, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri, stdtr

from prframe import checks
from prframe.stats._tolerances import EQUAL
from prframe.typing import Alternative, Floats

# P-values in columns are never 0: those smaller than any normal float are given as the smallest.
LEAST = float(np.finfo(np.float64).tiny)
_SMALLEST, _EPS = float(np.nextafter(0.0, 1.0)), float(np.finfo(np.float64).eps)
# Levels have no more significant digits than this.
_DIGITS = 12


def check_alternative(alternative: str) -> None:
    """Require the name of an alternative."""
    checks.one_of("alternative", alternative, get_args(Alternative))


def from_tails(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return p-values from P(X >= x) and P(X <= x), of which the one not needed may be NaN."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(2 * np.minimum(upper, lower), 1.0))
    return upper if alternative == "greater" else lower


def from_log_tails(upper: Floats, lower: Floats, alternative: Alternative) -> Floats:
    """Return the logarithms of p-values from those of P(X >= x) and P(X <= x)."""
    if alternative == "two-sided":
        return np.asarray(np.minimum(np.log(2) + np.minimum(upper, lower), 0.0))
    return upper if alternative == "greater" else lower


def probability(logs: Floats) -> Floats:
    """Return probabilities from logarithms, of which only those of impossible values are 0.

    One that differs from a number of 12 digits by rounding alone is that number, so that 5 of 100
    is .05, and no more than a level of .05.
    """
    logs = np.asarray(logs, dtype=np.float64)
    found = np.where(logs == -np.inf, 0.0, np.maximum(np.exp(logs), _SMALLEST))
    with np.errstate(all="ignore"):
        digits = found * 10.0 ** (_DIGITS - 1 - np.floor(logs / np.log(10)))
        is_near = np.abs(digits - np.rint(digits)) <= 2 * (2 + np.abs(logs)) * _EPS * digits
    found[is_near] = [float(f"{each:.{_DIGITS}g}") for each in found[is_near].tolist()]
    return found


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


def of_small_sample(
    p_value: float, std_error: float, n: int, alternative: Alternative
) -> tuple[float, float]:
    """Return a p-value by resamples of n units, and its error, corrected for their number.

    It is Student's, with n - 1 degrees of freedom, of ``sqrt((n - 1) / n)`` times the normal
    quantile of the p-value; see `Confidence.expanded`.
    """
    if not 0 < p_value < 1:
        return p_value, std_error
    df = max(n, 2) - 1
    shrunk = np.sqrt(df / (df + 1))
    sides = 2 if alternative == "two-sided" else 1
    z = float(-ndtri(min(p_value / sides, 1.0)))
    t = shrunk * z
    corrected = sides * float(stdtr(df, -t))
    log_ratio = gammaln((df + 1) / 2) - gammaln(df / 2) + np.log(2 / df) / 2
    slope = shrunk * np.exp(log_ratio - (df + 1) / 2 * np.log1p(t**2 / df) + z**2 / 2)
    return corrected, float(slope * std_error)


def extremeness(values: Floats, alternative: Alternative) -> Floats:
    """Return numbers that rise with how extreme values about 0 are."""
    if alternative == "two-sided":
        return np.abs(values)
    return values if alternative == "greater" else -values


class SampledPValue(NamedTuple):
    """A p-value and its Monte Carlo standard error, which is NaN where nothing was sampled."""

    p_value: float
    std_error: float


def sampled_p_value(
    observed: float, drawn: Floats, alternative: Alternative, *, exact: bool = False
) -> SampledPValue:
    """Return the share of draws under the null hypothesis that are as extreme as the observed.

    Draws that are NaN are left out, and rounding counts as equal; see `counted_p_values`.
    """
    values = drawn[~np.isnan(drawn)]
    if np.isnan(observed) or not values.size:
        return SampledPValue(np.nan, np.nan)
    limit = extremeness(np.array(observed), alternative) - EQUAL * max(1.0, abs(observed))
    extreme = np.count_nonzero(extremeness(values, alternative) >= limit)
    p_value, std_error = counted_p_values(np.array(extreme), values.size, exact=exact)
    return SampledPValue(float(p_value), float(std_error))


def counted_p_values(
    extreme: NDArray[np.integer], n_draws: int, *, exact: bool = False
) -> tuple[Floats, Floats]:
    """Return p-values and their errors from the numbers of draws that are as extreme.

    ``(b + 1) / (B + 1)`` for b of B draws (Davison & Hinkley 1997, eq. 4.11), ``b / B`` of all.
    """
    if exact:
        p_values = np.asarray(extreme / n_draws, dtype=np.float64)
        return p_values, np.full_like(p_values, np.nan)
    p_values = np.asarray((extreme + 1) / (n_draws + 1), dtype=np.float64)
    return p_values, np.sqrt(p_values * (1 - p_values) / n_draws)
