"""The Bayesian bootstrap of the precision-recall curve and its confidence band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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
from prframe.stats.curves.drawn.smoothing import Smoothing
from prframe.stats.curves.precision_recall import (
    cells_of_classes,
    empirical_precision,
    false_positives,
    precision_at_prior,
    rising_levels,
)
from prframe.stats.rankings import (
    RankedCells,
    both_classes,
    cells_from_scores,
    least_precision,
    pure_top,
)
from prframe.typing import Flags, Floats, Integers

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
    log_odds : ndarray, shape (n_resamples, levels)
        Draws of ``log(PR / (1 - PR))``, smoothed over recall; -inf where recall is never reached.
    single : ndarray, shape (n_resamples, levels)
        The same draws without smoothing, for single levels.
    pure_tail : ndarray, shape (levels,)
        The probability that no negative of the population is above the level: ``P(Beta(j + 1,
        n_pos - j) >= recall)`` for j positives before the first negative of the sample. If that is
        tied with positives, 1 up to the recall ``j / n_pos`` and 0 beyond.
    factor : float
        Factor that narrows the band if levels lie in wide tie blocks.
    n_clusters : int, optional
        The number of clusters that hold positives, or negatives if these are fewer, where clusters
        were drawn.
    least : callable
        The precision, by the tail of the band, at levels below which the population may have no
        negative; infinite at others.
    """

    recall: Floats
    precision: Floats
    # Draws log odds, smoothed over recall or not.
    draw: Callable[[bool], Floats] = field(repr=False)
    pure_tail: Floats = field(repr=False)
    least: Callable[[float], Floats] = field(repr=False)
    factor: float = field(default=1.0, repr=False)
    n_clusters: int | None = None

    @cached_property
    def log_odds(self) -> Floats:
        """The draws that are smoothed."""
        return self.draw(True)  # noqa: FBT003

    @cached_property
    def single(self) -> Floats:
        """The draws that are not smoothed."""
        return self.draw(False)  # noqa: FBT003

    def band(self, confidence_level: float = 0.95, *, simultaneous: bool = True) -> Interval:
        """Return the studentized band, or the intervals at single levels.

        Parameters
        ----------
        confidence_level : float in (0, 1)
            Probability of covering the curve.
        simultaneous : bool
            Whether it is covered at all levels at once, or at each.

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
        draws are smoothed (found by simulation). Intervals at single levels are quantiles of draws
        that are not smoothed.

        Where no negative was seen above a level, the band reaches up to 1, up to the
        Clopper-Pearson limit of the recall at which the first negative comes: at the level of the
        band for single levels, and at 99 %, if that is larger, for all. Where positives are below
        all negatives, it reaches down to the least precision at levels below which the population
        may have no negative by the same limit. The band always holds the curve itself.

        With G clusters deviations from the median are multiplied by ``sqrt(G / (G - 1))`` and by
        the ratio of the quantiles of Student's distribution with G - 1 degrees of freedom and of
        the normal one, at the rank of the draw.
        """
        level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
        outside = (1 - level) / 2
        tail = min(outside, _RARE) if simultaneous else outside
        draws = self.log_odds if simultaneous else self.single
        if self.n_clusters is not None:
            draws = of_few_units(draws, self.n_clusters)
        deviations = Deviations(draws, draws, self.factor, self.precision == 1)
        low, high = (deviations.band if simultaneous else deviations.pointwise_band)(level)
        # Beyond the recall of the retrieved items, precision is 0.
        pure = (self.pure_tail >= tail) & (self.precision > 0)
        high = np.where(pure, 1.0, expit(high))
        low = np.minimum(expit(low), self.least(tail))
        return Interval(*holding(self.precision, low, high))


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

    In ``PR(b) = p b / (p b + (1 - p) alpha(b))`` p is drawn from a beta distribution, and the
    recall at each positive and the false positive rate at its threshold from Dirichlet ones.

    Parameters
    ----------
    positives, negatives, n_pos, n_neg
        As in `pr_curve`.
    recall : array_like of float in (0, 1), shape (levels,)
        Levels, rising.
    n_resamples, rng
        Number of draws, and a seed or generator.
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

    A draw places recall b with a standard deviation of ``sqrt(b (1 - b) / n_pos)``. So each draw
    is smoothed by a normal mean of its log odds along ``arcsin sqrt b``, in which that deviation
    is ``1 / (2 sqrt(n_pos))`` at all levels; not within tie blocks that are wider than that, nor
    where one of the draws has come to the end of what was retrieved.

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
    (array([0.2 , 0.2 , 0.13]), array([0.47, 0.4 , 0.27]))
    """
    levels = rising_levels(recall)
    size = checks.number_of_draws(n_resamples)
    share = None if prior is None else float(checks.number("prior", prior, above=0, below=1))
    cells = cells_of_classes(*both_classes(positives, negatives, n_pos, n_neg))
    return posterior_of(cells, levels, drawn_weights(size, random_generator(rng)), share)


def posterior_of(
    cells: RankedCells, recall: Floats, weights: Sequence[Weights], prior: float | None = None
) -> PRPosterior:
    """Draw the curve behind a ranking with both labels, at a share of positives if given."""
    path = RocPath.of(cells)

    def draw(smoothed: bool) -> Floats:  # noqa: FBT001
        paths = (DrawnPath(path, [block], turning=True) for block in weights)
        curves = (drawn if prior is None else drawn.at_prior(prior) for drawn in paths)
        kind = DrawnPath.smoothed_log_odds if smoothed else DrawnPath.log_odds
        return np.concatenate([kind(curve, recall) for curve in curves])

    smoothing = Smoothing.of(recall, path.n_pos)
    tied = smoothing.share(smoothing.in_blocks(*path.blocks))
    false = false_positives(cells, recall)
    # Levels above which no negative stands reach up to 1 whatever the factor is.
    factor = 1 - _WHOLE * float((tied * (false > 0) / np.sqrt(1 + false)).mean())
    return _posterior(cells, recall, draw, prior, factor=factor)


def posterior_of_clusters(  # noqa: PLR0913, PLR0917
    score: Floats,
    positive: Flags,
    cluster: Integers,
    recall: Floats,
    n_draws: int,
    rng: np.random.Generator,
    prior: float | None = None,
) -> PRPosterior:
    """Draw the curve behind a ranking with both labels whose clusters have one weight each.

    Clusters are numbered from 0. Where no negative was seen above a level, a positive counts as
    many clusters as there are clusters for each positive.
    """
    cells = cells_from_scores(score, positive)[0]
    # The path of the ranking and the same one again, which agree in every draw.
    paths = PairedPaths.of((score, score), positive, cluster)
    seed = int(rng.integers(1 << 62))

    def draw(smoothed: bool) -> Floats:  # noqa: FBT001
        odds = paths.smoothed_log_odds if smoothed else paths.log_odds
        return odds(recall, n_draws, np.random.default_rng(seed), prior)[0]

    each = min(1.0, np.unique(cluster[positive]).size / cells.n_pos)
    n_clusters = clusters_of_either_class(positive, cluster)
    return _posterior(cells, recall, draw, prior, each, n_clusters=n_clusters)


def _posterior(
    cells: RankedCells,
    recall: Floats,
    draw: Callable[[bool], Floats],
    prior: float | None,
    each: float = 1.0,
    **further: Any,  # noqa: ANN401 - fields of the posterior
) -> PRPosterior:
    """Return the curve and its draws; a positive counts as `each` of an independent one."""
    precision = empirical_precision(cells, recall)
    precision = precision_at_prior(precision, cells.n_pos, cells.n_neg, prior)
    pure_tail = pure_top(cells, recall, each)

    def least(tail: float) -> Floats:
        return least_precision(cells, recall, tail, prior, each)

    return PRPosterior(recall, precision, draw, pure_tail, least, **further)
