"""The comparison of models on the same items, whose rankings are matched item by item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking, group_totals
from prframe._engine.rows import ROW, UNRETRIEVED, in_groups, key_names, threshold_key
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
from prframe.verbs._verb import Accepts, Plan, warn_null
from prframe.verbs.comparison.rows import (
    ON_ITEMS,
    Block,
    Column,
    Comparison,
    Incomplete,
    comparison_rows,
    model_pairs,
    no_rows,
    on_same_items,
)

# So many items that are not listed are added to a group, and take up to a gigabyte.
_MOST_UNLISTED = 10**7


@dataclass(frozen=True, eq=False)
class PairedGroup:
    """The items of one group, in an order that does not depend on that of the rows."""

    # Dense ranks from 1 of each model's scores, 0 if not retrieved; and integers that sort alike.
    level: Integers
    key: Integers
    positive: Flags
    cluster: Integers | None


@dataclass(frozen=True, eq=False)
class PairedRows:
    """The models in order of their names or columns, and the groups, with a row of keys each."""

    models: list[Any]
    keys: pl.DataFrame
    groups: list[PairedGroup]

    def where(self, groups: Sequence[int]) -> str:
        """Name the first of some groups, if there are keys."""
        return in_groups(self.keys[groups].rows()) if self.keys.width else ""


def paired_rows(
    source: Source, args: Arguments, *, incomplete: Incomplete = "raise"
) -> PairedRows:
    """Match the rankings of all models, group by group; see `PairedGroup`."""
    checks.one_of("incomplete", incomplete, ON_ITEMS.incomplete)
    if incomplete == "common" and not (args.n_pos is args.n_neg is None):
        raise ArgumentError(
            "incomplete='common' leaves items out, which `n_pos` and `n_neg` count; leave these "
            "out, or take incomplete='last'."
        )
    held = source.holding(source.whole())
    models, rows = (_wide if args.further_scores else _long)(held, args)
    names = key_names(args)
    keys = rows.select(names).unique()
    keys = keys.sort(names) if names else keys
    if names:
        numbered = keys.with_row_index("group")
        rows = rows.join(numbered, on=names, how="left", nulls_equal=True, maintain_order="left")
    else:
        rows = rows.with_columns(group=pl.lit(0, dtype=pl.UInt32))
    return PairedRows(models, keys, _Matching(args, models, keys, rows).groups(incomplete))


def _long(source: Source, args: Arguments) -> tuple[list[Any], pl.DataFrame]:
    """Return the models and their rows, with the model's number, where a column names them."""
    column = str(args.model)
    rows = Ranking(source, replace(args, by=[*args.keys, column])).over_groups(_listed)
    models = source.whole().select(pl.col(column).drop_nulls().unique().sort())
    key = f"by{len(args.keys)}"
    numbered = models.rename({column: key}).with_row_index("model")
    rows = rows.join(numbered, on=key, how="left", maintain_order="left").drop(key)
    return models[column].to_list(), rows


def _wide(source: Source, args: Arguments) -> tuple[list[Any], pl.DataFrame]:
    """Return the models and their rows, with the model's number, where each has a column."""
    numbered = source.holding(source.whole().with_row_index(ROW))
    models = [args.score, *args.further_scores]
    parts = [
        Ranking(numbered, replace(args, score=score, further_scores=()), extra=("row",))
        .over_groups(_listed)
        .with_columns(model=pl.lit(i, dtype=pl.UInt32))
        for i, score in enumerate(models)
    ]
    return models, pl.concat(parts)


def _listed(piece: Piece) -> pl.DataFrame:
    """Return the rows of a piece, each with the keys and the totals of its group."""
    heads = group_totals(piece).select(*key_names(piece.ranking.args), "n_pos", "n_neg")
    run = piece.rows["run"].to_numpy()
    group = np.cumsum(np.diff(run, prepend=run[:1]) != 0)
    rows = piece.rows.drop("run", "n_pos", "n_neg", strict=False)
    return pl.concat([heads[group], rows], how="horizontal")


class _Matching:
    """The rows of all models, sorted by group and item, and the item of each row."""

    def __init__(
        self, args: Arguments, models: list[Any], keys: pl.DataFrame, rows: pl.DataFrame
    ) -> None:
        self._args, self._models, self._keys = args, models, keys
        # Without keys there is one group if there are rows.
        self._n_groups = keys.height if keys.width else int(rows.height > 0)
        self._name = "row" if args.item is None else "item"
        name = pl.col(self._name)
        if rows[self._name].dtype == pl.Categorical:
            # Items are in order of their text, not of their first rows.
            name = name.cast(pl.String)
        self._rows = rows.sort("group", name, "model")
        item = self._rows.select(pl.struct("group", self._name).rle_id()).to_series().to_numpy()
        self._item = item.astype(np.int64)
        self._firsts = np.flatnonzero(np.diff(self._item, prepend=-1))

    def groups(self, incomplete: Incomplete) -> list[PairedGroup]:
        """Return the groups with the items that `incomplete` leaves."""
        self._check_agreement()
        unlisted = self._unlisted()
        present, key = self._matrices()
        items = self._rows[self._firsts]
        if incomplete == "raise" and not present.all():
            raise self._incomplete(items, ~present)
        if incomplete == "common":
            common = np.flatnonzero(present.all(axis=0))
            items, key = items[common], key[:, common]
        level = _levels(items["group"], key)
        if self._args.cluster is not None:
            code = pl.col("cluster").rank("dense").over("group").cast(pl.Int64) - 1
            items = items.with_columns(code.alias("cluster"))
        bounds = np.searchsorted(items["group"].to_numpy(), np.arange(self._n_groups + 1))
        return [
            self._group(items[low:high], level[:, low:high], key[:, low:high], *more)
            for (low, high), more in zip(pairwise(bounds.tolist()), unlisted, strict=True)
        ]

    def _check_agreement(self) -> None:
        """Require that models agree about everything but the score."""
        named = {"positive": "label"} | ({"cluster": "cluster"} if self._args.cluster else {})
        firsts = self._rows[self._firsts].select(list(named))[self._item]
        for name, argument in named.items():
            differs = self._rows[name].ne_missing(firsts[name])
            if differs.any():
                bad = self._rows.filter(differs)
                number = bad.select("group", self._name).n_unique()
                raise PrframeError(
                    f"`{argument}` of an item must be the same for all models: {number} of "
                    f"{self._firsts.size} items differ, the first is {self._example(bad)}; mend "
                    "these rows."
                )

    def _example(self, rows: pl.DataFrame) -> str:
        """Name the first of some items."""
        first = rows.row(0, named=True)
        return f"{first[self._name]!r}{self._where([first['group']])}"

    def _where(self, groups: Sequence[int]) -> str:
        """Name the first of some groups, if there are groups."""
        return in_groups(self._keys[groups].rows()) if self._keys.width else ""

    def _matrices(self) -> tuple[Flags, Integers]:
        """Return whether each model has each item, and the sort keys."""
        model = self._rows["model"].to_numpy()
        shape = len(self._models), self._firsts.size
        present, key = np.zeros(shape, dtype=np.bool_), np.full(shape, UNRETRIEVED)
        present[model, self._item] = True
        key[model, self._item] = self._rows["key"].to_numpy()
        return present, key

    def _incomplete(self, items: pl.DataFrame, lacking: Flags) -> PrframeError:
        """Return the error that says how many items each model lacks."""
        number = lacking.sum(axis=1)
        lacks = [f"{self._models[i]!r} lacks {number[i]}" for i in np.flatnonzero(number)]
        shown = ", ".join(lacks[: checks.SHOWN])
        n_others = len(lacks) - checks.SHOWN
        others = f" and {n_others} more models lack some" if n_others > 0 else ""
        groups = items["group"][np.flatnonzero(lacking.any(axis=0))].unique(maintain_order=True)
        return PrframeError(
            f"every model must have every item: of {items.height} items {shown}{others}"
            f"{self._where(groups.to_list())}; "
            "take these as not retrieved with incomplete='last', or compare what all models have "
            "with incomplete='common'."
        )

    def _unlisted(self) -> Integers:
        """Return how many positives and negatives of each group are not listed."""
        unlisted = np.zeros((self._n_groups, 2), dtype=np.int64)
        if not self._rows.height:
            return unlisted
        positive, given = pl.col("positive"), self._args.totals
        firsts = self._rows[self._firsts].group_by("group", maintain_order=True)
        listed = firsts.agg(n_pos=positive.sum(), n_neg=(~positive).sum())
        for name in given:
            grouped = self._rows.group_by("group", maintain_order=True)
            stated = grouped.agg(pl.col(name).first(), values=pl.col(name).n_unique())
            unlisted[:, int(name == "n_neg")] = self._beyond(name, stated, listed[name])
        if (most := int(unlisted.sum(axis=1).max(initial=0))) > _MOST_UNLISTED:
            totals = " and ".join(f"`{name}`" for name in given)
            raise PrframeError(
                f"models are compared on the same items item by item, and {totals} may add up to "
                f"{_MOST_UNLISTED} that are not listed; got {most}. Leave them out, which changes "
                "no metric of the ranks of listed positives, or take a smaller sample of items."
            )
        return unlisted

    def _beyond(self, name: str, totals: pl.DataFrame, present: pl.Series) -> Integers:
        """Return a total minus the number of items that any model lists."""
        differ = totals.filter(pl.col("values") > 1)["group"]
        if differ.len():
            raise PrframeError(
                f"`{name}` must be the same for all models of a group: "
                f"{differ.len()} of {totals.height} groups differ"
                f"{self._where(differ.to_list())}; mend these rows."
            )
        beyond = totals[name].to_numpy() - present.cast(pl.Int64).to_numpy()
        if (beyond < 0).any():
            worst = int(np.argmin(beyond))
            raise PrframeError(
                f"`{name}` must be at least what all models list together: {totals[name][worst]} "
                f"given, {present[worst]} present"
                f"{self._where([worst])}; count what is listed as well."
            )
        return np.asarray(beyond)

    def _group(
        self, items: pl.DataFrame, level: Integers, key: Integers, n_pos: int, n_neg: int
    ) -> PairedGroup:
        """Return a group of its listed items and the given numbers of unlisted ones."""
        positive = items["positive"].to_numpy()
        cluster = None if self._args.cluster is None else items["cluster"].to_numpy()
        if self._args.item is None:
            # Items are sorted by everything that they have, so that only those that are equal in
            # all of it stay in the order of their rows.
            merits = [positive] if cluster is None else [cluster, positive]
            order = np.lexsort([*merits, *level[::-1]])
            positive, level, key = positive[order], level[:, order], key[:, order]
            cluster = None if cluster is None else cluster[order]
        if n_pos + n_neg:
            positive = np.append(positive, np.repeat([True, False], [n_pos, n_neg]))
            width = (0, 0), (0, n_pos + n_neg)
            level, key = np.pad(level, width), np.pad(key, width, constant_values=UNRETRIEVED)
        return PairedGroup(level, key, positive, cluster)


def _levels(group: pl.Series, key: Integers) -> Integers:
    """Return the dense ranks of scores within each group; 0 for items that are not retrieved."""
    columns = pl.DataFrame({"group": group} | {str(i): column for i, column in enumerate(key)})
    score = pl.exclude("group")
    rank = score.rank("dense").cast(pl.Int64) - (score.min() == UNRETRIEVED).cast(pl.Int64)
    ranked = columns.select(rank.over("group"))
    return np.ascontiguousarray(ranked.to_numpy().T)


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
