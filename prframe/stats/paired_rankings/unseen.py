"""Margin for items that a sample lacks, in the interval of a difference of two rankings.

Good models differ by rare misplaced items, which many samples and their resamples lack. Intervals
of a single ranking allow for them. They and the correlation of both estimates make an interval of
the difference, to which that of the resamples is extended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import atanh, isfinite, isnan, sqrt, tanh
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._tolerances import EQUAL
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
    AtPrior,
    CellEvaluator,
    CellStatistic,
    RankedCells,
    cells_from_scores,
    cluster_counts,
)
from prframe.typing import Flags, Floats, Integers

# The intervals of the metrics of one ranking; None of a metric that has none.
Singles: TypeAlias = Sequence[IntervalEstimate | None]
# Fisher's z of this is finite.
_ALMOST_ONE = 1 - 1e-12
# That of a precision if no item is retrieved.
_NO_OBSERVATION = IntervalEstimate(np.nan, np.nan, np.nan, np.nan, "")


def single_intervals(
    level: Integers,
    evaluate: CellEvaluator,
    confidence: Confidence,
    weights: Callable[[], Sequence[Weights]],
    cluster: ArrayLike | None = None,
) -> Singles:
    """Return the intervals of the metrics of one ranking, two-sided with the tails asked for.

    They are those of `ranking_interval`, except that areas under the ROC curve have no margin, as
    hard items are mostly hard for both models, and areas under precision have ``"logit-t"``,
    unless a prior makes unseen negatives decide. None for metrics whose interval would come from
    resamples; NaN for a precision of no items.
    """
    label = evaluate.label
    cells, cell = cells_from_scores(np.where(level > 0, level, -np.inf), label)
    clusters = None if cluster is None else cluster_counts(cell, label, cluster, cells.pos.size)
    both = replace(confidence, level=1 - 2 * confidence.tail, alternative="two-sided")
    methods = [_method(cells, one, clustered=cluster is not None) for one in evaluate.statistics]
    pairs = list(zip(evaluate.statistics, methods, strict=True))
    drawn = [statistic for statistic, method in pairs if method == POSTERIOR]
    values = iter(posterior_replicates(cells, drawn, weights()) if drawn else ())
    return [
        None
        if method == "percentile"
        else _NO_OBSERVATION
        if not statistic.trials(cells)
        else ranking_interval(
            cells,
            statistic,
            "auto" if method == POSTERIOR else method,
            both,
            clusters=clusters,
            replicates=next(values) if method == POSTERIOR else None,
            room=False,
        )
        for statistic, method in pairs
    ]


def _method(cells: RankedCells, statistic: CellStatistic, *, clustered: bool) -> str:
    """Return the method of the interval of one ranking."""
    is_bounded = all(map(isfinite, statistic.limits(cells)))
    heavy = isinstance(statistic, AtPrior) and statistic.negatives_decide(cells)
    if statistic.of_all_levels and not statistic.of_two_samples and is_bounded and not heavy:
        return "logit-t"
    return suited_method(cells, statistic, clustered=clustered)


def recovered_interval(
    first: IntervalEstimate, second: IntervalEstimate, correlation: float
) -> tuple[float, float]:
    """Return the interval of a difference from those of two quantities and their correlation r.

    If the first interval reaches by a below its estimate and by b above, and the second by c and
    d, that of the difference reaches down by the root of ``(1 - r) (a^2 + d^2) + r max(a - c, d -
    b, 0)^2``, and up by that of ``(1 - r) (b^2 + c^2) + r max(c - a, b - d, 0)^2``. If r is
    negative, |r| stands in place of r, and the last squares are ``(a + d)^2`` and ``(b + c)^2``. A
    quantity without interval counts as known.

    It is MOVER (Zou & Donner, Statistics in Medicine 2008), ``a^2 + d^2 - 2 r a d``, for symmetric
    intervals of one size; unlike MOVER it leaves nothing if intervals have one shape and r is 1.
    """
    difference = first.estimate - second.estimate
    (a, b), (c, d) = _reach(first), _reach(second)
    if correlation >= 0:
        common = max(a - c, d - b, 0.0), max(c - a, b - d, 0.0)
    else:
        common = a + d, b + c
    part = abs(correlation)
    down, up = (
        sqrt((1 - part) * (one**2 + other**2) + part * together**2)
        for one, other, together in ((a, d, common[0]), (b, c, common[1]))
    )
    return difference - down, difference + up


def _reach(interval: IntervalEstimate) -> tuple[float, float]:
    """Return how far an interval reaches below the estimate and above it."""
    if isnan(interval.low) or isnan(interval.high):
        return 0.0, 0.0
    estimate = interval.estimate
    return max(estimate - interval.low, 0.0), max(interval.high - estimate, 0.0)


def correlation_of(first: Floats, second: Floats) -> float:
    """Return the correlation of resampled values of two metrics, NaN left out.

    It is 0 where either, or the difference, does not vary, as nothing is known of common errors.
    """
    known = ~np.isnan(first - second)
    values = np.stack([first[known], second[known], (first - second)[known]])
    if not known.any() or not (np.ptp(values, axis=1) > EQUAL).all():
        return 0.0
    return correlation_from(np.cov(values[:2]))


def correlation_from(covariance: Floats) -> float:
    """Return the correlation of two estimates; 0 if either does not vary."""
    variances = float(covariance[0, 0] * covariance[1, 1])
    if not variances > 0:
        return 0.0
    return min(max(float(covariance[0, 1]) / sqrt(variances), -1.0), 1.0)


def correlation_of_decisions(passes: Flags, label: Flags) -> float:
    """Return the correlation of two models that decide alike on all items of a sample.

    The smaller one of both classes' phi, if half an item more passed one threshold alone, and half
    an item the other one; 0 where all items of a class pass, or none.
    """
    phis = []
    for of_class in (label, ~label):
        passed = float(np.count_nonzero(passes & of_class))
        failed = float(np.count_nonzero(of_class)) - passed
        phis.append((passed * failed - 0.25) / ((passed + 0.5) * (failed + 0.5)))
    return max(min(phis), 0.0)


def _cautious(correlation: float, n_units: int) -> float:
    """Return a positive correlation one standard error of Fisher's z nearer to 0."""
    if correlation <= 0:
        return correlation
    z = atanh(min(correlation, _ALMOST_ONE)) - 1 / sqrt(max(n_units, 1))
    return tanh(max(z, 0.0))


@dataclass(frozen=True)
class Margin:
    """The intervals of the metrics of two rankings, and `PairedRankings.n_units`.

    `correlation` is that of the estimates, if resamples cannot tell.
    """

    first: Singles
    second: Singles
    n_units: int
    correlation: float | None = None

    def extended(
        self,
        metric: int,
        ends: tuple[float, float],
        correlation: float,
        confidence: Confidence,
    ) -> tuple[float, float]:
        """Return an interval of a difference, extended to that from the intervals of both.

        It stays if a metric has no interval, and is NaN where one rests on no observation.
        """
        correlation = correlation if self.correlation is None else self.correlation
        first, second = self.first[metric], self.second[metric]
        if first is None or second is None or isnan(ends[0]) or isnan(ends[1]):
            return ends
        if isnan(first.estimate) or isnan(second.estimate):
            return np.nan, np.nan
        low, high = recovered_interval(first, second, _cautious(correlation, self.n_units))
        return ends if isnan(low) else confidence.ends(min(ends[0], low), max(ends[1], high))
