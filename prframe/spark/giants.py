"""Rankings that no worker need hold: their rows are counted where they lie.

Other than the positives, rows matter to a ranking by their number between two of these. Each
worker reduces its rows to runs, which are few; they are shuffled instead.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.spark.border import blocks, schema_of, written
from prframe.spark.workers import Compute, OnRows, Schema, computed, typed

if TYPE_CHECKING:
    import pyarrow as pa

    from prframe.spark.border import OnPartition

Plan: TypeAlias = Literal["groups", "range", "broadcast"]

SETTING = "spark.prframe.plan"
_AUTO = "auto"
# Keys of so many positives go to each worker, as 32 MB.
_MOST_KEYS = 4_000_000
# So many rows of a partition are counted at a time where any of them may be counted together.
_AT_ONCE = 1 << 21


def plan_of(frame: Any, counted: "Counted | None", *, has_groups: bool) -> Plan:
    """Return how rows are brought together: as the session says, or as the call suggests.

    Without groups all rows are one ranking, which no worker need be able to hold. How large groups
    are is not known before all rows have been read, so that they are held unless the session says
    otherwise. What needs each row of a group holds it whatever the session says.
    """
    if counted is None:
        return "groups"
    given = frame.sparkSession.conf.get(SETTING, _AUTO)
    checks.one_of(SETTING, given, (_AUTO, *get_args(Plan)), in_order=True)
    if given == _AUTO or (given == "groups" and not has_groups):
        return "groups" if has_groups else "range"
    plan: Plan = given
    return "range" if plan == "broadcast" and counted.needs_order else plan


@dataclass(frozen=True)
class Counted:
    """How the rows of groups are counted.

    Attributes
    ----------
    keys : sequence of str
        The columns of runs that tell groups apart.
    score : str
        The caller's column by which rows are ranked.
    same : mapping of str to str
        The caller's columns by the columns of runs that have their type.
    label : str or None
        The caller's column that is above 0 for all items that keep their keys, if that is known.
    needs_order : bool
        Whether runs can only be made of rows that lie together in the ranking.
    marked : callable
        What returns the keys that items keep, given some rows.
    runs : callable
        What returns runs, given all rows within a stretch of the ranking and None, or any rows and
        the keys that items keep.
    """

    keys: Sequence[str]
    score: str
    same: Mapping[str, str]
    label: str | None
    needs_order: bool
    marked: Compute
    runs: Callable[[pl.DataFrame, pl.DataFrame | None], pl.DataFrame]

    def of(
        self, rows: Any, like: pl.DataFrame, plain: Mapping[str, str], plan: Plan
    ) -> tuple[Any, pl.DataFrame]:
        """Return runs of rows in Spark, and a polars frame without rows that is like them."""
        if plan == "broadcast":
            marked = self._all_marked(rows, like, plain)
            return self._mapped(rows, like, plain, partial(_runs, self.runs, marked), _OnBlocks)
        order = [*(plain[column] for column in self.same.values()), plain[self.score]]
        rows = rows.repartitionByRange(*order)
        return self._mapped(rows, like, plain, partial(_runs, self.runs, None))

    def _all_marked(self, rows: Any, like: pl.DataFrame, plain: Mapping[str, str]) -> pl.DataFrame:
        """Collect the keys that items keep, which is a job of its own."""
        if self.label is not None:
            rows = rows.where(f"CAST({plain[self.label]} AS DOUBLE) > 0")
        frame, none = self._mapped(rows, like, plain, self.marked)
        marked = pl.DataFrame(pl.from_arrow(frame.toArrow()))
        marked = typed(marked, none.schema).unique()
        if marked.height > _MOST_KEYS:
            raise PrframeError(
                f"the plan 'broadcast' sends the keys of up to {_MOST_KEYS:,} positives to each "
                f"worker; there are {marked.height:,}; set {SETTING} to 'range'."
            )
        return marked

    def _mapped(
        self,
        rows: Any,
        like: pl.DataFrame,
        plain: Mapping[str, str],
        compute: Compute,
        on_rows: "Callable[[pl.DataFrame, Compute, Schema], OnPartition]" = OnRows,
    ) -> tuple[Any, pl.DataFrame]:
        """Return what is computed of each partition, and a frame without rows that is like it."""
        none = computed(compute, like)
        kinds = dict(rows.dtypes)
        kept = {name: kinds[plain[column]] for name, column in self.same.items()}
        words = schema_of(none.schema, kept)
        return rows.mapInArrow(on_rows(like, compute, none.schema), words), none


@dataclass(frozen=True)
class _OnBlocks:
    """Runs of the rows of a partition, of which only some are held at a time.

    The runs of any rows and those of others are together the runs of all of them.
    """

    like: pl.DataFrame
    runs: Compute
    out: Schema

    def __call__(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """Yield the runs of the partition."""
        parts: list[pl.DataFrame] = []
        for rows in blocks(batches, self.like, _AT_ONCE):
            parts.append(computed(self.runs, rows))
            if sum(part.height for part in parts) > _AT_ONCE:
                parts = [_added(parts)]
        if parts:
            yield from written(typed(_added(parts), self.out))


def _added(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the runs of several parts of the rows, with those of the same items added up.

    They are sorted, because rows that are like those before them travel in fewer bytes.
    """
    runs = pl.concat(parts)
    added = runs.group_by(pl.exclude("count")).agg(pl.col("count").sum())
    return added.select(runs.columns).sort("apart", "key")


def _runs(
    make: Callable[[pl.DataFrame, pl.DataFrame | None], pl.DataFrame],
    marked: pl.DataFrame | None,
    rows: pl.DataFrame,
) -> pl.DataFrame:
    return make(rows, marked)
