"""Confidence intervals for the metrics of one ranking, whose items are an independent sample."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv, pdtr

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.stats._arrays import random_generator
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals.asked import Asked, check_method
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.intervals.replicates import (
    Summary,
    all_equal,
)
from prframe.stats.intervals.standard_errors import (
    from_influence,
    standard_error,
    with_room,
)
from prframe.stats.rankings import (
    CellStatistic,
    RankedCells,
    RocArea,
    ranking_bootstrap,
)
from prframe.typing import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

POSTERIOR = "bayesian-bootstrap"
# A ranking is nearly perfect from this AUC on, with fewer negatives above a positive on average.
_NEARLY_PERFECT, _FEW_ABOVE = 0.95, 20
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

    Parameters
    ----------
    cells : RankedCells
        The ranking; see `cells_from_scores`.
    statistic : CellStatistic
        The metric.
    method : {"auto", "bayesian-bootstrap", "logit-t", "percentile"}
        ``"bayesian-bootstrap"``: quantiles of draws of the metric in the population, from those
        of its curve (`prframe.stats.pr_posterior`), or of four counts. ``"logit-t"``: the estimate
        and its standard error, from influence values, on the logit scale (on that of the metric,
        if it has no bounds), with AP corrected for its bias, and quantiles of Student's
        distribution with as many degrees of freedom as the error has. ``"percentile"``: quantiles
        of resamples. ``"auto"``: draws, or ``"logit-t"`` with clusters and if no positive is
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
        Whether the low end of an area under the ROC curve, where draws make the high one, has room
        for a misplaced item that the sample may lack: it is that of `RankStatistic.interval`, by
        `beta_interval`. The difference of two rankings needs none, as what is hard for one is hard
        for the other.

    Returns
    -------
    IntervalEstimate
        All numbers are NaN if the metric is not defined, and all but the estimate where the sample
        does not show how the metric varies: with a single cluster, of a precision if no item is
        retrieved, unless the curve is drawn, and where the interval would have no width.
        ``std_error`` comes from influence values, whatever the method is; of metrics without
        these it is the standard deviation of the replicates.

    Raises
    ------
    PrframeError
        An unknown method.

    Notes
    -----
    The number of items is fixed, and that of positives is random. The script
    ``python -m benchmarks.coverage`` measures how often the intervals cover.

    References
    ----------
    Boyd, Eng & Page, *Area under the precision-recall curve: point estimates and confidence
    intervals*, ECML PKDD 2013 (logit); Rubin, *The Bayesian bootstrap*, 1981; DeLong, DeLong &
    Clarke-Pearson 1988 (AUC).

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, cells_from_scores
    >>> cells, _ = cells_from_scores(range(8, 0, -1), [1, 1, 0, 1, 0, 1, 0, 0])
    >>> interval = ranking_interval(cells, AveragePrecision(), rng=1)
    >>> round(interval.estimate, 3), round(interval.low, 3), round(interval.high, 3)
    (0.854, 0.313, 0.973)
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
    """Return the interval of each metric, as `ranking_interval` does.

    Each metric comes with its replicates, if there are any. Draws of the curve, by the `weights`
    if these are given, and resamples are the same for all metrics.
    """
    checks.one_of("method", method, METHODS)
    confidence = _checked(cells, confidence)
    asked = []
    for statistic, replicates in metrics:
        checks.instance("statistic", statistic, CellStatistic)
        suited = method
        if method == "auto":
            suited = suited_method(cells, statistic, clustered=clusters is not None)
        check_method(statistic, suited)
        asked.append(Asked.of(cells, statistic, replicates, suited, confidence))
    of_draws = _of_draws(cells, asked, clusters, weights, n_resamples, rng)
    asked = _with_resamples(cells, asked, clusters, n_resamples, rng)
    intervals = []
    for one, summary in zip(asked, of_draws, strict=True):
        interval = one.without()
        if summary is not None:
            interval = _posterior(cells, one, summary, room=room)
        elif one.method != POSTERIOR:
            interval = _from_sample(cells, one, clusters)
        by_auto = method == "auto" and one.method == POSTERIOR and one.statistic.has_influence
        if by_auto and cells.n_neg and isnan(interval.low):
            # Draws that are all the estimate, such as a recall of 1 of all items, bound nothing.
            interval = from_influence(cells, one.by("logit-t"), clusters)
        intervals.append(one.of_metric(interval))
    return intervals


def _of_draws(  # noqa: PLR0913, PLR0917
    cells: RankedCells,
    asked: Sequence[Asked],
    clusters: "csr_array | None",
    weights: Sequence[Weights] | None,
    n_resamples: int,
    rng: int | np.random.Generator | None,
) -> list[Summary | None]:
    """Return what draws of the curve say of each metric that takes them, None of others."""
    takes_draws = [one.method == POSTERIOR and one.is_defined for one in asked]
    if any(takes_draws) and clusters is not None:
        raise ArgumentError(
            "method='bayesian-bootstrap' draws items one by one and knows no clusters; "
            "take 'logit-t' or 'percentile'."
        )
    takes_draws = [
        takes and can_be_drawn(cells, one.statistic)
        for takes, one in zip(takes_draws, asked, strict=True)
    ]
    if not any(takes_draws):
        return [None] * len(asked)
    taking = list(compress(asked, takes_draws))
    drawn = iter(())
    if lacking := [one.statistic for one in taking if one.replicates is None]:
        if weights is None:
            weights = drawn_weights(n_resamples, random_generator(rng))
        # Where nearly all items are positive, draws may have no other; such values are NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn = iter(posterior_replicates(cells, lacking, weights))
    rows = [next(drawn) if one.replicates is None else one.replicates for one in taking]
    limits = np.array([one.statistic.limits for one in taking]).T[:, :, None]
    # The mean number of positives above a cut may exceed the cut where a list ends before it.
    clipped, tail = np.clip(rows, *limits), taking[0].confidence.tail
    each = iter([Summary.of(row, tail) for row in clipped])
    return [next(each) if takes else None for takes in takes_draws]


def _with_resamples(
    cells: RankedCells,
    asked: Sequence[Asked],
    clusters: "csr_array | None",
    n_resamples: int,
    rng: int | np.random.Generator | None,
) -> list[Asked]:
    """Return the metrics with resamples, where their method takes these and they have none."""
    lacking = [
        one.method == "percentile" and one.replicates is None and one.is_defined for one in asked
    ]
    if not any(lacking):
        return list(asked)
    statistics = [one.statistic for one in compress(asked, lacking)]
    drawn = iter(ranking_bootstrap(cells, statistics, n_resamples, rng, clusters))
    return [
        replace(one, replicates=next(drawn)) if lacks else one
        for one, lacks in zip(asked, lacking, strict=True)
    ]


def _from_sample(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None"
) -> IntervalEstimate:
    """Return the interval from influence values or resamples."""
    if not asked.is_defined or _shows_nothing(cells, asked.statistic, clusters):
        return asked.without()
    if asked.method != "percentile" or asked.replicates is None:
        return from_influence(cells, asked, clusters)
    return _resampled(cells, asked, clusters, asked.replicates)


def _shows_nothing(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None"
) -> bool:
    """Tell whether the sample does not show how much the metric varies.

    A single cluster does not show how much clusters differ, and a precision of no items, which
    counts as 0, is no observation.
    """
    return not statistic.trials(cells) or (clusters is not None and clusters.shape[0] == 1)


def _resampled(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None", drawn: Floats
) -> IntervalEstimate:
    """Return the interval between quantiles of resamples."""
    summary = Summary.of(drawn, asked.confidence.tail)
    low, high = asked.confidence.ends(*summary.quantiles)
    if low == high or summary.is_all(asked.estimate, cells.n):
        return asked.without()
    std_error = _std_error(cells, asked.statistic, clusters, summary)
    return IntervalEstimate(asked.estimate, std_error, low, high, asked.method)


def _std_error(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None", drawn: Summary
) -> float:
    """Return the standard error of the estimate, by the spread of draws if nothing else tells."""
    if not statistic.has_influence:
        return drawn.spread
    return standard_error(cells, statistic, clusters)


def _checked(cells: RankedCells, confidence: Confidence | None) -> Confidence:
    """Require arguments of the right classes, and return the confidence."""
    confidence = Confidence() if confidence is None else confidence
    checks.instance("cells", cells, RankedCells)
    checks.instance("confidence", confidence, Confidence)
    return confidence


def suited_method(cells: RankedCells, statistic: CellStatistic, *, clustered: bool) -> str:
    """Return the method that suits a ranking best in the study of coverage."""
    takes_draws = bool(statistic.trials(cells)) if statistic.of_table else statistic.has_draws
    shown = statistic.of_table or bool(cells.n_neg and cells.pos[:-1].any())
    if takes_draws and shown and not clustered:
        return POSTERIOR
    return "logit-t" if statistic.has_influence else "percentile"


def can_be_drawn(cells: RankedCells, statistic: CellStatistic) -> bool:
    """Tell whether there are draws: of curves with both classes alone, and of four counts."""
    return statistic.of_table or bool(cells.n_pos and cells.n_neg)


def _posterior(
    cells: RankedCells, asked: Asked, drawn: Summary, *, room: bool
) -> IntervalEstimate:
    """Return the interval between quantiles of draws.

    The low end of areas under the ROC curve has room for a misplaced item, by the rule of
    `rank_test`. The interval is extended to an estimate of 0 or 1, and to the value that is
    possible if no negative limits the metric in the sample, if few positives are above its cut, if
    few negatives are above the positives, or if all negatives may be above a level.
    """
    statistic, estimate, confidence = asked.statistic, asked.estimate, asked.confidence
    low, high = confidence.ends(*drawn.quantiles)
    std_error = _std_error(cells, statistic, None, drawn)
    low = min(low, estimate) if estimate == statistic.limits[0] else low
    varies = not all_equal(drawn.least, drawn.largest, drawn.largest, cells.n)
    if room and statistic.has_room and varies:
        low = with_room(cells, statistic, estimate, std_error, confidence)[0]
    low = min(low, statistic.with_all_negatives(cells, confidence.tail))
    high = max(
        high,
        _no_negative_above(cells, statistic, estimate, confidence),
        statistic.with_few_hits(cells, confidence.tail),
        _nearly_perfect(cells, asked),
    )
    has_no_width = all_equal(low, high, high, cells.n) and not statistic.of_events
    # Where no item matters, as of items with one score, nothing shows how the metric varies.
    is_level = not (std_error or statistic.of_table) and estimate not in statistic.limits
    if is_level or has_no_width or drawn.is_all(estimate, cells.n):
        return asked.without()
    return IntervalEstimate(estimate, std_error, low, high, POSTERIOR)


def _nearly_perfect(cells: RankedCells, asked: Asked) -> float:
    """Return the upper end by the standard error if hardly a negative is above a positive, else 0.

    The half of a negative that draws put above all items may be more than all that are there.
    """
    if not asked.statistic.of_all_levels:
        return 0.0
    lacking = 1 - RocArea().value(cells)
    if lacking > 1 - _NEARLY_PERFECT or lacking * cells.n_neg > _FEW_ABOVE:
        return 0.0
    high = from_influence(cells, asked.by("logit-t"), None).high
    return 0.0 if isnan(high) else high


def _no_negative_above(
    cells: RankedCells, statistic: CellStatistic, estimate: float, confidence: Confidence
) -> float:
    """Return how large the metric may be if no negative limits it in the sample; 0 if one does.

    It may be the largest value if the sample has as many positives above all negatives as are to
    be expected, in all but a tail of samples, where no negative stands among the positives that
    decide.
    """
    pure, decide, most = cells.n_pure, statistic.deciding_positives(cells), statistic.limits[1]
    if estimate == most or (pure and pdtr(pure, decide) > confidence.tail):
        return most
    prevalence = _least_prevalence(cells.n_pos, cells.n_neg, confidence.tail)
    return min(most, statistic.without_negatives(cells, prevalence))


@lru_cache
def _least_prevalence(n_pos: int, n_neg: int, tail: float) -> float:
    """Return the smallest share of positives, which the metrics of groups of one size share."""
    return float(betaincinv(n_pos + 0.5, n_neg + 0.5, tail))
