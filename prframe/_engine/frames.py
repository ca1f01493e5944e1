"""The border, where frames of any kind become polars and results become the caller's kind."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.frame_kinds import kind_of
from prframe.errors import in_name_of_caller
from prframe.typing import Integers, Schema

if TYPE_CHECKING:
    from prframe.spark.groups import Steps

# A batch or slice takes a few megabytes, so that its memory is used again by the next one.
_BATCH_ROWS = 1 << 18
_SLICE_ROWS = 1 << 19
# NumPy compares these by itself, without a query.
_MACHINE_INTEGERS = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
)
# So many rows at the end are looked at first to learn where the keys change last.
_LAST_ROWS = 1 << 12


@dataclass
class Seen:
    """What was noticed of the rows while they were ranked, and may deserve a warning."""

    rows: bool = False
    positives: bool = False
    negatives: bool = False
    # A sentence about ties that trec_eval would have ranked otherwise.
    tied: str = ""
    # Negatives have the score -inf, and are not ranked.
    lost: bool = False
    # Labels that are numbers, as far as they were looked at; those below 0 count as 0.
    grades: set[float] = field(default_factory=set)
    # There were rows that are not ranked.
    read: bool = False
    # A group has more positives than are listed, by what the caller says.
    unlisted: bool = False
    # The columns of keys that are null in some rows.
    nameless: set[str] = field(default_factory=set)
    # The totals of groups, if somebody asks for them.
    totals: list[pl.DataFrame] | None = None


@dataclass(frozen=True)
class Source:
    """The needed columns of the caller's frame, whole or in batches.

    Items of a group differ if it is `distinct`; groups stand in several stretches of rows if it is
    `scattered`. `runs` are counted rows (see `prframe._engine.runs`); `data` then has none.
    """

    data: pl.DataFrame | pl.LazyFrame
    seen: Seen = field(default_factory=Seen, compare=False)
    distinct: bool = False
    scattered: bool = False
    runs: pl.DataFrame | None = None

    @property
    def schema(self) -> pl.Schema:
        """The dtypes of the columns."""
        return self.data.collect_schema()

    def lazy(self) -> pl.LazyFrame:
        """Return the rows as a query."""
        return self.data.lazy()

    def whole(self) -> pl.DataFrame:
        """Return all rows."""
        data = self.data
        return data if isinstance(data, pl.DataFrame) else data.collect().rechunk()

    def holding(self, rows: pl.DataFrame) -> "Source":
        """Return a source of these rows instead, which notices for this one."""
        return Source(rows, self.seen)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in order, a batch at a time; a query is never held whole."""
        if isinstance(self.data, pl.DataFrame):
            yield from self.data.iter_slices(_SLICE_ROWS)
        else:
            yield from self.data.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True)

    def whole_runs(
        self, keys: Sequence[str], batches: Iterator[pl.DataFrame]
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of all batches in order, about as many at a time, cut by their keys."""
        if isinstance(self.data, pl.DataFrame):
            return _runs_of_frame(self.data, keys)
        return _runs_of_batches(batches, keys)

    def joined(self, first: pl.DataFrame, rest: Iterator[pl.DataFrame]) -> pl.DataFrame:
        """Return all rows, given the batch that has been taken and the iterator over the rest."""
        if isinstance(self.data, pl.DataFrame):
            return self.data
        return pl.concat([first, *rest], rechunk=True)


def run_starts(keys: Sequence[pl.Series]) -> Integers:
    """Return the rows whose keys differ from those of the row before; the first row is one."""
    if not keys[0].len():
        return np.zeros(0, np.int64)
    changes = reduce(np.logical_or, map(_changes, keys))
    return np.append(0, np.flatnonzero(changes) + 1)


def _changes(key: pl.Series) -> NDArray[np.bool_]:
    """Return which values but the first differ from the one before."""
    if key.dtype not in _MACHINE_INTEGERS:
        key = key.to_physical()
    if key.dtype in _MACHINE_INTEGERS and not key.null_count():
        values = key.to_numpy()
        return np.asarray(values[1:] != values[:-1])
    return key.slice(1).ne_missing(key.head(-1)).to_numpy()


def _last_start(keys: pl.DataFrame) -> int:
    """Return the last row whose keys differ from those of the row before, or 0."""
    looked_at = min(_LAST_ROWS, keys.height)
    while True:
        last = int(run_starts(keys.tail(looked_at).get_columns())[-1])
        if last or looked_at == keys.height:
            return keys.height - looked_at + last
        looked_at = min(8 * looked_at, keys.height)


def _runs_of_frame(rows: pl.DataFrame, keys: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield slices of rows, each of which is cut where the keys change; nothing is copied."""
    start, wanted = 0, _SLICE_ROWS
    while start + wanted < rows.height:
        part = rows.slice(start, wanted)
        if cut := _last_start(part.select(keys)):
            yield part.head(cut)
            start, wanted = start + cut, _SLICE_ROWS
        else:
            wanted *= 2
    if start < rows.height:
        yield rows.slice(start)


def _runs_of_batches(
    batches: Iterator[pl.DataFrame], keys: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """Yield the rows of batches, cut where the keys change."""
    pending: list[pl.DataFrame] = []
    for batch in batches:
        if batch.is_empty():
            continue
        cut = _last_start(batch.select(keys))
        if cut or (pending and _change_between(pending[-1], batch, keys)):
            complete = [*pending, batch.head(cut)]
            # A slice would keep the memory of all rows.
            pending = [batch[np.arange(cut, batch.height)] if cut else batch]
            del batch
            yield _stacked(complete)
        else:
            pending.append(batch)
    if pending:
        yield _stacked(pending)


def _change_between(before: pl.DataFrame, after: pl.DataFrame, keys: Sequence[str]) -> bool:
    """Return whether the first row has other keys than the last row of the batch before."""
    pair = pl.concat([before.tail(1).select(keys), after.head(1).select(keys)])
    return run_starts(pair.get_columns()).size > 1


def _stacked(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Stack parts in one stretch of memory, which NumPy takes as it is; they are let go."""
    rows = pl.concat([part for part in parts if part.height], rechunk=True)
    parts.clear()
    return rows


def through(  # noqa: PLR0913
    frame: object,
    columns: dict[str, str],
    schema: Callable[[Source], Schema],
    compute: Callable[[Source], pl.DataFrame],
    renamed: Mapping[str, str] | None = None,
    *,
    copied: Mapping[str, str] | None = None,
    steps: "Steps | None" = None,
) -> Any:
    """Carry a frame over the border, compute, and carry the result back.

    `columns` maps each needed column to the argument that names it. `schema` checks the arguments
    against the frame and returns the columns of the result. `compute` does the work; for a lazy
    frame it runs when the result is collected. `renamed` maps columns of the result to those of
    the caller whose values they hold, perhaps with new ones; `copied` maps those that hold no
    others. `steps` say how the work is done on Spark.
    """
    same = {key: key for key, argument in columns.items() if argument == "by"} | dict(copied or {})
    kind = kind_of(frame)
    if kind.is_elsewhere and steps is not None:
        from prframe.spark.groups import over_partitions

        return over_partitions(frame, columns, lambda rows: schema(Source(rows)), steps, same)
    data, back = kind.enter(frame, columns, dict(renamed or {}), same)
    source = Source(data)
    out = dict(schema(source))

    columns_out = [pl.col(name).cast(dtype) for name, dtype in out.items()]
    # A number too small for its dtype is as good as 0, whatever NumPy is told to do of it.
    if isinstance(data, pl.LazyFrame):

        def work() -> pl.DataFrame:
            with np.errstate(under="ignore"):
                return compute(source).select(columns_out)

        return pl.defer(in_name_of_caller(work), schema=out)
    with np.errstate(under="ignore"):
        return back(compute(source).select(columns_out))


def named(frame: object) -> tuple[Any, list[str]]:
    """Return a frame that can be read again, unlike some Arrow streams, and its column names."""
    return kind_of(frame).named(frame)


def source(frame: object, columns: dict[str, str]) -> Source:
    """Carry the needed columns of a frame over the border, with no way back."""
    return Source(kind_of(frame).enter(frame, columns, {}, {})[0])
