"""Room for items that a sample lacks, in the interval of a difference of two rankings.

Where models are good, what tells them apart is a misplaced item now and then, which many samples
lack, and resamples have no items but those of the sample. Intervals of a single ranking allow for
it. Those of both rankings and the correlation of the two estimates make an interval of the
difference, "by the method of variance estimates recovery" (MOVER), to which that of the resamples
is extended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats.curves import Weights
from prframe.stats.intervals import (
    POSTERIOR,
    Confidence,
    IntervalEstimate,
    posterior_replicates,
    ranking_interval,
    suited_method,
)
from prframe.stats.rankings import (
    CellEvaluator,
    CellStatistic,
    RankedCells,
    cells_from_scores,
    cluster_counts,
)
from prframe.typing import Floats, Integers

# The intervals of the metrics of one ranking; None of a metric that has none.
Singles: TypeAlias = Sequence[IntervalEstimate | None]


def single_intervals(
    level: Integers,
    evaluate: CellEvaluator,
    confidence: Confidence,
    weights: Callable[[], Sequence[Weights]],
    cluster: ArrayLike | None = None,
) -> Singles:
    """Return the intervals of the metrics of one ranking, two-sided with the tails asked for.

    They are those of `ranking_interval`, but for areas under precision, of which draws of the
    curve put half a negative above all items: most items that are hard for one model are hard
    for the other, so that its place concerns both alike. These have the interval ``"logit-t"``.

    Parameters
    ----------
    level : ndarray of int, shape (N,)
    evaluate : CellEvaluator
    confidence : Confidence
    weights : callable
        Returns the weights of draws of curves; called if they are needed.
    cluster : array_like, shape (N,), optional

    Returns
    -------
    list of IntervalEstimate or None
        None of metrics whose interval would come from resamples, which know no other items.
    """
    label = evaluate.label
    cells, cell = cells_from_scores(np.where(level > 0, level, -np.inf), label)
    clusters = None if cluster is None else cluster_counts(cell, label, cluster, cells.pos.size)
    methods = [_method(cells, one, clustered=cluster is not None) for one in evaluate.statistics]
    pairs = list(zip(evaluate.statistics, methods, strict=True))
    drawn = [statistic for statistic, method in pairs if method == POSTERIOR]
    values = iter(posterior_replicates(cells, drawn, weights()) if drawn else ())
    both = replace(confidence, level=1 - 2 * confidence.tail, alternative="two-sided")
    return [
        None
        if method == "percentile"
        else ranking_interval(
            cells,
            statistic,
            "auto" if method == POSTERIOR else method,
            both,
            clusters=clusters,
            replicates=next(values) if method == POSTERIOR else None,
        )
        for statistic, method in pairs
    ]


def _method(cells: RankedCells, statistic: CellStatistic, *, clustered: bool) -> str:
    """Return the method of the interval of one ranking."""
    if statistic.of_all_levels and not statistic.of_two_samples:
        return "logit-t"
    return suited_method(cells, statistic, clustered=clustered)


def recovered_interval(
    first: IntervalEstimate, second: IntervalEstimate, correlation: float
) -> tuple[float, float]:
    """Return the interval of the difference of two quantities, from an interval of each.

    With the estimate e and the ends l and u of either, and the correlation r of the estimates, it
    reaches down by ``sqrt(x^2 + y^2 - 2 r x y)``, where x is ``e1 - l1`` and y ``u2 - e2``, and up
    likewise, with ``u1 - e1`` and ``e2 - l2``. Without an interval a quantity counts as known.

    References
    ----------
    Zou & Donner, *Construction of confidence limits about effect measures: a general approach*,
    Statistics in Medicine 2008; Newcombe, *Improved confidence intervals for the difference
    between binomial proportions based on paired data*, Statistics in Medicine 1998.

    Examples
    --------
    >>> first = IntervalEstimate(0.9, 0.05, 0.75, 0.96, "logit-t")
    >>> second = IntervalEstimate(0.8, 0.05, 0.68, 0.88, "logit-t")
    >>> low, high = recovered_interval(first, second, correlation=0.5)
    >>> round(low, 3), round(high, 3)
    (-0.03, 0.204)
    """
    difference = first.estimate - second.estimate
    below, above = _reach(first)
    below_second, above_second = _reach(second)
    return (
        difference - _distance(below, above_second, correlation),
        difference + _distance(above, below_second, correlation),
    )


def _reach(interval: IntervalEstimate) -> tuple[float, float]:
    """Return how far an interval reaches below the estimate and above it."""
    if isnan(interval.low) or isnan(interval.high):
        return 0.0, 0.0
    estimate = interval.estimate
    return max(estimate - interval.low, 0.0), max(interval.high - estimate, 0.0)


def _distance(one: float, other: float, correlation: float) -> float:
    """Return the third side of a triangle, by two sides and the cosine between them."""
    # Rounding must not make the square of a distance next to 0 negative.
    return sqrt(max((one - other) ** 2 + 2 * (1 - correlation) * one * other, 0.0))


def correlation_of(first: Floats, second: Floats) -> float:
    """Return the correlation of resampled values of two metrics, NaN left out.

    It is 0 where either does not vary, as then nothing is known of it.
    """
    known = ~np.isnan(first - second)
    values = np.stack([first[known], second[known]])
    if not known.any() or not np.ptp(values, axis=1).all():
        return 0.0
    if np.array_equal(*values):
        # Without rounding, so that an interval of equal rankings has no width.
        return 1.0
    return float(np.clip(np.corrcoef(values)[0, 1], -1.0, 1.0))


def extended(
    ends: tuple[float, float],
    singles: tuple[IntervalEstimate | None, IntervalEstimate | None],
    correlation: float,
    confidence: Confidence,
) -> tuple[float, float]:
    """Return the interval of a difference, extended to that from the intervals of both metrics.

    It stays as it is if a metric has no interval, or the difference has none.
    """
    first, second = singles
    if first is None or second is None or isnan(ends[0]) or isnan(ends[1]):
        return ends
    low, high = recovered_interval(first, second, correlation)
    if isnan(low):
        return ends
    return confidence.ends(min(ends[0], low), max(ends[1], high))
