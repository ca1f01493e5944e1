"""Confidence intervals for means, of values that are independent or not, and for proportions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import Interval, at_most, counts, random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._tolerances import RESIDUE
from prframe.stats._units import UnitSums, units_of
from prframe.stats.intervals.ends import (
    UNIT,
    Confidence,
    acceleration,
    bca_interval,
    border,
    hall_interval,
    logit_interval,
    percentile_interval,
    sample_skewness,
    spread,
    wald_interval,
)
from prframe.typing import Floats, IntervalMethod

_CORRECTED = ("auto", "t", "logit")
_RESAMPLED = ("percentile", "bca")
_MEAN_METHODS = (*_CORRECTED, "hall", *_RESAMPLED)
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


def mean_interval(  # noqa: PLR0913
    values: ArrayLike,
    method: str = "auto",
    confidence: Confidence | None = None,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    *,
    test_train_ratio: float = 0.0,
    cluster: ArrayLike | None = None,
) -> IntervalEstimate:
    """Return a confidence interval for the mean of independent values, of clusters, or of folds.

    Parameters
    ----------
    values : array_like of float, shape (n_values,)
        At least one; finite.
    method : {"auto", "t", "logit", "hall", "percentile", "bca"}
        ``"t"``: Student's t interval. ``"logit"``: the same on the logit scale, for values within
        [0, 1]. ``"hall"``: Student's with Hall's correction for skewness (JRSS B 1992).
        ``"percentile"``: quantiles of resampled means. ``"bca"``: these corrected for bias and
        acceleration (Efron 1987). ``"auto"``: ``"logit"`` if the limits are (0, 1), else ``"t"``.
    confidence : Confidence, optional
        By default 95 %, two-sided and without limits.
    n_resamples : int
        Number of resamples of the bootstrap methods.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these resamples.
    test_train_ratio : float >= 0
        For folds or repeated splits, with ``"t"`` or ``"logit"``: the size n_2 of a test set over
        that of its training set, n_1; see `paired_t_test`.
    cluster : array_like, shape (n_values,), optional
        The cluster of each value. Clusters are independent; the bootstrap draws whole clusters.

    Returns
    -------
    IntervalEstimate
        ``std_error`` is ``s sqrt(1/n + n_2/n_1)``, or, for the bootstrap methods, the standard
        deviation of the replicates. With c clusters it is ``sqrt(c / (c - 1) sum (S_j - n_j
        m)^2) / n``, where S_j is the sum of the n_j values of a cluster and m the mean of all n
        values (Cochran, *Sampling Techniques*, 1977, chapter 9A), with c - 1 degrees of freedom.
        With one value or cluster, or if all are the same, errors and ends are NaN, except for the
        Jeffreys interval of values that are all 0 or all 1 by ``"logit"``, or by ``"hall"`` within
        the limits (0, 1); each cluster is one trial there.

    Raises
    ------
    PrframeError
        No value, a value that is not finite or beyond the limits, or beyond [0, 1] with
        ``"logit"``, an unknown method, a ratio that is negative, or comes with clusters or with
        another method than ``"t"`` and ``"logit"``, or not one cluster for each value.

    Examples
    --------
    >>> interval = mean_interval([0.2, 0.4, 0.5, 0.7])
    >>> round(interval.estimate, 3), round(interval.low, 3), round(interval.high, 3)
    (0.45, 0.119, 0.781)

    Two queries of each of three users:

    >>> of_users = mean_interval([0.4, 0.4, 0.5, 0.6, 0.6, 0.5], cluster=list("aabbcc"))
    >>> round(of_users.estimate, 3), round(of_users.low, 3), round(of_users.high, 3)
    (0.5, 0.285, 0.715)
    """
    checks.one_of("method", method, _MEAN_METHODS)
    ratio = checks.number("test_train_ratio", test_train_ratio, at_least=0)
    _check_ratio(ratio, method, cluster)
    numbers, confidence = reals("values", values), Confidence.of(confidence)
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise PrframeError(f"`values` must be finite numbers, at least one; got {values!r}.")
    if method == "auto":
        method = "logit" if confidence.limits == UNIT else "t"
    least, most = UNIT if method == "logit" else confidence.limits
    # Sums of many parts may lie beyond by rounding.
    if (wrong := (numbers < least - RESIDUE) | (numbers > most + RESIDUE)).any():
        raise PrframeError(
            f"`values` must lie between {least:g} and {most:g}; got {numbers[wrong][0]:g}."
        )
    sample = replace(UnitSums.of(numbers, units_of(cluster, numbers.size)), test_train_ratio=ratio)
    mean = float(np.clip(sample.mean, least, most))
    if method in _RESAMPLED and not (sample.sums.size == 1 or sample.constant):
        replicates = _resampled_means(sample, n_resamples, rng)
        if method == "bca":
            bend = acceleration(sample.influence, np.ones(sample.sums.size))
            low, high = bca_interval(mean, replicates, bend, confidence)
        else:
            low, high = percentile_interval(replicates, confidence)
        return IntervalEstimate(mean, spread(replicates), low, high, method)
    return IntervalEstimate(mean, *_from_error(sample, mean, method, confidence), method)


def proportion_interval(
    hits: ArrayLike,
    trials: ArrayLike,
    confidence_level: float = 0.95,
    method: IntervalMethod = "clopper-pearson",
    prior: float = 1.0,
) -> Interval:
    """Enclose a proportion, given `hits` out of `trials`.

    Parameters
    ----------
    hits, trials : array_like of int
        Successes (0..trials) and trials (>= 0): for precision at k the k positions, for recall the
        positives.
    confidence_level : float in (0, 1)
        Coverage, or posterior probability; half of the rest is left to each tail.
    method : {"clopper-pearson", "jeffreys", "posterior"}
        ``"clopper-pearson"`` (1934): what neither one-sided exact binomial test rejects; it covers
        at least as often as it says. ``"jeffreys"`` (Brown, Cai & DasGupta 2001, section 4.1.2):
        quantiles of Beta(hits + 1/2, misses + 1/2), 0 without hits and 1 without misses; it covers
        about as often as it says. ``"posterior"`` (Goutte & Gaussier 2005): quantiles of Beta(hits
        + prior, misses + prior) without such exceptions.
    prior : float > 0
        The prior of ``"posterior"``: 1 for a uniform prior, 1/2 for Jeffreys'.

    Returns
    -------
    Interval
        ``low`` and ``high``, arrays of the common shape. Without trials they are 0 and 1, or with
        ``"posterior"`` the quantiles of the prior.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or an unknown method.

    Examples
    --------
    >>> for method in ("clopper-pearson", "jeffreys", "posterior"):
    ...     low, high = proportion_interval(0, 10, method=method)
    ...     print(f"{low:.4f} {high:.4f}")
    0.0000 0.3085
    0.0000 0.2172
    0.0023 0.2849
    """
    checks.one_of("method", method, get_args(IntervalMethod))
    tail = (1 - checks.number("confidence_level", confidence_level, above=0, below=1)) / 2
    weight = float(checks.number("prior", prior, above=0)) if method == "posterior" else 0.5
    hits, trials = np.broadcast_arrays(
        counts("hits", hits, at_least=0), counts("trials", trials, at_least=0)
    )
    at_most(("hits", hits), ("trials", trials))
    misses = trials - hits
    if method == "clopper-pearson":
        # The ends are quantiles of Beta(hits, misses + 1) and of Beta(hits + 1, misses).
        low = betaincinv(np.maximum(hits, 1), misses + 1, tail)
        high = betainccinv(hits + 1, np.maximum(misses, 1), tail)
    else:
        low = betaincinv(hits + weight, misses + weight, tail)
        high = betainccinv(hits + weight, misses + weight, tail)
    bounded = method != "posterior"
    low = np.where(bounded & (hits == 0), 0.0, low)
    return Interval(low, np.where(bounded & (misses == 0), 1.0, high))


def _check_ratio(ratio: float, method: str, cluster: ArrayLike | None) -> None:
    """Refuse to correct for folds where values are independent, or in clusters."""
    if ratio and method not in _CORRECTED:
        raise ArgumentError(
            "`test_train_ratio` corrects the variance of 't' and 'logit'; "
            f"method={method!r} takes values as independent ones."
        )
    if ratio and cluster is not None:
        raise ArgumentError(
            "`test_train_ratio` is for folds, whose values all depend on each other, and "
            "`cluster` for clusters that do not; give one of them."
        )


def _from_error(
    sample: UnitSums, mean: float, method: str, confidence: Confidence
) -> tuple[float, float, float]:
    """Return the standard error of a mean, and the ends that follow from it."""
    n, equal = sample.sums.size, sample.constant
    middle = border(mean) if equal else mean
    # Zeros or ones alone are trials.
    has_trials = method == "logit" or (method == "hall" and confidence.limits == UNIT)
    of_trials = equal and middle in {0, 1} and has_trials
    if n == 1 or (equal and not of_trials):
        return np.nan, np.nan, np.nan
    error = sample.std_error
    if method == "t":
        return error, *wald_interval(mean, error, confidence, df=n - 1)
    if method == "hall" and not of_trials:
        # Cubes of large numbers would overflow.
        skewness = sample_skewness(sample.influence / np.abs(sample.influence).max(), n)
        return error, *hall_interval(mean, error, float(skewness), confidence, n)
    return error, *logit_interval(middle, error, confidence, df=n - 1, trials=n)


def _resampled_means(
    sample: UnitSums, n_resamples: int, rng: int | np.random.Generator | None
) -> Floats:
    """Return the means of resamples, each of as many units, drawn with replacement."""
    checks.number_of_draws(n_resamples)
    generator, n = random_generator(rng), sample.sums.size
    uneven = np.ptp(sample.sizes) > 0
    means = []
    for size in batch_sizes(n_resamples, n, _CHUNK):
        drawn = generator.integers(0, n, (size, n))
        number = sample.sizes[drawn].sum(axis=1) if uneven else sample.sizes.sum()
        means.append(sample.sums[drawn].sum(axis=1) / number)
    return np.concatenate(means)
