"""The asymptotic distribution of the empirical precision-recall curve at levels of recall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import fractions, reals, together
from prframe.stats.curves.kernels import ClassKernel, class_kernels
from prframe.stats.curves.precision_recall import false_positives, precision
from prframe.stats.rankings import ClassScores, positives_at, recall_levels, two_classes
from prframe.typing import Bandwidth, Floats

# A density below this part of the peak of a single kernel, reached 3.7 bandwidths away, is none.
_NEAR = 1e-3


class PRInterval(NamedTuple):
    """Precision and the ends of its confidence intervals; arrays of one shape."""

    precision: Floats
    low: Floats
    high: Floats


def pr_asymptotic_variance(
    recall: ArrayLike, fpr: ArrayLike, density_ratio: ArrayLike, prevalence: ArrayLike
) -> Floats:
    """Return the asymptotic variance of ``sqrt(n) (estimated - true precision)`` at a recall.

    It is ``PR^4/b^2 [(1-p) a^2/p^3 + (1-p)^2 b(1-b) r^2/p^3 + (1-p) a(1-a)/p^2]`` at recall b,
    where ``PR = p b / (p b + (1-p) a)``. The three terms come from the number of positives, from
    the threshold at which recall is b, and from the number of negatives above it.

    Parameters
    ----------
    recall : array_like of float in (0, 1)
        b.
    fpr : array_like of float in [0, 1]
        a, the false positive rate at that recall.
    density_ratio : array_like of float >= 0
        r, the density of the scores of negatives over that of positives, at the threshold. It is
        the derivative of the false positive rate by recall.
    prevalence : array_like of float in (0, 1)
        p, the probability of a positive.

    Returns
    -------
    ndarray of float
        Of the common shape. Divided by the number of items n, it is the variance of the precision
        that is estimated from them, with a random number of positives among them.

    Raises
    ------
    PrframeError
        Numbers out of range or shapes that do not broadcast.

    See Also
    --------
    pr_limit_process : The process whose variance this is.

    Notes
    -----
    Clemencon & Vayatis 2009 print eq. (9) without the factor ``PR^4/b^2`` on its second and third
    term. Their own process ``Z^(n)`` in Theorem 1 has it on all three, but another coefficient on
    the first: ``alpha_p/p``, which must be ``alpha_p/sqrt(p)``. With both corrected the two agree,
    and so does simulation.

    References
    ----------
    Clemencon & Vayatis 2009, eq. (9) and Theorem 1, corrected.

    Examples
    --------
    >>> pr_asymptotic_variance([0.2, 0.5, 0.8], [0.02, 0.1, 0.35], [0.2, 0.6, 1.5], 0.3).round(3)
    array([3.014, 2.241, 1.075])
    """
    beta = recall_levels(recall, below_one=True)
    alpha, ratio, p = fractions("fpr", fpr), reals("density_ratio", density_ratio), prevalence
    p = fractions("prevalence", p)
    if (wrong := (p == 0) | (p == 1)).any():
        raise PrframeError(f"`prevalence` must be > 0 and < 1; got {p[wrong].ravel()[0]}.")
    if (wrong := ratio < 0).any():
        raise PrframeError(f"`density_ratio` must be >= 0; got {ratio[wrong].ravel()[0]}.")
    names = "`recall`, `fpr`, `density_ratio` and `prevalence`"
    beta, alpha, ratio, p = together(names, beta, alpha, ratio, p)
    q = 1 - p
    shrink = p * beta / (p * beta + q * alpha)
    positives = q * alpha**2 / p**3
    threshold = q**2 * beta * (1 - beta) * ratio**2 / p**3
    negatives = q * alpha * (1 - alpha) / p**2
    return np.asarray(shrink**4 / beta**2 * (positives + threshold + negatives))


def density_ratio(positives: ClassKernel, negatives: ClassKernel, recall: Floats) -> Floats:
    """Return the density of negatives over that of positives at the threshold of each recall."""
    threshold = positives.isf(recall)
    density = positives.pdf(threshold)
    # In a gap between positives the density is only that of the far tails of kernels.
    peak = 1 / (positives.total * positives.bandwidth * positives.shape.area)
    density[density < _NEAR * peak] = np.nan
    return negatives.pdf(threshold) / density


def pr_asymptotic_interval(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    confidence_level: float = 0.95,
    bandwidth: Bandwidth = "scott",
    n_pos: int | None = None,
    n_neg: int | None = None,
) -> PRInterval:
    """Enclose precision at each level of recall, each by itself, by a normal approximation.

    The ends are ``logit PR +- z s``, taken back from the logit scale, where
    ``s = sqrt(variance / n) / (PR (1 - PR))`` and the variance is `pr_asymptotic_variance`.

    Parameters
    ----------
    positives, negatives : array_like of float, shape (number of the class,)
        Scores of the items of either class, in any order. -inf: not retrieved.
    recall : array_like of float in (0, 1)
        Levels.
    confidence_level : float in (0, 1)
        Coverage of the interval at one level; all levels together are covered less often.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0
        Bandwidth of the kernels that estimate the ratio of the densities, or a pair for positives
        and negatives; see `pr_curve`. All else is estimated without smoothing.
    n_pos, n_neg : int, optional
        Totals that include items never listed, which count as not retrieved.

    Returns
    -------
    PRInterval
        ``precision`` as `pr_curve` gives it, ``low`` and ``high``, of the shape of `recall`. Ends
        are NaN where precision is 0 or 1, as an expansion around such a value is impossible. They
        are also NaN where the threshold lies in a gap between positives, 3.7 bandwidths from the
        next.

    Raises
    ------
    PrframeError
        No positives, NaN scores, totals below what is listed, or numbers out of range.

    Notes
    -----
    The intervals are valid for many positives and negatives above the threshold, and for scores
    that have densities; for tied scores the kernels estimate densities that do not exist.

    See Also
    --------
    pr_asymptotic_band : The same for all levels at once.

    References
    ----------
    Clemencon & Vayatis 2009, Remark 3, corrected.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positives, negatives = rng.normal(1, 1, 300), rng.normal(0, 1, 700)
    >>> interval = pr_asymptotic_interval(positives, negatives, [0.2, 0.5, 0.8])
    >>> interval.precision.round(3)
    array([0.625, 0.562, 0.439])
    """
    beta = recall_levels(recall, below_one=True)
    level = checks.number("confidence_level", confidence_level, above=0, below=1)
    classes = two_classes(positives, negatives, n_pos, n_neg)
    return asymptotic_interval(*classes, beta, float(level), bandwidth)


def asymptotic_interval(
    positives: ClassScores,
    negatives: ClassScores,
    recall: Floats,
    confidence_level: float,
    bandwidth: Bandwidth,
) -> PRInterval:
    """Enclose precision at each level, given checked arguments."""
    tail = (1 - confidence_level) / 2
    n = positives.total + negatives.total
    hits = positives_at(recall, positives.total)
    false = false_positives(positives, negatives, hits)
    ratio = density_ratio(*class_kernels(positives, negatives, bandwidth), recall)
    center = precision(hits, false)
    inner = (center > 0) & (center < 1)
    low, high = np.full((2, *center.shape), np.nan)
    if inner.any():
        fpr, prevalence = false[inner] / negatives.total, positives.total / n
        variance = pr_asymptotic_variance(recall[inner], fpr, ratio[inner], prevalence)
        spread = np.sqrt(variance / n) / (center[inner] * (1 - center[inner]))
        ends = logit(center[inner]) + ndtri([[tail], [1 - tail]]) * spread
        low[inner], high[inner] = expit(ends)
    return PRInterval(center, low, high)
