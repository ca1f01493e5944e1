"""The values of models and queries as matrices, from which a comparison over queries starts."""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing, key_names
from prframe.errors import ArgumentError, PrframeError, UnlistedItemsWarning, warn
from prframe.typing import Columns, Floats
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._mean_samples import (
    CLUSTER,
    Resampling,
    check_resampling,
    refuse_varying_clusters,
    test_train_ratio,
)
from prframe.verbs._precomputed_values import (
    COLUMN,
    METRIC,
    VALUE,
    MetricValues,
    PrecomputedValues,
)
from prframe.verbs._verb import TwoStepPlan, grouped_over, warn_null
from prframe.verbs.comparison.rows import OVER_QUERIES, Incomplete

MODEL, _UNIT = "model index", "unit"
# Sums of the same weights in another order differ by less.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Stratum:
    """The values of one group of `by`, whose `key` has one row."""

    key: pl.DataFrame
    # By metric, shape (n_models, n_queries), NaN where there is none, in order of the queries.
    values: dict[str, Floats]
    ranges: dict[str, tuple[float, float]]
    cluster: NDArray[np.int64] | None
    # Of folds, the size of a test set divided by that of its training set.
    test_train_ratio: float
    # The values of a machine's labels, and which queries humans have judged, if both have.
    machine: dict[str, tuple[Floats, NDArray[np.bool_]]] | None = None


@dataclass(frozen=True, eq=False)
class ComparedValues:
    """The models and queries of a comparison, their values, and the treatment of missing ones."""

    args: Arguments
    over: Sequence[str]
    incomplete: Incomplete
    measure: Evaluation | PrecomputedValues
    resampling: float | Resampling | None

    @classmethod
    def of(  # noqa: PLR0917
        cls,
        args: Arguments,
        over: Columns,
        incomplete: Incomplete,
        measure: Evaluation | PrecomputedValues,
        undefined: float | None,
        resampling: object,
    ) -> "ComparedValues":
        """Check `over`, and that the metrics can be evaluated with the arguments."""
        checks.one_of("incomplete", incomplete, OVER_QUERIES.incomplete)
        columns = grouped_over(args, over).keys[len(args.keys) :]
        if args.model in columns:
            raise ArgumentError(
                f"`model` and `over` both name {args.model!r}; models are compared over queries."
            )
        if isinstance(measure, Evaluation):
            measure.check()
        checked = check_resampling(resampling, columns)
        return cls(args, columns, incomplete, replace(measure, undefined=undefined), checked)

    @property
    def arguments(self) -> Arguments:
        """The arguments with all columns that are needed."""
        return self.measure.keyed(replace(self.args, by=[*self.args.keys, *self.over]))

    def strata(self, values: MetricValues) -> tuple[pl.Series, list[Stratum]]:
        """Return the models, in order of their names or columns, and a stratum per group."""
        models, rows = self._numbered(values.rows)
        keys = key_names(self.args)
        # No result depends on the order of the rows.
        by = [*keys, METRIC] if self._is_long else keys
        rows = rows.sort(by, maintain_order=True) if by else rows
        parts = rows.partition_by(keys, maintain_order=True) if keys else [rows]
        groups = [replace(values, rows=part) for part in parts if part.height]
        return models, [self._stratum(group, models) for group in groups]

    @property
    def _is_long(self) -> bool:
        """Whether a column names the metric of each precomputed value."""
        return isinstance(self.measure, PrecomputedValues) and self.measure.long

    def values(self, source: Source) -> MetricValues:
        """Return the value of each group of `by`, model, query and metric, and its cluster."""
        args = self.args
        if args.model is None or args.cluster is not None or args.item is not None:
            # These rows are read more than once.
            source = source.holding(source.whole())
        _refuse_unlike_labels(source, args, self.over)
        refuse_varying_clusters(source, args, self.over)
        columns = dict(zip(args.keys, key_names(args), strict=True))
        columns |= {} if args.model is None else {args.model: MODEL}
        columns |= zip(self.over, self.over_names, strict=True)
        if args.cluster is not None:
            # The column of clusters may be among those of queries.
            columns.setdefault(args.cluster, CLUSTER)
        plain = replace(args, by=list(columns), model=None, cluster=None, further_scores=())
        if isinstance(self.measure, PrecomputedValues):
            values = self.measure.read(source, plain)
        else:
            scores = [args.score, *args.further_scores]
            measure = replace(self.measure, args=plain)
            source.seen.totals = []
            parts = [
                part.with_columns(pl.lit(i, dtype=pl.UInt32).alias(COLUMN))
                for i, part in enumerate(measure.of_scores(source, scores))
            ]
            values = MetricValues.of(pl.concat(parts), measure.wanted)
            if measure.counts_all and args.model is not None:
                names = dict(zip(plain.keys, key_names(plain), strict=True))
                query = [names[key] for key in (*args.keys, *self.over)]
                _warn_of_unlike_positives(source, list(names.values()), query)
        working = dict(zip(key_names(plain), columns.values(), strict=True))
        if args.model is None:
            working |= {COLUMN: MODEL}
        rows = values.rows.rename(working)
        if args.cluster is not None:
            rows = rows.with_columns(pl.col(columns[args.cluster]).alias(CLUSTER))
        self._refuse_unnamed(rows, source)
        return replace(values, rows=rows)

    def _refuse_unnamed(self, rows: pl.DataFrame, source: Source) -> None:
        """Require that each row names its model."""
        if self.args.model is None:
            return
        missing = is_missing(pl.col(MODEL), rows.schema[MODEL])
        if rows.select(missing.any()).item():
            column = str(self.args.model)
            lacking = is_missing(pl.col(column), source.schema[column])
            number = source.lazy().select(lacking.sum()).collect().item()
            raise PrframeError(
                f"`model` {column!r} must not contain nulls or NaN: {number} rows; name these "
                "models, or drop the rows."
            )

    @property
    def over_names(self) -> list[str]:
        """The working names of the `over` columns."""
        return [f"over{i}" for i in range(len(self.over))]

    def _numbered(self, rows: pl.DataFrame) -> tuple[pl.Series, pl.DataFrame]:
        """Return the models, and a row per value, numbered by them."""
        if self.args.model is None:
            if isinstance(self.measure, PrecomputedValues):
                return pl.Series(self.measure.columns), rows
            return pl.Series((self.args.score, *self.args.further_scores)), rows
        names = rows.select(pl.col(MODEL).unique().sort())
        numbers = names.with_row_index("number")
        joined = rows.join(numbers, on=MODEL, how="left", maintain_order="left")
        return names[MODEL], joined.drop(MODEL).rename({"number": MODEL})

    def _stratum(self, group: MetricValues, models: pl.Series) -> Stratum:
        """Spread the rows of one group over models and queries."""
        over, rows = self.over_names, group.rows
        # Categories are in order of their text, not of first rows.
        categories = [name for name in over if rows[name].dtype == pl.Categorical]
        rows = rows.with_columns(pl.col(categories).cast(pl.String))
        queries = rows.select(over).unique().sort(over).with_row_index(_UNIT)
        rows = rows.join(queries, on=over, how="left", nulls_equal=True, maintain_order="left")
        cluster = self._clusters(rows)
        values = {
            part[METRIC][0]: self._table(part, models, queries)
            for part in rows.partition_by(METRIC, maintain_order=True)
        }
        key = rows.select(key_names(self.args)).head(1)
        ratio = test_train_ratio(self.resampling, queries.select(over), self.over)
        return Stratum(key, values, group.ranges, cluster, ratio)

    def _table(self, rows: pl.DataFrame, models: pl.Series, queries: pl.DataFrame) -> Floats:
        """Spread the values of one metric over models and queries."""
        model, unit = rows[MODEL].to_numpy(), rows[_UNIT].to_numpy()
        present = np.zeros((len(models), queries.height), dtype=np.bool_)
        present[model, unit] = True
        # A metric may have been measured for other queries than the other metrics of the group.
        absent = ~present & present.any(axis=0)
        if self.incomplete == "raise" and absent.any():
            measured = np.flatnonzero(present.any(axis=0))
            listed = queries[measured].select(self.over_names)
            raise self._absent(absent[:, measured], models, listed, rows[METRIC][0])
        table = np.full(present.shape, np.nan)
        if self.incomplete == "zero":
            table[absent] = 0.0
        table[model, unit] = rows[VALUE].fill_null(np.nan).to_numpy()
        if self.incomplete == "common":
            table[:, np.isnan(table).any(axis=0)] = np.nan
        return table

    def _clusters(self, rows: pl.DataFrame) -> NDArray[np.int64] | None:
        """Return the cluster of each query, which is one."""
        if self.args.cluster is None:
            return None
        firsts = rows.sort(_UNIT).unique(_UNIT, keep="first", maintain_order=True)
        return firsts[CLUSTER].rank("dense").cast(pl.Int64).to_numpy() - 1

    def _absent(
        self, absent: NDArray[np.bool_], models: pl.Series, queries: pl.DataFrame, metric: str
    ) -> PrframeError:
        """Return the error that says how many queries each model lacks."""
        about = f" with {metric!r}" if self._is_long else ""
        lacking = zip(models.to_list(), absent.sum(axis=1).tolist(), strict=True)
        lacks = [f"{model!r} lacks {number}" for model, number in lacking if number]
        others = f" and {len(lacks) - checks.SHOWN} more models" * (len(lacks) > checks.SHOWN)
        where = in_groups(queries[np.flatnonzero(absent.any(axis=0))].rows())
        return PrframeError(
            f"of the {queries.height} groups of `over`{about} "
            f"{', '.join(lacks[: checks.SHOWN])}{others}{where}; count the missing as 0 with "
            "incomplete='zero', or leave them out with 'pairwise' (what two models have in "
            "common) or 'common' (what all have)."
        )


def precomputed(
    values: Columns, names: Collection[str], args: Arguments, over: Columns
) -> tuple[Arguments, PrecomputedValues]:
    """Return the arguments and the layout of precomputed values, of models without `model`."""
    is_default = args.model == "model"
    models = is_default and "model" not in names
    telling = None if models else args.model
    used = [*grouped_over(args, over).keys, telling, args.cluster]
    known = PrecomputedValues.of(
        values, names, [column for column in used if column], models=models
    )
    if models and len(known.columns) == 1:
        raise PrframeError(
            f"`values` names one column, {known.columns[0]!r}, and the frame has no column "
            "'model'; name the one that tells the models apart with model=, or in values= a "
            "column for each model."
        )
    return replace(known.arguments(args), model=telling), known


@dataclass(frozen=True)
class ValuesPlan(TwoStepPlan):
    """A plan that compares models by a value for each of them and each query."""

    compared: ComparedValues

    def results(self, source: Source) -> pl.DataFrame:
        """Return the rows of the result, with the working names of the keys."""
        return self.of_values(self.compared.values(source))

    def of_groups(self, source: Source) -> pl.DataFrame:
        """Return a row per value of a query and model."""
        return self.compared.values(source).rows

    def of_all(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the result, given the values."""
        measure = self.compared.measure
        wanted = measure.wanted if isinstance(measure, Evaluation) else {}
        return self.of_values(MetricValues.of_rows(rows, wanted))

    def warn_lacking(self, rows: pl.DataFrame, expected: Sequence[str], things: str) -> None:
        """Warn once of pairs that lack what is expected, as they have too few things in common."""
        args, columns = self.compared.args, pl.col(expected)
        lacking = pl.any_horizontal(columns.is_null())
        or_one = ", or all in a single cluster" if args.cluster is not None else ""
        why = (
            f"where two models have fewer than 2 {things} in common{or_one}, or equal differences"
        )
        null = [name for name in expected if rows[name].null_count()]
        warn_null(null, rows, args, lacking, why)

    @abstractmethod
    def of_values(self, values: MetricValues) -> pl.DataFrame:
        """Return the rows of the result, given the values and what is known of them."""


def _refuse_unlike_labels(source: Source, args: Arguments, over: Sequence[str]) -> None:
    """Require that the labels of an item, if items have names, are the same for all models."""
    if args.model is None or args.item is None or args.at_hand:
        return
    label, item = pl.col(args.label), [*args.keys, *over, args.item]
    rows = source.lazy().filter(True, *considered(args, source.schema))  # noqa: FBT003
    items = rows.group_by(item).agg(differs=(label != label.first()).any())
    total, differ = pl.collect_all([items.select(pl.len()), items.filter("differs")])
    if differ.height:
        first = differ.sort(item).select(item).head(checks.SHOWN).rows()
        raise PrframeError(
            f"`label` of an item must be the same for all models: {differ.height} of "
            f"{total.item()} items differ, the first are {first}; mend these rows."
        )


def _warn_of_unlike_positives(source: Source, keys: Sequence[str], query: Sequence[str]) -> None:
    """Warn once of queries, keys without that of models, whose numbers of positives differ."""
    totals = pl.concat(source.seen.totals or [pl.DataFrame(schema=[*keys, "n_pos"])])
    number = pl.col("n_pos")
    found = totals.group_by(query).agg(number.min(), most=number.max())
    differ = found.filter(number < pl.col("most") * (1 - _ROUNDING)).sort(query)
    if differ.height:
        least, most = differ.select("n_pos", "most").row(0)
        warn(
            f"models have different numbers of positives for {differ.height} of {found.height} "
            f"groups of `over` (the first: {least:g} and {most:g}), so what they miss does not "
            f"count alike{in_groups(differ.select(query).rows())}. Give the number of all "
            "positives in n_pos=, or list each with a score of -inf. If models rank different "
            "items, ignore UnlistedItemsWarning.",
            UnlistedItemsWarning,
        )
