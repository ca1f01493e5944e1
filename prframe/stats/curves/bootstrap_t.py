"""The studentized smoothed bootstrap of the precision-recall curve, with a second bandwidth.

Clemencon & Vayatis, *Nonparametric estimation of the precision-recall curve*, ICML 2009, close
with it: deviations are divided by standard deviations from another smoothed bootstrap, whose
bandwidth falls as n^(-1/3).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import NESTED_DRAWS
from prframe.stats._arrays import Interval, random_generator
from prframe.stats.curves.bands import covering_rank
from prframe.stats.curves.kernels import class_kernels
from prframe.stats.curves.levels import rising_levels
from prframe.stats.curves.precision_recall import empirical_precision
from prframe.stats.curves.smoothed_bootstrap import resampled_curve
from prframe.stats.rankings import ClassScores, both_classes
from prframe.typing import Bandwidth, Floats

Classes = tuple[ClassScores, ClassScores]

_INNER = 50


@dataclass(frozen=True, eq=False)
class PRBootstrapT:
    """The empirical precision-recall curve, its standard deviations, and studentized deviations.

    Attributes
    ----------
    recall : ndarray, shape (levels,)
        Levels of recall, rising.
    precision : ndarray, shape (levels,)
        The empirical curve there.
    std : ndarray, shape (levels,)
        Its standard deviation, by a smoothed bootstrap.
    deviations : ndarray, shape (n_resamples, levels)
        ``(PR* - PR) / std*`` of the resamples, each with its own standard deviations.

    Examples
    --------
    >>> from prframe.stats import pr_bootstrap_t
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.normal(1, 1, 30), rng.normal(0, 1, 90)
    >>> pr_bootstrap_t(*scores, [0.3, 0.6], n_resamples=40, rng=2).deviations.shape
    (40, 2)
    """

    recall: Floats
    precision: Floats
    std: Floats
    deviations: Floats = field(repr=False)

    def band(self, confidence_level: float = 0.95, *, simultaneous: bool = True) -> Interval:
        """Return the band, or the intervals at single levels.

        The band is ``PR +- c std``, where c is the quantile of the largest ``|PR* - PR| / std*``
        over the levels. At single levels the ends are ``PR - c std``, where c is the upper and the
        lower quantile of the studentized deviations there. Both are cut off at 0 and 1.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability of covering the curve at all levels at once, or at each.
        simultaneous : bool
            Whether the band covers at all levels at once.

        Returns
        -------
        Interval
            ``low`` and ``high``, of shape (levels,).

        Raises
        ------
        PrframeError
            A level out of range.
        """
        level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
        checks.flag("simultaneous", simultaneous)
        n = len(self.deviations)
        if simultaneous:
            farthest = np.sort(np.abs(self.deviations).max(axis=1))
            above = below = farthest[covering_rank(level, n) - 1]
        else:
            last = covering_rank((1 + level) / 2, n)
            ordered = np.sort(self.deviations, axis=0)
            below, above = ordered[last - 1], -ordered[n - last]
        # A standard deviation of 0 times an infinite quantile is no distance.
        with np.errstate(invalid="ignore"):
            down, up = (np.nan_to_num(c * self.std, posinf=1.0) for c in (below, above))
        low, high = self.precision - down, self.precision + up
        return Interval(np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0))


def pr_bootstrap_t(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    n_resamples: int = NESTED_DRAWS,
    n_inner: int = _INNER,
    bandwidth: Bandwidth = "scott",
    std_bandwidth: Bandwidth = "undersmoothed",
    rng: int | np.random.Generator | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
) -> PRBootstrapT:
    """Resample studentized deviations of the precision-recall curve.

    Each sample from the smoothed distributions is resampled in its turn, with another bandwidth,
    for the standard deviation of its curve.

    Parameters
    ----------
    positives, negatives : array_like of float, shape (number of the class,)
        Scores of the items of either class, in any order. -inf: not retrieved.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    n_resamples : int >= 1
        Number of bootstrap samples.
    n_inner : int >= 2
        Number of resamples of each of these, for its standard deviations.
    bandwidth : {"scott", "silverman", "robust", "undersmoothed"} or float > 0
        Bandwidth of the kernels of the samples, or a pair for positives and negatives; see
        `pr_curve`.
    std_bandwidth : the same
        That of the resamples for standard deviations; ``"undersmoothed"`` falls as n^(-1/3).
    rng : int or numpy.random.Generator, optional
        Seed or generator.
    n_pos, n_neg : int, optional
        Totals that include items never listed, which count as not retrieved.

    Returns
    -------
    PRBootstrapT
        Curve, standard deviations and studentized deviations, and from these the band.

    Raises
    ------
    PrframeError
        No positives or no negatives, NaN scores, totals below what is listed, or options out of
        range.

    See Also
    --------
    pr_bootstrap : The ball of Algorithm 1, without studentizing.
    pr_posterior : The studentized band to prefer.

    Notes
    -----
    The paper promises the rate n^(-2/3) for the distribution at a single level, against n^(-1/2)
    for the normal limit. Samples have to be drawn in full here, n items each, and the time is that
    of ``n_resamples`` calls of `pr_bootstrap`: seconds. The guide has its coverage.

    References
    ----------
    Clemencon & Vayatis 2009, the end of section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positives, negatives = rng.normal(1, 1, 60), rng.normal(0, 1, 240)
    >>> curve = pr_bootstrap_t(positives, negatives, [0.3, 0.6], n_resamples=99, rng=2)
    >>> curve.std.round(2), curve.band(0.9).low.shape
    (array([0.08, 0.09]), (2,))
    """
    levels = rising_levels(recall)
    size = checks.number_of_draws(n_resamples)
    inner = checks.whole_number("n_inner", n_inner, at_least=2)
    generator = random_generator(rng)
    classes = both_classes(positives, negatives, n_pos, n_neg)
    center = empirical_precision(*classes, levels)
    deviations = np.empty((size, levels.size))
    kernels = class_kernels(*classes, bandwidth)
    widths = kernels[0].bandwidth, kernels[1].bandwidth
    for row in deviations:
        sample = _sample(classes, widths, generator)
        std = _std(sample, levels, inner, std_bandwidth, generator)
        difference = empirical_precision(*sample, levels) - center
        with np.errstate(divide="ignore", invalid="ignore"):
            row[:] = np.where(difference == 0, 0.0, difference / std)
    own = _std(classes, levels, max(size, inner), std_bandwidth, generator)
    return PRBootstrapT(levels, center, own, deviations)


def _std(
    classes: Classes, recall: Floats, size: int, bandwidth: Bandwidth, rng: np.random.Generator
) -> Floats:
    """Return standard deviations of the curve by a smoothed bootstrap."""
    drawn = resampled_curve(*classes, recall, size, bandwidth, None, rng)
    return np.asarray(drawn.replicates.std(axis=0, ddof=1))


def _sample(
    classes: Classes, bandwidths: tuple[float, float], rng: np.random.Generator
) -> Classes:
    """Draw as many items from the smoothed distributions, both labels among them."""
    first, second = classes
    n = first.total + second.total
    n_pos = 0
    while not 0 < n_pos < n:
        n_pos = int(rng.binomial(n, first.total / n))
    pairs = zip(classes, (n_pos, n - n_pos), bandwidths, strict=True)
    positives, negatives = (_smoothed_sample(*pair, rng) for pair in pairs)
    return positives, negatives


def _smoothed_sample(
    scores: ClassScores, number: int, bandwidth: float, rng: np.random.Generator
) -> ClassScores:
    """Draw items of a class and add a normal error to their scores."""
    places = rng.integers(scores.total, size=number)
    drawn = scores.ascending[places[places < scores.ascending.size]]
    return ClassScores(np.sort(drawn + bandwidth * rng.standard_normal(drawn.size)), number)
