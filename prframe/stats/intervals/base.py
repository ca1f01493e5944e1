"""Confidence intervals from an estimate, its influence values and its resamples."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import RESIDUE
from prframe.stats.intervals.proportion import proportion_interval
from prframe.typing import Alternative, Floats

_UNIT = (0.0, 1.0)
_UNBOUNDED = (-np.inf, np.inf)
_ALTERNATIVES = ("two-sided", "less", "greater")
_RESAMPLED = ("percentile", "bca")
_MEAN_METHODS = ("auto", "t", "logit", *_RESAMPLED)
# No interval misses the quantity with a smaller probability, as levels near 1 are not exact.
_LEAST_TAIL = 1e-12
# The number of values in one chunk of resamples.
_CHUNK = 1 << 18


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate, its standard error and the ends of its interval; NaN for undefined numbers.

    Examples
    --------
    >>> interval = mean_interval([0.2, 0.4, 0.5, 0.7])
    >>> interval.method, round(interval.high - interval.low, 3)
    ('t', 0.662)
    """

    estimate: float
    std_error: float
    low: float
    high: float
    method: str

    def times(self, factor: float) -> IntervalEstimate:
        """Return the interval of a positive multiple of the estimated quantity."""
        return IntervalEstimate(
            estimate=self.estimate * factor,
            std_error=self.std_error * factor,
            low=self.low * factor,
            high=self.high * factor,
            method=self.method,
        )


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
        """Check the level and the alternative."""
        checks.number("confidence_level", self.level, above=0, below=1)
        check_alternative(self.alternative)

    @property
    def tail(self) -> float:
        """The probability of missing the quantity that is allowed at each bounded end."""
        return (1 - self.level) / (2 if self.alternative == "two-sided" else 1)

    def expanded(self, n: int) -> Confidence:
        """Return the level at which quantiles of resamples cover in samples of n units.

        Resamples of n units vary less than samples do, by ``sqrt((n - 1) / n)``, and their
        quantiles are those of a normal distribution where Student's with n - 1 degrees of freedom
        would be right. So the tail a becomes ``Phi(-sqrt(n / (n - 1)) t_{n-1}(1 - a))``.

        Parameters
        ----------
        n : int
            Fewer than 2 count as 2.

        Returns
        -------
        Confidence

        References
        ----------
        Hesterberg, *What teachers should know about the bootstrap*, 2015, section 5.3.

        Examples
        --------
        >>> round(Confidence(0.95).expanded(15).level, 4)
        0.9736
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
        low = least if self.alternative == "less" else float(np.clip(low, least, most))
        high = most if self.alternative == "greater" else float(np.clip(high, least, most))
        return (np.nan, np.nan) if np.isnan([low, high]).any() else (low, high)


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
    confidence = replace(confidence, limits=_UNIT)
    if estimate in {0, 1}:
        level = 1 - 2 * confidence.tail
        known = proportion_interval(round(estimate) * trials, trials, level, method="jeffreys")
        return confidence.ends(float(known.low), float(known.high))
    unbiased = estimate if unbiased is None else unbiased
    middle, slope = logit((estimate + unbiased) / 2), unbiased * (1 - unbiased)
    reach = _quantile(confidence, df) * std_error / slope if slope else np.inf
    return confidence.ends(float(expit(middle - reach)), float(expit(middle + reach)))


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


def mean_interval(  # noqa: PLR0913
    values: ArrayLike,
    method: str = "auto",
    confidence: Confidence | None = None,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    *,
    test_train_ratio: float = 0.0,
) -> IntervalEstimate:
    """Return a confidence interval for the mean of independent values, or of folds.

    The values may be, for example, those of a metric for each query.

    Parameters
    ----------
    values : array_like of float, shape (n_values,)
        At least one; finite.
    method : {"auto", "t", "logit", "percentile", "bca"}
        ``"t"`` is Student's t interval, ``"logit"`` the same on the logit scale, for values within
        [0, 1]; ``"percentile"`` takes quantiles of resampled means, and ``"bca"`` corrects these
        for bias and acceleration. ``"auto"`` is ``"logit"`` if the limits are (0, 1), else
        ``"t"``.
    confidence : Confidence, optional
        By default 95 %, two-sided and without limits.
    n_resamples : int
        Number of resamples of the bootstrap methods.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these resamples.
    test_train_ratio : float >= 0
        Of values from folds or repeated splits: the size n_2 of a test set divided by that of its
        training set, n_1; see `paired_t_test`. It is for ``"t"`` and ``"logit"``.

    Returns
    -------
    IntervalEstimate
        ``std_error`` is ``s sqrt(1/n + n_2/n_1)``, or, for the bootstrap methods, the standard
        deviation of the replicates. With one value, errors and ends are NaN.

    Raises
    ------
    PrframeError
        No value, a value that is not finite or beyond the limits, or beyond [0, 1] with
        ``"logit"``, an unknown method, or a ratio that is negative or comes with resamples.

    Examples
    --------
    >>> interval = mean_interval([0.2, 0.4, 0.5, 0.7])
    >>> round(interval.estimate, 3), round(interval.low, 3), round(interval.high, 3)
    (0.45, 0.119, 0.781)
    """
    checks.one_of("method", method, _MEAN_METHODS)
    if checks.number("test_train_ratio", test_train_ratio, at_least=0) and method in _RESAMPLED:
        raise PrframeError(
            "`test_train_ratio` corrects the variance of 't' and 'logit'; "
            f"method={method!r} draws values as independent ones."
        )
    numbers, confidence = reals("values", values), confidence or Confidence()
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise PrframeError(f"`values` must be finite numbers, at least one; got {values!r}.")
    if method == "auto":
        method = "logit" if confidence.limits == _UNIT else "t"
    least, most = _UNIT if method == "logit" else confidence.limits
    # Sums of many parts may lie beyond by rounding.
    if (wrong := (numbers < least - RESIDUE) | (numbers > most + RESIDUE)).any():
        raise PrframeError(
            f"`values` must lie between {least:g} and {most:g}; got {numbers[wrong][0]:g}."
        )
    n, mean = numbers.size, float(np.clip(numbers.mean(), least, most))
    if n == 1:
        return IntervalEstimate(mean, np.nan, np.nan, np.nan, method)
    std_error = float(numbers.std(ddof=1)) / n**0.5 * (1 + n * test_train_ratio) ** 0.5
    if method == "t":
        low, high = wald_interval(mean, std_error, confidence, df=n - 1)
    elif method == "logit":
        low, high = logit_interval(mean, std_error, confidence, df=n - 1, trials=n)
    else:
        replicates = _resampled_means(numbers, n_resamples, rng)
        std_error = spread(replicates)
        if method == "percentile":
            low, high = percentile_interval(replicates, confidence)
        else:
            bend = acceleration(numbers - mean, np.ones(n))
            low, high = bca_interval(mean, replicates, bend, confidence)
    return IntervalEstimate(mean, std_error, low, high, method)


def _resampled_means(
    values: Floats, n_resamples: int, rng: int | np.random.Generator | None
) -> Floats:
    """Return the means of resamples, each of as many values, drawn with replacement."""
    checks.whole_number("n_resamples", n_resamples, at_least=1)
    generator, n = random_generator(rng), values.size
    sizes = batch_sizes(n_resamples, n, _CHUNK)
    return np.concatenate([values[generator.integers(0, n, (size, n))].mean(1) for size in sizes])


def _quantile(confidence: Confidence, df: float) -> float:
    """Return the upper quantile of Student's t distribution."""
    tail = confidence.tail
    return float(-ndtri(tail) if np.isinf(df) else -stdtrit(df, tail))


def spread(replicates: ArrayLike) -> float:
    """Return the standard deviation of replicates, NaN left out; NaN with fewer than two."""
    values = defined(replicates)
    return float(values.std(ddof=1)) if values.size > 1 else np.nan


def defined(replicates: ArrayLike) -> Floats:
    """Return the replicates that are not NaN."""
    values = reals("replicates", replicates)
    return values[~np.isnan(values)]


def _between(
    values: Floats, low: float, high: float, confidence: Confidence
) -> tuple[float, float]:
    """Return the interval between two quantiles of values."""
    if not values.size:
        return np.nan, np.nan
    ends = np.quantile(values, [low, high])
    return confidence.ends(float(ends[0]), float(ends[1]))
