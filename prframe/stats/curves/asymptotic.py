"""The limit of the empirical precision-recall curve, with intervals and bands from it.

The source is Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML
2009.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import fractions, random_generator, reals, together
from prframe.stats.curves.bands import covering_rank
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.curves.precision_recall import (
    cells_of_classes,
    false_positives,
    precision,
    rising_levels,
)
from prframe.stats.rankings import (
    ClassScores,
    both_classes,
    positives_at,
    recall_levels,
    two_classes,
)
from prframe.typing import Bandwidth, Floats

BandKind: TypeAlias = Literal["studentized", "sup"]

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
    where ``PR = p b / (p b + (1-p) a)``.

    Parameters
    ----------
    recall : array_like of float in (0, 1)
        b.
    fpr : array_like of float in [0, 1]
        a, the false positive rate at that recall.
    density_ratio : array_like of float >= 0
        r, the density of the scores of negatives over that of positives at the threshold.
    prevalence : array_like of float in (0, 1)
        p, the probability of a positive.

    Returns
    -------
    ndarray of float
        Of the common shape; divided by n, the variance of precision estimated from n items.

    Raises
    ------
    PrframeError
        Numbers out of range or shapes that do not broadcast.

    Notes
    -----
    The paper prints eq. (9) without the factor ``PR^4/b^2`` on its second and third term. With it,
    and with Theorem 1 as in `pr_limit_process`, the two agree, and so does simulation.

    References
    ----------
    Clemencon & Vayatis 2009, eq. (9) and Theorem 1, corrected.

    Examples
    --------
    >>> pr_asymptotic_variance([0.2, 0.5, 0.8], [0.02, 0.1, 0.35], [0.2, 0.6, 1.5], 0.3).round(3)
    array([3.014, 2.241, 1.075])
    """
    beta = recall_levels(recall, below_one=True)
    alpha, ratio = fractions("fpr", fpr), reals("density_ratio", density_ratio)
    p = fractions("prevalence", prevalence)
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
    positives, negatives, n_pos, n_neg
        As in `pr_curve`.
    recall : array_like of float in (0, 1)
        Levels.
    confidence_level : float in (0, 1)
        Coverage at one level.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0
        Of the kernels that estimate the ratio of the densities, as in `pr_curve`.

    Returns
    -------
    PRInterval
        ``precision``, ``low`` and ``high``, of the shape of `recall`. Ends are NaN where precision
        is 0 or 1, and where the threshold is 3.7 bandwidths or more from the next positive.

    Raises
    ------
    PrframeError
        No positives, NaN scores, totals below what is listed, or numbers out of range.

    Notes
    -----
    Valid for many positives, many negatives above the threshold, and scores without ties.

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
    levels = recall_levels(recall, below_one=True)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    classes = two_classes(positives, negatives, n_pos, n_neg)
    center, fpr, ratio = _estimates(*classes, levels, bandwidth)
    n = classes[0].total + classes[1].total
    p = classes[0].total / n
    inner = (center > 0) & (center < 1)
    low, high = np.full((2, *center.shape), np.nan)
    if inner.any():
        variance = pr_asymptotic_variance(levels[inner], fpr[inner], ratio[inner], p)
        half = -ndtri((1 - level) / 2) * np.sqrt(variance / n)
        low[inner], high[inner] = _ends(center[inner], half, "studentized")
    return PRInterval(center, low, high)


def _estimates(
    positives: ClassScores, negatives: ClassScores, recall: Floats, bandwidth: Bandwidth
) -> tuple[Floats, Floats, Floats]:
    """Return precision, the false positive rate, and the ratio of the densities at the levels."""
    hits = positives_at(recall, positives.total)
    false = false_positives(cells_of_classes(positives, negatives), recall)
    first, second = class_kernels(positives, negatives, bandwidth)
    threshold = first.isf(recall)
    density = first.pdf(threshold)
    # In a gap between positives the density is only that of the far tails of kernels.
    peak = 1 / (first.total * first.bandwidth * first.shape.area)
    density[density < _NEAR * peak] = np.nan
    fpr = false / max(negatives.total, 1)
    return precision(hits, false), fpr, second.pdf(threshold) / density


def _ends(center: Floats, half: Floats, kind: BandKind) -> Floats:
    """Return the ends of a band that reaches so far, on the logit scale if studentized."""
    if kind == "sup":
        return np.clip([center - half, center + half], 0.0, 1.0)
    moved = np.multiply.outer([-1.0, 1.0], half / (center * (1 - center)))
    return np.asarray(expit(logit(center) + moved))


def pr_limit_process(  # noqa: PLR0913
    recall: ArrayLike,
    fpr: ArrayLike,
    density_ratio: ArrayLike,
    prevalence: float,
    *,
    size: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
) -> Floats:
    """Draw the process that ``sqrt(n) (estimated - true precision)`` approaches as n grows.

    The process at recall b is
    ``PR(b)^2 / b [sqrt(q / p^3) a(b) W + q / sqrt(p^3) r(b) B1(b) + sqrt(q) / p B2(a(b))]``, where
    ``q = 1 - p``. W is standard normal, B1 and B2 are Brownian bridges, and all are independent.

    Parameters
    ----------
    recall, fpr, density_ratio, prevalence
        b, rising, shape (levels,), a, which does not fall, r and p of `pr_asymptotic_variance`.
    size, rng
        Number of draws, and a seed or generator.

    Returns
    -------
    ndarray of float, shape (size, levels)
        Their variance at a level is `pr_asymptotic_variance`.

    Raises
    ------
    PrframeError
        Numbers out of range, or rates that fall.

    Notes
    -----
    In eq. (8) of the paper the first coefficient is printed ``alpha_p / p``, with
    ``alpha_p = sqrt(1 - p) / p``, and must be ``alpha_p / sqrt(p)``, as in the proof of Theorem 2.

    References
    ----------
    Clemencon & Vayatis 2009, Theorem 1.

    Examples
    --------
    >>> population = [0.2, 0.5], [0.02, 0.1], [0.2, 0.6], 0.3
    >>> draws = pr_limit_process(*population, size=50_000, rng=1)
    >>> (draws.var(axis=0) / pr_asymptotic_variance(*population)).round(1)
    array([1., 1.])
    """
    levels = rising_levels(recall)
    rate, ratio = fractions("fpr", fpr), reals("density_ratio", density_ratio)
    levels, rate, ratio = together("`recall`, `fpr` and `density_ratio`", levels, rate, ratio)
    p = float(checks.number("prevalence", prevalence, above=0, below=1))
    if (np.diff(rate) < 0).any():
        raise PrframeError(f"`fpr` must not fall; got {checks.brief(fpr)}.")
    if (wrong := ~(ratio >= 0)).any():
        raise PrframeError(f"`density_ratio` must be >= 0; got {ratio[wrong][0]}.")
    draws = checks.whole_number("size", size, at_least=1)
    return _process(levels, rate, ratio, p, draws, random_generator(rng))


def _process(  # noqa: PLR0913, PLR0917
    recall: Floats, fpr: Floats, ratio: Floats, p: float, size: int, rng: np.random.Generator
) -> Floats:
    """Return draws of the process at rising levels."""
    q = 1 - p
    shares = np.sqrt(q) * p**-1.5 * fpr * rng.standard_normal((size, 1))
    thresholds = q * p**-1.5 * ratio * _bridge(recall, size, rng)
    negatives = np.sqrt(q) / p * _bridge(fpr, size, rng)
    center = p * recall / (p * recall + q * fpr)
    return np.asarray(center**2 / recall * (shares + thresholds + negatives))


def _bridge(times: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Draw Brownian bridges at rising times in [0, 1], shape (size, times)."""
    steps = np.sqrt(np.diff(times, prepend=0.0, append=1.0))
    walk = np.cumsum(steps * rng.standard_normal((size, steps.size)), axis=1)
    return np.asarray(walk[:, :-1] - times * walk[:, -1:])


def pr_asymptotic_band(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    kind: BandKind = "studentized",
    confidence_level: float = 0.95,
    bandwidth: Bandwidth = "scott",
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
) -> PRInterval:
    """Enclose the precision-recall curve at all levels at once by its Gaussian limit.

    The process Z of `pr_limit_process` is drawn with estimated rates and densities. The band is
    ``PR +- c / sqrt(n)`` with c the quantile of ``max |Z|``, or ``logit PR +- c s`` with c that of
    ``max |Z| / sigma`` and ``s = sigma / (sqrt(n) PR (1 - PR))``, taken back from the logit scale.

    Parameters
    ----------
    positives, negatives, bandwidth, n_pos, n_neg
        As in `pr_asymptotic_interval`.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    kind : {"studentized", "sup"}
        A width in proportion to the standard deviation at each level, on the logit scale, or an
        equal one everywhere, cut off at 0 and 1.
    confidence_level : float in (0, 1)
        Coverage of all levels together.
    n_resamples, rng
        Number of draws of the process, and a seed or generator.

    Returns
    -------
    PRInterval
        ``precision``, ``low`` and ``high``, of shape (levels,). Ends are NaN where
        `pr_asymptotic_interval` has none, but for ``"sup"`` where precision is 1.

    Raises
    ------
    PrframeError
        No positives or no negatives, NaN scores, totals below what is listed, or numbers out of
        range.

    Notes
    -----
    Valid for many positives, and many negatives above all thresholds; else see `pr_posterior`.

    References
    ----------
    Clemencon & Vayatis 2009, Theorem 1, corrected, and section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positives, negatives = rng.normal(1, 1, 300), rng.normal(0, 1, 700)
    >>> band = pr_asymptotic_band(positives, negatives, [0.2, 0.5, 0.8], rng=2)
    >>> band.low.round(2), band.high.round(2)
    (array([0.5 , 0.47, 0.38]), array([0.74, 0.65, 0.5 ]))
    """
    levels = rising_levels(recall)
    checks.one_of("kind", kind, get_args(BandKind))
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    size = checks.number_of_draws(n_resamples)
    generator = random_generator(rng)
    classes = both_classes(positives, negatives, n_pos, n_neg)
    center, fpr, ratio = _estimates(*classes, levels, bandwidth)
    n = classes[0].total + classes[1].total
    p = classes[0].total / n
    usable = (center > 0) & np.isfinite(ratio) & ((kind == "sup") | (center < 1))
    low, high = np.full((2, levels.size), np.nan)
    if usable.any():
        limit = (levels[usable], fpr[usable], ratio[usable], p)
        scale = np.sqrt(pr_asymptotic_variance(*limit)) if kind == "studentized" else 1.0
        farthest = np.abs(_process(*limit, size, generator) / scale).max(axis=1)
        multiple = np.sort(farthest)[covering_rank(level, size) - 1]
        half = np.broadcast_to(multiple * scale / np.sqrt(n), usable.sum())
        low[usable], high[usable] = _ends(center[usable], half, kind)
    return PRInterval(center, low, high)
