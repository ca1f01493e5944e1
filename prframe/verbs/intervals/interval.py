"""The verb that computes confidence intervals for metrics of each group."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack, get_args

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, named as names_of
from prframe._engine.hits import Hits
from prframe._engine.pieces import Piece, Ranking, items_above, least_key
from prframe._engine.ranks import class_scores, clustered
from prframe._engine.rows import key_names
from prframe.draws import INTERVAL_DRAWS
from prframe.errors import ArgumentError
from prframe.metrics import Metric, with_cells
from prframe.metrics.thresholds import MaxF1
from prframe.stats._arrays import random_generator
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals import (
    POSTERIOR,
    Confidence,
    IntervalEstimate,
    best_threshold_interval,
    ranking_intervals,
)
from prframe.stats.rankings import (
    CellStatistic,
    RankedCells,
    cells_from_scores,
    cluster_counts,
)
from prframe.tie_policies import BLOCKS, WITHOUT_LABELS
from prframe.typing import Alternative, Columns, Flags, Floats, FrameT, Integers, Schema, Shared
from prframe.verbs._evaluation import Evaluation, at_prior, prior_of, refuse_grades
from prframe.verbs._groups import LEAST_CLUSTERS, each_shape, group_cells, resamples, shape_of
from prframe.verbs._mean_samples import Resampling, check_resampling
from prframe.verbs._precomputed_values import (
    PrecomputedValues,
    metrics_or_none,
    of_queries,
    refuse_prior,
)
from prframe.verbs._predictions import COUNTS
from prframe.verbs._verb import (
    Accepts,
    Plan,
    grouped_over,
    positives_of,
    run,
    verb,
    warn_of_coverage,
)
from prframe.verbs.intervals.means import (
    RESAMPLED,
    MeanIntervals,
    PredictedMeans,
    check_method,
    interval_rows,
    warned,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Method: TypeAlias = Literal[
    "auto", "bayesian-bootstrap", "logit-t", "percentile", "t", "logit", "hall", "bca"
]
_DRAWN = (*RESAMPLED, POSTERIOR)
_NUMBERS = ("estimate", "std_error", "conf_low", "conf_high")
_COLUMNS: Schema = {
    "metric": pl.String(),
    **dict.fromkeys(_NUMBERS, pl.Float64()),
    "method": pl.String(),
    "confidence_level": pl.Float64(),
}


@verb
def interval(
    frame: FrameT,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    score: str = "score",
    label: str = "label",
    *,
    values: Columns | None = None,
    method: Method = "auto",
    over: Columns | None = None,
    cluster: str | None = None,
    resampling: float | Resampling | None = None,
    prior: float | None = None,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    judged: str = "judged",
    predicted: Columns | None = None,
    **shared: Unpack[Shared],
) -> FrameT:
    """Compute confidence intervals for metrics of each group.

    The rows of a group are a sample of independent items, or of independent clusters of items; the
    interval is for the metric of the population. With `over` the sample consists of groups, for
    instance queries, or of clusters of these, and the interval is for their mean.

    Parameters
    ----------
    frame : {frames}
        One row per item; with `values` one per query.
    metrics : str, Metric or list of these, optional
        For one ranking, most of the catalogue, including metrics at a threshold
        (``"P(threshold=0.5)"``) and, for labels 0 and 1, nDCG; `Metric.without_cells` says why a
        metric is not supported. With `over`, any metric. See `evaluate`.
    {shared}
    values : str or list of str, optional
        Instead of metrics, with `over`: columns of precomputed values (up to 1e100), one per
        metric. With a single column, a column ``"metric"`` may name the metrics.
    method : str
        For one ranking:

        - "bayesian-bootstrap": quantiles of the metric over draws of the curve given the ranks
          (`prframe.stats.pr_posterior`).
        - "logit-t": Student's interval by influence values, on the logit scale (W and AUPRG, which
          have no bounds, on their own). With up to 100 clusters the jackknife widens it.
        - "percentile": quantiles of resamples, which cover less often.
        - "auto": "bayesian-bootstrap", but "logit-t" with `cluster` and where no positive is
          retrieved ("percentile" of metrics without a standard error, RR, Success@k and
          R(at_precision=p)).

        For a mean over groups: "t"; "logit" with Student's quantiles ("auto" for metrics within
        [0, 1]); "hall", Student's with Hall's correction for skewness; "percentile" and "bca". For
        precomputed values "auto" takes "t", unless they are named after a metric within [0, 1] and
        lie there.
    over : str or list of str, optional
        Interval for the mean over these columns: evaluate each group of `by` and `over`, and take
        these values as the sample, without undefined ones.
    cluster : str, optional
        Column of clusters of rows that depend on each other, for instance the query or the user:
        clusters, not rows, are the sample. For one ranking it takes ``ties="group"``. With `over`
        the clusters are those of groups, for instance the user of a query, constant in each group.
    resampling : "cv" or float > 0, optional
        If `over` names folds, whose training sets overlap: corrects the variance of "t" and
        "logit", as in `compare`.
    prior : float in (0, 1), optional
        The metric for this share of positives: negatives are reweighted as in `evaluate`. For AP,
        AUPRC, AUPRG, pAP, Prec@r, MaxF1, R(at_precision=p), and P, F1, F and MCC at a threshold;
        AUC, pAUC, and recall, specificity and balanced accuracy at a threshold do not change.
        Where a negative counts three times or more, leave `method` at its default. With `over`,
        for what takes it in `evaluate`.
    confidence_level : float in (0, 1)
        Probability of covering.
    alternative : {"two-sided", "less", "greater"}
        As in `scipy.stats.bootstrap`: "less" gives an upper bound, "greater" a lower one.
    n_resamples : int >= 2 / (1 - confidence_level)
        Draws, or resamples, of each group.
    rng : int or numpy.random.Generator, optional
        Seed. A group's draws depend on the seed and the group alone.
    judged : str
        As in `evaluate`, for metrics that need it, with `over`.
    predicted : str or list of str, optional
        With `over`: the column of a machine's labels for all rows. `label` has human labels for a
        random sample of queries, and nulls for all other rows. The interval combines both and is
        for the human labels (`prframe.stats.predicted_mean`). With `values`, the columns of values
        by the machine's labels. For the methods "t" and "logit".

    Returns
    -------
    frame of the caller's kind
        A row per group and metric: the `by` columns, then ``metric`` (String), ``estimate``,
        ``std_error``, ``conf_low``, ``conf_high`` (Float64), ``method`` (String), the one that was
        used, and ``confidence_level`` (Float64). After MaxF1 of one ranking a row
        ``"MaxF1 threshold"``: the highest score at which F1 is largest, and all thresholds whose
        F1 is not significantly less; -inf stands for all items. With `predicted` also ``n``
        queries with human labels and ``n_predicted`` with the machine's (Int64), the ``weight`` of
        the machine, the mean ``bias`` of human minus machine values, and ``n_effective``, how many
        queries with human labels would alone give the same standard error (Float64).

    Raises
    ------
    PrframeError
        An unknown metric or option, options that do not go together, "logit" for a metric that may
        exceed 1, `weight` without `over`, rows that cannot be ranked, a group of `over` in several
        clusters or in none, or precomputed values that are infinite, or two of one query.

    Warns
    -----
    CoverageWarning
        Few and skewed values or clusters: means of 10 to 100 of them, at most ``25 G^2`` with G
        their skewness, unless the method is "hall". Fewer than 40 clusters with positives, or with
        negatives.
    DependentFoldsWarning
        A column of `over` is called fold, and there is no `resampling`; or that is "cv" with more
        than 20 folds.
    UndefinedMetricWarning
        Groups without the positives (or negatives) that a metric needs, or with too little for an
        interval, such as a single cluster or equal values.

    Notes
    -----
    The number of items is fixed, that of positives random. ``std_error`` is that of the estimate,
    whatever the method, and comes from influence values (DeLong's for AUC); for RR, Success@k and
    R(at_precision=p) it is the standard deviation of the draws. AP of a sample lies above that of
    the population, for which "bayesian-bootstrap" and "logit-t" correct.
    `prframe.stats.mean_interval` has the formulas of means.

    References
    ----------
    Boyd, Eng & Page 2013; Cochran 1977, chapter 9A; Efron 1987 ("bca"); Hall 1992; Rubin 1981;
    DeLong et al. 1988.

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": range(40, 0, -1), "label": [1, 1, 0, 1, 1, 0, 0, 1] * 5})
    >>> found = prframe.interval(frame, ["AP", "AUC"], rng=1)
    >>> found.select("metric", pl.col("estimate", "conf_low", "conf_high").round(3)).rows()
    [('AP', 0.688, 0.464, 0.837), ('AUC', 0.533, 0.344, 0.718)]
    """
    wanted = metrics_or_none(metrics, values)
    asks_judged = over is not None and any(metric.judged for metric in wanted.values())
    args = Arguments(score, label, judged=judged if asks_judged else None, **shared)
    if str(method) == "bootstrap":
        ways = "'percentile' or 'bca'"
        if over is None:
            ways = "'percentile'" if cluster else "'percentile' or 'bayesian-bootstrap'"
        raise ArgumentError(f"method='bootstrap' may mean {ways}; name one of them.")
    checks.one_of("method", method, get_args(Method))
    plan = RankingIntervals(
        args=args if cluster is None else replace(args, cluster=cluster),
        wanted=wanted,
        method=method,
        confidence=Confidence(confidence_level, alternative),
        n_resamples=resamples(n_resamples, confidence_level)
        if method in _DRAWN or (over is None and (method == "auto" or has_thresholds(wanted)))
        else checks.number_of_draws(n_resamples),
        seed=int(random_generator(rng).integers(1 << 62)),
        prior=prior_of(prior),
    )
    if over is None:
        if values is not None:
            raise of_queries("without over= an interval is of one ranking")
        if resampling is not None:
            raise ArgumentError("`resampling` is of groups whose column stands in over=.")
        if predicted is not None:
            raise ArgumentError("`predicted` is for means over queries; name these with over=.")
        result: FrameT = run(frame, plan, _COLUMNS)
        return result
    grouped: Arguments = grouped_over(plan.args, over)
    n_over = len(grouped.keys) - len(args.keys)
    measure: Evaluation | PrecomputedValues = Evaluation(
        grouped, wanted, prior=plan.prior, n_over=n_over
    )
    if values is not None:
        refuse_prior(prior)
        frame, names = names_of(frame)
        used = [*grouped.keys, *([] if cluster is None else [cluster])]
        measure = PrecomputedValues.of(values, names, used, models=False)
        grouped = measure.arguments(grouped)
    means = MeanIntervals(
        args=measure.keyed(grouped),
        grouped=grouped,
        n_kept=len(args.keys),
        measure=measure,
        method=method,
        confidence=plan.confidence,
        n_resamples=plan.n_resamples,
        seed=plan.seed,
        resampling=check_resampling(resampling, grouped.keys[len(args.keys) :]),
    )
    guarded, columns = values is None, _COLUMNS
    if predicted is not None:
        means, columns = PredictedMeans.of(means, predicted), {**_COLUMNS, **COUNTS}
    of_means: FrameT = run(frame, means, columns, keys=args.keys, guarded=guarded)
    return of_means


# The working column of whether a group has few clusters.
_FEW = "__few"

_OF_CLUSTERS = ("auto", "logit-t", "percentile")
_OF_RANKINGS = (*_OF_CLUSTERS, POSTERIOR)
_OF_FEW_CLUSTERS = (
    f"fewer than {LEAST_CLUSTERS} clusters hold positives, or negatives{{where}}, so 95 % "
    "intervals may cover in as few as 83 % of samples. More clusters help, more items do not; "
    "where it does not matter"
)


class _Group(NamedTuple):
    """A ranking in cells, and the counts of each cluster in them."""

    cells: RankedCells
    clusters: "csr_array | None"


def _groups_of(piece: Piece, hits: Hits, threshold: float | None) -> Iterable[_Group]:
    """Return the groups of a piece, cut off at a threshold."""
    if piece.ranking.args.cluster is None:
        above = None if threshold is None else items_above(piece, threshold)
        return (_Group(*pair) for pair in zip(group_cells(hits, above), repeat(None)))
    least = () if threshold is None else (least_key(piece, threshold),)
    return (_clustered(*items) for items in clustered(piece, *least))


def _clustered(score: Floats, positive: Flags, cluster: Integers) -> _Group:
    """Return the cells of a group's rows, and the counts of each cluster in them."""
    cells, cell = cells_from_scores(score, positive)
    return _Group(cells, cluster_counts(cell, positive, cluster, cells.pos.size))


def _has_few_clusters(group: _Group) -> bool:
    """Return whether fewer clusters hold items of a class than intervals ask for."""
    if group.clusters is None:
        return False
    n_cells = group.cells.pos.size
    classes = group.clusters[:, :n_cells], group.clusters[:, n_cells:]
    holding = [int(np.count_nonzero(counts.sum(axis=1))) for counts in classes]
    return any(0 < number < LEAST_CLUSTERS for number in holding)


def _with_thresholds(wanted: Mapping[str, Metric]) -> list[str]:
    """Return the names of metrics, MaxF1 being followed by its threshold."""
    names = []
    for name, metric in wanted.items():
        names += [name, f"{name} threshold"] if metric.name == MaxF1.name else [name]
    return names


def has_thresholds(wanted: Mapping[str, Metric]) -> bool:
    """Return whether a row is about the threshold of MaxF1."""
    return len(_with_thresholds(wanted)) > len(wanted)


class _Cut(NamedTuple):
    """The rankings of a group by thresholds on the score, and the scores of either class."""

    rankings: dict[float | None, _Group]
    scores: tuple[Floats, Floats] | None

    def shape(self) -> Hashable:
        """Return what groups of the same intervals share; none with scores or clusters."""
        groups = self.rankings.values()
        if self.scores is not None or any(group.clusters is not None for group in groups):
            return object()
        return tuple(shape_of(group.cells) for group in groups)


@dataclass(frozen=True)
class RankingIntervals(Plan):
    """The plan of intervals for metrics of single rankings."""

    wanted: dict[str, Metric]
    method: str
    confidence: Confidence
    n_resamples: int
    seed: int
    prior: float | None

    def accepts(self) -> Accepts:
        """Return the arguments under which rows are a sample of items, or of clusters."""
        options: dict[str, Any] = {"ties": WITHOUT_LABELS, "where": " without `over`"}
        if self.args.cluster is not None:
            taker = "`cluster` draws rows again, which are tied then; it"
            options = {"ties": BLOCKS, "taker": taker}
        hits = Evaluation(self.args, self.wanted).counts_hits
        return Accepts(
            "interval", whole_items="draws", clusters_of_items=True, counts_hits=hits, **options
        )

    def check(self) -> None:
        """Refuse metrics and methods that have no interval for single rankings."""
        for name, metric in self.wanted.items():
            if metric.without_cells:
                raise ArgumentError(
                    f"{name} of one ranking has no interval here: {metric.without_cells}; "
                    f"take its mean over groups, named with over=, or one of {with_cells()}."
                )
        # Making the statistics checks their cut-offs, and whether they take `prior`.
        statistics = self.statistics
        known = _OF_RANKINGS if self.args.cluster is None else _OF_CLUSTERS
        kind = "one ranking" if self.args.cluster is None else "clusters"
        check_method(self.method, known, kind)
        for statistic in statistics.values():
            if self.method == "logit-t":
                statistic.check_influence()

    @cached_property
    def statistics(self) -> dict[str, CellStatistic]:
        """The metrics as functions of cells."""
        return {name: at_prior(metric, self.prior) for name, metric in self.wanted.items()}

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group and metric."""
        refuse_grades(source, self.args, self.wanted, "has an interval")
        Evaluation(replace(self.args, cluster=None), self.wanted).check_all_rows(source)
        extra = ("score",) if has_thresholds(self.wanted) else ()
        rows = Ranking(source, self.args, extra=extra).over_groups(self._piece)
        few = rows.filter(pl.col("conf_low").is_not_null(), _FEW)
        warn_of_coverage(few, key_names(self.args), "metric", _OF_FEW_CLUSTERS)
        needs = {need for metric in self.wanted.values() for need in metric.needs}
        lack = [positives_of(self.args), *(["negatives"] if "n_neg" in needs else [])]
        lack += [f"retrieved {positives_of(self.args)}"] if has_thresholds(self.wanted) else []
        above = (metric for metric in self.wanted.values() if metric.needs_items_above)
        lack += [f"scores of at least {metric.threshold:g}" for metric in above]
        return warned(rows.drop(_FEW), self.names, self.args, lack)

    @cached_property
    def names(self) -> list[str]:
        """The names in the rows of a group."""
        return _with_thresholds(self.wanted)

    def _piece(self, piece: Piece) -> pl.DataFrame:
        """Return the rows of the groups of a piece."""
        group_hits = Evaluation(self.args, self.wanted).task_of_hits(piece).result()
        by_threshold = {
            threshold: list(_groups_of(piece, group_hits, threshold))
            for threshold in dict.fromkeys(metric.threshold for metric in self.wanted.values())
        }
        scores = class_scores(piece) if has_thresholds(self.wanted) else repeat(None)
        groups = [
            _Cut(dict(zip(by_threshold, rankings, strict=True)), of_classes)
            for rankings, of_classes in zip(
                zip(*by_threshold.values(), strict=True), scores, strict=False
            )
        ]
        names, n_groups = self.names, group_hits.totals.height
        heads = group_hits.totals.select(key_names(self.args))
        intervals = each_shape(self._group, groups, _Cut.shape, "interval")
        rows = interval_rows(
            heads[np.repeat(np.arange(n_groups), len(names))] if heads.width else heads,
            names * n_groups,
            [interval for group in intervals for interval in group],
            self.confidence.level,
        )
        few = np.repeat(
            [_has_few_clusters(next(iter(cut.rankings.values()))) for cut in groups], len(names)
        )
        return rows.with_columns(pl.Series(_FEW, few, dtype=pl.Boolean))

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of the Bayesian bootstrap, which all groups share."""
        return drawn_weights(self.n_resamples, np.random.default_rng(self.seed))

    def _group(self, cut: _Cut) -> list[IntervalEstimate]:
        """Return the interval of each metric of a group."""
        intervals: dict[str, IntervalEstimate] = {}
        for threshold, group in cut.rankings.items():
            names = [name for name, metric in self.wanted.items() if metric.threshold == threshold]
            found = ranking_intervals(
                group.cells,
                [(self.statistics[name], None) for name in names],
                self.method,
                self.confidence,
                clusters=group.clusters,
                weights=self._weights,
                n_resamples=self.n_resamples,
                rng=self.seed,
            )
            intervals |= zip(names, found, strict=True)
        if cut.scores is not None:
            cells, clusters = cut.rankings[None]
            of_threshold = best_threshold_interval(
                cells, cut.scores, self.confidence, prior=self.prior, clusters=clusters
            )
            intervals |= {name: of_threshold for name in self.names if name not in self.wanted}
        return [intervals[name] for name in self.names]
