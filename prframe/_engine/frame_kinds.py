"""The kinds of frames, each with the way of its columns into polars and of results back."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from uuid import UUID

import polars as pl

from prframe import checks, hints
from prframe.errors import PrframeError
from prframe.spark.border import is_frame as is_spark_frame

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")
# Columns in polars, and the way of a result back to the caller's kind.
Entered: TypeAlias = tuple[pl.DataFrame | pl.LazyFrame, Callable[[pl.DataFrame], object]]
Names: TypeAlias = dict[str, str]


def kinds() -> str:
    """Return the kinds of frames in words, for the documentation."""
    return ", ".join(kind.description for kind in KINDS)


def kind_of(frame: object) -> "FrameKind":
    """Return the kind of a frame, which must be known."""
    for kind in KINDS:
        if kind.owns(frame):
            return kind
    library = type(frame).__module__.partition(".")[0]
    given = f"{library}.{type(frame).__qualname__}".removeprefix("builtins.")
    descriptions = ", a ".join(kind.description for kind in KINDS)
    way = _way_to_a_frame(frame)
    raise PrframeError(f"the frame must be a {descriptions}; got {given}.{way}")


def _way_to_a_frame(given: object) -> str:
    """Return a sentence on how an object becomes a frame, nothing if that is not known."""
    if "GroupBy" in type(given).__qualname__:
        return " Pass the frame itself and name its keys in by=."
    if isinstance(given, (str, Path)):
        return " Read the file, for example with polars.scan_parquet or prframe.trec.read_run."
    if isinstance(given, Mapping):
        return (
            " A dict of columns is a frame; prframe.trec.join makes one of a run and judgments by "
            "query."
        )
    if isinstance(given, (list, tuple)) or hasattr(given, "__array__"):
        way = " Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}."
        if isinstance(given, (list, tuple)) and given and isinstance(given[0], (int, float)):
            way += (
                " Precomputed values of a metric are such a column, too, as in "
                "interval({'query_id': queries, 'AP': values}, values='AP', over='query_id')."
            )
        return way
    return ""


class FrameKind(ABC):
    """A kind of frame, which messages name by its description."""

    description: str
    # Other processes hold the rows, which then have no order.
    is_elsewhere: bool = False

    @abstractmethod
    def owns(self, frame: object) -> bool:
        """Return whether a frame is of this kind, without importing its library."""

    @abstractmethod
    def named(self, frame: Any) -> tuple[object, list[str]]:
        """Return a frame that can be read again, and the names of its columns."""

    @abstractmethod
    def enter(self, frame: Any, columns: Names, renamed: Names, same: Names, /) -> Entered:
        """Return the needed columns in polars, and the way back to the caller's kind."""


class _Polars(FrameKind):
    description = "polars DataFrame or LazyFrame"

    def owns(self, frame: object) -> bool:
        return isinstance(frame, (pl.DataFrame, pl.LazyFrame))

    def named(self, frame: pl.DataFrame | pl.LazyFrame) -> tuple[object, list[str]]:
        return frame, frame.lazy().collect_schema().names()

    def enter(self, frame: Any, columns: Names, /, *_: object) -> Entered:
        names = self.named(frame)[1]
        checks.columns_exist(columns, names)
        if isinstance(frame, pl.DataFrame):
            return frame.select(list(columns)), lambda out: out
        # Columns stay in the order of the file, because a reader that reorders them holds far more
        # of them at once.
        return frame.select(name for name in names if name in columns), lambda out: out


class _Pandas(FrameKind):
    description = "pandas DataFrame"

    def owns(self, frame: object) -> bool:
        return is_instance(frame, "pandas", "DataFrame")

    def named(self, frame: "pd.DataFrame") -> tuple[object, list[str]]:
        return frame, [name for name in frame.columns if isinstance(name, str)]

    def enter(self, frame: Any, columns: Names, renamed: Names, same: Names, /) -> Entered:
        """Read the needed columns and note their dtype backend."""
        _names_are_unique(list(frame.columns), columns)
        in_index = [name for name in columns if name in frame.index.names]
        hint = f" {in_index} is in the index: call .reset_index() first." if in_index else ""
        hint += hints.OF_LEVELS if frame.columns.nlevels > 1 else ""
        checks.columns_exist(columns, list(frame.columns), hint)
        needed = frame[list(columns)]
        data = _read_columns(lambda names: _from_pandas(needed[names]), columns, needed)
        uuids = [
            name
            for name, column in (*same.items(), *renamed.items())
            if data.schema[column] == pl.Binary
            and needed[column].dtype == "object"
            and isinstance(next(iter(needed[column].dropna()), None), UUID)
        ]
        # pandas has no dtype for nulls alone, and polars takes those for strings.
        data = data.with_columns(
            pl.col(name).cast(pl.Null)
            for name, role in columns.items()
            if role == "label" and data[name].null_count() == data.height > 0
        )
        kept = {name: needed[column].dtype for name, column in same.items()}
        kept |= {
            name: needed[column].dtype
            for name, column in renamed.items()
            # A categorical dtype would lose values that are not among its categories.
            if needed[column].dtype.name != "category"
        }
        # Categories that are ordered in pandas keep their order; that of others may be of rows.
        data = data.with_columns(
            pl.col(name).cast(pl.Enum(dtype.categories))
            for name in set(same.values())
            if data.schema[name] == pl.Categorical
            and getattr(dtype := cast("Any", needed[name].dtype), "ordered", False)
        )
        return data, lambda out: _to_pandas(out, _backend(needed), kept, uuids)


class _Columns(FrameKind):
    """A dict of columns; what comes back is a polars frame."""

    description = "dict of columns"

    def owns(self, frame: object) -> bool:
        return isinstance(frame, Mapping) and not any(
            isinstance(column, (Mapping, str)) or not hasattr(column, "__len__")
            for column in frame.values()
        )

    def named(self, frame: Mapping[str, Any]) -> tuple[object, list[str]]:
        return frame, [name for name in frame if isinstance(name, str)]

    def enter(self, frame: Any, columns: Names, /, *_: object) -> Entered:
        """Read the needed columns."""
        checks.columns_exist(columns, list(frame))
        data = _read_columns(
            lambda names: pl.DataFrame({name: frame[name] for name in names}), columns, frame
        )
        return data, lambda out: out


class _Arrow(FrameKind):
    description = "pyarrow Table, or any other frame with the Arrow PyCapsule interface"

    def owns(self, frame: object) -> bool:
        return hasattr(frame, "__arrow_c_stream__") and "Series" not in type(frame).__name__

    def named(self, frame: object) -> tuple[object, list[str]]:
        table = _table(frame)
        return table, list(table.column_names)

    def enter(self, frame: Any, columns: Names, renamed: Names, same: Names, /) -> Entered:
        """Read a pyarrow table or a PyCapsule frame; both get a pyarrow table back."""
        import pyarrow as pa

        table = _table(frame)
        _names_are_unique(table.column_names, columns)
        checks.columns_exist(columns, table.column_names)
        data = _read(lambda: cast("pl.DataFrame", pl.from_arrow(table.select(list(columns)))))
        kept = {name: table.schema.field(column).type for name, column in same.items()}
        for name, column in renamed.items():
            dtype = table.schema.field(column).type
            if not pa.types.is_dictionary(dtype):
                kept[name] = dtype
        return data, lambda out: _to_arrow(out, kept)


class _Spark(FrameKind):
    """A Spark frame, classic or Connect, on whose workers the verbs compute."""

    description = "pyspark DataFrame"
    is_elsewhere = True

    def owns(self, frame: object) -> bool:
        return is_spark_frame(frame)

    def named(self, frame: Any) -> tuple[object, list[str]]:
        if getattr(frame, "isStreaming", False):
            raise PrframeError(
                "a streaming frame has parts of its rankings at a time; got a streaming pyspark "
                "DataFrame; write the stream to a table, and read that."
            )
        return frame, list(frame.columns)

    def enter(self, frame: Any, columns: Names, /, *_: object) -> Entered:  # noqa: ARG002
        """Refuse to collect a frame that may be larger than memory."""
        raise PrframeError(
            "only the verbs take a Spark frame; collect what is needed here, for example with "
            "frame.toArrow()."
        )


# The first kind that owns a frame takes it. Spark frames have the PyCapsule interface as well,
# which collects them.
KINDS: tuple[FrameKind, ...] = (_Polars(), _Pandas(), _Columns(), _Spark(), _Arrow())


def is_instance(frame: object, module: str, name: str) -> bool:
    """Return whether the frame is of a library's class, without importing that library."""
    library = sys.modules.get(module)
    return library is not None and isinstance(frame, getattr(library, name))


def _read(read: Callable[[], T], column: str = "", taken: str = "") -> T:
    """Read the caller's frame; an error of the reader becomes a message to the caller."""
    try:
        return read()
    except (Exception, pl.exceptions.PanicException) as error:
        told = f"the frame cannot be read into polars: {column}{error}{taken and f'. {taken}'}"
        raise PrframeError(told) from error


def _read_columns(
    read: Callable[[list[str]], pl.DataFrame], columns: Names, frame: Any
) -> pl.DataFrame:
    """Read columns of the caller's frame; the message names the one that cannot be read."""
    try:
        return _read(lambda: read(list(columns)))
    except PrframeError:
        for name, argument in columns.items():
            dtype = getattr(frame[name], "dtype", None)
            of_dtype = "" if dtype is None else f", of dtype {dtype}"
            told = f"column {name!r}{of_dtype}: "
            _read(partial(read, [name]), told, hints.TAKEN.get(argument, ""))
        raise


def _table(frame: Any) -> "pa.Table":
    """Return a PyCapsule frame as a pyarrow table."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return frame
    table = _read(lambda: pa.table(frame))
    if isinstance(frame, pa.RecordBatchReader) and not table.num_rows:
        raise PrframeError(
            "the reader has no rows, or no more of them; got a pyarrow RecordBatchReader, which "
            "can be read once; make a table with read_all() first, and pass that."
        )
    return table


def _to_arrow(out: pl.DataFrame, kept: Mapping[str, "pa.DataType"]) -> "pa.Table":
    """Write a pyarrow table; some columns keep the caller's types."""
    import pyarrow as pa

    table = out.to_arrow(compat_level=pl.CompatLevel.oldest())
    fields = [pa.field(field.name, kept.get(field.name, field.type)) for field in table.schema]
    try:
        return table.cast(pa.schema(fields))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Not every type that can be read can be written again, and the values matter more.
        return table


def _names_are_unique(names: Sequence[object], columns: Names) -> None:
    """Refuse needed columns whose name the frame has more than once."""
    twice = [column for column in columns if list(names).count(column) > 1]
    if twice:
        raise PrframeError(f"the frame has more than one column named {checks.listed(twice)}.")


def _from_pandas(frame: "pd.DataFrame") -> pl.DataFrame:
    """Read a pandas frame, if need be with plainer columns."""
    try:
        return pl.from_pandas(frame)
    except Exception:  # noqa: BLE001 - what cannot be read either way is refused by its error
        return pl.from_pandas(frame.apply(_plain))


def _plain(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a sparse column as a dense one, and Booleans among integers as integers."""
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype):
        return column.astype(column.dtype.subtype)
    if column.dtype == "object" and all(map(pd.api.types.is_integer, column.dropna() * 1)):
        return column.astype("Int64")
    return column


def _to_pandas(
    out: pl.DataFrame, backend: str, kept: Mapping[str, Any], uuids: Sequence[str]
) -> "pd.DataFrame":
    """Write a pandas frame in the caller's backend; some columns keep the caller's dtypes."""
    import pandas as pd

    result = out.to_pandas(use_pyarrow_extension_array=backend == "pyarrow")
    dtypes = {name: dtype for name, dtype in kept.items() if name in out.columns}
    if backend == "numpy_nullable":
        dtypes |= {
            name: _NULLABLE[dtype.base_type()]
            for name, dtype in out.schema.items()
            # Other dtypes, for example categories, have no nullable kind and stay.
            if name not in kept and dtype.base_type() in _NULLABLE
        }
    result = result.astype(dtypes)
    for name, dtype in dtypes.items():
        is_day = dtype == "object" and out.schema[name] == pl.Date
        if is_day or name in uuids:
            # Pandas would make points in time of days, and leave UUIDs bytes.
            values = [
                value if is_day or value is None else UUID(bytes=value) for value in out[name]
            ]
            result[name] = pd.Series(values, index=result.index, dtype=object)
    return result


_NULLABLE: dict[Any, str] = {
    pl.Float64: "Float64",
    pl.Int64: "Int64",
    pl.Boolean: "boolean",
    pl.String: "string",
}


def _backend(frame: "pd.DataFrame") -> str:
    """Name the dtype backend: that of the first column that is not plain NumPy."""
    import pandas as pd

    for dtype in frame.dtypes:
        if isinstance(dtype, pd.ArrowDtype):
            return "pyarrow"
        if isinstance(dtype, pd.api.extensions.ExtensionDtype) and dtype.na_value is pd.NA:
            return "numpy_nullable"
    return "numpy"
