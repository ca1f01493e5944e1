"""Precomputed values of metrics: a column each, or one column next to one of their names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import Problem, in_groups, key_names
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics import Metric, parse_metric
from prframe.stats._tolerances import RESIDUE
from prframe.stats.null import without_single_precision
from prframe.typing import Columns
from prframe.verbs._evaluation import Evaluation, named
from prframe.verbs._verb import warn_null

# The working columns of the metric of each row, of its value, and of the number of the column that
# holds it.
METRIC, VALUE, COLUMN = "metric", "value", "column"
# The third powers of such values, and sums of these, are floats.
_LARGEST = 1e100
# The column of the caller that names metrics, and the name of a metric that has none.
_NAMING, _NAMELESS = "metric", "value"


@dataclass(frozen=True, eq=False)
class MetricValues:
    """Values of metrics with a row each: the keys, ``metric`` and ``value``; and their ranges."""

    rows: pl.DataFrame
    ranges: dict[str, tuple[float, float]]

    @classmethod
    def of(cls, values: pl.DataFrame, wanted: Mapping[str, Metric]) -> "MetricValues":
        """Return the values of metrics that have a column each, beside keys."""
        names = list(wanted)
        rows = values.with_columns(pl.col(names).cast(pl.Float64)).unpivot(
            names,
            index=[name for name in values.columns if name not in wanted],
            variable_name=METRIC,
            value_name=VALUE,
        )
        return cls.of_rows(rows, wanted)

    @classmethod
    def of_rows(cls, rows: pl.DataFrame, wanted: Mapping[str, Metric]) -> "MetricValues":
        """Return the values of metrics that have a row each."""
        return cls(rows, {name: metric.range for name, metric in wanted.items()})


@dataclass(frozen=True)
class PrecomputedValues:
    """The columns of values, and how metrics and models are distinguished."""

    # Values have no labels, of which others would be warned.
    uses_grades = counts_hits = False

    columns: tuple[str, ...]
    # Whether another column names the metric of each row, and whether the columns are models.
    long: bool
    models: bool = False
    # The value in place of null and NaN.
    undefined: float | None = None
    # Whether null is expected, as for queries that humans have not judged.
    sparse: bool = False

    @classmethod
    def of(
        cls, values: Columns, names: Collection[str], used: Collection[str], *, models: bool
    ) -> "PrecomputedValues":
        """Return the layout of a frame with columns of some names, of which some are in use."""
        columns = tuple(checks.column_names("values", values))
        if shared := [column for column in columns if column in used]:
            raise ArgumentError(
                f"`values` names {checks.listed(shared)}, which other arguments name too; name "
                "the columns that hold values of metrics."
            )
        free = _NAMING in names and _NAMING not in {*used, *columns}
        return cls(columns, free and (models or len(columns) == 1), models)

    @property
    def _naming(self) -> list[str]:
        """The column that names metrics, if there is one."""
        return [_NAMING] if self.long else []

    def arguments(self, args: Arguments) -> Arguments:
        """Return the arguments of the call with the precomputed columns."""
        if args.missing != "raise":
            raise ArgumentError(
                "`missing` is for scores; precomputed values that are null or NaN are undefined "
                "and do not enter, so leave it out."
            )
        columns = [("values", column) for column in self.columns]
        return args.with_values(columns, also_refused=("n_pos", "n_neg"))

    def keyed(self, args: Arguments) -> Arguments:
        """Return the arguments with all columns by which values are distinguished."""
        return replace(args, by=[*args.keys, *self._naming])

    def read(self, source: Source, args: Arguments) -> MetricValues:
        """Return a row per value, with the names of the keys, and warn of undefined ones."""
        data = source.whole()
        source.seen.read = data.height > 0
        for fault in self._faults(data.schema):
            fault.refuse(data, args, source)
        self._refuse_repeated(data, args)
        keys = [pl.col(k).alias(name) for k, name in zip(args.keys, key_names(args), strict=True)]
        parts = [
            data.select(
                *keys,
                self._metric(column).alias(METRIC),
                pl.col(column).cast(pl.Float64).fill_nan(None).alias(VALUE),
                *([pl.lit(i, dtype=pl.UInt32).alias(COLUMN)] if self.models else []),
            )
            for i, column in enumerate(self.columns)
        ]
        rows = pl.concat(parts)
        if any(data.schema[column] == pl.Float32 for column in self.columns):
            rows = _unrounded(rows)
        by_metric = rows.partition_by(METRIC, as_dict=True, maintain_order=True)
        ranges = {str(name): _range(str(name), part[VALUE]) for (name,), part in by_metric.items()}
        filled = rows.with_columns(pl.col(VALUE).fill_null(pl.lit(self.undefined)))
        if not self.sparse:
            _warn(filled, args)
        return MetricValues(filled, ranges)

    def _metric(self, column: str) -> pl.Expr:
        """Return the metrics of a column of values."""
        if self.long:
            return pl.col(_NAMING).cast(pl.String)
        return pl.lit(_NAMELESS if self.models else column)

    def _faults(self, schema: pl.Schema) -> list[Problem]:
        """Return the faults that no row may have."""
        faults = [
            Problem(
                "missing_metric",
                pl.col(column).is_null(),
                f"`metric` {column!r} must not contain nulls",
                "name these metrics, or drop the rows",
            )
            for column in self._naming
        ]
        for column in (column for column in self.columns if schema[column].is_float()):
            value, must = pl.col(column), f"`values` {column!r} must be"
            faults += [
                Problem(
                    "infinite_value",
                    value.is_infinite(),
                    f"{must} finite",
                    "mend or drop these rows",
                ),
                Problem(
                    "large_value",
                    ~value.cast(pl.Float64).is_between(-_LARGEST, _LARGEST) & value.is_not_nan(),
                    f"{must} at most {_LARGEST:g} in size, as powers of them are added up",
                    "give them in a larger unit",
                ),
            ]
        return faults

    def _refuse_repeated(self, data: pl.DataFrame, args: Arguments) -> None:
        """Require one row per combination of keys and metric."""
        keys = [*args.keys, *self._naming]
        if shared := shared_keys(data, keys, "these"):
            raise PrframeError(
                f"`values` must be one for each {checks.listed(keys, in_order=True)}, and "
                f"{shared}; name in over= or by= what else tells these rows apart, or take their "
                "mean first."
            )


def values_of(
    source: Source, args: Arguments, measure: Evaluation | PrecomputedValues
) -> MetricValues:
    """Return the value of each group by the keys of the arguments."""
    if isinstance(measure, PrecomputedValues):
        return measure.read(source, args)
    return MetricValues.of(replace(measure, args=args).values(source), measure.wanted)


def shared_keys(rows: pl.DataFrame, keys: Sequence[str], words: str) -> str:
    """Say how many rows have the same keys as others, nothing if none has."""
    names = rows.select(keys)
    repeated = names.filter(names.is_duplicated())
    if not repeated.height:
        return ""
    where = in_groups(repeated.unique(maintain_order=True).rows())
    return f"{repeated.height} of {rows.height} rows share {words}{where}"


def metrics_or_none(
    metrics: "str | Metric | Sequence[str | Metric] | None", values: object
) -> dict[str, Metric]:
    """Return the metrics by name, none with precomputed values."""
    if (metrics is None) == (values is None):
        got = "neither" if values is None else "both"
        raise ArgumentError(
            "give either `metrics`, which are computed from scores and labels, or in `values` the "
            f"columns that hold values of metrics; got {got}."
        )
    return {} if metrics is None else named(metrics)


def refuse_prior(prior: object) -> None:
    """Refuse a share of positives, which precomputed values do not know."""
    if prior is not None:
        raise ArgumentError("`prior` is for metrics of rankings; leave it out with values=.")


def of_queries(otherwise: str) -> PrframeError:
    """Return the error that precomputed values have no queries."""
    return ArgumentError(
        "`values` are those of queries, for example, whose column stands in over=; "
        f"{otherwise}, which takes scores and labels."
    )


def _unrounded(rows: pl.DataFrame) -> pl.DataFrame:
    """Return values of Float32 columns without rounding, so that differences of thirds tie."""
    values = rows[VALUE].to_numpy().copy()
    for metric in rows[METRIC].unique():
        places = np.flatnonzero((rows[METRIC] == metric).to_numpy() & np.isfinite(values))
        values[places] = without_single_precision(values[places])
    return rows.with_columns(pl.Series(VALUE, values).fill_nan(None))


def _range(name: str, values: pl.Series) -> tuple[float, float]:
    """Return the range of a metric of the catalogue that has such values, no limits of others."""
    unbounded = (-np.inf, np.inf)
    try:
        least, most = parse_metric(name).range
    except PrframeError:
        return unbounded
    inside = values.drop_nulls().is_between(least - RESIDUE, most + RESIDUE).all()
    return (least, most) if inside else unbounded


def _warn(rows: pl.DataFrame, args: Arguments) -> None:
    """Warn once of undefined values."""
    lacking = pl.col(VALUE).is_null()
    metrics = rows.filter(lacking)[METRIC].unique(maintain_order=True)
    warn_null(list(metrics), rows, args, lacking, "whose precomputed value is null or NaN")
