"""The groups, which are brought together piece by piece, as cheaply as their order allows.

Where each group stands in one stretch of rows, the rows flow through in batches and only the
unfinished group is kept; no key is hashed. Where a group turns up twice, all rows are taken at
once and grouped by hashing.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, run_starts
from prframe._engine.keys import UNRETRIEVED
from prframe._engine.rows import key_names, labels_are_gains, prepare
from prframe.typing import Integers

# From this size on a group is worth a sort that uses all cores.
_HUGE_GROUP = 1 << 20
_SAMPLE_ROWS = 1 << 16


@dataclass(frozen=True)
class Ranking:
    """The rows that are ranked and the arguments.

    `spares_gains` leaves out gains that labels repeat; totals count scores from `thresholds` on.
    """

    source: Source
    args: Arguments
    include_unretrieved: bool = False
    extra: tuple[str, ...] = ()
    spares_gains: bool = False
    thresholds: tuple[float, ...] = ()

    def over_groups(self, compute: Callable[["Piece"], pl.DataFrame]) -> pl.DataFrame:
        """Apply a computation to pieces made of complete groups and stack what it returns."""
        return self.of_pieces(lambda pieces: pl.concat(list(map(compute, pieces))))

    def of_pieces(self, join: Callable[[Iterable["Piece"]], pl.DataFrame]) -> pl.DataFrame:
        """Return what a function makes of all pieces; it is called again if a group is in two."""
        try:
            return join(self._pieces())
        except _ScatteredGroupsError:
            return join([self._gathered(self.source.whole())])

    def _pieces(self) -> Iterator["Piece"]:
        """Yield runs of complete groups while each group stands in one stretch of rows."""
        if self.source.runs is not None:
            yield self._grouped(self.source.runs)
            return
        if not self.args.keys:
            yield self._gathered(self.source.whole())
            return
        batches = self.source.batches()
        first = next(batches, None)
        if first is not None and (self.source.scattered or self._looks_scattered(first)):
            yield self._gathered(self.source.joined(first, batches))
            return
        batches = chain([] if first is None else [first], batches)
        heads = []
        # While a piece is used, other rows would take memory.
        del first
        for rows in map(self._prepared, self.source.whole_runs(self.args.keys, batches)):
            if rows.height:
                piece = Piece.of_runs(self, rows)
                heads.append(piece.keys)
                del rows
                yield piece
                del piece
        if not heads:
            yield self._gathered(self.source.whole())
        elif _has_repeats(pl.concat(heads)):
            raise _ScatteredGroupsError

    def _looks_scattered(self, batch: pl.DataFrame) -> bool:
        """Return whether groups turn up twice in the first rows; to find out late costs more."""
        keys = batch.head(_SAMPLE_ROWS).select(self.args.keys)
        return _has_repeats(keys[run_starts(keys.get_columns())])

    def _prepared(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Check rows of the caller and return the working columns."""
        spared = self.spares_gains and labels_are_gains(rows[self.args.label], self.args)
        extra = (name for name in self.extra if not (spared and name == "gain"))
        prepared = prepare(rows, self.args, self.source, *extra)
        self.source.seen.lost &= not self.include_unretrieved
        return prepared

    def _gathered(self, rows: pl.DataFrame) -> "Piece":
        """Return all rows of the caller as one piece."""
        return self._grouped(self._prepared(rows))

    def _grouped(self, rows: pl.DataFrame) -> "Piece":
        """Return prepared rows as one piece, each group's brought together, in input order."""
        keys = key_names(self.args)
        if not keys:
            one_run = pl.lit(0, dtype=pl.UInt8).alias("run")
            return Piece(self, rows.with_columns(one_run), pl.DataFrame())
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


def _has_repeats(keys: pl.DataFrame) -> bool:
    """Return whether keys turn up more than once."""
    return keys.n_unique() < keys.height


@dataclass(frozen=True)
class Piece:
    """Rows of complete groups, numbered in ``run``; `keys` holds the keys of each group."""

    ranking: Ranking
    rows: pl.DataFrame
    keys: pl.DataFrame

    @classmethod
    def of_runs(cls, ranking: Ranking, rows: pl.DataFrame) -> "Piece":
        """Make a piece of rows that hold their keys, each group of which is a run already."""
        names = key_names(ranking.args)
        keys = pl.DataFrame([rows[name] for name in names])
        starts = run_starts(keys.get_columns())
        sizes = np.diff(starts, append=rows.height)
        run = pl.Series("run", np.repeat(np.arange(starts.size, dtype=np.uint32), sizes))
        others = [column for column in rows.iter_columns() if column.name not in names]
        return cls(ranking, pl.DataFrame([*others, run]), keys[starts])

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Whether each row is positive."""
        return self.rows["positive"].to_numpy()

    @cached_property
    def all_ranked(self) -> bool:
        """Whether all rows are ranked: no score is -inf, or these rows are ranked as well."""
        least = self.rows["key"].to_numpy().min(initial=UNRETRIEVED + 1)
        return self.ranking.include_unretrieved or bool(least > UNRETRIEVED)

    def aggregate(self, **columns: pl.Expr) -> pl.DataFrame:
        """Return one row per group: its keys and aggregates, which implode many values."""
        n_huge = self.rows.height // _HUGE_GROUP
        if n_huge and self.first_rows.size <= n_huge:
            # A select sorts on all cores; inside group_by a group has one.
            groups = pl.concat([group.select(**columns) for group in self.groups()])
        else:
            # A sorted key spares the hashing.
            rows = self.rows.lazy().with_columns(pl.col("run").set_sorted())
            grouped = rows.group_by("run", maintain_order=True).agg(**columns)
            groups = grouped.drop("run").collect(engine="streaming")
        return pl.concat([self.keys, groups], how="horizontal") if self.keys.width else groups

    def groups(self) -> "Iterator[pl.DataFrame]":
        """Yield the rows of each group."""
        if not self.rows.height:
            return
        for low, high in pairwise([*self.first_rows.tolist(), self.rows.height]):
            yield self.rows.slice(low, high - low)

    @cached_property
    def first_rows(self) -> Integers:
        """The first row of each group."""
        return run_starts([self.rows["run"]])

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
        if self.first_rows.size == 1:
            return np.array([np.count_nonzero(mask)])
        # Sums of bytes are several times faster in 32 bits, which hold the number of any rows.
        counts = np.add.reduceat(mask.view(np.uint8), self.first_rows, dtype=np.uint32)
        return counts.astype(np.int64)
