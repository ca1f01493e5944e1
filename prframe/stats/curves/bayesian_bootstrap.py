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
from prframe.stats.curves.drawn.roc_path import RocPath, empirical_precision
from prframe.stats.curves.levels import rising_levels
from prframe.stats.curves.precision_recall import precision_at_prior
from prframe.stats.rankings import (
    ClassScores,
    LeastPrecision,
    RankedCells,
    both_classes,
    cells_from_hits,
    cells_from_scores,
    positives_at,
    pure_top,
)
from prframe.typing import Flags, Floats, Integers, Singles

# Counts are whole and the draws are not. Where they are not smoothed, within wide tie blocks, this
# makes bands too wide if few negatives stand above. The constant by which they are narrowed was
# found by simulation (python -m benchmarks.coverage --part bands).
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
        Draws of ``log(PR / (1 - PR))``, smoothed over recall, in single precision; -inf where
        recall is never reached.
    pure_tail : ndarray, shape (levels,)
        How probable it is that no negative of the population stands above the level:
        ``P(Beta(j + 1, n_pos - j) >= recall)`` for j positives before the first negative of the
        sample. If that is tied with positives, 1 up to the recall ``j / n_pos`` and 0 beyond.
    factor : float
        By which the band is narrowed where levels lie in wide tie blocks.
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
        distances of their pointwise 0.5 % and 99.5 % quantiles. The factor c is such that another
        draw stays within the band at all levels with the probability asked for; to this end draws
        are measured by the quantiles of the others. Then c is made smaller by .16 times the mean
        over the levels of ``w / sqrt(1 + x)`` with x negatives above, and of 0 without any, where
        w is the weight of wide tie blocks in the mean by which draws are smoothed. There draws
        are not smoothed, and whole numbers, which vary in steps, would otherwise make the band
        cover too often (found by simulation).

        Where a distance is 0 or infinite, as beyond the recall of the retrieved items, the draws
        set the end. Where no negative was seen above a level, the band reaches up to 1, which the
        data do not exclude. It does so up to the Clopper-Pearson limit of the recall at which the
        first negative comes, since no negative of the population may stand above: at the level of
        the band for single levels, and at 99 %, if that is larger, for all. Where positives are
        below all negatives, it reaches down to the least precision that there can be at a level,
        at all levels below which the population may have no negative by the same limit. The band
        always holds the curve itself.

        Intervals at single levels are quantiles of draws that are not smoothed. A mean over recall
        blurs a curve that falls steeply at a level, as in a gap between the scores of positives,
        and no smoothed draw comes near either side of it.

        Draws of few clusters vary less than samples do. With G clusters the deviation of a draw
        from the median is multiplied by ``sqrt(G / (G - 1))`` and by the ratio of the quantiles
        of Student's distribution with G - 1 degrees of freedom and of the normal one, at the rank
        that the draw has at that level.
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
    from a beta distribution, the recall at each positive from a Dirichlet distribution, and the
    false positive rate at the threshold from a Dirichlet distribution given the negatives that
    were seen above it.

    Parameters
    ----------
    positives, negatives : array_like of float, shape (number of the class,)
        Scores of the items of either class, in any order. -inf: not retrieved.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    n_resamples : int >= 1
        Number of draws.
    rng : int or numpy.random.Generator, optional
        Seed or generator.
    n_pos, n_neg : int, optional
        Totals that include items never listed, which count as not retrieved.
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
    The draws depend on the ranks alone. The distributions have half a count at each end
    (Jeffreys), without which a band of few positives would not cover: Beta(j - 1/2, n_pos - j +
    1/2) for the recall at the j-th positive, Beta(x + 1/2, n_neg - x + 1/2) for the false positive
    rate with x negatives above. Between two positives ``(x + 1/2) / (n_neg - x + 1/2)`` is
    interpolated on a log scale; in a tie block x grows in proportion. Above the first positive x
    and the half count both fall to 0 at recall 0. At the j-th of m positives without a negative
    between them, the half count of negatives is ``(j - 1/2) / m`` instead, but no less than one
    half before the first negative: at the end of such a run the next negative may be near, and at
    its beginning the last one is.

    Rates are drawn at knots: at each positive, and at numbers x between two positives that grow by
    a factor of at most sqrt(2), if not by 1. From knot to knot the logarithm of a drawn rate is a
    straight line, and the rate itself in a tie block.

    A band stands around the median of its draws, which is smoother than each of them: a draw
    places recall b with a standard deviation of ``sqrt(b (1 - b) / n_pos)``. So each draw is
    smoothed over as much, by a normal mean of its log odds along ``arcsin sqrt b``, in which that
    is ``1 / (2 sqrt(n_pos))`` at all levels. Draws are not smoothed within tie blocks that are
    wider than that, nor where one of them has come to the end of what was retrieved. Intervals at
    single levels are those of draws that are not smoothed.

    The cost grows with n_resamples times the number of levels at which curves are drawn, and of
    knots of the ROC curve. There are about ``2 pi sqrt(n_pos)`` of these levels, or 13 for each
    one of the band if that is less, and about 1,500 knots at most, whatever n. If there are more
    knots, thinning them loses less than 0.4 % of the variance; at both ends of the ranking all are
    kept.

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

    The draws are those of the band of all levels or those of the intervals at single ones, and of
    both if nothing is said. Draws for single levels alone stand in `log_odds`.
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

    Parameters
    ----------
    score : ndarray of float, shape (N,)
    positive : ndarray of bool, shape (N,)
    cluster : ndarray of int, shape (N,)
        The cluster of each item, numbered from 0.
    recall : ndarray of float in (0, 1), shape (levels,)
    n_draws : int
    rng : numpy.random.Generator
    prior : float in (0, 1), optional
        Share of positives of the population, if it is not that of the sample.
    simultaneous : bool, optional
        Whether the draws are those of the band of all levels, or of the intervals at single ones;
        of both by default.

    Returns
    -------
    PRPosterior
        Where no negative was seen above a level, a positive counts as many clusters as there are
        clusters for each positive.
    """
    cells = cells_from_scores(score, positive)[0]
    # The path of the ranking and the same one again, which agree in every draw.
    paths = PairedPaths.of((score, score), positive, cluster)
    draw = paths.log_odds if simultaneous is False else paths.smoothed_log_odds
    drawn = next(draw(recall, n_draws, rng, prior)).astype(np.float32)
    single = None
    if simultaneous is None:
        single = next(paths.log_odds(recall, n_draws, rng, prior)).astype(np.float32)
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
    """Return the curve of a ranking and its draws.

    A positive counts as so much of an independent one as `each` says.
    """
    precision = empirical_precision(cells, recall)
    precision = precision_at_prior(precision, cells.n_pos, cells.n_neg, prior)
    least = LeastPrecision.of(cells, recall, prior, each)
    return PRPosterior(recall, precision, log_odds, pure_top(cells, recall, each), least=least)


def _narrowing(cells: RankedCells, recall: Floats, tied: Floats) -> float:
    """Return the factor of a band, given the share of each level that lies in wide tie blocks."""
    with np.errstate(divide="ignore"):
        false = positives_at(recall, cells.n_pos) * (1 / empirical_precision(cells, recall) - 1)
    # Levels above which no negative stands reach up to 1 whatever the factor is.
    return 1 - _WHOLE * float((tied * (false > 0) / np.sqrt(1 + false)).mean())


def cells_of_classes(positives: ClassScores, negatives: ClassScores) -> RankedCells:
    """Return the cells of a ranking that is given by the sorted scores of its classes."""
    threshold, pos = np.unique(-positives.ascending, return_counts=True)
    above, up_to = negatives.above(-threshold), negatives.at_least(-threshold)
    hits = [
        np.repeat(column, pos) for column in (np.cumsum(pos) - pos, np.cumsum(pos), above, up_to)
    ]
    return cells_from_hits(
        *hits,
        n=positives.ascending.size + negatives.ascending.size,
        n_pos=positives.total,
        n_neg=negatives.total,
    )
