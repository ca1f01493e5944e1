"""The groups, which are brought together piece by piece, as cheaply as their order allows.

Where each group stands in one stretch of rows, the rows flow through in batches and only the
unfinished group is kept; no key is hashed. Where a group turns up twice, all rows are taken at
once and grouped by hashing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.keys import UNRETRIEVED
from prframe._engine.rows import key_names, prepare
from prframe._engine.tasks import Task, results
from prframe.typing import Integers

# From this size on a group is worth a sort that uses all cores.
_HUGE_GROUP = 1 << 20
_SAMPLE_ROWS = 1 << 16

T = TypeVar("T")


@dataclass(frozen=True)
class Ranking:
    """The rows that are ranked and the arguments; `compute` sees the groups piece by piece."""

    source: Source
    args: Arguments
    include_unretrieved: bool = False
    extra: tuple[str, ...] = ()

    def over_groups(self, compute: Callable[["Piece"], pl.DataFrame]) -> pl.DataFrame:
        """Apply a computation to pieces made of complete groups and stack what it returns."""
        return self._joined(lambda pieces: pl.concat(list(map(compute, pieces))))

    def stacked(
        self,
        begin: Callable[["Piece"], Task[T]],
        stack: Callable[[Iterable[T]], pl.DataFrame],
    ) -> pl.DataFrame:
        """Begin a task for each piece made of complete groups; `stack` joins the results."""

        def join(pieces: Iterable["Piece"]) -> pl.DataFrame:
            with results(map(begin, pieces)) as of_pieces:
                return stack(of_pieces)

        return self._joined(join)

    def _joined(self, join: Callable[[Iterable["Piece"]], pl.DataFrame]) -> pl.DataFrame:
        """Hand on the pieces, or all rows as one if a group turns out to be in two pieces."""
        try:
            return join(self._pieces())
        except _ScatteredGroupsError:
            return join([self._gathered(self.source.whole())])

    def _pieces(self) -> Iterator["Piece"]:
        """Yield runs of complete groups while each group stands in one stretch of rows.

        If there are no rows there is one piece.
        """
        if self.source.runs is not None:
            yield self._grouped(self.source.runs)
            return
        cutter = _Cutter(key_names(self.args))
        if not cutter.keys:
            yield self._gathered(self.source.whole())
            return
        batches = self.source.batches()
        batch = next(batches, None)
        if batch is not None and (self.source.scattered or self._looks_scattered(batch)):
            yield self._gathered(self.source.joined(batch, batches))
            return
        is_empty = True
        while batch is not None:
            prepared = prepare(batch, self.args, self.source, *self.extra)
            batch = next(batches, None)
            rows = cutter.cut(prepared, last=batch is None)
            # While a piece is used, other rows would take memory.
            del prepared
            if rows is not None:
                is_empty = False
                yield Piece.cut(self, rows)
        if cutter.scattered():
            raise _ScatteredGroupsError
        if is_empty:
            yield self._gathered(self.source.whole())

    def _looks_scattered(self, batch: pl.DataFrame) -> bool:
        """Tell from the first rows whether groups turn up twice; to find out late costs more."""
        sample = batch.head(_SAMPLE_ROWS).select(
            pl.col(key).alias(name)
            for key, name in zip(self.args.keys, key_names(self.args), strict=True)
        )
        cutter = _Cutter(key_names(self.args))
        cutter.cut(sample, last=True)
        return cutter.scattered()

    def _gathered(self, rows: pl.DataFrame) -> "Piece":
        """Return all rows of the caller as one piece."""
        return self._grouped(prepare(rows, self.args, self.source, *self.extra))

    def _grouped(self, rows: pl.DataFrame) -> "Piece":
        """Return prepared rows as one piece, each group's brought together, in input order."""
        keys = key_names(self.args)
        if not keys:
            return Piece.cut(self, rows.with_columns(pl.lit(0, dtype=pl.UInt8).alias("run")))
        lists = rows.lazy().group_by(keys, maintain_order=True).agg(pl.exclude(keys).implode())
        groups = lists.collect(engine="in-memory")
        # The rows are in the lists now; those as they came take as much memory again.
        del rows, lists
        count = groups["key"].list.len().to_numpy()
        run = pl.Series("run", np.repeat(np.arange(groups.height, dtype=np.uint32), count))
        flat = groups.select(pl.exclude(keys).explode(empty_as_null=False))
        return Piece(self, flat.with_columns(run), groups.select(keys))


class _ScatteredGroupsError(Exception):
    """A group turned up in two stretches of rows."""


@dataclass
class _Cutter:
    """A cutter that numbers the runs of equal keys in a stream and cuts it where a run ends."""

    keys: list[str]
    pending: list[pl.DataFrame] = field(default_factory=list)
    heads: list[pl.DataFrame] = field(default_factory=list)

    def cut(self, rows: pl.DataFrame, *, last: bool) -> pl.DataFrame | None:
        """Return the rows of the runs that a batch completes, with a column `run`."""
        if rows.is_empty():
            return _concat(self.pending) if last else None
        first, continues = self._first_run(rows)
        run = self._run_id() + pl.lit(first, dtype=pl.UInt32) if first else self._run_id()
        rows = rows.with_columns(run.alias("run"))
        starts = _changes(rows)
        if not continues:
            starts = np.insert(starts, 0, 0)
        if self.keys:
            self.heads.append(rows.select(self.keys)[starts])
        if last:
            return _concat([*self.pending, rows])
        if not starts.size:
            self.pending.append(rows)
            return None
        cut = int(starts[-1])
        complete = [*self.pending, rows.head(cut)]
        # A slice would keep the memory of all rows.
        self.pending = [rows[np.arange(cut, rows.height)]]
        return _concat(complete)

    def scattered(self) -> bool:
        """Tell whether a group began more than once."""
        if not self.heads:
            return False
        heads = pl.concat(self.heads)
        return heads.n_unique() < heads.height

    def _run_id(self) -> pl.Expr:
        """Return the number of each row's run within its batch."""
        if not self.keys:
            return pl.lit(0, dtype=pl.UInt8)
        return (
            pl.col(self.keys[0]).rle_id() if len(self.keys) == 1 else pl.struct(self.keys).rle_id()
        )

    def _first_run(self, rows: pl.DataFrame) -> tuple[int, bool]:
        """Return the number of the batch's first run, and whether it was open before."""
        if not self.pending:
            return 0, False
        last = self.pending[-1].tail(1)
        pair = pl.concat([last.select(self.keys), rows.head(1).select(self.keys)])
        continues = not self.keys or pair.select(self._run_id()).to_series()[-1] == 0
        return last["run"].item() + (not continues), continues


def _concat(parts: list[pl.DataFrame]) -> pl.DataFrame | None:
    """Stack the parts that have rows, in one stretch of memory, which NumPy takes as it is."""
    parts = [part for part in parts if part.height]
    return pl.concat(parts, rechunk=True) if parts else None


@dataclass(frozen=True)
class Piece:
    """Rows that make up complete groups, each of which is a run; ``run`` numbers them in order.

    `keys` holds the keys of each group.
    """

    ranking: Ranking
    rows: pl.DataFrame
    keys: pl.DataFrame

    @classmethod
    def cut(cls, ranking: Ranking, rows: pl.DataFrame) -> "Piece":
        """Make a piece of rows that hold their keys."""
        names = key_names(ranking.args)
        piece = cls(ranking, rows.drop(names), pl.DataFrame())
        return replace(piece, keys=rows.select(names)[piece.first_rows]) if names else piece

    @cached_property
    def all_ranked(self) -> bool:
        """Whether all rows are ranked: no score is -inf, or these rows are ranked as well."""
        return self.ranking.include_unretrieved or not (self.rows["key"] == UNRETRIEVED).any()

    def aggregate(self, **columns: pl.Expr) -> pl.DataFrame:
        """Return one row per group: its keys and the given aggregates.

        An aggregate of many values must implode them.
        """
        if huge := self._huge_groups():
            # A select sorts on all cores; inside group_by a group has one.
            groups = pl.concat([group.select(**columns) for group in huge])
        else:
            # A sorted key spares the hashing.
            rows = self.rows.lazy().with_columns(pl.col("run").set_sorted())
            grouped = rows.group_by("run", maintain_order=True).agg(**columns)
            groups = grouped.drop("run").collect(engine="streaming")
        return pl.concat([self.keys, groups], how="horizontal") if self.keys.width else groups

    def _huge_groups(self) -> list[pl.DataFrame]:
        """Return the groups one by one if they are few and huge, else nothing."""
        height = self.rows.height
        if height < _HUGE_GROUP or self._n_runs() > height // _HUGE_GROUP:
            return []
        return list(self.groups())

    def groups(self) -> "Iterator[pl.DataFrame]":
        """Yield the rows of each group."""
        if not self.rows.height:
            return
        for low, high in pairwise([*self.first_rows.tolist(), self.rows.height]):
            yield self.rows.slice(low, high - low)

    @cached_property
    def first_rows(self) -> Integers:
        """The first row of each group."""
        changes = _changes(self.rows)
        return np.insert(changes, 0, 0) if self.rows.height else changes

    @property
    def sizes(self) -> Integers:
        """The number of rows of each group."""
        return np.diff(self.first_rows, append=self.rows.height)

    @property
    def n_items(self) -> Integers:
        """The number of items of each group, for which there is a row each, or for several."""
        return self.counts(np.ones(self.rows.height, np.bool_)) if self.is_counted else self.sizes

    @property
    def is_counted(self) -> bool:
        """Whether a row may stand for several items."""
        return "count" in self.rows.columns

    def counts(self, mask: NDArray[np.bool_]) -> Integers:
        """Return how many items of each group are in rows that a mask marks."""
        if self.is_counted:
            return np.add.reduceat(self.rows["count"].to_numpy() * mask, self.first_rows)
        return n_marked(mask, self.first_rows)

    def _n_runs(self) -> int:
        """Return the number of groups."""
        ends = self.rows["run"][[0, -1]]
        return int(ends[1]) - int(ends[0]) + 1


def n_marked(mask: NDArray[np.bool_], first_rows: Integers) -> Integers:
    """Count the marked ones among the rows of each group, given where groups begin."""
    if first_rows.size == 1:
        # The places of many rows take more memory than the rows.
        return np.array([np.count_nonzero(mask)])
    return np.diff(np.searchsorted(np.flatnonzero(mask), np.append(first_rows, mask.size)))


def _changes(rows: pl.DataFrame) -> NDArray[np.int64]:
    """Return the positions at which a new run begins, but for the first row."""
    runs = rows["run"].to_numpy()
    return np.flatnonzero(runs[1:] != runs[:-1]) + 1
