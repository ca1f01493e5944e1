"""The values of models and queries as matrices, from which a comparison over queries starts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import in_groups, is_missing, key_names
from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.typing import Columns, Floats
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._verb import grouped_over

Incomplete: TypeAlias = Literal["raise", "pairwise", "common", "zero"]

_MODEL, _UNIT, _CLUSTER = "model index", "unit", "cluster"


@dataclass(frozen=True, eq=False)
class Stratum:
    """The values of one group of `by`.

    Attributes
    ----------
    key : DataFrame, one row
        Values of the `by` columns.
    values : dict of ndarray, shape (n_models, n_queries)
        Values by metric; NaN where there is none. Queries are in order of their names.
    cluster : ndarray of int, shape (n_queries,), or None
        Clusters of the queries, from 0.
    """

    key: pl.DataFrame
    values: dict[str, Floats]
    cluster: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class ComparedValues:
    """The metrics, models and queries of a comparison, and the treatment of missing values."""

    evaluation: Evaluation
    over: Sequence[str]
    incomplete: Incomplete

    @classmethod
    def of(
        cls,
        args: Arguments,
        over: Columns,
        incomplete: Incomplete,
        wanted: dict[str, Metric],
        undefined: float | None,
    ) -> "ComparedValues":
        """Check `over`, and that the metrics can be evaluated with the arguments."""
        checks.one_of("incomplete", incomplete, get_args(Incomplete))
        columns = grouped_over(args, over).keys[len(args.keys) :]
        if args.model in columns:
            raise PrframeError(
                f"`model` and `over` both name {args.model!r}; models are compared over queries."
            )
        evaluation = Evaluation(args, wanted, undefined=undefined)
        evaluation.check()
        return cls(evaluation, columns, incomplete)

    @property
    def arguments(self) -> Arguments:
        """The arguments with all columns that are needed."""
        args = self.evaluation.args
        return replace(args, by=[*args.keys, *self.over])

    def strata(self, source: Source) -> tuple[pl.Series, list[Stratum]]:
        """Return the models, in order of their first row or column, and a stratum per group."""
        models, rows = self._long(source) if self.evaluation.args.model else self._wide(source)
        keys = key_names(self.evaluation.args)
        parts = rows.partition_by(keys, maintain_order=True) if keys else [rows]
        return models, [self._stratum(part, models) for part in parts if part.height]

    def _evaluated(self, source: Source) -> pl.DataFrame:
        """Evaluate each group of `by`, model and query; a query keeps its cluster."""
        args = self.evaluation.args
        columns = dict(zip(args.keys, key_names(args), strict=True))
        columns |= {} if args.model is None else {args.model: _MODEL}
        columns |= zip(self.over, self._over_names, strict=True)
        if args.cluster is not None:
            # The column of clusters may be among those of queries.
            columns.setdefault(args.cluster, _CLUSTER)
        scores = [args.score, *args.further_scores]
        plain = replace(args, by=list(columns), model=None, cluster=None, further_scores=())
        evaluations = [
            replace(self.evaluation, args=replace(plain, score=column)) for column in scores
        ]
        parts = [evaluation.measured(source) for evaluation in evaluations]
        evaluations[0].warn(_gaps(parts, key_names(plain), list(self.evaluation.wanted)))
        if args.model is None:
            models = [pl.lit(i, dtype=pl.UInt32).alias(_MODEL) for i in range(len(parts))]
            parts = [part.with_columns(model) for part, model in zip(parts, models, strict=True)]
        rows = pl.concat(parts).rename(dict(zip(key_names(plain), columns.values(), strict=True)))
        if args.cluster is None:
            return rows
        return rows.with_columns(pl.col(columns[args.cluster]).alias(_CLUSTER))

    @property
    def _over_names(self) -> list[str]:
        """The working names of the `over` columns."""
        return [f"over{i}" for i in range(len(self.over))]

    def _long(self, source: Source) -> tuple[pl.Series, pl.DataFrame]:
        """Return the models, and a row per group, numbered by them."""
        rows = self._evaluated(source)
        missing = is_missing(pl.col(_MODEL), rows.schema[_MODEL])
        if rows.select(missing.any()).item():
            column = str(self.evaluation.args.model)
            lacking = is_missing(pl.col(column), source.schema[column])
            number = source.lazy().select(lacking.sum()).collect().item()
            raise PrframeError(
                f"`model` {column!r} must not contain nulls or NaN: {number} rows; name these "
                "models, or drop the rows."
            )
        names = rows.select(pl.col(_MODEL).unique(maintain_order=True))
        numbered = names.with_row_index("number")
        rows = rows.join(numbered, on=_MODEL, how="left", maintain_order="left").drop(_MODEL)
        return names[_MODEL], rows.rename({"number": _MODEL})

    def _wide(self, source: Source) -> tuple[pl.Series, pl.DataFrame]:
        """Return the columns of scores, and a row per group and column, numbered by these."""
        args = self.evaluation.args
        models = pl.Series([args.score, *args.further_scores])
        return models, self._evaluated(Source(source.whole()))

    def _stratum(self, rows: pl.DataFrame, models: pl.Series) -> Stratum:
        """Spread the rows of one group over models and queries."""
        over = self._over_names
        # Categories are in order of their text, not of their first rows.
        text = [
            pl.col(name).cast(pl.String) for name in over if rows[name].dtype == pl.Categorical
        ]
        rows = rows.with_columns(text)
        queries = rows.select(over).unique().sort(over).with_row_index(_UNIT)
        rows = rows.join(queries, on=over, how="left", nulls_equal=True, maintain_order="left")
        model, unit = rows[_MODEL].to_numpy(), rows[_UNIT].to_numpy()
        present = np.zeros((len(models), queries.height), dtype=np.int64)
        np.add.at(present, (model, unit), 1)
        cluster = self._clusters(rows, queries)
        if self.incomplete == "raise" and not present.all():
            raise self._absent(present == 0, models, queries.select(over))
        values = {}
        for name in self.evaluation.wanted:
            table = np.full(present.shape, 0.0 if self.incomplete == "zero" else np.nan)
            table[model, unit] = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
            if self.incomplete == "common":
                table[:, np.isnan(table).any(axis=0)] = np.nan
            values[name] = table
        return Stratum(rows.select(key_names(self.evaluation.args)).head(1), values, cluster)

    def _clusters(self, rows: pl.DataFrame, queries: pl.DataFrame) -> NDArray[np.int64] | None:
        """Return the cluster of each query, which must be one."""
        if self.evaluation.args.cluster is None:
            return None
        known = ~is_missing(pl.col(_CLUSTER), rows.schema[_CLUSTER])
        code = pl.when(known).then(pl.col(_CLUSTER).rank("dense").cast(pl.Int64) - 1)
        pairs = rows.select(_UNIT, code.alias(_CLUSTER)).unique()
        bad = pl.col(_UNIT).is_duplicated() | pl.col(_CLUSTER).is_null()
        wrong = pairs.filter(bad)[_UNIT].unique().sort()
        if wrong.len():
            names = queries.select(self._over_names)[wrong.to_list()].rows()
            raise PrframeError(
                f"`cluster` {self.evaluation.args.cluster!r} must be one value, and no null, for "
                f"each group of `over`{in_groups(names)}; mend these rows."
            )
        return pairs.sort(_UNIT)[_CLUSTER].to_numpy()

    def _absent(
        self, absent: NDArray[np.bool_], models: pl.Series, queries: pl.DataFrame
    ) -> PrframeError:
        """Return the error that says how many queries each model lacks."""
        lacking = zip(models.to_list(), absent.sum(axis=1).tolist(), strict=True)
        lacks = [f"{model!r} has none for {number}" for model, number in lacking if number]
        others = f" and {len(lacks) - checks.SHOWN} more models" * (len(lacks) > checks.SHOWN)
        where = in_groups(queries[np.flatnonzero(absent.any(axis=0))].rows())
        return PrframeError(
            f"every model must have rows for every group of `over`: of {queries.height} groups "
            f"{', '.join(lacks[: checks.SHOWN])}{others}{where}; compare what two models have in "
            "common with incomplete='pairwise', what all have with 'common', or count the missing "
            "as 0 with 'zero'."
        )


def _gaps(
    parts: Sequence[pl.DataFrame], keys: Sequence[str], names: Sequence[str]
) -> pl.DataFrame:
    """Return a row per group of any model, null where some model has the group but no value."""
    if len(parts) == 1:
        return parts[0]
    values = [
        pl.when(pl.col(name).is_not_null().all()).then(pl.col(name).first()).alias(name)
        for name in names
    ]
    return pl.concat(parts).group_by(keys, maintain_order=True).agg(values)
