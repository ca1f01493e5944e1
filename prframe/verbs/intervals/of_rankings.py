"""Intervals of metrics of single rankings, of items or of clusters of these."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from prframe._engine.frames import Source
from prframe._engine.hits import Hits
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import class_scores, clustered
from prframe._engine.rows import key_names
from prframe._engine.totals import items_above, least_key
from prframe.errors import ArgumentError
from prframe.metrics import Metric, with_cells
from prframe.metrics.thresholds import MaxF1, W
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals import (
    POSTERIOR,
    Confidence,
    IntervalEstimate,
    best_threshold_interval,
    ranking_intervals,
)
from prframe.stats.rank_statistics import moved_by_ties
from prframe.stats.rankings import (
    AtPrior,
    CellStatistic,
    RankedCells,
    cells_from_scores,
    cluster_counts,
)
from prframe.stats.score_functions import parse_phi
from prframe.tie_policies import BLOCKS, WITHOUT_LABELS
from prframe.typing import Flags, Floats, Integers
from prframe.verbs._evaluation import Evaluation, at_prior, refuse_grades
from prframe.verbs._groups import LEAST_CLUSTERS, each_shape, group_cells, shape_of
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import MOVED, TIES_AT_JUMPS, positives_of, warn_of_coverage
from prframe.verbs.intervals.means import check_method, interval_rows, warned

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Working columns: whether few negatives decide, and whether a group has few clusters.
_HEAVY, _FEW = "__heavy", "__few"

_OF_CLUSTERS = ("auto", "logit-t", "percentile")
_OF_RANKINGS = (*_OF_CLUSTERS, POSTERIOR)
# How often intervals by a standard error cover where ties lie at a jump of phi, and what to do.
_OF_JUMPS = (
    "95 % intervals by 'logit-t' covered in 53 to 97 % of samples of scores with five or ten "
    "levels. "
    "Take a phi without jumps, for example 'W(rtb)', scores that tell more items apart, or "
    "method='percentile', which covered in 79 % of them at least; where it does not matter"
)
_OF_HEAVY = (
    "makes a negative count three times or more{where}, so that few of them decide {names}, and "
    "the interval knows none that the sample lacks: 95 % intervals covered in 55 to 95 % of "
    "samples where a negative counts 3 to 50 times."
)
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
        self._warn_of_coverage(rows)
        needs = {need for metric in self.wanted.values() for need in metric.needs}
        lack = [positives_of(self.args), *(["negatives"] if "n_neg" in needs else [])]
        lack += [f"retrieved {positives_of(self.args)}"] if has_thresholds(self.wanted) else []
        above = (metric for metric in self.wanted.values() if metric.needs_items_above)
        lack += [f"scores of at least {metric.threshold:g}" for metric in above]
        rows = rows.drop(MOVED, _HEAVY, _FEW)
        return warned(rows, self.names, self.args, lack)

    def _warn_of_coverage(self, rows: pl.DataFrame) -> None:
        """Warn once each of ties at jumps, of negatives of large weight, and of few clusters."""
        keys, has_interval = key_names(self.args), pl.col("conf_low").is_not_null()
        jumps = rows.filter(pl.col(MOVED) > 1, method="logit-t")
        warn_of_coverage(jumps, keys, "metric", TIES_AT_JUMPS + _OF_JUMPS)
        heavy = rows.filter(has_interval, pl.col("method") != POSTERIOR, _HEAVY)
        remedy = "A prior nearer to the share of positives helps, and more negatives do"
        if self.args.cluster is None:
            remedy = "Take method='bayesian-bootstrap'"
        at_prior = f"prior={self.prior:g} {_OF_HEAVY}" if self.prior is not None else ""
        warn_of_coverage(heavy, keys, "metric", f"{at_prior} {remedy}; where it does not matter")
        warn_of_coverage(rows.filter(has_interval, _FEW), keys, "metric", _OF_FEW_CLUSTERS)

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
        known = [self._known(name, cut.rankings) for cut in groups for name in names]
        extra = {_FEW: pl.Boolean(), MOVED: pl.Float64(), _HEAVY: pl.Boolean()}
        return rows.hstack(pl.DataFrame(known, schema=extra, orient="row"))

    def _known(
        self, name: str, rankings: Mapping[float | None, _Group]
    ) -> tuple[bool, float | None, bool]:
        """Return whether clusters are few, how far ties may move W, and if few negatives decide.

        W moves by so many standard errors; negatives may decide at a prior.
        """
        moved, heavy = None, False
        metric, statistic = self.wanted.get(name), self.statistics.get(name)
        if metric is not None and metric.name == W.name:
            cells = rankings[None].cells
            moved = moved_by_ties(parse_phi(str(metric["phi"])).of_size(cells.n), cells)
        if isinstance(statistic, AtPrior) and not statistic.of_table:
            heavy = statistic.negatives_decide(rankings[None].cells)
        return _has_few_clusters(next(iter(rankings.values()))), moved, heavy

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
