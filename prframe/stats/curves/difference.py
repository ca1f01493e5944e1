"""The difference of two precision-recall curves of the same items, and its confidence band."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.stats._arrays import random_generator, scored_twice
from prframe.stats._units import Units, units_of
from prframe.stats.curves.bands import (
    Deviations,
    clusters_of_either_class,
    holding,
    of_few_units,
)
from prframe.stats.curves.drawn.paired_paths import PairedPaths
from prframe.stats.curves.precision_recall import (
    empirical_precision,
    precision_at_prior,
    rising_levels,
)
from prframe.stats.rankings import cells_from_scores
from prframe.typing import Floats

# With fewer positives, or clusters, than these there is no band.
LEAST_POSITIVES = 3
# Where neither model has a negative above, only half a negative that both share varies, and two
# nearly perfect models are covered too often. The constant was found by simulation
# (benchmarks.coverage, differences).
_UNSEEN = 0.3


class CurveDifference(NamedTuple):
    """Two curves at levels of recall, their difference with its band, and a p-value.

    Attributes
    ----------
    recall, precision_a, precision_b, difference, low, high : ndarray, shape (levels,)
        Levels, the empirical curves, the first less the second, and the ends of its band.
    p_value : ndarray, shape (levels,)
        With a simultaneous band the p-value of the hypothesis that the curves differ nowhere, the
        same at all levels; otherwise the p-value at each level.
    """

    recall: Floats
    precision_a: Floats
    precision_b: Floats
    difference: Floats
    low: Floats
    high: Floats
    p_value: Floats

    def reversed(self) -> CurveDifference:
        """Return the comparison of the second curve with the first."""
        difference, low, high = (0.0 - x for x in (self.difference, self.high, self.low))
        curves = self.recall, self.precision_b, self.precision_a
        return CurveDifference(*curves, difference, low, high, self.p_value)


def pr_curve_difference(  # noqa: PLR0913
    score_a: ArrayLike,
    score_b: ArrayLike,
    label: ArrayLike,
    recall: ArrayLike,
    *,
    confidence_level: float = 0.95,
    simultaneous: bool = True,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    cluster: ArrayLike | None = None,
    prior: float | None = None,
) -> CurveDifference:
    """Compare the precision-recall curves of two models on the same items, level by level.

    The difference ``PR_a(b) - PR_b(b)`` is drawn by a paired Bayesian bootstrap: every item has
    one gamma weight, which both models add up in their own order.

    Parameters
    ----------
    score_a, score_b : array_like of float, shape (N,)
        Scores of the same items by two models; higher ranks first, -inf is not retrieved.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    confidence_level, simultaneous
        As in `PRPosterior.band`.
    n_resamples, rng, prior
        As in `pr_posterior`.
    cluster : array_like, shape (N,), optional
        Clusters of dependent items, numbers or names; then clusters have weights.

    Returns
    -------
    CurveDifference
        ``recall, precision_a, precision_b, difference, low, high, p_value``. With fewer than 3
        positives, or clusters with positives or with negatives, or no negatives, band and p-value
        are NaN; without positives all numbers are.

    Raises
    ------
    PrframeError
        Arrays that are not of one length, NaN scores, or options out of range.

    Notes
    -----
    Each curve has the distribution that `pr_posterior` gives it, and is smoothed as there. A
    positive is two halves of a weight, one above its knot and one below. The half negatives that
    may stand above and below any threshold are shared by both models to the extent that the
    rankings agree: by the share of negatives that stand between the same positives in both.

    The band is made of the draws as in `PRPosterior.band`, but its c is multiplied by ``1 - 0.3 (1
    - R)^2`` (found by simulation). R is the mean over the levels of the variance of the difference
    over the sum of both curves' variances, at most 1 at each, and 1 where a negative stands above
    in one of the rankings. If no negative stands above a level in one ranking, its precision is
    taken as 1 for the end of the band that lies in its favour. With clusters the .3 is multiplied
    by the number of clusters with negatives over that of negatives.

    The p-value is two-sided. It is the smallest alpha at which the band of level 1 - alpha leaves
    out 0 somewhere, ``(1 + draws that deviate as far as 0 does) / (1 + n_resamples)``, and 1 for
    two equal rankings.

    References
    ----------
    Rubin 1981, *The Bayesian bootstrap*; Gu, Ghosal & Roy 2008 for ROC curves; Davis & Goadrich
    2006 for ties.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> label = np.arange(400) < 100
    >>> good = 2 * label + rng.normal(size=400)
    >>> worse = good + 2 * rng.normal(size=400)
    >>> compared = pr_curve_difference(good, worse, label, [0.2, 0.5, 0.8], rng=2)
    >>> compared.difference.round(2)
    array([0.19, 0.43, 0.39])
    >>> compared.low.round(2), compared.high.round(2)
    (array([0.01, 0.25, 0.23]), array([0.48, 0.52, 0.5 ]))
    """
    scores, positive = scored_twice(score_a, score_b, label)
    levels = rising_levels(recall)
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    checks.flag("simultaneous", simultaneous)
    size = checks.number_of_draws(n_resamples)
    clusters = None if cluster is None else units_of(cluster, positive.size).of_item
    share = None if prior is None else float(checks.number("prior", prior, above=0, below=1))
    plan = BandPlan(levels, level, simultaneous, size, share)
    return curve_difference(scores, positive, clusters, plan, random_generator(rng))


class BandPlan(NamedTuple):
    """Levels of recall, the options of their band, and the share of positives if it is given."""

    recall: Floats
    confidence_level: float
    simultaneous: bool
    n_resamples: int
    prior: float | None = None


def curve_difference(
    scores: tuple[Floats, Floats],
    positive: NDArray[np.bool_],
    cluster: NDArray[np.int64] | None,
    plan: BandPlan,
    rng: np.random.Generator,
) -> CurveDifference:
    """Compare two curves, given checked arguments."""
    nothing = np.full(plan.recall.shape, np.nan)
    n_pos = int(positive.sum())
    if not n_pos:
        return CurveDifference(plan.recall, *[nothing] * 6)
    n_neg = positive.size - n_pos
    cells = (cells_from_scores(score, positive)[0] for score in scores)
    curves_of_both = (empirical_precision(ranking, plan.recall) for ranking in cells)
    first, second = (precision_at_prior(c, n_pos, n_neg, plan.prior) for c in curves_of_both)
    curves = plan.recall, first, second, first - second
    if not has_band(positive, cluster):
        return CurveDifference(*curves, *[nothing] * 3)
    ranks = [np.unique(score, return_inverse=True)[1] for score in scores]
    if np.array_equal(ranks[0], ranks[1]):
        # What two equal rankings leave open they leave open alike.
        return CurveDifference(*curves, curves[-1], curves[-1], np.ones_like(nothing))
    paths = PairedPaths.of(scores, positive, cluster)
    odds = paths.smoothed_log_odds(plan.recall, plan.n_resamples, rng, plan.prior)
    drawn = [expit(of_model) for of_model in odds]
    # Where no negative stands above a level, the data do not exclude a precision of 1, of one
    # ranking without the other if they differ there.
    differ = (drawn[0] != drawn[1]).any(axis=0)
    best = [
        np.where((seen == 1) & differ, 1.0, draws)
        for seen, draws in zip((first, second), drawn, strict=True)
    ]
    lower, upper = drawn[0] - best[1], best[0] - drawn[1]
    unseen = _UNSEEN * _agreement(drawn[0], drawn[1], (first == 1) & (second == 1)) ** 2
    if cluster is not None:
        n_units = clusters_of_either_class(positive, cluster)
        lower, upper = of_few_units(lower, n_units), of_few_units(upper, n_units)
        unseen *= Units.of(cluster).number_among(~positive) / n_neg
    deviations = Deviations(lower, upper, 1 - unseen)
    band = deviations.band if plan.simultaneous else deviations.pointwise_band
    ends = (np.clip(end, -1.0, 1.0) for end in band(plan.confidence_level))
    low, high = holding(first - second, *ends)
    p_value_of = deviations.p_value if plan.simultaneous else deviations.pointwise_p_value
    p_value = np.broadcast_to(p_value_of(0.0, first - second), nothing.shape)
    return CurveDifference(*curves, low, high, p_value)


def has_band(positive: NDArray[np.bool_], cluster: NDArray[np.int64] | None) -> bool:
    """Return whether items are enough for a band."""
    few = positive.sum() < LEAST_POSITIVES or positive.all()
    if few or cluster is None:
        return not few
    return clusters_of_either_class(positive, cluster) >= LEAST_POSITIVES


def _agreement(first: Floats, second: Floats, unseen: NDArray[np.bool_]) -> float:
    """Return the mean over the levels of how far models agree where nothing was seen, else 0.

    That is 1 minus the variance of the difference over the sum of both, where draws vary.
    """
    total = first.var(axis=0) + second.var(axis=0)
    varying = total > 0
    if not varying.any():
        return 0.0
    apart = (first - second).var(axis=0)[varying] / total[varying]
    return float(np.where(unseen[varying], np.maximum(1 - apart, 0.0), 0.0).mean())
