"""Hits: the small table that every metric is computed from.

Everything about a ranking is a function of the ranks of its positives (Clemencon, Limnios &
Vayatis 2021, section 2). Here their tie blocks are given ranks by the tie policy and the
positives above and within them are counted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.tie_policies import POLICIES, TiePolicy
from prframe.typing import Integers


@dataclass(frozen=True)
class Hits:
    """Group totals, and one row per retrieved positive in order of rank within its group.

    Attributes
    ----------
    totals : DataFrame, one row per group
        The keys; ``n`` retrieved items; ``n_pos``, ``n_neg`` with what is not listed;
        ``present_pos`` listed and ``n_hits`` retrieved positives; with judgments ``n_nonrel``,
        the judged items that are not positive. Weighted, sums of weights.
    table : DataFrame, one row per hit
        ``group`` (row number in `totals`); ``start``, ``end``: items above the tie block, and up
        to its end; ``tp_start``, ``tp_end``: the positives among these, ``fp_start``, ``fp_end``
        the others; ``weight``; ``gain``. With grades or judgments, items that have one stand
        here as well, with a weight of 0 unless they are positive; with judgments there are also
        ``judged``, ``nonrel_start``, ``nonrel_end`` and ``pooled_end`` (see `Quantities`).
    marks : DataFrame or None, one row per positive, graded or judged item, retrieved or not
        ``group``, ``start``, ``end`` (equal where not retrieved), ``gain``, ``weight``, with
        judgments ``judged`` and ``pooled``; None where each is a positive with a gain of 1.
    policy : TiePolicy
        That by which `table` follows from `marks`.
    """

    totals: pl.DataFrame
    table: pl.DataFrame
    marks: pl.DataFrame | None = None
    policy: TiePolicy = POLICIES["group"]


def at_grade(found: Hits, rel: float) -> Hits:
    """Return the hits when labels >= `rel` count as positive; it needs hits with gains."""
    if found.marks is None:
        # Every gain is 1.
        if rel <= 1:
            return found
        everything = (pl.col("n_pos") + pl.col("n_neg")).alias("n_neg")
        none = pl.lit(0, dtype=pl.Int64)
        totals = found.totals.with_columns(everything, n_pos=none, present_pos=none, n_hits=none)
        return Hits(totals, found.table.clear())
    positive = (pl.col("gain") >= rel).cast(pl.Float64)
    return from_marks(found.totals, found.marks.with_columns(weight=positive), found.policy)


def unit_hits(
    totals: pl.DataFrame, group: Integers, start: Integers, end: Integers, policy: TiePolicy
) -> Hits:
    """Make the table of hits that carry nothing but their ranks."""
    retrieved = end > start
    if not retrieved.all():
        group, start, end = group[retrieved], start[retrieved], end[retrieved]
    # Blocks are disjoint, so each half may be sorted alone.
    offset = group * (int(end.max(initial=0)) + 1)
    start, end = np.sort(offset + start) - offset, np.sort(offset + end) - offset
    start, end = _spread(group, start, end, policy)
    ones = np.ones(group.size, dtype=np.int64)
    table = _hit_table({"group": group, "start": start, "end": end}, ones)
    table = table.with_columns(weight=pl.lit(1.0), gain=pl.lit(1.0))
    return Hits(with_hits(totals, table), table, policy=policy)


def from_marks(totals: pl.DataFrame, marks: pl.DataFrame, policy: TiePolicy) -> Hits:
    """Make the table of hits that carry gains, weights or judgments."""
    nonrel = pl.col("weight") == 0
    if "judged" in marks.columns:
        nonrel &= pl.col("judged") > 0
    found = marks.filter(pl.col("end") > pl.col("start"))
    group, start, end, gain, weight = (
        found[name].to_numpy() for name in ("group", "start", "end", "gain", "weight")
    )
    # Within a block the order matters to the best and the worst ranking alone.
    merits = [gain] if "judged" not in found.columns else [found["judged"].to_numpy(), gain]
    order = np.lexsort([*(merit if policy.merit < 0 else -merit for merit in merits), end, group])
    group, gain, weight = group[order], gain[order], weight[order]
    start, end = _spread(group, start[order], end[order], policy)
    blocks = {"group": group, "start": start, "end": end}
    table = _hit_table(blocks, weight.astype(np.int64)).with_columns(
        pl.Series("weight", weight), pl.Series("gain", gain)
    )
    totals = with_hits(_with_positives(totals, marks), table)
    if "judged" in marks.columns:
        flags = found[order].select(nonrel.cast(pl.Int64).alias("nonrel"), "judged", "pooled")
        before, after = _counted_at_blocks(group, end, flags["nonrel"].to_numpy())
        _, pooled = _counted_at_blocks(group, end, flags["pooled"].to_numpy().astype(np.int64))
        counts = {"nonrel_start": before, "nonrel_end": after, "pooled_end": pooled}
        table = table.with_columns(flags["judged"], **{n: pl.Series(c) for n, c in counts.items()})
        totals = totals.with_columns(_per_group(totals, marks.filter(nonrel)).alias("n_nonrel"))
    return Hits(totals, table, marks, policy)


def _with_positives(totals: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    """Move the totals where other labels count as positive than before."""
    present = _per_group(totals, marks.filter(pl.col("weight") > 0))
    more = present - totals["present_pos"]
    return totals.with_columns(
        present.alias("present_pos"),
        (pl.col("n_pos") + more).alias("n_pos"),
        (pl.col("n_neg") - more).alias("n_neg"),
    )


def _per_group(totals: pl.DataFrame, marks: pl.DataFrame) -> pl.Series:
    """Count the marks of each group."""
    return pl.Series(np.bincount(marks["group"].to_numpy(), minlength=totals.height))


def _spread(
    group: Integers, start: Integers, end: Integers, policy: TiePolicy
) -> tuple[Integers, Integers]:
    """Give each marked item of a tied block a rank of its own, the best or the worst ones."""
    if not policy.merit:
        return start, end
    firsts = _block_starts(group, end)
    count = np.diff(firsts, append=group.size)
    place = np.arange(group.size) - np.repeat(firsts, count)
    rank = start + place if policy.merit > 0 else end - np.repeat(count, count) + place
    return rank, rank + 1


def _block_starts(group: Integers, end: Integers) -> Integers:
    """Return the first row of each block."""
    new = (np.diff(group, prepend=-1) != 0) | (np.diff(end, prepend=-1) != 0)
    return np.flatnonzero(new)


def _counted_at_blocks(
    group: Integers, end: Integers, counted: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the running sums within each group above each row's block and up to its end."""
    after = running(counted, group)
    firsts = _block_starts(group, end)
    before = np.concatenate([[0], after])[:-1]
    before[np.diff(group, prepend=-1) != 0] = 0
    if firsts.size == group.size:
        return before, after
    count = np.diff(firsts, append=group.size)
    return np.repeat(before[firsts], count), np.repeat(after[firsts + count - 1], count)


def _hit_table(blocks: dict[str, Integers], weight: Integers) -> pl.DataFrame:
    """Count the positives and the others above each hit's block and up to its end."""
    tp_start, tp_end = _counted_at_blocks(blocks["group"], blocks["end"], weight)
    tp = {"tp_start": tp_start, "tp_end": tp_end}
    fp = {"fp_start": blocks["start"] - tp_start, "fp_end": blocks["end"] - tp_end}
    return pl.DataFrame(blocks | tp | fp)


def with_hits(totals: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Add the retrieved positives to the totals."""
    found = np.bincount(
        table["group"].to_numpy(), weights=table["weight"].to_numpy(), minlength=totals.height
    )
    return totals.with_columns(pl.Series("n_hits", found).cast(totals["n"].dtype))


def running(values: NDArray[Any], group: Integers) -> NDArray[Any]:
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
