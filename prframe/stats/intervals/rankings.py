"""Confidence intervals for the metrics of one ranking, whose items are an independent sample."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import pdtr

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats._batches import batches
from prframe.stats.curves import DrawnPath, RocPath, Weights, drawn_weights
from prframe.stats.intervals.ends import Confidence, Summary, all_equal
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.intervals.standard_errors import (
    Asked,
    from_influence,
    low_end_with_room,
    standard_error,
)
from prframe.stats.rankings import (
    CellStatistic,
    DrawnCurves,
    RankedCells,
    RocArea,
    SuccessAt,
    ranking_bootstrap,
)
from prframe.typing import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

POSTERIOR = "bayesian-bootstrap"
# A ranking is nearly perfect from this AUC on, with fewer negatives above a positive on average.
_NEARLY_PERFECT, _FEW_ABOVE = 0.95, 20
# The number of blocks of draws at a time, which bounds memory.
_BLOCKS = 4
METHODS = ("auto", POSTERIOR, "logit-t", "percentile")


def ranking_interval(  # noqa: PLR0913
    cells: RankedCells,
    statistic: CellStatistic,
    method: str = "auto",
    confidence: Confidence | None = None,
    *,
    clusters: "csr_array | None" = None,
    replicates: Floats | None = None,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    room: bool = True,
) -> IntervalEstimate:
    """Return a confidence interval for a metric in the population that the items come from.

    The number of items is fixed, and that of positives is random.
    ``python -m benchmarks.coverage`` measures how often the intervals cover.

    Parameters
    ----------
    cells : RankedCells
        The ranking; see `cells_from_scores`.
    statistic : CellStatistic
        The metric.
    method : {"auto", "bayesian-bootstrap", "logit-t", "percentile"}
        ``"bayesian-bootstrap"`` (Rubin 1981): quantiles of draws of the metric in the population,
        from those of its curve (`prframe.stats.pr_posterior`), or of four counts. ``"logit-t"``
        (Boyd, Eng & Page, ECML PKDD 2013): the estimate and its standard error from influence
        values, on the logit scale (on that of the metric, if it has no bounds), with AP corrected
        for its bias, and quantiles of Student's distribution. ``"percentile"``: quantiles of
        resamples. ``"auto"``: draws, or ``"logit-t"`` with clusters and if no positive is
        retrieved, which ``"percentile"`` replaces for metrics without influence values.
    confidence : Confidence, optional
        By default 95 % and two-sided.
    clusters : sparse array, optional
        As `cluster_counts` returns it. Clusters of items, not items, are then independent.
    replicates : ndarray of float, shape (n_resamples,), optional
        Values of the statistic for resamples, or for draws of the curve, if there are any.
    n_resamples : int
        Number of resamples to draw if there are no replicates.
    rng : int or numpy.random.Generator, optional
        Seed or generator.
    room : bool
        Whether the low end of an area under the ROC curve by draws has a margin for a misplaced
        item that the sample may lack: that of `RankStatistic.interval`. The difference of two
        rankings needs none, as what is hard for one is hard for the other.

    Returns
    -------
    IntervalEstimate
        All numbers are NaN if the metric is not defined, and all but the estimate where the sample
        does not show how the metric varies, as with a single cluster. ``std_error`` comes from
        influence values, whatever the method is (for AUC DeLong's); for metrics without these it
        is the standard deviation of the replicates.

    Raises
    ------
    PrframeError
        An unknown method.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, cells_from_scores
    >>> cells, _ = cells_from_scores(range(8, 0, -1), [1, 1, 0, 1, 0, 1, 0, 0])
    >>> interval = ranking_interval(cells, AveragePrecision(), rng=1)
    >>> round(interval.estimate, 3), round(interval.low, 3), round(interval.high, 3)
    (0.854, 0.331, 0.974)
    """
    return ranking_intervals(
        cells,
        [(statistic, replicates)],
        method,
        confidence,
        clusters=clusters,
        n_resamples=n_resamples,
        rng=rng,
        room=room,
    )[0]


def ranking_intervals(  # noqa: PLR0913
    cells: RankedCells,
    metrics: Iterable[tuple[CellStatistic, Floats | None]],
    method: str = "auto",
    confidence: Confidence | None = None,
    *,
    clusters: "csr_array | None" = None,
    weights: Sequence[Weights] | None = None,
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    room: bool = True,
) -> list[IntervalEstimate]:
    """Return the interval of each metric, given with its replicates, as `ranking_interval` does.

    Draws of the curve, by the `weights` if these are given, and resamples are the same for all.
    """
    checks.one_of("method", method, METHODS)
    checks.instance("cells", cells, RankedCells)
    confidence = Confidence.of(confidence)
    asked = []
    for statistic, replicates in metrics:
        checks.instance("statistic", statistic, CellStatistic)
        suited = method
        if method == "auto":
            suited = suited_method(cells, statistic, clustered=clusters is not None)
        if suited == "logit-t":
            statistic.check_influence()
        asked.append(Asked.of(cells, statistic, replicates, suited, confidence))
    if clusters is not None and any(one.method == POSTERIOR and one.is_defined for one in asked):
        raise ArgumentError(
            "method='bayesian-bootstrap' draws items one by one and knows no clusters; "
            "take 'logit-t' or 'percentile'."
        )
    intervals = []
    for one in _with_replicates(cells, asked, clusters, weights, n_resamples, rng):
        if one.method == POSTERIOR:
            interval = _posterior(cells, one, room=room)
        else:
            interval = _from_sample(cells, one, clusters)
        by_auto = method == "auto" and one.method == POSTERIOR and cells.n_neg
        if by_auto and isnan(interval.low) and not one.statistic.lacks_influence:
            # Draws that are all the estimate, such as a recall of 1 of all items, bound nothing.
            interval = from_influence(cells, replace(one, method="logit-t"), clusters)
        intervals.append(interval)
    return intervals


def _takes_draws(cells: RankedCells, asked: Asked) -> bool:
    """Return whether there are draws: of curves with both classes alone, and of four counts."""
    can_be_drawn = asked.statistic.of_table or bool(cells.n_pos and cells.n_neg)
    return asked.method == POSTERIOR and asked.is_defined and can_be_drawn


def _with_replicates(  # noqa: PLR0913, PLR0917
    cells: RankedCells,
    asked: Sequence[Asked],
    clusters: "csr_array | None",
    weights: Sequence[Weights] | None,
    n_resamples: int,
    rng: int | np.random.Generator | None,
) -> Iterator[Asked]:
    """Yield the metrics with draws or resamples, where their methods take these."""
    lacking = [one for one in asked if one.replicates is None]
    of_draws = [one.statistic for one in lacking if _takes_draws(cells, one)]
    resampled = [one for one in lacking if one.method == "percentile" and one.is_defined]
    drawn, resamples = iter(()), iter(())
    if of_draws:
        weights = drawn_weights(n_resamples, random_generator(rng)) if weights is None else weights
        # Where nearly all items are positive, draws may have no other; such values are NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = iter(posterior_replicates(cells, of_draws, weights))
    if resampled:
        statistics = [one.statistic for one in resampled]
        resamples = iter(ranking_bootstrap(cells, statistics, n_resamples, rng, clusters))
    for one in asked:
        if one.replicates is None and _takes_draws(cells, one):
            yield replace(one, replicates=next(drawn))
        else:
            yield replace(one, replicates=next(resamples)) if one in resampled else one


def _from_sample(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None"
) -> IntervalEstimate:
    """Return the interval from influence values or resamples."""
    statistic, estimate = asked.statistic, asked.estimate
    # A precision of no items is no observation, and a single cluster does not show how they vary.
    has_one_cluster = clusters is not None and clusters.shape[0] == 1
    if not asked.is_defined or not statistic.trials(cells) or has_one_cluster:
        return asked.without()
    if asked.method != "percentile" or asked.replicates is None:
        return from_influence(cells, asked, clusters)
    summary = Summary.of(asked.replicates, asked.confidence.tail)
    low, high = asked.confidence.ends(*summary.quantiles)
    if low == high or summary.is_all(estimate, cells.n):
        return asked.without()
    std_error = _std_error(cells, statistic, clusters, summary)
    return IntervalEstimate(estimate, std_error, low, high, asked.method)


def _std_error(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None", drawn: Summary
) -> float:
    """Return the standard error of the estimate, or the spread of draws without influence."""
    if statistic.lacks_influence:
        return drawn.spread
    return standard_error(cells, statistic, clusters)


def suited_method(cells: RankedCells, statistic: CellStatistic, *, clustered: bool) -> str:
    """Return the method that suits a ranking best in the study of coverage."""
    if statistic.of_table:
        shown = bool(statistic.trials(cells))
    else:
        shown = bool(cells.n_neg and cells.pos[:-1].any())
    if shown and not clustered:
        return POSTERIOR
    return "percentile" if statistic.lacks_influence else "logit-t"


def posterior_replicates(
    cells: RankedCells, statistics: Sequence[CellStatistic], weights: Sequence[Weights]
) -> Floats:
    """Return draws of metrics of the population that the items come from, a row per metric.

    Both classes must have items unless all metrics are functions of four counts. With ``PR(b)``
    and ``alpha(b)`` the drawn precision and false positive rate at recall b, AP and AUPRC are
    ``int PR(b) db``, AUC is ``1 - int alpha(b) db``, Prec@r is ``PR(r)``, R@k is the b at which
    ``p b + (1 - p) alpha(b) = k / n``, and P@k is ``p b n / k``. A tie block counts at its end for
    metrics of thresholds, and in proportion for the others (`CellStatistic.draws`).
    """
    path, parts = cache(partial(RocPath.of, cells)), []
    for columns in batches(len(weights), width=1, held=_BLOCKS):
        blocks = weights[columns]
        curves = DrawnCurves(cells, blocks, partial(lambda some: DrawnPath(path(), some), blocks))
        parts.append(np.stack([statistic.draws(curves) for statistic in statistics]))
    return np.concatenate(parts, axis=1)


def _posterior(cells: RankedCells, asked: Asked, *, room: bool) -> IntervalEstimate:
    """Return the interval between quantiles of draws.

    The low end of areas under the ROC curve has a margin for a misplaced item, by the rule of
    `rank_test`. The interval is extended to an estimate of 0 or 1, and to the value that is
    possible if no negative limits the metric in the sample, if few positives are above its cut, or
    if few negatives are above the positives.
    """
    if asked.replicates is None or not _takes_draws(cells, asked):
        return asked.without()
    statistic, estimate, confidence = asked.statistic, asked.estimate, asked.confidence
    # The mean number of positives above a cut may exceed the cut where a list ends before it.
    limits = statistic.limits(cells)
    drawn = Summary.of(np.clip(asked.replicates, *limits), confidence.tail)
    low, high = confidence.ends(*drawn.quantiles)
    std_error = _std_error(cells, statistic, None, drawn)
    low = min(low, estimate) if estimate == limits[0] else low
    varies = not all_equal(drawn.least, drawn.largest, drawn.largest, cells.n)
    if room and statistic.of_classes and not statistic.of_table and varies:
        low = low_end_with_room(cells, statistic, estimate, std_error, confidence)
    tail, pure = confidence.tail, cells.n_pure
    most = min(statistic.largest_possible(cells, tail), limits[1])
    # But for a tail of samples, no negative may be among the positives that decide.
    if estimate == limits[1] or (pure and pdtr(pure, statistic.deciding_positives(cells)) > tail):
        most = limits[1]
    high = max(high, most, _nearly_perfect(cells, asked))
    has_no_width = all_equal(low, high, high, cells.n) and not isinstance(statistic, SuccessAt)
    # Where no item matters, as of items with one score, nothing shows how the metric varies.
    is_level = not (std_error or statistic.of_table) and estimate not in limits
    if is_level or has_no_width or drawn.is_all(estimate, cells.n):
        return asked.without()
    return IntervalEstimate(estimate, std_error, low, high, POSTERIOR)


def _nearly_perfect(cells: RankedCells, asked: Asked) -> float:
    """Return the end by the standard error if hardly a negative is above a positive, else 0."""
    if not asked.statistic.of_all_levels:
        return 0.0
    lacking = 1 - RocArea().value(cells)
    if lacking > 1 - _NEARLY_PERFECT or lacking * cells.n_neg > _FEW_ABOVE:
        return 0.0
    high = from_influence(cells, replace(asked, method="logit-t"), None).high
    return 0.0 if isnan(high) else high
