"""Rows that are counted, where no place can hold all rows of a ranking.

A run is a row for several items: those of one kind at one key, or those between two keys that
matter. Places that hold parts of a ranking make its runs, which are few and have the same hits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source, run_starts
from prframe._engine.hits import Hits, from_marks, spread, unit_hits
from prframe._engine.pieces import Piece, Ranking, group_totals
from prframe._engine.rows import UNRETRIEVED, threshold_key
from prframe._engine.sorting import Ranks
from prframe.typing import Integers


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

        def of_piece(piece: Piece) -> pl.DataFrame:
            stays = _marked(piece.rows)
            for name in {"n_pos", "n_neg"} & {*piece.rows.columns}:
                # Totals that vary within a group are refused once its runs are together.
                total = piece.rows[name].to_numpy()
                stays |= total != np.repeat(total[piece.first_rows], piece.sizes)
            rows = piece.rows.with_columns(stays=pl.Series(stays)).sort("run", "key")
            return _with_keys(_merged(self._with_segments(rows, np.sort(cuts))), piece)

        return Ranking(source, args, extra=self.columns(source)).over_groups(of_piece)

    def _with_segments(self, rows: pl.DataFrame, cuts: Integers) -> pl.DataFrame:
        """Add numbers of keys that stay, and of the stretches between, where items are `apart`."""
        run, key = (rows[name].to_numpy() for name in ("run", "key"))
        starts = run_starts([rows["run"], rows["key"]])
        size = np.diff(starts, append=key.size)
        run, key = run[starts], key[starts]
        opens = np.append(True, run[1:] != run[:-1])[: run.size]
        closes = np.append(opens[1:], True)[: run.size]
        # The first and last keys may also be of rows elsewhere.
        is_place = opens | closes | (key == UNRETRIEVED)
        is_place[1:] |= key[:-1] == UNRETRIEVED
        if self.blocks:
            is_place |= size > 1
        if run.size:
            is_place |= np.logical_or.reduceat(rows["stays"].to_numpy(), starts)
        above = np.searchsorted(cuts, key, side="right")
        begins = is_place | (np.diff(above, prepend=0) != 0)
        begins[1:] |= is_place[:-1]
        segment, apart = (np.repeat(of_key, size) for of_key in (np.cumsum(begins), ~is_place))
        return rows.with_columns(segment=pl.Series(segment), apart=pl.Series(apart))


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


def _merged(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows that stay, as runs of one item, and a run for the others of each segment."""
    one = rows.filter("stays").with_columns(
        apart=pl.lit(value=False), count=pl.lit(1, dtype=pl.Int64)
    )
    segments = rows.filter(~pl.col("stays")).group_by("segment", maintain_order=True)
    others = segments.agg(pl.all().last(), count=pl.len().cast(pl.Int64))
    if "score" in rows.columns:
        others = others.with_columns(score=pl.when(~pl.col("apart")).then("score"))
    return pl.concat([one, others.select(one.columns)]).drop("stays", "segment")


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
