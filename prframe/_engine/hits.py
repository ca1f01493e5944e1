"""Hits: the small table that every metric is computed from.

Everything about a ranking is a function of the ranks of its positives (Clemencon, Limnios &
Vayatis 2021, section 2).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from prframe._engine.sorting import Ranks, block_starts, counted_at_blocks
from prframe.tie_policies import POLICIES, TiePolicy
from prframe.typing import Floats, Integers

# The number of hits whose columns are made at a time.
_AT_A_TIME = 1 << 20
# From this number on hits are measured by themselves.
_MANY = 1 << 17


@dataclass(frozen=True)
class Hits:
    """Group totals, and one row per retrieved positive in order of rank within its group."""

    # A row per group: the keys; `n` retrieved items; `n_pos`, `n_neg` with what is not listed;
    # `present_pos` listed and `n_hits` retrieved positives; with judgments `n_nonrel`, the judged
    # items that are not positive. Weighted, sums of weights.
    totals: pl.DataFrame
    # The columns, or the ranks of hits that carry nothing else.
    given: pl.LazyFrame | Ranks
    # A row per positive, graded or judged item, retrieved or not: `group`, `start`, `end` (equal
    # where not retrieved), `gain`, `weight`, with judgments `judged` and `pooled`; None where each
    # is a positive with a gain of 1.
    marks: pl.DataFrame | None = None
    # That by which `columns` follow from `marks`.
    policy: TiePolicy = POLICIES["group"]
    # Whether it is known that no items are tied, or that the policy parts those that are.
    are_apart: bool = False

    @cached_property
    def columns(self) -> pl.LazyFrame:
        """The columns of the hits, of which most metrics need few.

        ``group`` (row number in `totals`); ``start``, ``end``: items above the tie block, and up
        to its end; ``tp_start``, ``tp_end``: the positives among these, ``fp_start``, ``fp_end``
        the others; ``weight``; ``gain``. With grades or judgments, items that have one stand
        here as well, with a weight of 0 unless they are positive; with judgments there are also
        ``judged``, ``nonrel_start``, ``nonrel_end`` and ``pooled_end`` (see `Quantities`).
        """
        return _columns_of(self.given) if isinstance(self.given, Ranks) else self.given

    @cached_property
    def table(self) -> pl.DataFrame:
        """All columns."""
        return self.columns.collect(engine="in-memory")

    @property
    def n_hits(self) -> int:
        """The number of hits."""
        if isinstance(self.given, Ranks):
            return self.given.group.size
        return int(self.columns.select(pl.len()).collect(engine="in-memory").item())

    def parts(self, *, whole_groups: bool) -> Iterator[pl.LazyFrame]:
        """Yield the columns of about `_AT_A_TIME` hits; other groups do not change the cuts."""
        n_hits = self.n_hits
        if n_hits <= _AT_A_TIME:
            yield self.columns
            return
        firsts = self._first_hits
        if not whole_groups:
            size = np.diff(firsts, append=n_hits)
            n_parts = -(-size // _AT_A_TIME)
            nth = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
            firsts = np.repeat(firsts, n_parts) + nth * _AT_A_TIME
        wanted = np.arange(_AT_A_TIME, n_hits, _AT_A_TIME)
        cuts = np.append(firsts, n_hits)[np.searchsorted(firsts, wanted)]
        for start, end in pairwise(np.unique([0, *cuts, n_hits]).tolist()):
            if isinstance(self.given, Ranks):
                yield _columns_of(self.given.taken(start, end))
            else:
                yield self.given.slice(start, end - start)

    @property
    def _first_hits(self) -> Integers:
        """The places of the first hits of the groups that have any."""
        if self.totals.height == 1:
            return np.zeros(1, np.int64)
        if isinstance(self.given, Ranks):
            group = self.given.group
        else:
            group = self.given.select("group").collect(engine="in-memory")["group"].to_numpy()
        return np.append(0, np.flatnonzero(group[1:] != group[:-1]) + 1)


def at_grade(found: Hits, rel: float) -> Hits:
    """Return the hits when labels >= `rel` count as positive; it needs hits with gains."""
    if found.marks is None:
        # Every gain is 1.
        if rel <= 1:
            return found
        everything = (pl.col("n_pos") + pl.col("n_neg")).alias("n_neg")
        none = pl.lit(0, dtype=pl.Int64)
        totals = found.totals.with_columns(everything, n_pos=none, present_pos=none, n_hits=none)
        return Hits(totals, found.columns.clear())
    positive = (pl.col("gain") >= rel).cast(pl.Float64)
    return from_marks(found.totals, found.marks.with_columns(weight=positive), found.policy)


def together(pieces: Iterable[Hits]) -> Iterator[Hits]:
    """Yield the hits of several pieces as one where they are few: a measurement has a price."""
    few: list[Hits] = []
    n_few = 0
    for piece in pieces:
        n_hits = piece.n_hits if piece.marks is None else piece.marks.height
        are_few = n_hits < _MANY
        if few and not (are_few and _are_alike(few[-1], piece)):
            yield _stacked(few)
            few, n_few = [], 0
        if not are_few:
            yield piece
            continue
        # Computed columns let go of what they follow from, such as the weights of all rows.
        is_plain = isinstance(piece.given, Ranks)
        few.append(piece if is_plain else replace(piece, given=piece.table.lazy()))
        n_few += n_hits
        if n_few >= _MANY:
            yield _stacked(few)
            few, n_few = [], 0
    if few:
        yield _stacked(few)


def _are_alike(one: Hits, other: Hits) -> bool:
    """Return whether two pieces both have marks, or both nothing but ranks, or neither."""
    return type(one.given) is type(other.given) and (one.marks is None) == (other.marks is None)


def _stacked(pieces: Sequence[Hits]) -> Hits:
    """Return the hits of pieces, all of which have marks or none of which has, as those of one."""
    n_groups = np.cumsum([0, *(piece.totals.height for piece in pieces)]).tolist()
    totals = pl.concat([piece.totals for piece in pieces])
    ranks = [piece.given for piece in pieces if isinstance(piece.given, Ranks)]
    if ranks:
        return Hits(totals, Ranks.stacked(ranks, n_groups[:-1]))
    group = [pl.col("group") + before for before in n_groups[:-1]]
    marks = [piece.marks for piece in pieces if piece.marks is not None]
    return Hits(
        totals,
        pl.concat(map(pl.LazyFrame.with_columns, (piece.columns for piece in pieces), group)),
        pl.concat(map(pl.DataFrame.with_columns, marks, group)) if marks else None,
        pieces[0].policy,
    )


def unit_hits(totals: pl.DataFrame, ranks: Ranks) -> Hits:
    """Return hits that carry nothing but their ranks."""
    n_hits = np.bincount(ranks.group, minlength=totals.height)
    totals = totals.hstack([pl.Series("n_hits", n_hits)])
    return Hits(totals, ranks, are_apart=ranks.ends is None)


def _columns_of(ranks: Ranks) -> pl.LazyFrame:
    """Return the columns of hits that carry nothing but their ranks."""
    if ranks.group.size < _MANY:
        # To plan a query takes longer than to make the columns of few hits.
        ones = np.ones(ranks.group.size)
        return pl.LazyFrame(ranks.columns() | {"weight": ones, "gain": ones})
    return _counts(ranks).with_columns(weight=pl.lit(1.0), gain=pl.lit(1.0))


def weighted_hits(totals: pl.DataFrame, ranks: Ranks, weight: Floats, sums: "ClassSums") -> Hits:
    """Return hits whose counts are replaced by sums of weights."""
    columns = _counts(ranks, weight=weight, gain=weight).with_columns(
        sums.positives.column("tp_start"),
        sums.positives.column("tp_end"),
        sums.negatives.column("fp_start"),
        sums.negatives.column("fp_end"),
    )
    start, end = (pl.col(f"tp_{side}") + pl.col(f"fp_{side}") for side in ("start", "end"))
    n_hits = pl.Series("n_hits", sums.positives.totals)
    return Hits(totals.with_columns(n_hits), columns.with_columns(start=start, end=end))


def _counts(ranks: Ranks, **more: Floats) -> pl.LazyFrame:
    """Return the ranks of hits, and the positives and the negatives up to these ranks."""
    start, tp_start = pl.col("start"), pl.col("tp_start")
    data = {"group": ranks.group, "start": ranks.start, "tp_start": ranks.tp_start} | more
    ends = {"end": start + 1, "tp_end": tp_start + 1}
    if ranks.ends is not None:
        data |= dict(zip(ends, ranks.ends, strict=True))
        ends = {}
    return (
        pl.LazyFrame(data)
        .with_columns(**ends)
        .with_columns(fp_start=start - tp_start, fp_end=pl.col("end") - pl.col("tp_end"))
    )


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
    start, end = spread(group, start[order], end[order], policy)
    blocks = {"group": group, "start": start, "end": end}
    table = _hit_table(blocks, weight.astype(np.int64)).with_columns(
        pl.Series("weight", weight), pl.Series("gain", gain)
    )
    totals = with_hits(_with_positives(totals, marks), table)
    if "judged" in marks.columns:
        flags = found[order].select(nonrel.cast(pl.Int64).alias("nonrel"), "judged", "pooled")
        before, after = counted_at_blocks(group, end, flags["nonrel"].to_numpy())
        _, pooled = counted_at_blocks(group, end, flags["pooled"].to_numpy().astype(np.int64))
        counts = {"nonrel_start": before, "nonrel_end": after, "pooled_end": pooled}
        table = table.with_columns(flags["judged"], **{n: pl.Series(c) for n, c in counts.items()})
        totals = totals.with_columns(_per_group(totals, marks.filter(nonrel)).alias("n_nonrel"))
    return Hits(totals, table.lazy(), marks, policy)


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


def spread(
    group: Integers, start: Integers, end: Integers, policy: TiePolicy
) -> tuple[Integers, Integers]:
    """Give each marked item of a tied block a rank of its own, the best or the worst ones."""
    if not policy.merit:
        return start, end
    firsts = block_starts(group, end)
    count = np.diff(firsts, append=group.size)
    place = np.arange(group.size) - np.repeat(firsts, count)
    rank = start + place if policy.merit > 0 else end - np.repeat(count, count) + place
    return rank, rank + 1


def _hit_table(blocks: dict[str, Integers], weight: Integers) -> pl.DataFrame:
    """Count the positives and the others above each hit's block and up to its end."""
    tp_start, tp_end = counted_at_blocks(blocks["group"], blocks["end"], weight)
    tp = {"tp_start": tp_start, "tp_end": tp_end}
    fp = {"fp_start": blocks["start"] - tp_start, "fp_end": blocks["end"] - tp_end}
    return pl.DataFrame(blocks | tp | fp)


def with_hits(totals: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Add the retrieved positives to the totals."""
    found = np.bincount(
        table["group"].to_numpy(), weights=table["weight"].to_numpy(), minlength=totals.height
    )
    return totals.with_columns(pl.Series("n_hits", found).cast(totals["n"].dtype))


class RunningSums:
    """Sums of the first values of each group, each added up apart, so that no digits are lost."""

    def __init__(self, values: Floats, sizes: Integers) -> None:
        """Add up the values, which stand group by group, in groups of the given sizes."""
        # A 0 stands before the first value of each group.
        self._last = np.cumsum(sizes + 1) - 1
        self._first = self._last - sizes
        self._sums = np.zeros(values.size + sizes.size)
        bounds = zip(self._first.tolist(), self._last.tolist(), strict=True)
        # Sums that are infinite are refused with the totals.
        with np.errstate(over="ignore"):
            for nth, (first, last) in enumerate(bounds):
                np.cumsum(values[first - nth : last - nth], out=self._sums[first + 1 : last + 1])

    def of_first(self, group: Integers, count: Integers) -> Floats:
        """Return the sum of the first so many values of a group."""
        return self._sums[count if self._first.size == 1 else self._first[group] + count]

    def column(self, count: str) -> pl.Expr:
        """Return the sum of the first so many values of each hit's group, given their number."""

        def apply(columns: Sequence[pl.Series]) -> pl.Series:
            return pl.Series(self.of_first(*(column.to_numpy() for column in columns)))

        return pl.map_batches(
            ["group", count], apply, return_dtype=pl.Float64, is_elementwise=True
        ).alias(count)

    @property
    def totals(self) -> Floats:
        """The sum of all values of each group."""
        return self._sums[self._last]


class ClassSums(NamedTuple):
    """Running sums of the weights of positives and of negatives, in order of rank."""

    positives: RunningSums
    negatives: RunningSums
