"""Groups, piece by piece: which rows belong together, found as cheaply as their order allows.

Where each group stands in one stretch of rows, the rows flow through in batches and only the
unfinished group is kept; no key is hashed. Where a group turns up twice, all rows are taken at
once and grouped by hashing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.arguments import Arguments
from prframe.frames import Source
from prframe.rows import key_names, prepare

Integers = NDArray[np.int64]

# From this size on a group is worth a sort that uses all cores.
_HUGE_GROUP = 1 << 20


@dataclass(frozen=True)
class Ranking:
    """What is ranked and how; `compute` sees its groups piece by piece."""

    source: Source
    args: Arguments
    include_unretrieved: bool = False
    extra: tuple[str, ...] = ()

    def over_groups(self, compute: Callable[["Piece"], pl.DataFrame]) -> pl.DataFrame:
        """Apply a computation to pieces made of complete groups and stack what it returns."""
        try:
            results = [compute(piece) for piece in self._pieces()]
        except _ScatteredGroupsError:
            results = [compute(self._scattered(self.source.whole()))]
        return pl.concat(results) if results else compute(self._scattered(self.source.whole()))

    def _pieces(self) -> Iterator["Piece"]:
        """Yield runs of complete groups while each group stands in one stretch of rows."""
        cutter = _Cutter(key_names(self.args))
        batches = self.source.batches()
        for i, batch in enumerate(batches):
            rows = prepare(batch, self.args, self.source, *self.extra)
            runs = cutter.cut(rows)
            if i == 0 and cutter.scattered():
                yield self._scattered(pl.concat([batch, *batches]))
                return
            if runs is not None:
                yield Piece(self, runs, contiguous=True)
        last = cutter.rest()
        if last is not None:
            yield Piece(self, last, contiguous=True)
        if cutter.scattered():
            raise _ScatteredGroupsError

    def _scattered(self, rows: pl.DataFrame) -> "Piece":
        """Return all rows as one piece, its groups to be found by hashing."""
        return Piece(
            self, prepare(rows, self.args, self.source, *self.extra), contiguous=False
        )


class _ScatteredGroupsError(Exception):
    """A group turned up in two stretches of rows."""


@dataclass
class _Cutter:
    """Cuts a stream of rows where the group changes."""

    keys: list[str]
    pending: list[pl.DataFrame] = field(default_factory=list)
    heads: list[pl.DataFrame] = field(default_factory=list)

    def cut(self, rows: pl.DataFrame) -> pl.DataFrame | None:
        """Take a batch; return the rows of the groups that it completes."""
        if rows.is_empty():
            return None
        starts = self._starts(rows)
        if self.keys:
            self.heads.append(rows.select(self.keys)[starts])
        if not starts.size:
            self.pending.append(rows)
            return None
        cut = int(starts[-1])
        complete = [*self.pending, rows.head(cut)]
        self.pending = [rows.slice(cut)]
        return _concat(complete)

    def rest(self) -> pl.DataFrame | None:
        """Return the rows of the last group."""
        return _concat(self.pending)

    def scattered(self) -> bool:
        """Tell whether a group began more than once."""
        if not self.heads:
            return False
        heads = pl.concat(self.heads)
        return heads.n_unique() < heads.height

    def _starts(self, rows: pl.DataFrame) -> Integers:
        """Return the positions at which a new group begins."""
        keys = rows.select(self.keys)
        if not self.keys:
            return np.flatnonzero([not self.pending])
        if self.pending:
            keys = pl.concat([self.pending[-1].select(self.keys).tail(1), keys])
        changed = keys.select(_changes(self.keys)).to_series().to_numpy()
        return np.flatnonzero(changed[1:]) if self.pending else _with_first(changed)


def _changes(keys: list[str]) -> pl.Expr:
    """Return whether any key differs from that of the row before."""
    key = (pl.col(key) for key in keys)
    return pl.any_horizontal(pl.lit(value=False), *(k.ne_missing(k.shift()) for k in key))


def _with_first(changed: NDArray[np.bool_]) -> Integers:
    """Return the positions of changes, where the first row always is one."""
    return np.flatnonzero(np.concatenate([[True], changed[1:]]))


def _concat(parts: list[pl.DataFrame]) -> pl.DataFrame | None:
    """Stack the parts that have rows."""
    parts = [part for part in parts if part.height]
    return pl.concat(parts) if parts else None


@dataclass(frozen=True)
class Piece:
    """Rows that make up complete groups."""

    ranking: Ranking
    rows: pl.DataFrame
    contiguous: bool

    def aggregate(self, **columns: pl.Expr) -> pl.DataFrame:
        """Return one row per group: its keys and the given aggregates.

        An aggregate of many values must implode them.
        """
        keys = key_names(self.ranking.args)
        if self.rows.height >= _HUGE_GROUP and (parts := self._few_groups(keys)):
            # A select sorts on all cores; inside group_by a group has one.
            named = [pl.col(key).first() for key in keys]
            return pl.concat([part.select(*named, **columns) for part in parts])
        if self.contiguous:
            grouped = self._runs(keys).group_by("run", maintain_order=True)
            return grouped.agg(pl.col(keys).first(), **columns).drop("run").collect(engine="streaming")
        groups = self.rows.lazy().group_by(keys or pl.lit(0).alias("run"), maintain_order=True)
        return groups.agg(**columns).select(*keys, *columns).collect(engine="streaming")

    def _runs(self, keys: list[str]) -> pl.LazyFrame:
        """Number the runs: a sorted key, which spares the hashing."""
        run = _changes(keys).cum_sum().alias("run")
        return self.rows.with_columns(run).lazy().with_columns(pl.col("run").set_sorted())

    def _few_groups(self, keys: list[str]) -> list[pl.DataFrame] | None:
        """Return the groups one by one if they are few and huge."""
        if not keys:
            return [self.rows]
        most = self.rows.height // _HUGE_GROUP
        sample = self.rows.head(1 << 16).select(keys).n_unique()
        if sample > most or self.rows.select(keys).n_unique() > most:
            return None
        return self.rows.partition_by(keys, maintain_order=True)
