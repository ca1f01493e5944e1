"""The ends of intervals from an estimate, its influence values and its resamples."""

from __future__ import annotations

from dataclasses import replace
from math import frexp, isnan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, expit, logit, ndtr, ndtri, stdtrit

from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL, RESIDUE
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.proportion import proportion_interval
from prframe.typing import Floats

UNIT = (0.0, 1.0)


def degrees_of_freedom(values: ArrayLike, number: ArrayLike) -> float:
    """Return the degrees of freedom of the standard error from influence values.

    These are ``2 + 2 (sum U^2)^2 / sum U^4``.

    Parameters
    ----------
    values, number : array_like, shape (n_values,)
        Influence values, and how many items have each.

    Returns
    -------
    float
        At least 4; infinite if all influence values are 0.

    Notes
    -----
    For a sum of squares of independent variates, ``sum U^4`` estimates the variance, up to terms
    of order 1/n. Twice the squared mean over the variance are the degrees of freedom of the
    scaled chi-squared distribution with these moments (Satterthwaite 1946), which are few if a few
    items carry the whole standard error. The first 2 was found by simulation of AP.

    Examples
    --------
    >>> round(degrees_of_freedom([0.1, -0.1], [50, 50]))
    202
    """
    squares, number = reals("values", values) ** 2, reals("number", number)
    fourth = float(number @ squares**2)
    return 2 + 2 * float(number @ squares) ** 2 / fourth if fourth else np.inf


def acceleration(values: ArrayLike, number: ArrayLike) -> float:
    """Return ``sum U^3 / (6 (sum U^2)^1.5)``, the acceleration of the BCa interval.

    Parameters
    ----------
    values, number : array_like, shape (n_values,)
        Influence values, and how many items have each.

    Returns
    -------
    float
        0 if all influence values are.

    References
    ----------
    Efron, *Better bootstrap confidence intervals*, JASA 1987, eq. (7.3).

    Examples
    --------
    >>> round(acceleration([2.0, -1.0], [1, 2]), 4)
    0.068
    """
    values, number = reals("values", values), reals("number", number)
    # Powers of small values underflow; a power of 2 divides without rounding.
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max(initial=0.0))[1]))
    square = float(number @ values**2)
    return float(number @ values**3) / (6 * square**1.5) if square else 0.0


def wald_interval(
    estimate: float, std_error: float, confidence: Confidence, df: float = np.inf
) -> tuple[float, float]:
    """Return ``estimate -+ q std_error``, where q is a quantile of Student's t distribution.

    Parameters
    ----------
    estimate, std_error : float
    confidence : Confidence
    df : float > 0
        Degrees of freedom; infinite for the normal distribution.

    Returns
    -------
    low, high : float
        NaN if the estimate or the error is.

    Examples
    --------
    >>> low, high = wald_interval(0.5, 0.1, Confidence(0.95))
    >>> round(low, 3), round(high, 3)
    (0.304, 0.696)
    """
    reach = _quantile(confidence, df) * std_error
    return confidence.ends(estimate - reach, estimate + reach)


def logit_interval(  # noqa: PLR0913
    estimate: float,
    std_error: float,
    confidence: Confidence,
    *,
    unbiased: float | None = None,
    df: float = np.inf,
    trials: int = 0,
) -> tuple[float, float]:
    """Return the interval that is symmetric on the logit scale.

    The ends are ``logit(c) -+ q std_error / (u (1 - u))``, transformed back. Without an unbiased
    estimate, c and u are the estimate; with one, c is the mean of both and u is the unbiased one.

    Parameters
    ----------
    estimate : float in [0, 1]
    std_error : float
    confidence : Confidence
    unbiased : float in [0, 1], optional
        An estimate with less bias and more variance. If it is 0, the interval is (0, 1).
    df : float > 0
        Degrees of freedom of the quantile q; infinite for the normal distribution.
    trials : int
        The number of observations that an estimate of 0 or 1 is made of.

    Returns
    -------
    low, high : float
        For an estimate of 0 or 1, which has no finite logit, Jeffreys' interval for none or all of
        the trials; without trials it is (0, 1). NaN if the estimate is.

    References
    ----------
    Boyd, Eng & Page, *Area under the precision-recall curve: point estimates and confidence
    intervals*, ECML PKDD 2013, section 4.2.

    Examples
    --------
    >>> low, high = logit_interval(0.9, 0.05, Confidence(0.95))
    >>> round(low, 3), round(high, 3)
    (0.752, 0.964)
    """
    confidence = replace(confidence, limits=UNIT)
    if estimate in {0, 1}:
        level = 1 - 2 * confidence.tail
        known = proportion_interval(round(estimate) * trials, trials, level, method="jeffreys")
        return confidence.ends(float(known.low), float(known.high))
    unbiased = estimate if unbiased is None else unbiased
    middle, slope = logit((estimate + unbiased) / 2), unbiased * (1 - unbiased)
    reach = _quantile(confidence, df) * std_error / slope if slope else np.inf
    return confidence.ends(float(expit(middle - reach)), float(expit(middle + reach)))


def beta_interval(
    estimate: float, std_error: float, confidence: Confidence, *, step: float
) -> tuple[float, float]:
    """Return quantiles of a beta distribution, which allows for losses that the sample lacks.

    Half a step is added to what the estimate gained and to what it lost, and half the square of
    a step to the variance: the beta distribution has mean ``(e + d / 2) / (1 + d)`` and variance
    ``(s^2 + d^2 / 2 + d^3 / 4) / ((1 + d)^2 (1 + 2 d))``.

    Parameters
    ----------
    estimate : float in [0, 1]
    std_error : float
    confidence : Confidence
    step : float > 0
        How much a single observation may change the estimate.

    Returns
    -------
    low, high : float
        They enclose the estimate; the lower end is 0 for an estimate of 0, and the upper end is 1
        for one of 1.

    Notes
    -----
    For a share of m trials, with ``s^2 = e (1 - e) / m`` and ``d = 1 / m``, this is Jeffreys'
    interval. A standard error is too small if a sample lacks the few observations that would lower
    an estimate near 1; the interval then has the width that such an observation would give it.
    Gamma intervals of weighted sums of counts are made likewise.

    References
    ----------
    Fay & Feuer, *Confidence intervals for directly standardized rates: a method based on the gamma
    distribution*, Statistics in Medicine 1997; Brown, Cai & DasGupta 2001.

    Examples
    --------
    >>> low, high = beta_interval(0.9, (0.9 * 0.1 / 30) ** 0.5, Confidence(0.95), step=1 / 30)
    >>> round(low, 4), round(high, 4)
    (0.7566, 0.971)
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


def percentile_interval(replicates: ArrayLike, confidence: Confidence) -> tuple[float, float]:
    """Return quantiles of the resampled estimates.

    Parameters
    ----------
    replicates : array_like of float, shape (n_resamples,)
        NaN is left out.
    confidence : Confidence

    Returns
    -------
    low, high : float
        NaN without replicates.

    Examples
    --------
    >>> percentile_interval([0.1, 0.2, 0.3, 0.4, 0.5], Confidence(0.5))
    (0.2, 0.4)
    """
    tail = confidence.tail
    return _between(defined(replicates), tail, 1 - tail, confidence)


def bca_interval(
    estimate: float, replicates: ArrayLike, acceleration: float, confidence: Confidence
) -> tuple[float, float]:
    """Return quantiles of the resampled estimates, corrected for bias and acceleration.

    The quantiles are at the levels ``Phi(z0 + (z0 + z) / (1 - a (z0 + z)))``, where z are the
    normal quantiles of the tails, a is the acceleration and ``z0 = Phi^{-1}(share of replicates
    below the estimate)``. Replicates that equal the estimate except for rounding count half.

    Parameters
    ----------
    estimate : float
    replicates : array_like of float, shape (n_resamples,)
        NaN is left out.
    acceleration : float
        See `acceleration`.
    confidence : Confidence

    Returns
    -------
    low, high : float
        NaN if all replicates lie on one side of the estimate, so that z0 is infinite, or if
        there are none. If all are equal to it, the interval is that point.

    References
    ----------
    Efron 1987, as `scipy.stats.bootstrap` computes it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> low, high = bca_interval(0.5, rng.normal(0.5, 0.1, 2000), 0.0, Confidence(0.95))
    >>> round(low, 1), round(high, 1)
    (0.3, 0.7)
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
    return _between(values, low, high, confidence)


def _quantile(confidence: Confidence, df: float) -> float:
    """Return the upper quantile of Student's t distribution."""
    tail = confidence.tail
    return float(-ndtri(tail) if np.isinf(df) else -stdtrit(df, tail))


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
    # The squares of large scores overflow; a power of 2 divides and multiplies without rounding.
    exponent = frexp(largest)[1]
    return float(np.ldexp(np.ldexp(values, -exponent).std(ddof=1), exponent))


def all_equal(replicates: ArrayLike, estimate: float, n: int) -> bool:
    """Tell whether all replicates are the estimate, except for rounding; NaN is left out.

    Next to 0 they are compared with 1 / n, for n items.

    Examples
    --------
    >>> all_equal([0.3, 0.1 + 0.2], 0.3, n=10), all_equal([0.3, 0.4], 0.3, n=10)
    (True, False)
    """
    values, least = defined(replicates), EQUAL * (abs(estimate) + 1 / n)
    if np.isinf(estimate):
        return bool((values == estimate).all())
    low, high = values.min(initial=estimate), values.max(initial=estimate)
    return bool(high - estimate <= least and estimate - low <= least)


def border(estimate: float) -> float:
    """Return 0 or 1 for an estimate that differs from it by rounding alone, else the estimate."""
    nearest = float(round(estimate))
    return nearest if nearest in {0, 1} and abs(estimate - nearest) <= EQUAL else estimate


def defined(replicates: ArrayLike) -> Floats:
    """Return the replicates that are not NaN."""
    values = reals("replicates", replicates)
    return values[~np.isnan(values)] if isnan(values.min(initial=np.inf)) else values


def _between(
    values: Floats, low: float, high: float, confidence: Confidence
) -> tuple[float, float]:
    """Return the interval between two quantiles of values."""
    if not values.size:
        return np.nan, np.nan
    if np.isfinite(values).all():
        places = [(values.size - 1) * level for level in (low, high)]
        beside = {min(int(place) + i, values.size - 1) for place in places for i in (0, 1)}
        ordered = np.partition(values, sorted(beside))
        return confidence.ends(*(_quantile_of(ordered, place) for place in places))
    # No number lies between two infinite values, so that the ends are values themselves.
    return confidence.ends(
        float(np.quantile(values, low, method="lower")),
        float(np.quantile(values, high, method="higher")),
    )


def _quantile_of(ordered: Floats, place: float) -> float:
    """Return what lies at a place of ordered values, as `numpy.quantile` does more slowly."""
    at = int(place)
    low, high = float(ordered[at]), float(ordered[min(at + 1, ordered.size - 1)])
    share = place - at
    # Each end of the line is exact.
    return low + (high - low) * share if share < 1 / 2 else high - (high - low) * (1 - share)
