"""Computations on Spark frames: of each group on the worker that holds it, and of all of them.

A ranking that no worker need hold is counted where its rows lie: other than the positives, rows
matter by their number between two of these. Each worker reduces its rows to runs, which are few.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from prframe import checks
from prframe.spark.border import empty, needed, plain_names, read, schema_of, written

if TYPE_CHECKING:
    import pyarrow as pa

Compute = Callable[[pl.DataFrame], pl.DataFrame]
Schema = Mapping[str, pl.DataType]
Plan: TypeAlias = Literal["groups", "range"]

SETTING = "spark.prframe.plan"
_AUTO = "auto"
_PART = "part"


@dataclass(frozen=True)
class Counted:
    """How the rows of groups are counted: by `runs` of all rows within a stretch of the ranking.

    `keys` are the columns of runs that tell groups apart, `score` is the caller's column by which
    rows are ranked, and `same` has the caller's columns by the columns of runs of their type.
    """

    keys: Sequence[str]
    score: str
    same: Mapping[str, str]
    runs: Compute

    def of(
        self, rows: Any, like: pl.DataFrame, plain: Mapping[str, str]
    ) -> tuple[Any, pl.DataFrame]:
        """Return runs of rows in Spark, and a polars frame without rows that is like them."""
        order = [*(plain[column] for column in self.same.values()), plain[self.score]]
        rows, none = rows.repartitionByRange(*order), _computed(self.runs, like)
        kinds = dict(rows.dtypes)
        kept = {name: kinds[plain[column]] for name, column in self.same.items()}
        words = schema_of(none.schema, kept)
        return rows.mapInArrow(_OnRows(like, self.runs, none.schema), words), none


@dataclass(frozen=True)
class Steps:
    """A computation on rows that lie in many places.

    Groups of the columns `keys` must be whole; without any all rows must meet in one place.
    `of_groups` is computed of their rows, or of a frame without rows and runs, and `of_all`, if
    given, of the sorted rows of all groups. `counted` says how rows are counted where no worker
    need hold a group.
    """

    keys: Sequence[str]
    of_groups: Callable[..., pl.DataFrame]
    of_all: Compute | None = None
    counted: Counted | None = None


def plan_of(frame: Any, counted: Counted | None, *, has_groups: bool) -> Plan:
    """Return how rows are brought together: as the session says, or as the call suggests.

    Groups are held unless the session says otherwise, or each row of a group is needed.
    """
    if counted is None:
        return "groups"
    given = frame.sparkSession.conf.get(SETTING, _AUTO)
    checks.one_of(SETTING, given, (_AUTO, *get_args(Plan)), in_order=True)
    if given == _AUTO or (given == "groups" and not has_groups):
        return "groups" if has_groups else "range"
    plan: Plan = given
    return plan


def over_partitions(
    frame: Any,
    columns: Mapping[str, str],
    schema: Callable[[pl.DataFrame], Schema],
    steps: Steps,
    same: Mapping[str, str],
) -> Any:
    """Return the result of a computation as a Spark frame that is computed when it is read.

    `columns` maps needed columns to the arguments that name them, `same` columns of the result to
    those of the caller that have their type; `schema` gives the columns of the result, and checks
    the arguments, on a frame without rows.
    """
    rows = needed(frame, columns)
    kinds = {name: kind for name, (_, kind) in zip(columns, rows.dtypes, strict=True)}
    like = empty(kinds, columns)
    out = dict(schema(like))
    words = schema_of(out, {name: kinds[column] for name, column in same.items() if name in out})
    # What only the computation itself refuses is refused now as well, before any job.
    result = _computed(steps.of_groups, like)
    _typed(result if steps.of_all is None else _computed(steps.of_all, result), out)
    plain, of_groups = plain_names(columns), steps.of_groups
    plan = plan_of(frame, steps.counted, has_groups=bool(steps.keys))
    if plan != "groups" and steps.counted is not None:
        of_groups = partial(of_groups, like)
        rows, like = steps.counted.of(rows, like, plain)
        rows = rows.repartition(*(steps.counted.keys or (1,)))
    elif steps.keys:
        rows = rows.repartition(*(plain[key] for key in steps.keys))
    if steps.of_all is None:
        return rows.mapInArrow(_OnRows(like, of_groups, out), words)
    packed = rows.mapInArrow(_OnRows(like, of_groups, None), f"{_PART} binary")
    return packed.repartition(1).mapInArrow(_OfAll(result, steps.of_all, out), words)


@dataclass(frozen=True)
class _OnRows:
    """A computation on the rows of a partition, which returns columns or a row of bytes."""

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
    """The computation on what was packed of all partitions; `none` has its columns and no rows."""

    none: pl.DataFrame
    compute: Compute
    out: Schema

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the rows of the result."""
        packed = [part for batch in batches for part in batch.column(0).to_pylist()]
        rows = pl.concat([self.none, *(pl.read_ipc(BytesIO(part)) for part in packed)])
        result = _computed(self.compute, _in_order(rows))
        yield from written(_typed(result, self.out))


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
