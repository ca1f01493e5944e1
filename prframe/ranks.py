"""Ranks of the positives: the one place that knows sorting, ties and unretrieved items.

Everything about a ranking is a function of the ranks of its positives (Clemencon, Limnios &
Vayatis 2021, section 2). So the rows are reduced to group totals and *hits*: one small row for
each retrieved positive, with the tie block it stands in. Curves need every threshold; they and
weighted hits come from the fully sorted rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.errors import PrframeError
from prframe.pieces import Piece
from prframe.rows import UNRETRIEVED, in_groups, key_names

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_KEY, _POSITIVE, _WEIGHT = pl.col("key"), pl.col("positive"), pl.col("weight")
_RETRIEVED = _KEY > UNRETRIEVED


@dataclass(frozen=True)
class Hits:
    """Group totals, and one row per retrieved positive in order of rank within its group.

    Attributes
    ----------
    totals : DataFrame, one row per group
        The keys; ``n`` retrieved items; ``n_pos``, ``n_neg`` with what is not listed;
        ``present_pos`` listed and ``n_hits`` retrieved positives. Weighted, sums of weights.
    table : DataFrame, one row per hit
        ``group`` (row number in `totals`); ``start``, ``end``: items above the tie block, and up
        to its end; ``tp_start``, ``tp_end``: the positives among these, ``fp_start``, ``fp_end``
        the others; ``weight``; ``gain``.
    gains : DataFrame or None, one row per relevant item, retrieved or not
        ``group``, ``gain``, ``weight``; None where all gains are 1.
    """

    totals: pl.DataFrame
    table: pl.DataFrame
    gains: pl.DataFrame | None = None


def hits(piece: Piece) -> Hits:
    """Reduce the rows of a piece to its hits."""
    if piece.ranking.args.weight is not None:
        return _weighted_hits(piece)
    graded = "gain" in piece.ranking.extra
    relevant = _POSITIVE | (pl.col("gain") > 0) if graded else _POSITIVE
    lists = {"blocks": _blocks(piece.ranking.args.ties, relevant)}
    if graded:
        by_rank = _matching(piece.ranking.args.ties, relevant)
        lists |= {"gain": by_rank(pl.col("gain")), "weight": by_rank(_POSITIVE.cast(pl.Float64))}
    groups = piece.aggregate(**_totals(piece), **lists)
    return _flatten(_checked(groups, piece), piece, graded=graded)


def _blocks(ties: str, relevant: pl.Expr) -> pl.Expr:
    """Return the ranks of the relevant items as one list of two halves.

    ``"group"``: the items below each one's block, then those below or in it, both by one binary
    search in the sorted keys. ``"order"``: the items above each one (one half only).
    """
    if ties == "order":
        ranked = relevant.sort_by(_KEY, descending=True, maintain_order=True)
        return ranked.arg_true().implode()
    keys = _KEY.filter(relevant)
    return _KEY.sort().search_sorted(keys.append(keys + 1), side="left").implode()


def _matching(ties: str, relevant: pl.Expr) -> Callable[[pl.Expr], pl.Expr]:
    """Return what lists a column for the relevant items as `_blocks` lists their ranks."""

    def listed(column: pl.Expr) -> pl.Expr:
        if ties == "order":
            keys = _KEY.filter(relevant)
            column = column.filter(relevant).sort_by(keys, descending=True, maintain_order=True)
        else:
            column = column.filter(relevant)
        return column.implode()

    return listed


def _totals(piece: Piece) -> dict[str, pl.Expr]:
    """Return the aggregates that count a group."""
    args = piece.ranking.args
    whole = piece.ranking.include_unretrieved or piece.all_retrieved
    if args.weight is None:
        positives = _POSITIVE.sum()
        totals = {
            "size": pl.len(),
            "n": pl.len() if whole else _RETRIEVED.sum(),
            "present_pos": positives,
            "present_neg": pl.len() - positives,
        }
    else:
        positives, negatives = _weight_of(_POSITIVE), _weight_of(~_POSITIVE)
        retrieved = _WEIGHT.sum() if whole else _WEIGHT.filter(_RETRIEVED).sum()
        totals = {"n": retrieved, "present_pos": positives, "present_neg": negatives}
    for name in ("n_pos", "n_neg"):
        if isinstance(getattr(args, name), str):
            totals |= {name: pl.col(name).first(), f"{name}_values": pl.col(name).n_unique()}
    if args.item is not None:
        totals["repeated"] = pl.len() - pl.col("item").n_unique()
    return totals


def _weight_of(mask: pl.Expr) -> pl.Expr:
    """Add up weights as the curve does, best first, so that recall ends at exactly 1."""
    weights = _WEIGHT.filter(mask).sort_by(_KEY.filter(mask), descending=True, maintain_order=True)
    return weights.cum_sum().last().fill_null(0.0)


def _checked(groups: pl.DataFrame, piece: Piece) -> pl.DataFrame:
    """Settle n_pos and n_neg, and refuse groups whose totals or items contradict each other."""
    args = piece.ranking.args
    number = pl.Int64 if args.weight is None else pl.Float64
    groups = groups.with_columns(pl.col("n", "present_pos", "present_neg").cast(number))
    if args.item is not None:
        bad = groups.filter(pl.col("repeated") > 0)
        got = pl.lit(f"{bad['repeated'].sum()} rows too many")
        must = f"`item` {args.item!r} must name each item once"
        _refuse_groups(bad, piece, must, got, "drop the duplicates, or leave out item=")
    for name, present in (("n_pos", "present_pos"), ("n_neg", "present_neg")):
        groups = _with_total(groups, piece, name, present).with_columns(pl.col(name).cast(number))
    return groups


def _with_total(groups: pl.DataFrame, piece: Piece, name: str, present: str) -> pl.DataFrame:
    """Add the total of one class: what is given, else what is present."""
    given = getattr(piece.ranking.args, name)
    if given is None:
        return groups.with_columns(pl.col(present).alias(name))
    if isinstance(given, str):
        values = pl.col(f"{name}_values")
        got = pl.format("{} different values", values)
        must = f"`{name}` {given!r} must be constant within a group"
        remedy = "give every row of a group the same total"
        _refuse_groups(groups.filter(values > 1), piece, must, got, remedy)
    else:
        groups = groups.with_columns(pl.lit(given).alias(name))
    below = groups.filter(pl.col(name) < pl.col(present))
    got = pl.format("{} given, {} present", name, present)
    must, remedy = f"`{name}` must be at least what is present", "count what is listed as well"
    _refuse_groups(below, piece, must, got, remedy)
    return groups


def _refuse_groups(bad: pl.DataFrame, piece: Piece, must: str, got: pl.Expr, remedy: str) -> None:
    """Raise if any group is bad: what must hold, what was got, what to do."""
    if bad.height:
        first = bad.select(got).item(0, 0)
        where = in_groups(bad.select(key_names(piece.ranking.args)).rows())
        raise PrframeError(f"{must}: {first}{where}; {remedy}.")


def _flatten(groups: pl.DataFrame, piece: Piece, *, graded: bool) -> Hits:
    """Turn the lists of ranks into one row per hit."""
    blocks = pl.col("blocks").list
    if piece.ranking.args.ties == "order":
        count = groups["blocks"].list.len()
        start = _exploded(groups["blocks"])
        end = start + 1
    else:
        count = groups["blocks"].list.len() // 2
        half = blocks.len() // 2
        halves = groups.select(up_to=blocks.head(half), above=blocks.tail(half))
        size = np.repeat(groups["size"].to_numpy().astype(np.int64), count)
        start, end = (size - _exploded(halves[name]) for name in ("above", "up_to"))
    group = np.repeat(np.arange(groups.height), count)
    # Unretrieved items stand below all retrieved ones; their block shrinks to nothing.
    n = groups["n"].to_numpy()[group]
    start, end = np.minimum(start, n), np.minimum(end, n)
    if not graded:
        return _unit_hits(groups, group, start, end)
    gain, weight = (
        groups[name].explode(empty_as_null=False).to_numpy() for name in ("gain", "weight")
    )
    if np.array_equal(gain, weight):
        return _unit_hits(groups, group, start, end)
    order = np.lexsort((end, group))
    order = order[(end > start)[order]]
    group_, start, end = group[order], start[order], end[order]
    table = _with_true_positives(group_, start, end, weight[order], gain[order])
    gains = pl.DataFrame({"group": group, "gain": gain, "weight": weight})
    return Hits(_with_hits(groups, table), table, gains)


def _exploded(lists: pl.Series) -> Integers:
    """Return the members of all lists in one array."""
    return lists.explode(empty_as_null=False).to_numpy().astype(np.int64)


def _unit_hits(groups: pl.DataFrame, group: Integers, start: Integers, end: Integers) -> Hits:
    """Sort hits that carry nothing but their ranks: blocks are disjoint, so each half alone."""
    retrieved = end > start
    if not retrieved.all():
        group, start, end = group[retrieved], start[retrieved], end[retrieved]
    offset = group * (int(end.max(initial=0)) + 1)
    start, end = np.sort(offset + start) - offset, np.sort(offset + end) - offset
    table = _with_true_positives(group, start, end, None, None)
    return Hits(_with_hits(groups, table), table)


def _with_true_positives(
    group: Integers,
    start: Integers,
    end: Integers,
    weight: Floats | None,
    gain: Floats | None,
) -> pl.DataFrame:
    """Count the positives above each hit's block and up to its end; hits stand in rank order."""
    ones = np.ones(group.size, dtype=np.int64)
    after = _running(ones if weight is None else weight, group)
    new_group = np.diff(group, prepend=-1) != 0
    before = np.where(new_group, 0, np.concatenate([[0], after])[:-1])
    new_block = new_group | (np.diff(end, prepend=-1) != 0)
    if not new_block.all():
        block = np.cumsum(new_block) - 1
        firsts = np.flatnonzero(new_block)
        lasts = np.append(firsts[1:], group.size) - 1
        before, after = before[firsts][block], after[lasts][block]
    table = pl.DataFrame(
        {"group": group, "start": start, "end": end, "tp_start": before, "tp_end": after}
    )
    weights = pl.Series("weight", ones.astype(np.float64) if weight is None else weight)
    return table.with_columns(
        (pl.col("start") - pl.col("tp_start")).alias("fp_start"),
        (pl.col("end") - pl.col("tp_end")).alias("fp_end"),
        weights,
        weights.alias("gain") if gain is None else pl.Series("gain", gain),
    )


def _with_hits(groups: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Add the retrieved positives to the totals and drop the lists."""
    found = np.bincount(
        table["group"].to_numpy(), weights=table["weight"].to_numpy(), minlength=groups.height
    )
    keys = [name for name in groups.columns if name.startswith("by")]
    return groups.select(
        *keys,
        *("n", "n_pos", "n_neg", "present_pos"),
        pl.Series("n_hits", found).cast(groups["n"].dtype),
    )


@dataclass(frozen=True)
class Thresholds:
    """Every row of a piece in order of rank, with the counts at the end of its tie block.

    Attributes
    ----------
    totals : DataFrame, one row per group
        As in `Hits`, without ``n_hits``.
    table : DataFrame, one row per retrieved row
        ``group``, ``k``, ``tp``, ``fp`` up to the end of the block, ``last`` (whether the row ends
        it), ``positive``; where they are carried ``threshold`` (the score), ``weight``, ``row``.
    """

    totals: pl.DataFrame
    table: pl.DataFrame


def thresholds(piece: Piece) -> Thresholds:
    """Sort the rows of a piece within their groups and count along them."""
    ranking = piece.ranking
    shown = pl.lit(value=True) if ranking.include_unretrieved else _RETRIEVED
    carried = ["key", "positive", *ranking.extra]
    if ranking.args.weight is not None:
        carried.append("weight")
    by_rank = {
        name: pl.col(name)
        .filter(shown)
        .sort_by(_KEY.filter(shown), descending=True, maintain_order=True)
        .implode()
        for name in carried
    }
    groups = _checked(piece.aggregate(**_totals(piece), **by_rank), piece)
    count = groups["key"].list.len().to_numpy().astype(np.int64)
    group = np.repeat(np.arange(groups.height), count)
    flat = groups.select(pl.col(name).explode(empty_as_null=False) for name in carried)
    table = _counted(flat, group, ranking.args.ties)
    keys = key_names(ranking.args)
    return Thresholds(groups.select(*keys, "n", "n_pos", "n_neg", "present_pos"), table)


def _counted(rows: pl.DataFrame, group: Integers, ties: str) -> pl.DataFrame:
    """Add the counts up to the end of each row's tie block."""
    change = np.diff(group) != 0
    if ties == "group":
        change |= np.diff(rows["key"].to_numpy()) != 0
    else:
        change |= True
    last = np.concatenate([change, [True]])[: group.size]
    ends = np.flatnonzero(last)
    end = ends[np.searchsorted(ends, np.arange(group.size))]
    positive = rows["positive"].to_numpy()
    k = _running(np.ones(group.size, np.int64), group)[end]
    if "weight" in rows.columns:
        weight = rows["weight"].to_numpy()
        tp, fp = (_running(weight * mask, group)[end] for mask in (positive, ~positive))
    else:
        tp = _running(positive.astype(np.int64), group)[end]
        fp = k - tp
    if "score" in rows.columns:
        rows = rows.with_columns(pl.col("score").cast(pl.Float64).alias("threshold")).drop("score")
    columns = {"group": group, "k": k, "tp": tp, "fp": fp, "last": last}
    return rows.drop("key").with_columns(
        pl.Series(name, values) for name, values in columns.items()
    )


def _running(values: NDArray[Any], group: Integers) -> NDArray[Any]:
    """Return the running sums within each group; groups stand together."""
    if values.dtype.kind == "f":
        # Each group for itself: a difference of sums over all groups would lose digits.
        sums = pl.col("value").cum_sum().over("group")
        rows = pl.DataFrame({"value": values, "group": group})
        return np.asarray(rows.select(sums).to_series().to_numpy())
    total = np.insert(np.cumsum(values), 0, 0)
    firsts = np.flatnonzero(np.diff(group, prepend=-1))
    first_of_group = np.repeat(firsts, np.diff(firsts, append=group.size))
    return np.asarray(total[1:] - total[first_of_group])


def _weighted_hits(piece: Piece) -> Hits:
    """Reduce weighted rows to hits, by way of the sorted rows."""
    ranked = thresholds(piece)
    table = ranked.table
    group = table["group"].to_numpy()
    last, positive = table["last"].to_numpy(), table["positive"].to_numpy()
    tp, fp = table["tp"].to_numpy(), table["fp"].to_numpy()
    tp_start, fp_start = (_above(group, last, counts) for counts in (tp, fp))
    columns = {
        "group": group,
        "start": tp_start + fp_start,
        "end": tp + fp,
        "tp_start": tp_start,
        "tp_end": tp,
        "fp_start": fp_start,
        "fp_end": fp,
        "weight": table["weight"].to_numpy(),
        "gain": table["weight"].to_numpy(),
    }
    hits_table = pl.DataFrame({name: values[positive] for name, values in columns.items()})
    return Hits(_with_hits(ranked.totals, hits_table), hits_table)


def _above(group: Integers, last: NDArray[np.bool_], up_to: Floats) -> Floats:
    """Return for each row the count up to the end of the block before its own."""
    block = np.concatenate([[0], np.cumsum(last)[:-1]])[: group.size]
    ends = np.flatnonzero(last)
    before = np.concatenate([[0.0], up_to[ends]])[:-1]
    starts_group = np.concatenate([[True], np.diff(group[ends]) != 0])[: ends.size]
    return np.asarray(np.where(starts_group, 0.0, before)[block])
