"""The ends of intervals from an estimate and its influence values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, expit, logit, ndtri, stdtrit

from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals.confidence import Confidence
from prframe.typing import Floats

UNIT = (0.0, 1.0)


def degrees_of_freedom(values: ArrayLike, number: ArrayLike) -> float:
    """Return ``2 + 2 (sum U^2)^2 / sum U^4``, the degrees of freedom of influence values U.

    They are Satterthwaite's, few if a few items carry the standard error. The first 2 was found by
    simulation of AP.
    """
    squares, number = reals("values", values) ** 2, reals("number", number)
    fourth = float(number @ squares**2)
    return 2 + 2 * float(number @ squares) ** 2 / fourth if fourth else np.inf


def acceleration(values: ArrayLike, number: ArrayLike) -> float:
    """Return ``sum U^3 / (6 (sum U^2)^1.5)``, the acceleration of BCa intervals (Efron 1987)."""
    values, number = reals("values", values), reals("number", number)
    # Powers of small values underflow; a power of 2 divides without rounding.
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max(initial=0.0))[1]))
    square = float(number @ values**2)
    return float(number @ values**3) / (6 * square**1.5) if square else 0.0


def wald_interval(
    estimate: float, std_error: float, confidence: Confidence, df: float = np.inf
) -> tuple[float, float]:
    """Return ``estimate -+ q std_error`` with Student's quantile q, normal if df is infinite."""
    reach = _quantile(confidence, df) * std_error
    return confidence.ends(estimate - reach, estimate + reach)


def hall_interval(
    estimate: float, std_error: float, skewness: float, confidence: Confidence, n: int
) -> tuple[float, float]:
    """Return the interval of a mean of skewed values: those that Hall's test does not reject.

    The ends are ``m - t(-+q) s`` with Student's quantile q and `before_correction` t (Hall, *On
    the removal of skewness by transformation*, JRSS B 1992).
    """
    reach = _quantile(confidence, n - 1)
    low, high = before_correction(np.array([reach, -reach]), skewness / np.sqrt(n))
    return confidence.ends(estimate - low * std_error, estimate - high * std_error)


def before_correction(corrected: ArrayLike, bends: ArrayLike) -> Floats:
    """Return the t that Hall's correction takes to x: ``3 ((1 + a x - a^2 / 6)^(1/3) - 1) / a``.

    The correction of t is ``x = t + a t^2 / 3 + a^2 t^3 / 27 + a / 6``, where a is the skewness
    of n values over the root of n.
    """
    corrected, bends = np.asarray(corrected), np.asarray(bends)
    shifts = bends * (corrected - bends / 6)
    # A difference of nearly equal numbers would lose digits.
    with np.errstate(invalid="ignore", divide="ignore"):
        roots = np.where(
            shifts > -1 / 2,
            np.expm1(np.log1p(np.maximum(shifts, -1 / 2)) / 3),
            np.cbrt(1 + shifts) - 1,
        )
        return np.where(bends == 0, corrected, 3 * roots / bends)


def sample_skewness(residuals: Floats, n: ArrayLike) -> Floats:
    """Return ``n / ((n - 1)(n - 2)) sum r^3 / s^3`` of residuals along the first axis, or 0."""
    n, by_value = np.asarray(n), residuals**2
    squares, cubes = by_value.sum(axis=0), (by_value * residuals).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        skewness = n * np.sqrt(n - 1) / (n - 2) * cubes / squares**1.5
    return np.where((n > 2) & (squares > 0), skewness, 0.0)  # noqa: PLR2004


def logit_interval(  # noqa: PLR0913
    estimate: float,
    std_error: float,
    confidence: Confidence,
    *,
    unbiased: float | None = None,
    df: float = np.inf,
    trials: int = 0,
) -> tuple[float, float]:
    """Return the interval that is symmetric on the logit scale (Boyd, Eng & Page 2013).

    The ends are ``logit(c) -+ q std_error / (u (1 - u))``, transformed back, with Student's
    quantile q. Without an unbiased estimate, c and u are the estimate; with one, c is the mean of
    both and u the unbiased one; if that is 0, the interval is (0, 1). An estimate of 0 or 1 has
    Jeffreys' interval for none or all of the trials, or (0, 1) without trials.
    """
    confidence = replace(confidence, limits=UNIT)
    if estimate in {0, 1}:
        # Of all of the trials, or none, Jeffreys' interval reaches the end of the range.
        reach = float(betainccinv(0.5, trials + 0.5, confidence.tail)) if trials else 1.0
        return confidence.ends(*((1 - reach, 1.0) if estimate else (0.0, reach)))
    unbiased = estimate if unbiased is None else unbiased
    middle, slope = logit((estimate + unbiased) / 2), unbiased * (1 - unbiased)
    reach = _quantile(confidence, df) * std_error / slope if slope else np.inf
    return confidence.ends(float(expit(middle - reach)), float(expit(middle + reach)))


def beta_interval(
    estimate: float, std_error: float, confidence: Confidence, *, step: float
) -> tuple[float, float]:
    """Return quantiles of a beta distribution, which allows for losses that the sample lacks.

    Half a step d, how much one observation may change the estimate e, is added to what it gained
    and to what it lost: the distribution has mean ``(e + d / 2) / (1 + d)`` and variance
    ``(s^2 + d^2 / 2 + d^3 / 4) / ((1 + d)^2 (1 + 2 d))``, and the ends enclose e. For a share of m
    trials, with ``d = 1 / m``, this is Jeffreys' interval. Fay & Feuer (Statistics in Medicine
    1997) make gamma intervals of weighted sums of counts likewise.
    """
    mean = (estimate + step / 2) / (1 + step)
    square = (std_error**2 + step**2 / 2 + step**3 / 4) / ((1 + step) ** 2 * (1 + 2 * step))
    # A variance beyond that of trials with no weight in the middle bounds nothing.
    weight = mean * (1 - mean) / square - 1
    if not weight > 0:
        return confidence.ends(*UNIT)
    counts = mean * weight, (1 - mean) * weight
    # The step moves the mean, so that the estimate may lie beyond a quantile.
    low = min(estimate, float(betaincinv(*counts, confidence.tail)))
    high = max(estimate, float(betainccinv(*counts, confidence.tail)))
    return confidence.ends(low if estimate > 0 else 0.0, high if estimate < 1 else 1.0)


def _quantile(confidence: Confidence, df: float) -> float:
    """Return the upper quantile of Student's t distribution."""
    tail = confidence.tail
    return float(-ndtri(tail) if np.isinf(df) else -stdtrit(df, tail))


def border(estimate: float) -> float:
    """Return 0 or 1 for an estimate that differs from it by rounding alone, else the estimate."""
    nearest = float(round(estimate))
    return nearest if nearest in {0, 1} and abs(estimate - nearest) <= EQUAL else estimate
