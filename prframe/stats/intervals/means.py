"""Confidence intervals for the mean of independent values, or of folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._tolerances import EQUAL, RESIDUE
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.ends import (
    UNIT,
    acceleration,
    border,
    hall_interval,
    logit_interval,
    sample_skewness,
    wald_interval,
)
from prframe.stats.intervals.replicates import bca_interval, percentile_interval, spread
from prframe.typing import Floats

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

    def times(self, factor: float) -> IntervalEstimate:
        """Return the interval of a positive multiple of the estimated quantity."""
        return IntervalEstimate(
            estimate=self.estimate * factor,
            std_error=self.std_error * factor,
            low=self.low * factor,
            high=self.high * factor,
            method=self.method,
        )

    def plus(self, offset: float) -> IntervalEstimate:
        """Return the interval of the estimated quantity with an offset added."""
        return replace(
            self,
            estimate=self.estimate + offset,
            low=self.low + offset,
            high=self.high + offset,
        )


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
    method : {"auto", "t", "logit", "hall", "percentile", "bca"}
        ``"t"`` is Student's t interval, ``"logit"`` the same on the logit scale, for values within
        [0, 1], and ``"hall"`` Student's with Hall's correction for skewness; ``"percentile"``
        takes quantiles of resampled means, and ``"bca"`` corrects these for bias and acceleration.
        ``"auto"`` is ``"logit"`` if the limits are (0, 1), else ``"t"``.
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
        deviation of the replicates. With one value, or if all are the same, errors and ends are
        NaN, except for the Jeffreys interval of values that are all 0 or all 1 by ``"logit"``, or
        by ``"hall"`` within the limits (0, 1).

    Raises
    ------
    PrframeError
        No value, a value that is not finite or beyond the limits, or beyond [0, 1] with
        ``"logit"``, an unknown method, or a ratio that is negative or comes with another method
        than ``"t"`` and ``"logit"``.

    References
    ----------
    Student, *The probable error of a mean*, Biometrika 1908; Efron, *Better bootstrap
    confidence intervals*, Journal of the American Statistical Association 1987; Hall, *On the
    removal of skewness by transformation*, JRSS B 1992; Nadeau & Bengio, *Inference for the
    generalization error*, Machine Learning 2003.

    Examples
    --------
    >>> interval = mean_interval([0.2, 0.4, 0.5, 0.7])
    >>> round(interval.estimate, 3), round(interval.low, 3), round(interval.high, 3)
    (0.45, 0.119, 0.781)
    """
    checks.one_of("method", method, _MEAN_METHODS)
    ratio = checks.number("test_train_ratio", test_train_ratio, at_least=0)
    if ratio and method not in _CORRECTED:
        raise ArgumentError(
            "`test_train_ratio` corrects the variance of 't' and 'logit'; "
            f"method={method!r} takes values as independent ones."
        )
    numbers, confidence = reals("values", values), confidence or Confidence()
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
    n, mean = numbers.size, float(np.clip(numbers.mean(), least, most))
    equal = bool(np.ptp(numbers) <= EQUAL * np.abs(numbers).max())
    middle = border(mean) if equal else mean
    # Zeros or ones alone are trials.
    has_trials = method == "logit" or (method == "hall" and confidence.limits == UNIT)
    of_trials = equal and middle in {0, 1} and has_trials
    if n == 1 or (equal and not of_trials):
        return IntervalEstimate(mean, np.nan, np.nan, np.nan, method)
    std_error = float(numbers.std(ddof=1)) / n**0.5 * (1 + n * test_train_ratio) ** 0.5
    if method == "t":
        low, high = wald_interval(mean, std_error, confidence, df=n - 1)
    elif method == "hall" and not of_trials:
        # Cubes of large numbers would overflow.
        skewness = float(sample_skewness((numbers - mean) / np.ptp(numbers), n))
        low, high = hall_interval(mean, std_error, skewness, confidence, n)
    elif method in {"logit", "hall"}:
        low, high = logit_interval(middle, std_error, confidence, df=n - 1, trials=n)
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
