"""The Bayesian bootstrap of the precision-recall curve and its confidence band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.stats._arrays import Interval, random_generator
from prframe.stats.curves.bands import (
    Deviations,
    clusters_of_either_class,
    holding,
    of_few_units,
)
from prframe.stats.curves.drawn.gamma_walks import Weights, drawn_weights
from prframe.stats.curves.drawn.paired_paths import PairedPaths
from prframe.stats.curves.drawn.paths import DrawnPath
from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.stats.curves.levels import rising_levels
from prframe.stats.curves.precision_recall import (
    cells_of_classes,
    empirical_precision,
    false_positives,
    precision_at_prior,
)
from prframe.stats.rankings import (
    LeastPrecision,
    RankedCells,
    both_classes,
    cells_from_scores,
    pure_top,
)
from prframe.typing import Flags, Floats, Integers, Singles

# Counts are whole and draws are not, which makes bands too wide where draws are not smoothed,
# within wide tie blocks. The constant was found by simulation (benchmarks.coverage).
_WHOLE = 0.16
# A band of all levels reaches up to 1 where this is at least the probability that no negative of
# the population stands above.
_RARE = 0.005


@dataclass(frozen=True, eq=False)
class PRPosterior:
    """The empirical precision-recall curve and draws of the curve behind it.

    Attributes
    ----------
    recall : ndarray, shape (levels,)
        Levels of recall, rising.
    precision : ndarray, shape (levels,)
        The empirical curve there.
    log_odds : ndarray of float32, shape (n_resamples, levels)
        Draws of ``log(PR / (1 - PR))``, smoothed over recall; -inf where recall is never reached.
    pure_tail : ndarray, shape (levels,)
        The probability that no negative of the population is above the level: ``P(Beta(j + 1,
        n_pos - j) >= recall)`` for j positives before the first negative of the sample. If that is
        tied with positives, 1 up to the recall ``j / n_pos`` and 0 beyond.
    factor : float
        Factor that narrows the band if levels lie in wide tie blocks.
    n_clusters : int, optional
        The number of clusters that hold positives, or negatives if these are fewer, where clusters
        were drawn.
    single : ndarray of float32, shape (n_resamples, levels), optional
        Draws that are not smoothed, for single levels; without them those of `log_odds` serve.
    least : LeastPrecision, optional
        The precision of levels below which the population may have no negative.
    """

    recall: Floats
    precision: Floats
    log_odds: Singles = field(repr=False)
    pure_tail: Floats = field(repr=False)
    factor: float = field(default=1.0, repr=False)
    n_clusters: int | None = None
    single: Singles | None = field(default=None, repr=False)
    least: LeastPrecision | None = field(default=None, repr=False)

    def band(self, confidence_level: float = 0.95, *, simultaneous: bool = True) -> Interval:
        """Return the studentized band, or the intervals at single levels.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability of covering the curve at all levels at once, or at each.
        simultaneous : bool
            Whether the band covers at all levels at once.

        Returns
        -------
        Interval
            ``low`` and ``high`` of precision, of shape (levels,).

        Raises
        ------
        PrframeError
            A level out of range.

        Notes
        -----
        On the scale of log odds the band reaches from the medians of the draws to c times the
        distances of their pointwise 0.5 % and 99.5 % quantiles. Another draw stays within c at all
        levels with the probability asked for; each draw is measured by the quantiles of the
        others. Then c is made smaller by .16 times the mean over the levels of ``w / sqrt(1 + x)``
        with x > 0 negatives above, where w is the weight of wide tie blocks in the mean by which
        draws are smoothed (found by simulation).

        Where a distance is 0 or infinite, the draws set the end. Where no negative was seen above
        a level, the band reaches up to 1. It does so up to the Clopper-Pearson limit of the recall
        at which the first negative comes: at the level of the band for single levels, and at 99 %,
        if that is larger, for all. Where positives are below all negatives, it reaches down to the
        least precision at levels below which the population may have no negative by the same
        limit. The band always holds the curve itself.

        Intervals at single levels are quantiles of draws that are not smoothed: a mean over recall
        blurs a curve that falls steeply.

        With G clusters the deviation of a draw from the median is multiplied by
        ``sqrt(G / (G - 1))`` and by the ratio of the quantiles of Student's distribution with
        G - 1 degrees of freedom and of the normal one, at the rank of the draw.
        """
        level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
        outside = (1 - level) / 2
        tail = min(outside, _RARE) if simultaneous else outside
        n, drawn = self.n_clusters, self.log_odds
        if not (simultaneous or self.single is None):
            drawn = self.single
        draws = drawn if n is None else of_few_units(drawn, n)
        deviations = Deviations(draws, draws, self.factor, self.precision == 1)
        low, high = (deviations.band if simultaneous else deviations.pointwise_band)(level)
        # Beyond the recall of the retrieved items, precision is 0.
        pure = (self.pure_tail >= tail) & (self.precision > 0)
        high = np.where(pure, 1.0, expit(high))
        least = np.inf if self.least is None else self.least.at(tail)
        return Interval(*holding(self.precision, np.minimum(expit(low), least), high))


def pr_posterior(  # noqa: PLR0913
    positives: ArrayLike,
    negatives: ArrayLike,
    recall: ArrayLike,
    *,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    n_pos: int | None = None,
    n_neg: int | None = None,
    prior: float | None = None,
) -> PRPosterior:
    """Draw the precision-recall curve from its Bayesian bootstrap.

    Precision is ``PR(b) = p b / (p b + (1 - p) alpha(b))``, and all three unknowns are drawn: p
    from a beta distribution, and the recall at each positive and the false positive rate at its
    threshold from Dirichlet distributions.

    Parameters
    ----------
    positives, negatives, n_pos, n_neg
        As in `pr_curve`.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    n_resamples : int >= 1
        Number of draws.
    rng : int or numpy.random.Generator, optional
        Seed or generator.
    prior : float in (0, 1), optional
        p, the share of positives of the population, if it is known and not that of the sample.

    Returns
    -------
    PRPosterior
        Curve and draws, and from these the band.

    Raises
    ------
    PrframeError
        No positives or no negatives, NaN scores, totals below what is listed, or options out of
        range.

    Notes
    -----
    The draws depend on the ranks alone, and have half a count at each end (Jeffreys): Beta(j -
    1/2, n_pos - j + 1/2) for the recall at the j-th positive, Beta(x + 1/2, n_neg - x + 1/2) for
    the false positive rate with x negatives above. Between two positives ``(x + 1/2) / (n_neg - x
    + 1/2)`` is interpolated on a log scale; in a tie block x grows in proportion. Above the first
    positive x and the half count both fall to 0 at recall 0. At the j-th of m positives without a
    negative between them, the half count of negatives is ``(j - 1/2) / m``, but no less than one
    half before the first negative.

    Rates are drawn at knots: at each positive, and at numbers x between two positives that grow by
    a factor of at most sqrt(2), if not by 1. From knot to knot the logarithm of a drawn rate is a
    straight line, and the rate itself in a tie block.

    A draw places recall b with a standard deviation of ``sqrt(b (1 - b) / n_pos)``, and the median
    of the draws, around which a band stands, is smoothed over as much. So each draw is smoothed by
    a normal mean of its log odds along ``arcsin sqrt b``, in which that deviation is
    ``1 / (2 sqrt(n_pos))`` at all levels; not within tie blocks that are wider than that, nor
    where one of the draws has come to the end of what was retrieved.

    The cost grows with n_resamples times the number of levels at which curves are drawn, about
    ``2 pi sqrt(n_pos)`` or 13 for each level of the band, and of knots, 1,500 at most. If there
    are more knots, thinning them loses less than 0.4 % of the variance.

    References
    ----------
    Rubin 1981, *The Bayesian bootstrap*; Gu, Ghosal & Roy 2008 for ROC curves; Clemencon &
    Vayatis 2009, section 4, for studentizing.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> positives, negatives = rng.normal(1, 1, 100), rng.normal(0, 1, 900)
    >>> band = pr_posterior(positives, negatives, [0.2, 0.5, 0.8], rng=2).band()
    >>> band.low.round(2), band.high.round(2)
    (array([0.21, 0.2 , 0.13]), array([0.48, 0.4 , 0.26]))
    """
    levels = rising_levels(recall)
    size = checks.number_of_draws(n_resamples)
    share = None if prior is None else float(checks.number("prior", prior, above=0, below=1))
    cells = cells_of_classes(*both_classes(positives, negatives, n_pos, n_neg))
    return posterior_of(cells, levels, drawn_weights(size, random_generator(rng)), share)


def posterior_of(
    cells: RankedCells,
    recall: Floats,
    weights: Sequence[Weights],
    prior: float | None = None,
    *,
    simultaneous: bool | None = None,
) -> PRPosterior:
    """Draw the curve behind a ranking with both labels, at a share of positives if given.

    The draws are those of the band of all levels or of the intervals at single ones, then in
    `log_odds`, and of both if nothing is said.
    """
    path = DrawnPath(RocPath.of(cells), recall, weights, turning=True)
    curve = path if prior is None else path.at_prior(prior)
    single = None if simultaneous else curve.log_odds()
    drawn = single
    if drawn is None or simultaneous is None:
        drawn = curve.smoothed_log_odds()
    posterior = replace(_posterior(cells, recall, drawn, prior), single=single)
    if simultaneous is False:
        return posterior
    tied = path.share_of_blocks()
    return replace(posterior, factor=_narrowing(cells, recall, tied)) if tied.any() else posterior


def posterior_of_clusters(  # noqa: PLR0913, PLR0917
    score: Floats,
    positive: Flags,
    cluster: Integers,
    recall: Floats,
    n_draws: int,
    rng: np.random.Generator,
    prior: float | None = None,
    *,
    simultaneous: bool | None = None,
) -> PRPosterior:
    """Draw the curve behind a ranking with both labels whose clusters have one weight each.

    Clusters are numbered from 0. Where no negative was seen above a level, a positive counts as
    many clusters as there are clusters for each positive.
    """
    cells = cells_from_scores(score, positive)[0]
    # The path of the ranking and the same one again, which agree in every draw.
    paths = PairedPaths.of((score, score), positive, cluster)
    draw = paths.log_odds if simultaneous is False else paths.smoothed_log_odds
    drawn = draw(recall, n_draws, rng, prior)[0].astype(np.float32)
    single = None
    if simultaneous is None:
        single = paths.log_odds(recall, n_draws, rng, prior)[0].astype(np.float32)
    each = min(1.0, np.unique(cluster[positive]).size / cells.n_pos)
    posterior = replace(_posterior(cells, recall, drawn, prior, each), single=single)
    return replace(posterior, n_clusters=clusters_of_either_class(positive, cluster))


def _posterior(
    cells: RankedCells,
    recall: Floats,
    log_odds: Singles,
    prior: float | None,
    each: float = 1.0,
) -> PRPosterior:
    """Return the curve and its draws; a positive counts as `each` of an independent one."""
    precision = empirical_precision(cells, recall)
    precision = precision_at_prior(precision, cells.n_pos, cells.n_neg, prior)
    least = LeastPrecision.of(cells, recall, prior, each)
    return PRPosterior(recall, precision, log_odds, pure_top(cells, recall, each), least=least)


def _narrowing(cells: RankedCells, recall: Floats, tied: Floats) -> float:
    """Return the factor of a band, given the share of each level that lies in wide tie blocks."""
    false = false_positives(cells, recall)
    # Levels above which no negative stands reach up to 1 whatever the factor is.
    return 1 - _WHOLE * float((tied * (false > 0) / np.sqrt(1 + false)).mean())
