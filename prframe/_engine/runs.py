"""Rows that are counted, where no place can hold all rows of a ranking.

A run is a row for several items: those of one kind at one key, or those between two keys that
matter. Places that hold parts of a ranking make its runs, which are few and have the same hits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.hits import Hits, from_marks, spread, unit_hits
from prframe._engine.keys import UNRETRIEVED, threshold_key
from prframe._engine.packing import sort_integers
from prframe._engine.pieces import Piece, Ranking
from prframe._engine.sorting import Ranks
from prframe._engine.totals import group_totals
from prframe.typing import Integers

# Fewer rows of a group than this are handed on as they are.
_FEW = 1000
_ABOVE_ALL = np.iinfo(np.int64).max


def no_columns(_: Source) -> tuple[str, ...]:
    """Return that items need nothing besides ranks and labels."""
    return ()


@dataclass(frozen=True)
class Counting:
    """What counted rows must keep: `columns`, cuts at `thresholds`, `blocks` without positives."""

    columns: Callable[[Source], tuple[str, ...]] = no_columns
    thresholds: Sequence[float] = ()
    blocks: bool = False

    def runs(self, source: Source, args: Arguments) -> pl.DataFrame:
        """Return the runs of all rows of each group between the best and the worst of them."""
        dtype = source.schema[args.score]
        cuts = [threshold_key(cut, dtype, float32=args.float32) for cut in self.thresholds]
        always = np.array([UNRETRIEVED, *cuts], np.int64)

        def of_piece(piece: Piece) -> pl.DataFrame:
            key, stays = piece.rows["key"].to_numpy(), _marked(piece.rows)
            for name in {"n_pos", "n_neg"} & {*piece.rows.columns}:
                # Totals that vary within a group are refused once its runs are together.
                total = piece.rows[name].to_numpy()
                stays |= total != np.repeat(total[piece.first_rows], piece.sizes)
            merged = [_Merged.nothing()]
            for low, high in pairwise([*piece.first_rows.tolist(), key.size]):
                if high - low < _FEW:
                    stays[low:high] = True
                    continue
                known = self._known(key[low:high], key[low:high][stays[low:high]])
                places = np.unique(np.concatenate([always, known]))
                rows = low + np.flatnonzero(~stays[low:high])
                merged.append(_Merged.of(rows, key[rows], places))
            columns = map(np.concatenate, zip(*merged, strict=True))
            return _with_keys(_stacked(piece.rows, stays, _Merged(*columns)), piece)

        return Ranking(source, args, extra=self.columns(source)).over_groups(of_piece)

    def _known(self, key: Integers, marked: Integers) -> Integers:
        """Return the keys that items keep; the first and last may also be of rows elsewhere."""
        ranked = key[key > UNRETRIEVED]
        edges = [ranked.min(), ranked.max()] if ranked.size else []
        tied = ranked[:0]
        if self.blocks:
            sort_integers(ranked)
            tied = ranked[1:][ranked[1:] == ranked[:-1]]
        return np.concatenate([marked, np.array(edges, np.int64), tied])


def counted(runs: pl.DataFrame, source: Source) -> Source:
    """Return a source of runs, given one of the caller's columns."""
    return replace(source, runs=runs)


def hits_of_runs(piece: Piece, *, carry_more: bool) -> Hits:
    """Return the hits of runs, which may carry more than their labels."""
    totals = group_totals(piece)
    order, group, start, end = _blocks(piece)
    n = totals["n"].to_numpy()
    start, end = (np.minimum(rank, n[group]) for rank in (start, end))
    rows = piece.rows[order]
    apart = rows["apart"].to_numpy() | (end - start <= 1)
    kept = _marked(rows) if carry_more else rows["positive"].to_numpy() & (end > start)
    count = rows["count"].to_numpy()[kept]
    group, start, end = (np.repeat(values[kept], count) for values in (group, start, end))
    policy = piece.ranking.args.policy
    if not carry_more:
        ranks = Ranks.of_blocks(group, *spread(group, start, end, policy))
        return replace(unit_hits(totals, ranks), are_apart=bool(apart.all()))
    names = [name for name in ("gain", "judged", "pooled") if name in rows.columns]
    flags = rows.select("positive", *names).filter(pl.Series(kept)).cast(pl.Float64)
    flags = flags[np.repeat(np.arange(flags.height), count)].rename({"positive": "weight"})
    if "gain" not in names:
        flags = flags.with_columns(gain="weight")
    marks = pl.DataFrame({"group": group, "start": start, "end": end})
    return from_marks(totals, marks.hstack(flags), policy)


class RankedRuns(NamedTuple):
    """Retrieved runs in `order`; groups, ends in `order`, items (`k`) and positives of blocks."""

    order: Integers
    group: Integers
    ends: Integers
    k: Integers
    tp: Integers


def ranked_runs(piece: Piece) -> RankedRuns:
    """Count along the retrieved runs; items apart between two blocks stand as one block."""
    order, group, start, end = _blocks(piece)
    if not piece.all_ranked:
        retrieved = piece.rows["key"].to_numpy()[order] > UNRETRIEVED
        order, group, start, end = (a[retrieved] for a in (order, group, start, end))
    new = (np.diff(group, prepend=-1) != 0) | (np.diff(start, prepend=-1) != 0)
    ends = np.append(np.flatnonzero(new)[1:], order.size) if order.size else order
    rows = piece.rows[order]
    tp = np.cumsum(rows["count"].to_numpy() * rows["positive"].to_numpy())
    before = np.append(0, tp)[np.searchsorted(group, group)]
    last = ends - 1
    return RankedRuns(order, group[last], ends, end[last], (tp - before)[last])


def sizes_of_runs(piece: Piece) -> pl.Series:
    """Return the sizes of the tie blocks of each group's retrieved items, best first, as lists."""
    retrieved = piece.rows["key"].to_numpy() > UNRETRIEVED
    rows = piece.rows
    ranked = rows.filter(pl.Series(retrieved)).sort("run", "key", descending=[False, True])
    blocks = ranked.group_by("run", "key", "apart", maintain_order=True).agg(pl.col("count").sum())
    count, apart = blocks["count"].to_numpy(), blocks["apart"].to_numpy()
    times = np.where(apart, count, 1)
    sizes = pl.DataFrame(
        {
            "run": np.repeat(blocks["run"].to_numpy(), times),
            "sizes": np.repeat(np.where(apart, 1, count), times).astype(np.uint32),
        }
    )
    lists = sizes.group_by("run", maintain_order=True).agg("sizes")
    every = rows.select(pl.col("run").unique(maintain_order=True))
    of_group = every.join(lists, on="run", how="left", maintain_order="left")["sizes"]
    return of_group.fill_null([])


def _marked(rows: pl.DataFrame) -> NDArray[np.bool_]:
    """Return which items are positive, graded or judged."""
    names = [name for name in ("positive", "gain", "judged", "pooled") if name in rows.columns]
    above = pl.any_horizontal(pl.col(names).cast(pl.Float64) > 0)
    return rows.select(above).to_series().to_numpy()


class _Merged(NamedTuple):
    """Runs of items that need not stay rows: a row, its key and the number of items.

    Items that stand `apart`, between two places, have the key just below the place above them.
    """

    row: Integers
    key: Integers
    apart: NDArray[np.bool_]
    items: Integers

    @classmethod
    def nothing(cls) -> "_Merged":
        """Return no runs."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none.astype(np.bool_), none)

    @classmethod
    def of(cls, row: Integers, key: Integers, places: Integers) -> "_Merged":
        """Merge rows with keys that stand at one of the places, or between the same two."""
        above = np.append(places, _ABOVE_ALL)
        code = np.searchsorted(places, key)
        code = 2 * code + (above[code] != key)
        count = np.bincount(code, minlength=1)
        last = np.zeros(count.size, np.int64)
        last[code] = row
        code = np.flatnonzero(count)
        between = code % 2
        return cls(last[code], above[code // 2] - between, between > 0, count[code])


def _stacked(rows: pl.DataFrame, stays: NDArray[np.bool_], merged: _Merged) -> pl.DataFrame:
    """Return rows that stay, as runs of one item, and merged ones."""
    one = rows.filter(pl.Series(stays)).with_columns(
        apart=pl.lit(value=False), count=pl.lit(1, dtype=pl.Int64)
    )
    of_runs = {"key": merged.key, "apart": merged.apart, "count": merged.items.astype(np.int64)}
    runs = rows[merged.row].with_columns(pl.Series(n, column) for n, column in of_runs.items())
    if "score" in rows.columns:
        runs = runs.with_columns(score=pl.when(~pl.col("apart")).then("score"))
    return pl.concat([one, runs])


def _blocks(piece: Piece) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the order of rows within groups, and their groups, starts and ends of blocks."""
    key, sizes = piece.rows["key"].to_numpy(), piece.sizes
    group = np.repeat(np.arange(sizes.size), sizes)
    order = np.lexsort([~key, group])
    key, above = key[order], np.append(0, np.cumsum(piece.rows["count"].to_numpy()[order]))
    new = np.append(True, (key[1:] != key[:-1]) | (group[1:] != group[:-1]))[: key.size]
    firsts = np.flatnonzero(new)
    block = np.cumsum(new) - 1
    before = above[piece.first_rows][group]
    start = above[firsts][block] - before
    end = above[np.append(firsts[1:], key.size)][block] - before
    return order, group, start, end


def _with_keys(rows: pl.DataFrame, piece: Piece) -> pl.DataFrame:
    """Return rows with the keys of their groups instead of numbers."""
    number = rows["run"].to_numpy().astype(np.int64)
    if piece.rows.height:
        number -= int(piece.rows["run"][0])
    rest = rows.drop("run")
    return pl.concat([piece.keys[number], rest], how="horizontal") if piece.keys.width else rest
