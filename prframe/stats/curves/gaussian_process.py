"""The Gaussian process that the empirical precision-recall curve approaches, and its band.

The source is Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML
2009, Theorem 1.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import fractions, random_generator, reals, together
from prframe.stats.curves.asymptotic import (
    PRInterval,
    density_ratio,
    pr_asymptotic_variance,
)
from prframe.stats.curves.bands import covering_rank
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.curves.levels import rising_levels
from prframe.stats.curves.precision_recall import false_positives, precision
from prframe.stats.rankings import both_classes, positives_at
from prframe.typing import Bandwidth, Floats

BandKind: TypeAlias = Literal["studentized", "sup"]


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
    recall : array_like of float in (0, 1), shape (levels,)
        b, rising.
    fpr : array_like of float in [0, 1]
        a, the false positive rate at each level; it does not fall.
    density_ratio : array_like of float >= 0
        r, the density of the scores of negatives over that of positives, at the threshold.
    prevalence : float in (0, 1)
        p, the probability of a positive.
    size : int >= 1
        Number of draws.
    rng : int or numpy.random.Generator, optional
        Seed or generator.

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
    Clemencon & Vayatis 2009, eq. (8) and what follows it, with ``alpha_p = sqrt(1 - p) / p``. The
    first coefficient is printed ``alpha_p / p`` and must be ``alpha_p / sqrt(p)``, as it stands in
    the proof of Theorem 2; with p = .1, a = .05 and b = .5 the printed one makes that part of the
    variance ten times too large. G stands for its inverse.

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

    The process of `pr_limit_process`, with estimates of all that it depends on, is drawn. The
    band is ``PR +- c / sqrt(n)`` with c the quantile of ``max |Z|``, or ``logit PR +- c s`` with c
    that of ``max |Z| / sigma``, taken back from the logit scale, where
    ``s = sigma / (sqrt(n) PR (1 - PR))``.

    Parameters
    ----------
    positives, negatives : array_like of float, shape (number of the class,)
        Scores of the items of either class, in any order. -inf: not retrieved.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    kind : {"studentized", "sup"}
        ``"studentized"``: the width at each level is in proportion to the standard deviation
        there, on the logit scale. ``"sup"``: a ball, equally wide everywhere and cut off at 0 and
        1.
    confidence_level : float in (0, 1)
        Coverage of all levels together.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0
        Bandwidth of the kernels that estimate the ratio of the densities, or a pair for positives
        and negatives; see `pr_curve`. All else is estimated without smoothing.
    n_resamples : int >= 1
        Number of draws of the process.
    rng : int or numpy.random.Generator, optional
        Seed or generator.
    n_pos, n_neg : int, optional
        Totals that include items never listed, which count as not retrieved.

    Returns
    -------
    PRInterval
        ``precision`` as `pr_curve` gives it, ``low`` and ``high``, of shape (levels,). Ends are
        NaN at levels that no band can be given for, which are left out of the maximum: those
        where precision is 0, those where the threshold lies in a gap between positives, and with
        ``"studentized"`` those where precision is 1.

    Raises
    ------
    PrframeError
        No positives or no negatives, NaN scores, totals below what is listed, or numbers out of
        range.

    See Also
    --------
    pr_asymptotic_interval : The same at single levels.
    pr_posterior : The band to prefer.

    Notes
    -----
    The paper calls this band challenging to implement, for it takes estimates of densities and
    draws of Brownian bridges, and prefers its bootstrap. It is offered for comparison: the
    guide has its coverage. It is valid for many positives, and many negatives above all
    thresholds.

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
    first, second = both_classes(positives, negatives, n_pos, n_neg)
    n, p = first.total + second.total, first.total / (first.total + second.total)
    hits = positives_at(levels, first.total)
    false = false_positives(first, second, hits)
    center = precision(hits, false)
    ratio = density_ratio(*class_kernels(first, second, bandwidth), levels)
    usable = (center > 0) & np.isfinite(ratio) & ((kind == "sup") | (center < 1))
    low, high = np.full((2, levels.size), np.nan)
    if usable.any():
        limit = (levels[usable], false[usable] / second.total, ratio[usable], p)
        scale = np.sqrt(pr_asymptotic_variance(*limit)) if kind == "studentized" else 1.0
        farthest = np.abs(_process(*limit, size, generator) / scale).max(axis=1)
        multiple = np.sort(farthest)[covering_rank(level, size) - 1]
        half = np.broadcast_to(multiple * scale / np.sqrt(n), usable.sum())
        low[usable], high[usable] = _ends(center[usable], half, kind)
    return PRInterval(center, low, high)


def _ends(center: Floats, half: Floats, kind: BandKind) -> Floats:
    """Return the ends of a band that reaches so far, on the logit scale if studentized."""
    if kind == "sup":
        return np.clip([center - half, center + half], 0.0, 1.0)
    moved = np.multiply.outer([-1.0, 1.0], half / (center * (1 - center)))
    return np.asarray(expit(logit(center) + moved))
