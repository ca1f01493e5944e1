"""Intervals of metrics of single rankings, of items or of clusters of these."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import NamedTuple

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.ranks import class_scores
from prframe._engine.rows import in_groups, key_names
from prframe.errors import ArgumentError, CoverageWarning, warn
from prframe.metrics import Metric, with_cells
from prframe.stats.curves import Weights, drawn_weights
from prframe.stats.intervals import (
    POSTERIOR,
    Confidence,
    IntervalEstimate,
    best_threshold_interval,
    check_method as check_method_of_metric,
    ranking_intervals,
)
from prframe.stats.rankings import CellStatistic
from prframe.tie_policies import BLOCKS, WITHOUT_LABELS
from prframe.typing import Floats
from prframe.verbs._evaluation import Evaluation, at_prior
from prframe.verbs._groups import LEAST_CLUSTERS, each_shape, shape_of
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._trec_eval_names import TrecEvalNames
from prframe.verbs._verb import MOVED, positives_of, warn_of_ties_at_jumps
from prframe.verbs.intervals.groups import (
    FEW,
    HEAVY,
    Group,
    biases,
    groups_of,
    has_few_clusters,
    has_thresholds,
    heavy_negatives,
    moves,
    refuse_grades,
    with_known,
    with_thresholds,
)
from prframe.verbs.intervals.means import check_method
from prframe.verbs.intervals.rows import interval_rows, warned

_OF_CLUSTERS = ("auto", "logit-t", "percentile")
_OF_RANKINGS = (*_OF_CLUSTERS, POSTERIOR)
# How often intervals by a standard error cover where ties lie at a jump of phi, and what to do:
# draws put the ties on either side of the jump.
_OF_JUMPS = (
    "95 % intervals by 'logit-t' covered in 53 to 97 % of samples of scores with five or ten "
    "levels. "
    "Take a phi without jumps, for example 'W(rtb)', scores that tell more items apart, or "
    "method='percentile', which covered in 79 % of them at least; where it does not matter"
)


class _Cut(NamedTuple):
    """The rankings of a group, by the thresholds below which items are taken as not retrieved.

    Also the scores of either class, if the threshold of the largest F1 is asked for.
    """

    rankings: dict[float | None, Group]
    scores: tuple[Floats, Floats] | None

    def shape(self) -> Hashable:
        """Return what groups of the same intervals share; none with scores or clusters."""
        if self.scores is not None or any(
            group.clusters is not None for group in self.rankings.values()
        ):
            return object()
        return tuple(shape_of(group.cells) for group in self.rankings.values())


@dataclass(frozen=True)
class RankingIntervals(Plan):
    """The plan of intervals for metrics of single rankings."""

    wanted: dict[str, Metric]
    method: str
    confidence: Confidence
    n_resamples: int
    seed: int
    prior: float | None
    bias: bool

    def accepts(self) -> Accepts:
        """Return the arguments under which rows are a sample of items, or of clusters."""
        if self.args.cluster is None:
            ties, taker, where = WITHOUT_LABELS, "", " without `over`"
        else:
            ties, where = BLOCKS, ""
            taker = "`cluster` draws rows again, which are tied then; it"
        return Accepts(
            "interval",
            whole_items="draws",
            ties=ties,
            taker=taker,
            where=where,
            clusters_of_items=True,
        )

    def check(self) -> None:
        """Refuse metrics and methods that have no interval for single rankings."""
        for name, metric in self.wanted.items():
            if metric.without_cells:
                raise ArgumentError(
                    f"{name} of one ranking has no interval here: {metric.without_cells}; "
                    f"{with_cells()} have; for a mean over groups name them with over=."
                )
        # Making the statistics checks their cut-offs, and whether they take `prior`.
        statistics = self.statistics
        known = _OF_RANKINGS if self.args.cluster is None else _OF_CLUSTERS
        kind = "one ranking" if self.args.cluster is None else "clusters"
        check_method(self.method, known, kind)
        for statistic in statistics.values():
            check_method_of_metric(statistic, self.method)

    def counts_hits(self) -> bool:
        """Tell whether metrics count hits, and have a value without positives."""
        return Evaluation(self.args, self.wanted).counts_hits()

    @cached_property
    def statistics(self) -> dict[str, CellStatistic]:
        """The metrics as functions of cells."""
        return {name: at_prior(metric, self.prior) for name, metric in self.wanted.items()}

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group and metric."""
        refuse_grades(source, self.args, self.wanted)
        Evaluation(replace(self.args, cluster=None), self.wanted).check_all_rows(source)
        extra = ("score",) if has_thresholds(self.wanted) else ()
        rows = Ranking(source, self.args, extra=extra).over_groups(self._piece)
        by_errors = rows.filter(pl.col("method") == "logit-t")
        warn_of_ties_at_jumps(by_errors, key_names(self.args), "metric", _OF_JUMPS)
        self._warn_of_heavy_negatives(rows)
        self._warn_of_few_clusters(rows)
        needs = {need for metric in self.wanted.values() for need in metric.needs}
        lack = [positives_of(self.args), *(["negatives"] if "n_neg" in needs else [])]
        lack += [f"retrieved {positives_of(self.args)}"] if has_thresholds(self.wanted) else []
        above = (metric for metric in self.wanted.values() if metric.needs_items_above)
        lack += [f"scores of at least {metric.threshold:g}" for metric in above]
        rows = rows.drop(MOVED, HEAVY, FEW)
        return warned(rows, self.names, key_names(self.args), self.args, lack)

    def _warn_of_heavy_negatives(self, rows: pl.DataFrame) -> None:
        """Warn once of estimates at a prior that hang on few negatives, but for those by draws."""
        heavy = rows.filter(pl.col(HEAVY) == 1, pl.col("method") != POSTERIOR)
        heavy = heavy.drop_nulls("conf_low")
        if heavy.is_empty():
            return
        names = checks.listed(heavy["metric"].unique(maintain_order=True), in_order=True)
        remedy = (
            "Take method='bayesian-bootstrap'"
            if self.args.cluster is None
            else "A prior nearer to the share of positives helps, and more negatives do"
        )
        warn(
            f"prior={self.prior:g} makes a negative count three times or more{self._where(heavy)}"
            f", so that few of them decide {names}, and the interval knows none that the sample "
            "lacks: 95 % "
            "intervals covered in 55 to 95 % of samples where a negative counts 3 to 50 times. "
            f"{remedy}; where it does not matter, ignore CoverageWarning.",
            CoverageWarning,
        )

    def _warn_of_few_clusters(self, rows: pl.DataFrame) -> None:
        """Warn once of groups with few clusters."""
        few = rows.filter(FEW).drop_nulls("conf_low")
        if few.is_empty():
            return
        warn(
            f"fewer than {LEAST_CLUSTERS} clusters hold positives, or negatives"
            f"{self._where(few)}, and may not show how much clusters differ: with 8 to 30 "
            "clusters 95 % intervals of AP and AUC covered in 90 to 98 % of samples, and those of "
            "AUPRG, BEDROC, MaxF1, pAUC and R(at_precision) in 83 to 98 %. More clusters help, "
            "not more items; where it does not matter, ignore CoverageWarning.",
            CoverageWarning,
        )

    def _where(self, rows: pl.DataFrame) -> str:
        """Return the groups of rows in words, nothing without groups."""
        keys = key_names(self.args)
        return in_groups(rows.select(keys).unique(maintain_order=True).rows()) if keys else ""

    @cached_property
    def names(self) -> list[str]:
        """The names in the rows of a group."""
        return with_thresholds(self.wanted)

    def _piece(self, piece: Piece) -> pl.DataFrame:
        """Return the rows of the groups of a piece."""
        group_hits = TrecEvalNames.of(self.wanted, self.args).task_of_hits(piece).result()
        by_threshold = {
            threshold: list(groups_of(piece, group_hits, threshold))
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
        rankings = [cut.rankings for cut in groups]
        columns = {MOVED: moves(self.wanted), HEAVY: heavy_negatives(self.statistics)}
        if self.bias:
            columns["bias"] = biases(self.statistics)
        few = [has_few_clusters(next(iter(ranking.values()))) for ranking in rankings]
        rows = rows.with_columns(
            pl.Series(FEW, [flag for flag in few for _ in names], dtype=pl.Boolean)
        )
        return with_known(rows, names, rankings, columns)

    @cached_property
    def _weights(self) -> list[Weights]:
        """The weights of the Bayesian bootstrap, which all groups share."""
        return drawn_weights(self.n_resamples, np.random.default_rng(self.seed))

    def _group(self, cut: _Cut) -> list[IntervalEstimate]:
        """Return the interval of each metric of a group."""
        intervals: dict[str, IntervalEstimate] = {}
        for threshold, group in cut.rankings.items():
            names = [name for name, metric in self.wanted.items() if metric.threshold == threshold]
            intervals |= zip(names, self._at_threshold(group, names), strict=True)
        if cut.scores is not None:
            cells, clusters = cut.rankings[None]
            of_threshold = best_threshold_interval(
                cells, cut.scores, self.confidence, prior=self.prior, clusters=clusters
            )
            intervals |= {name: of_threshold for name in self.names if name not in self.wanted}
        return [intervals[name] for name in self.names]

    def _at_threshold(self, group: Group, names: Sequence[str]) -> list[IntervalEstimate]:
        """Return the interval of each of some metrics of one ranking."""
        metrics = [(self.statistics[name], None) for name in names]
        return ranking_intervals(
            group.cells,
            metrics,
            self.method,
            self.confidence,
            clusters=group.clusters,
            weights=self._weights,
            n_resamples=self.n_resamples,
            rng=self.seed,
        )
