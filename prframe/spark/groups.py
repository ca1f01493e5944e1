"""Computations on Spark frames: of each group on the worker that holds it, and of all of them."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe.spark.border import empty, needed, plain_names, read, schema_of, written

if TYPE_CHECKING:
    import pyarrow as pa

Compute = Callable[[pl.DataFrame], pl.DataFrame]
Schema = Mapping[str, pl.DataType]

_PART = "part"


@dataclass(frozen=True)
class Steps:
    """A computation on rows that lie in many places.

    Attributes
    ----------
    keys : sequence of str
        Columns whose groups must be whole; none if all rows must meet in one place.
    of_groups : callable
        What is computed of whole groups.
    of_all : callable or None
        What is computed of the rows of all groups together, which are sorted. None: the rows of
        the groups are those of the result.
    """

    keys: Sequence[str]
    of_groups: Compute
    of_all: Compute | None = None


@dataclass(frozen=True)
class _OfGroups:
    """The computation on a partition that holds whole groups.

    Its rows have the columns `out`; if that is None, they are packed into one row of bytes.
    """

    like: pl.DataFrame
    compute: Compute
    out: Schema | None

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of the result; a partition without rows has none."""
        rows = read(batches, self.like)
        if rows.height:
            result = _computed(self.compute, rows)
            yield from written(_packed(result) if self.out is None else _typed(result, self.out))


@dataclass(frozen=True)
class _OfAll:
    """The computation on what was packed of all partitions."""

    like: pl.DataFrame
    steps: Steps
    out: Schema

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of the result."""
        packed = [part for batch in batches for part in batch.column(0).to_pylist()]
        none = _computed(self.steps.of_groups, self.like)
        rows = pl.concat([none, *(pl.read_ipc(BytesIO(part)) for part in packed)])
        result = _computed(self.steps.of_all or _same, _in_order(rows))
        yield from written(_typed(result, self.out))


def over_partitions(
    frame: Any,
    columns: Mapping[str, str],
    schema: Callable[[pl.DataFrame], Schema],
    steps: Steps,
    same: Mapping[str, str],
) -> Any:
    """Return the result of a computation as a Spark frame that is computed when it is read.

    `columns` maps each needed column to the argument that names it, and `schema` gives the columns
    of the result, and checks the arguments, on a frame without rows. `same` maps columns of the
    result to those of the caller that have their type.
    """
    rows = needed(frame, columns)
    kinds = {name: kind for name, (_, kind) in zip(columns, rows.dtypes, strict=True)}
    like = empty(kinds, columns)
    out = dict(schema(like))
    words = schema_of(out, {name: kinds[column] for name, column in same.items() if name in out})
    # What only the computation itself refuses is refused now as well, before any job.
    result = _computed(steps.of_groups, like)
    _typed(result if steps.of_all is None else _computed(steps.of_all, result), out)
    if steps.keys:
        plain = plain_names(columns)
        rows = rows.repartition(*(plain[key] for key in steps.keys))
    if steps.of_all is None:
        return rows.mapInArrow(_OfGroups(like, steps.of_groups, out), words)
    packed = rows.mapInArrow(_OfGroups(like, steps.of_groups, None), f"{_PART} binary")
    return packed.repartition(1).mapInArrow(_OfAll(like, steps, out), words)


def _computed(compute: Compute, rows: pl.DataFrame) -> pl.DataFrame:
    """Compute without warnings, which nobody would see where workers compute."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compute(rows)


def _typed(rows: pl.DataFrame, out: Schema) -> pl.DataFrame:
    """Return the columns of the result in their order, with their exact dtypes."""
    return rows.select(pl.col(name).cast(dtype) for name, dtype in out.items())


def _packed(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a single row, which holds all rows as bytes."""
    content = BytesIO()
    rows.write_ipc(content)
    return pl.DataFrame({_PART: [content.getvalue()]})


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort rows, by keys and names before values; Spark has no order, and sums depend on it."""
    plain = [name for name, dtype in rows.schema.items() if not dtype.is_nested()]
    by = sorted(plain, key=lambda name: rows.schema[name].is_float())
    # Other than sorted columns, gathered ones are added up as those of any frame.
    return rows[rows.select(pl.arg_sort_by(by, maintain_order=True)).to_series()]


def _same(rows: pl.DataFrame) -> pl.DataFrame:
    return rows
