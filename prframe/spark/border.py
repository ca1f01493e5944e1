"""The border between Spark and polars: which columns and types pass it, and how."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe import checks
from prframe.errors import PrframeError

if TYPE_CHECKING:
    import pyarrow as pa

_DTYPES: dict[str, pl.DataType] = {
    "boolean": pl.Boolean(),
    "tinyint": pl.Int8(),
    "smallint": pl.Int16(),
    "int": pl.Int32(),
    "bigint": pl.Int64(),
    "float": pl.Float32(),
    "double": pl.Float64(),
    "string": pl.String(),
    "binary": pl.Binary(),
    "date": pl.Date(),
    # Spark keeps instants, and shows them in the time zone of the session.
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
# The word "timestamp" alone may mean either type in a schema, by a setting of the session.
_IN_SCHEMAS = {"timestamp": "timestamp_ltz"}
# Batches that are copied together; Spark makes batches of 10,000 rows.
_BATCHES = 16


def is_frame(frame: object) -> bool:
    """Tell whether a frame is one of Spark, classic or Connect."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")
        for kind in type(frame).__mro__
    )


def needed(frame: Any, columns: Mapping[str, str]) -> Any:
    """Return the needed columns under plain names, as workers get none that hold a dot."""
    checks.columns_exist(dict(columns), frame.columns)
    refuse_alike(columns, frame.columns, "the frame has")
    plain = plain_names(columns)
    return frame.selectExpr(*(f"{quoted(name)} AS {plain[name]}" for name in columns))


def plain_names(columns: Iterable[str]) -> dict[str, str]:
    """Return the names that columns have on their way to the workers."""
    return {name: f"c{i}" for i, name in enumerate(columns)}


def refuse_alike(names: Iterable[str], among: Sequence[str], having: str) -> None:
    """Refuse names that are those of several columns to Spark, which does not tell case."""
    for name in names:
        alike = [other for other in among if other.lower() == name.lower()]
        if len(alike) > 1:
            raise PrframeError(
                f"{having} columns {checks.listed(alike, in_order=True)}, which Spark does not "
                "tell apart; rename them."
            )


def quoted(name: str) -> str:
    """Return a column name as Spark reads it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def empty(kinds: Mapping[str, str], columns: Mapping[str, str]) -> pl.DataFrame:
    """Return a polars frame without rows whose columns have types in Spark's words."""
    schema = {name: _dtype(name, kinds[name], argument) for name, argument in columns.items()}
    return pl.DataFrame(schema=schema)


def _dtype(name: str, kind: str, argument: str) -> pl.DataType:
    """Return the polars dtype of a column, given its type in Spark's words."""
    if decimal := _DECIMAL.fullmatch(kind):
        return pl.Decimal(*map(int, decimal.groups()))
    if kind not in _DTYPES:
        raise PrframeError(
            f"`{argument}` must name columns of plain values; {name!r} is {kind} in Spark; "
            "cast it, for example to string."
        )
    return _DTYPES[kind]


def schema_of(out: Mapping[str, pl.DataType], kept: Mapping[str, str]) -> str:
    """Return the schema of a result in Spark's words; some columns keep the caller's types."""
    refuse_alike(out, list(out), "the result would have")
    kinds = {name: kept.get(name) or _kind(dtype) for name, dtype in out.items()}
    return ", ".join(
        f"{quoted(name)} {_IN_SCHEMAS.get(kind, kind)}" for name, kind in kinds.items()
    )


def _kind(dtype: pl.DataType) -> str:
    """Return the type of a column in Spark's words."""
    if isinstance(dtype, pl.Decimal):
        return f"decimal({dtype.precision},{dtype.scale})"
    return next(kind for kind, known in _DTYPES.items() if known == dtype)


def read(batches: Iterable["pa.RecordBatch"], like: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a partition, some batches at a time, with the dtypes of a frame."""
    coming = iter(batches)
    blocks = iter(lambda: list(islice(coming, _BATCHES)), [])
    return pl.concat([like, *(_copied(block, like) for block in blocks)], rechunk=True)


def _copied(batches: Sequence["pa.RecordBatch"], like: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of batches, in memory that polars holds."""
    import pyarrow as pa

    schema = _arrow_schema(like)
    rows = pa.Table.from_batches(batches).rename_columns(schema.names).cast(schema)
    # Arrow has no dtype for a column without name, so that this is a frame.
    return pl.DataFrame(pl.from_arrow(rows, rechunk=True))


def written(rows: pl.DataFrame) -> Iterator["pa.RecordBatch"]:
    """Yield the rows of a result as Spark reads them."""
    yield from rows.to_arrow().cast(_arrow_schema(rows)).to_batches(max_chunksize=1 << 16)


def _arrow_schema(like: pl.DataFrame) -> "pa.Schema":
    """Return the Arrow types of a frame in the form that Spark knows, without long strings."""
    import pyarrow as pa

    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    fields = like.head(0).to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    return pa.schema([(field.name, short.get(field.type, field.type)) for field in fields])
