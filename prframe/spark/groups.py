"""Computations on Spark frames: of each group on the worker that holds it, and of all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe.spark.border import empty, needed, plain_names, schema_of, written
from prframe.spark.giants import Counted, plan_of
from prframe.spark.workers import PART, Compute, OnRows, Schema, computed, typed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Steps:
    """A computation on rows that lie in many places.

    Attributes
    ----------
    keys : sequence of str
        Columns whose groups must be whole; none if all rows must meet in one place.
    of_groups : callable
        What is computed of whole groups: of their rows, or of a frame without rows and runs.
    of_all : callable or None
        What is computed of the rows of all groups together, which are sorted. None: the rows of
        the groups are those of the result.
    counted : Counted or None
        How rows are counted where no worker need hold a group; None: groups must be whole.
    """

    keys: Sequence[str]
    of_groups: Callable[..., pl.DataFrame]
    of_all: Compute | None = None
    counted: Counted | None = None


@dataclass(frozen=True)
class _OfAll:
    """The computation on what was packed of all partitions; `none` has its columns and no rows."""

    none: pl.DataFrame
    compute: Compute
    out: Schema

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of the result."""
        packed = [part for batch in batches for part in batch.column(0).to_pylist()]
        rows = pl.concat([self.none, *(pl.read_ipc(BytesIO(part)) for part in packed)])
        result = computed(self.compute, _in_order(rows))
        yield from written(typed(result, self.out))


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
    result = computed(steps.of_groups, like)
    typed(result if steps.of_all is None else computed(steps.of_all, result), out)
    plain, of_groups = plain_names(columns), steps.of_groups
    plan = plan_of(frame, steps.counted, has_groups=bool(steps.keys))
    if plan != "groups" and steps.counted is not None:
        of_groups = partial(of_groups, like)
        rows, like = steps.counted.of(rows, like, plain, plan)
        rows = rows.repartition(*(steps.counted.keys or (1,)))
    elif steps.keys:
        rows = rows.repartition(*(plain[key] for key in steps.keys))
    if steps.of_all is None:
        return rows.mapInArrow(OnRows(like, of_groups, out), words)
    packed = rows.mapInArrow(OnRows(like, of_groups, None), f"{PART} binary")
    return packed.repartition(1).mapInArrow(_OfAll(result, steps.of_all, out), words)


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Sort rows, by keys and names before values; Spark has no order, and sums depend on it."""
    plain = [name for name, dtype in rows.schema.items() if not dtype.is_nested()]
    by = sorted(plain, key=lambda name: rows.schema[name].is_float())
    # Other than sorted columns, gathered ones are added up as those of any frame.
    return rows[rows.select(pl.arg_sort_by(by, maintain_order=True)).to_series()]
