"""Levels of intervals, and their ends from an estimate and its influence values or replicates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import frexp, isinf, isnan

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, expit, logit, ndtr, ndtri, stdtrit

from prframe import checks
from prframe.stats._arrays import reals
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import EQUAL, RESIDUE
from prframe.typing import Alternative, Floats

_UNBOUNDED = (-np.inf, np.inf)
# No interval misses the quantity with a smaller probability, as levels near 1 are not exact.
_LEAST_TAIL = 1e-12


@dataclass(frozen=True)
class Confidence:
    """The coverage of an interval, the ends that it bounds, and the range of the quantity.

    Attributes
    ----------
    level : float in (0, 1)
        Coverage.
    alternative : {"two-sided", "less", "greater"}
        As in `scipy.stats.bootstrap`: ``"less"`` gives an upper confidence bound and
        ``"greater"`` a lower one, and the other end is that of the range.
    limits : tuple of float
        The range of the estimated quantity, to which the ends are clipped; infinite if there is
        none.

    Examples
    --------
    >>> Confidence(0.9, "greater").ends(low=0.3, high=0.6)
    (0.3, inf)
    """

    level: float = 0.95
    alternative: Alternative = "two-sided"
    limits: tuple[float, float] = _UNBOUNDED

    def __post_init__(self) -> None:
        checks.number("confidence_level", self.level, above=0, below=1)
        check_alternative(self.alternative)

    @classmethod
    def of(cls, given: Confidence | None) -> Confidence:
        """Return what a caller gives, or 95 %, two-sided and without limits."""
        checks.instance("confidence", cls() if given is None else given, cls)
        return given or cls()

    @property
    def tail(self) -> float:
        """The probability of missing the quantity that is allowed at each bounded end."""
        return (1 - self.level) / (2 if self.alternative == "two-sided" else 1)

    def expanded(self, n: int) -> Confidence:
        """Return the level at which quantiles of resamples cover in samples of n units.

        Resamples vary less than samples do, by ``sqrt((n - 1) / n)``, and as a normal distribution
        where Student's would be right. So the tail a becomes ``Phi(-sqrt(n / (n - 1)) t_{n-1}(1 -
        a))`` (Hesterberg, *What teachers should know about the bootstrap*, 2015, section 5.3).
        """
        n = max(n, 2)
        tail = float(ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, self.tail)))
        sides = 2 if self.alternative == "two-sided" else 1
        return replace(self, level=1 - sides * max(tail, _LEAST_TAIL))

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Clip both ends, and open the one that the alternative leaves unbounded.

        Both are NaN if an end that is bounded is NaN.
        """
        least, most = self.limits
        # NaN, which is neither smaller nor larger, stays.
        low = least if self.alternative == "less" else min(max(float(low), least), most)
        high = most if self.alternative == "greater" else min(max(float(high), least), most)
        return (np.nan, np.nan) if isnan(low) or isnan(high) else (low, high)


@lru_cache
def within(confidence: Confidence, limits: tuple[float, float]) -> Confidence:
    """Return the same for a quantity of some range; the groups of a call share these."""
    return replace(confidence, limits=limits)


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
