"""The comparison of models on the same items, with a ranking per model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.frames import Source
from prframe._engine.keys import UNRETRIEVED, threshold_key
from prframe._engine.rows import key_names
from prframe.errors import ArgumentError, CoverageWarning, PrframeError, warn
from prframe.metrics import with_cells
from prframe.stats._units import units_of
from prframe.stats.paired_rankings import (
    ComparisonPlan,
    PairedRankings,
    RankingComparison,
    untested,
)
from prframe.stats.rankings import CellEvaluator
from prframe.typing import Flags, Integers
from prframe.verbs._evaluation import Evaluation, at_prior, refuse_grades
from prframe.verbs._groups import LEAST_CLUSTERS, each_group
from prframe.verbs._plan import Accepts, Plan
from prframe.verbs._verb import warn_null
from prframe.verbs.comparison.matched_items import (
    Incomplete,
    PairedGroup,
    PairedRows,
    paired_rows,
)
from prframe.verbs.comparison.rows import (
    Block,
    Column,
    Comparison,
    comparison_rows,
    model_pairs,
    no_rows,
    on_same_items,
)

# Every pair should have a value in these columns.
_EXPECTED = ("difference", "conf_low", "conf_high", "p_value")
# With fewer items of a class DeLong's test rejects too often, with fewer clusters all tests do.
LEAST_OF_CLASS = 15
# A standard error needs so many items, or clusters, of a class.
_LEAST = 2
# Where no p-value is as small as this, randomization cannot reject too often.
_USUAL_LEVEL = 0.05


@dataclass(frozen=True)
class OnItems(Plan):
    """The plan of a comparison on the same items."""

    asked: Comparison
    incomplete: Incomplete
    prior: float | None = None

    def accepts(self) -> Accepts:
        """Return the arguments under which each model ranks the same items."""
        return replace(on_same_items("compare"), counts_hits=self._evaluation.counts_hits)

    def check(self) -> None:
        """Refuse metrics for which there is no such test."""
        asked = self.asked
        self._evaluation.check()
        is_delong = asked.test == "delong"
        if is_delong and self.prior is not None:
            raise ArgumentError(
                f"test={asked.test!r} takes no `prior`; take 'randomization' or 'bootstrap'."
            )
        for name, metric in asked.wanted.items():
            if reason := metric.without_cells:
                raise ArgumentError(
                    f"{name} of one ranking is not compared: {reason}; {with_cells()} are; to "
                    "compare means over queries name these with over=."
                )
            if is_delong and not metric.cell_statistic().of_two_samples:
                raise ArgumentError(
                    f"test={asked.test!r} is for {with_cells(asked.test)}; got {name}; take "
                    "'randomization' or 'bootstrap'."
                )
            at_prior(metric, self.prior)
        self._plan.check()

    @cached_property
    def _plan(self) -> ComparisonPlan:
        """The test and the interval, as the statistics take them."""
        asked = self.asked
        return ComparisonPlan(asked.test, asked.interval, asked.n_resamples, asked.rng)

    @property
    def _evaluation(self) -> Evaluation:
        """The evaluation of one ranking, which knows the columns that metrics need."""
        return Evaluation(self.args, self.asked.wanted)

    def results(self, source: Source) -> pl.DataFrame:
        """Return a row per group, metric and pair."""
        refuse_grades(source, self.args, self.asked.wanted, "is compared")
        paired = paired_rows(source, self.args, incomplete=self.incomplete)
        names = key_names(self.args)
        if not paired.groups:
            return no_rows(self.asked, names)
        if empty := [i for i, group in enumerate(paired.groups) if not group.positive.size]:
            raise PrframeError(
                f"the models must have items in common{paired.where(empty)}; take what some lack "
                "as not retrieved with incomplete='last'."
            )
        if _all_retrieved(paired.groups):
            self._evaluation.warn_of_all_rows()
        pairs = model_pairs(paired.models, self.asked.baseline)
        heads = [paired.keys[i : i + 1] for i in range(len(paired.groups))]
        least = self._least_keys(source)
        blocks = [self._blocks(group, pairs, least) for group in paired.groups]
        models = pl.Series(paired.models, strict=False)
        rows = comparison_rows(self.asked, models, pairs, list(zip(heads, blocks, strict=True)))
        self._warn(rows)
        self._warn_of_few(paired)
        return rows

    def _least_keys(self, source: Source) -> dict[float | None, Integers]:
        """Return the least key of retrieved items in each column of scores, by the threshold."""
        thresholds = {metric.threshold for metric in self.asked.wanted.values()}
        dtypes = [source.schema[name] for name in (self.args.score, *self.args.further_scores)]
        keys = {
            threshold: [
                UNRETRIEVED
                if threshold is None
                else threshold_key(threshold, dtype, float32=self.args.float32)
                for dtype in dtypes
            ]
            for threshold in thresholds
        }
        return {threshold: np.array(of_columns)[:, None] for threshold, of_columns in keys.items()}

    def _blocks(
        self,
        group: PairedGroup,
        pairs: Sequence[tuple[int, int]],
        least: Mapping[float | None, Integers],
    ) -> dict[str, Block]:
        """Return the columns of all metrics of a group."""
        n = [group.positive.size] * len(pairs)
        blocks = {}
        for threshold, keys in least.items():
            names = [name for name, one in self.asked.wanted.items() if one.threshold == threshold]
            statistics = [at_prior(self.asked.wanted[name], self.prior) for name in names]
            level = np.where(group.key >= keys, group.level, 0)
            evaluate = CellEvaluator(group.positive, statistics)
            rankings = PairedRankings(level, evaluate, group.cluster)
            by_pair = self._compared(group, names, rankings, pairs)
            for name, found in zip(names, map(list, zip(*by_pair, strict=True)), strict=True):
                is_cut = self.asked.wanted[name].needs_items_above
                empty = (level == 0).all(axis=1)
                kept = _without_empty(found, pairs, empty) if is_cut else found
                blocks[name] = _columns(kept) | {"n": n}
        return {name: blocks[name] for name in self.asked.wanted}

    def _compared(
        self,
        group: PairedGroup,
        names: Sequence[str],
        rankings: PairedRankings,
        pairs: Sequence[tuple[int, int]],
    ) -> list[list[RankingComparison]]:
        """Compare each pair by the named metrics."""
        asked = self.asked
        if asked.test == "delong" and rankings.n_units < _LEAST:
            values = rankings.values()
            return [[untested(*row[list(pair)]) for row in values] for pair in pairs]
        confidences = [asked.confidence(asked.wanted[name].range) for name in names]
        each = partial(each_group, description="compare")
        is_cut = asked.wanted[names[0]].threshold is not None
        uncut = group.key if is_cut else None
        return self._plan.of_pairs(rankings, confidences, pairs, each, uncut=uncut)

    def _warn(self, rows: pl.DataFrame) -> None:
        """Warn once of groups in which a difference, its interval or its test is undefined."""
        # An interval of one side may lack the other end.
        endless = pl.all_horizontal(pl.col("conf_low", "conf_high").is_null())
        lacks = {name: pl.col(name).is_null() for name in ("difference", "p_value")}
        lacks |= dict.fromkeys(("conf_low", "conf_high"), endless)
        lacking = rows.select(**lacks)
        columns = [name for name in _EXPECTED if lacking[name].any()]
        undefined = pl.any_horizontal(lacks.values())
        metrics = rows.filter(undefined)["metric"].unique(maintain_order=True)
        units = "items" if self.args.cluster is None else "items or clusters"
        why = (
            f"which have too few {units} of a class for "
            f"{checks.listed(metrics, in_order=True)}, or a difference without variance"
        )
        warn_null(columns, rows, self.args, undefined, why)

    def _warn_of_few(self, paired: PairedRows) -> None:
        """Warn once of groups with too few items or clusters of a class for the test."""
        test, few, largest = self.asked.test, [], 0
        for place, group in enumerate(paired.groups):
            units = units_of(group.cluster, group.positive.size)
            classes = (group.positive, ~group.positive)
            number = min(map(units.number_among, classes))
            is_few = group.cluster is not None and number < LEAST_CLUSTERS
            if test == "delong":
                is_few = is_few or bool(min(map(np.sum, classes)) < LEAST_OF_CLASS)
            if is_few and number >= _LEAST:
                few.append(place)
                largest = max(largest, units.number)
        if not few:
            return
        where, sides = paired.where(few), 2 if self.asked.alternative == "two-sided" else 1
        if test == "randomization" and (least := sides * 0.5**largest) > _USUAL_LEVEL:
            why = (
                f"with so few clusters{where} no p-value is below {least:.3g}, so .05 is never "
                "reached; more clusters help, not more items"
            )
        elif test == "delong":
            why = (
                f"with fewer than {LEAST_OF_CLASS} positives, {LEAST_OF_CLASS} negatives or "
                f"{LEAST_CLUSTERS} clusters with either{where} it may reject too often; take "
                "test='randomization'"
            )
        else:
            why = (
                f"with fewer than {LEAST_CLUSTERS} clusters that hold positives, or "
                f"negatives{where} it may reject too often; more clusters help, not more items"
            )
        warn(
            f"test={test!r}: {why}; where it does not matter, ignore CoverageWarning.",
            CoverageWarning,
        )


def _without_empty(
    comparisons: Sequence[RankingComparison], pairs: Sequence[tuple[int, int]], empty: Flags
) -> list[RankingComparison]:
    """Make values undefined where a model has no item above the threshold."""
    return [
        untested(*np.where(empty[[*pair]], np.nan, [found.value_a, found.value_b]))
        if empty[[*pair]].any()
        else found
        for found, pair in zip(comparisons, pairs, strict=True)
    ]


def _all_retrieved(groups: Sequence[PairedGroup]) -> bool:
    """Return whether there are positives, and all models retrieve them all."""
    keys = np.concatenate([group.key[:, group.positive].ravel() for group in groups])
    return bool(keys.size and (keys > UNRETRIEVED).all())


def _columns(comparisons: Sequence[RankingComparison]) -> dict[str, Column]:
    """Return the columns of all pairs for one metric."""
    names = RankingComparison._fields
    columns: dict[str, Column] = {n: [getattr(one, n) for one in comparisons] for n in names}
    columns["mean_a"], columns["mean_b"] = columns.pop("value_a"), columns.pop("value_b")
    methods = [None if np.isnan(one.p_value) else one.method for one in comparisons]
    return columns | {"method": methods}
