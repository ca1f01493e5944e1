"""Ranks of the positives: the one place that knows sorting, ties and unretrieved items.

The rows are reduced to group totals and *hits*: one small row for each retrieved positive, with
the tie block it stands in (see `prframe.hits`). Curves need every threshold; they and
weighted hits come from the fully sorted rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.hits import Hits, from_marks, ranks_of, running, unit_hits, with_hits
from prframe._engine.pieces import Piece
from prframe._engine.rows import UNRETRIEVED, in_groups, key_names, rounded
from prframe._engine.sorting import SortedRows, sort_rows
from prframe.errors import PrframeError
from prframe.tie_policies import TiePolicy
from prframe.typing import Floats, Integers

_KEY, _POSITIVE, _WEIGHT = pl.col("key"), pl.col("positive"), pl.col("weight")
_RETRIEVED = _KEY > UNRETRIEVED


def hits(piece: Piece) -> Hits:
    """Reduce the rows of a piece to its hits."""
    args = piece.ranking.args
    if args.weight is not None:
        return _weighted_hits(piece)
    totals = group_totals(piece)
    if _carries_more_than_labels(piece):
        return from_marks(totals, _marks(piece, totals["n"].to_numpy()), args.policy)
    rows = _sorted(piece, piece.rows["positive"].to_numpy().view(np.uint8))
    positive = rows.kind.view(np.bool_)
    ranks = ranks_of(positive, rows.begins, piece.first_rows, args.policy.merit)
    # Rows that are not retrieved stand below all others.
    return unit_hits(totals, ranks if piece.all_ranked else ranks.among(totals["n"].to_numpy()))


def _sorted(piece: Piece, kind: NDArray[np.unsignedinteger]) -> SortedRows:
    """Return the rows in order, with the kinds that are given for them."""
    policy = piece.ranking.args.policy
    if not policy.ordered:
        return sort_rows(piece.rows["run"].to_numpy(), piece.rows["key"].to_numpy(), kind)
    by_rank = pl.col("kind").sort_by(*_order(policy), descending=True, maintain_order=True)
    rows = replace(piece, rows=piece.rows.with_columns(pl.Series("kind", kind)))
    kinds = rows.aggregate(kind=by_rank.implode())["kind"].explode(empty_as_null=False)
    return SortedRows(kinds.to_numpy(), np.ones(kind.size, np.bool_))


def _carries_more_than_labels(piece: Piece) -> bool:
    """Tell whether rows have judgments, or gains that are not their labels over again."""
    extra, rows = piece.ranking.extra, piece.rows
    return "judged" in extra or (
        "gain" in extra and bool((rows["gain"] != rows["positive"]).any())
    )


def _marks(piece: Piece, n: Integers) -> pl.DataFrame:
    """Return the rows that are positive, graded or judged, with their ranks (see `Hits`)."""
    flags = ["positive", *(("judged", "pooled") if "judged" in piece.ranking.extra else ())]
    gain = piece.rows["gain" if "gain" in piece.ranking.extra else "positive"].cast(pl.Float64)
    # A gain of 0 comes first, so that a row of kind 0 has nothing.
    gains = np.union1d(0.0, gain.unique().to_numpy())
    kind = gains.searchsorted(gain.to_numpy())
    for flag in flags:
        kind = 2 * kind + piece.rows[flag].to_numpy()
    rows = _sorted(piece, kind.astype(np.min_scalar_type(kind.max(initial=0))))
    marked = rows.kind > 0
    ranks = ranks_of(marked, rows.begins, piece.first_rows)
    kind = rows.kind[marked].astype(np.int64)
    start, end = (np.minimum(rank, n[ranks.group]) for rank in (ranks.start, ranks.end))
    columns = {"group": ranks.group, "start": start, "end": end}
    for flag in reversed(flags):
        columns["weight" if flag == "positive" else flag] = (kind & 1).astype(np.float64)
        kind >>= 1
    return pl.DataFrame(columns | {"gain": gains[kind]})


def group_totals(piece: Piece) -> pl.DataFrame:
    """Return the totals of each group, with its keys, checked as `hits` checks them."""
    groups = _checked(piece.aggregate(**_totals(piece)), piece)
    return groups.select(*key_names(piece.ranking.args), "n", "n_pos", "n_neg", "present_pos")


def tie_sizes(piece: Piece) -> pl.Series:
    """Return the sizes of the tie blocks of each group's retrieved items, best first, as lists."""
    blocks = _KEY.filter(_RETRIEVED).sort(descending=True).rle().struct.field("len")
    return piece.aggregate(sizes=blocks.implode())["sizes"]


def class_scores(piece: Piece) -> Iterator[tuple[Floats, Floats]]:
    """Yield the scores of each group's positives and negatives; the ranking carries them."""
    for rows in piece.groups():
        score, positive = _compared(piece, rows), rows["positive"].to_numpy()
        yield score[positive], score[~positive]


def clustered(piece: Piece) -> Iterator[tuple[Floats, NDArray[np.bool_], Integers]]:
    """Yield the level of each group's items, whether each is positive, and its cluster from 0.

    Levels rise as scores do, -inf is what was not retrieved; as floats, large integers would tie.
    Clusters are numbered by their values: the order of rows does not matter.
    """
    for rows in piece.groups():
        code = rows["cluster"].rank("dense").cast(pl.Int64).to_numpy() - 1
        key = rows["key"].to_numpy()
        _, level = np.unique(key, return_inverse=True)
        yield np.where(key > UNRETRIEVED, level, -np.inf), rows["positive"].to_numpy(), code


def _compared(piece: Piece, rows: pl.DataFrame) -> Floats:
    """Return scores as they are compared."""
    args = piece.ranking.args
    return rounded(rows["score"]) if args.float32 else rows["score"].to_numpy()


def _order(policy: TiePolicy) -> list[pl.Expr]:
    """Return what rows are sorted by, in descending order."""
    return [_KEY, *policy.then]


def _one(keys: list[pl.Expr]) -> pl.Expr:
    """Return sort keys as one; filtered ones by twos are more than polars 2.0 can group."""
    return keys[0] if len(keys) == 1 else pl.struct(keys)


def _totals(piece: Piece) -> dict[str, pl.Expr]:
    """Return the aggregates that count a group."""
    args = piece.ranking.args
    whole = piece.all_ranked
    if args.weight is None:
        positives = _POSITIVE.sum()
        totals = {
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
        _refuse_groups(
            bad,
            piece,
            must,
            got,
            "drop the duplicates, or name the columns that keep rankings apart with by=",
        )
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
    by = _one(_curve_order(ranking.args.policy)).filter(shown)
    by_rank = {
        name: pl.col(name)
        .filter(shown)
        .sort_by(by, descending=True, maintain_order=True)
        .implode()
        for name in carried
    }
    groups = _checked(piece.aggregate(**_totals(piece), **by_rank), piece)
    count = groups["key"].list.len().to_numpy().astype(np.int64)
    group = np.repeat(np.arange(groups.height), count)
    flat = groups.select(pl.col(name).explode(empty_as_null=False) for name in carried)
    table = _counted(flat, group, ranking.args.policy)
    totals = groups.select(*key_names(ranking.args), "n", "n_pos", "n_neg", "present_pos")
    return Thresholds(totals, table)


def _curve_order(policy: TiePolicy) -> list[pl.Expr]:
    """Return what the rows of a curve are sorted by, in descending order."""
    if policy.merit:
        return [_KEY, _POSITIVE if policy.merit > 0 else ~_POSITIVE]
    return _order(policy)


def _counted(rows: pl.DataFrame, group: Integers, policy: TiePolicy) -> pl.DataFrame:
    """Add the counts up to the end of each row's tie block."""
    change = np.diff(group) != 0
    if policy.blocks:
        change |= np.diff(rows["key"].to_numpy()) != 0
    else:
        change |= True
    last = np.concatenate([change, [True]])[: group.size]
    ends = np.flatnonzero(last)
    end = ends[np.searchsorted(ends, np.arange(group.size))]
    positive = rows["positive"].to_numpy()
    k = running(np.ones(group.size, np.int64), group)[end]
    if "weight" in rows.columns:
        weight = rows["weight"].to_numpy()
        tp, fp = (running(weight * mask, group)[end] for mask in (positive, ~positive))
    else:
        tp = running(positive.astype(np.int64), group)[end]
        fp = k - tp
    if "score" in rows.columns:
        rows = rows.with_columns(pl.col("score").cast(pl.Float64).alias("threshold")).drop("score")
    columns = {"group": group, "k": k, "tp": tp, "fp": fp, "last": last}
    return rows.drop("key").with_columns(
        pl.Series(name, values) for name, values in columns.items()
    )


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
    return Hits(with_hits(ranked.totals, hits_table), hits_table.lazy())


def _above(group: Integers, last: NDArray[np.bool_], up_to: Floats) -> Floats:
    """Return for each row the count up to the end of the block before its own."""
    block = np.concatenate([[0], np.cumsum(last)[:-1]])[: group.size]
    ends = np.flatnonzero(last)
    before = np.concatenate([[0.0], up_to[ends]])[:-1]
    starts_group = np.concatenate([[True], np.diff(group[ends]) != 0])[: ends.size]
    return np.asarray(np.where(starts_group, 0.0, before)[block])
