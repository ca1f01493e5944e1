"""Rows in order of group and score, by one sort of integers that hold both and the kind of row.

The kind of a row, which is its label and what else a metric asks for, travels in the last bits
(see `prframe._engine.packing`). Where group, score and kind need more than 64 bits, rows that
differ only in the last bits of the score are put in order afterwards.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe._engine.packing import Groups, Packing, sort_integers
from prframe.typing import Integers

# With so many bits of the keys of a group, few rows are left that have to be told apart by more.
_TELLING_BITS = 32
# The number of truth values in an integer of 64 bits.
_WORD = 8


class SortedRows(NamedTuple):
    """The kinds of rows, best first within a group, and which begin a group or a tie block."""

    kind: NDArray[np.unsignedinteger]
    begins: NDArray[np.bool_]


class RowOrder(NamedTuple):
    """The numbers of rows in order, which of them begin a group or a tie block, and flags."""

    order: NDArray[np.int64]
    begins: NDArray[np.bool_]
    flag: NDArray[np.bool_]


def sort_rows(
    group: NDArray[np.unsignedinteger], key: NDArray[np.int64], kind: NDArray[np.unsignedinteger]
) -> SortedRows:
    """Sort rows by group (ascending already) and by key, descending; ties come in any order."""
    if not key.size:
        return SortedRows(kind, np.zeros(0, np.bool_))
    packing = Packing.of(group, key, kind)
    rows = packing.pack(group, key, kind)
    sort_integers(rows)
    begins = packing.changes(rows)
    if packing.dropped and not begins.all() and not packing.keeps_keys_apart(key):
        order, begins, _ = order_of_rows(group, key, kind, np.ones(key.size, np.bool_))
        return SortedRows(kind[order], begins)
    kinds = rows.astype(kind.dtype)
    kinds &= kind.dtype.type((1 << packing.kind_bits) - 1)
    return SortedRows(kinds, begins)


def order_of_rows(
    group: NDArray[np.unsignedinteger],
    key: NDArray[np.int64],
    kind: NDArray[np.unsignedinteger],
    flag: NDArray[np.bool_],
) -> RowOrder:
    """Return the permutation that sorts rows by group, ascending, key, descending, and kind.

    Rows that agree in all three keep their order. A flag of each row is brought along, which is
    faster than to look it up afterwards; `sort_rows` is faster still.
    """
    if not key.size:
        return RowOrder(np.zeros(0, np.int64), np.zeros(0, np.bool_), flag)
    # Where there is room for a row's number in its group and its flag, they travel in the last
    # bits. Small groups leave much room, however many there are.
    groups = Groups.of(group)
    packing = Packing.of(group, key, kind, groups.number_bits + 1)
    if packing.dropped and packing.key_bits < _TELLING_BITS:
        packing = Packing.of(group, key, kind)
        rows = packing.pack(group, key, kind)
        order = np.argsort(rows, kind="stable")
        begins, ordered = packing.changes(rows[order]), flag.take(order)
    else:
        rows = packing.pack(group, key, kind, flag, groups)
        sort_integers(rows)
        last_bits = rows.astype(np.uint8)
        last_bits &= 1
        begins, ordered = packing.changes(rows), last_bits.view(np.bool_)
        order = groups.numbers_of_rows(rows)
    if packing.dropped:
        places = _put_in_order_of_keys(order, begins, key, kind)
        ordered[places] = flag[order[places]]
    return RowOrder(order, begins, ordered)


def _put_in_order_of_keys(
    order: NDArray[np.int64],
    begins: NDArray[np.bool_],
    key: NDArray[np.int64],
    kind: NDArray[np.unsignedinteger],
) -> NDArray[np.int64]:
    """Sort rows by whole keys, in place, where their kept bits are equal; return the places."""
    alike = np.flatnonzero(~begins)
    misplaced = key[order[alike]] != key[order[alike - 1]]
    if not misplaced.any():
        return np.zeros(0, np.int64)
    # A stretch of rows with one kept key is the places in `alike` that follow each other, and the
    # place before them.
    opens = np.flatnonzero(np.diff(alike, prepend=-1) > 1)
    is_mixed = np.logical_or.reduceat(misplaced, opens)
    count = np.diff(opens, append=alike.size)
    stretch = np.repeat(np.flatnonzero(is_mixed), count[is_mixed] + 1)
    places = np.concatenate([alike[opens[is_mixed]] - 1, alike[np.repeat(is_mixed, count)]])
    sort_integers(places)
    rows = order[places]
    # The complement of an integer descends where the integer ascends.
    rows = rows[np.lexsort([rows, kind[rows], ~key[rows], stretch])]
    order[places] = rows
    begins[places[1:]] |= key[rows[1:]] != key[rows[:-1]]
    return places


class Ranks(NamedTuple):
    """Where hits stand, in order of rank within their groups.

    `start` and `tp_start` count the items and hits above the tie block, `ends` those up to its
    end; it is None where each hit is a block of its own.
    """

    group: Integers
    start: Integers
    tp_start: Integers
    ends: tuple[Integers, Integers] | None = None

    @classmethod
    def of_blocks(cls, group: Integers, start: Integers, end: Integers) -> "Ranks":
        """Return the ranks of hits in any order, from where their tie blocks begin and end."""
        order = np.lexsort([start, group])
        group, start, end = group[order], start[order], end[order]
        tp_start, tp_end = counted_at_blocks(group, end, np.ones(group.size, np.int64))
        return cls(group, start, tp_start, (end, tp_end))

    @property
    def end(self) -> Integers:
        """Items up to the end of the tie block."""
        return self.start + 1 if self.ends is None else self.ends[0]

    @property
    def tp_end(self) -> Integers:
        """Hits up to the end of the tie block."""
        return self.tp_start + 1 if self.ends is None else self.ends[1]

    @classmethod
    def stacked(cls, parts: Sequence["Ranks"], firsts: Sequence[int]) -> "Ranks":
        """Return ranks one after the other; the numbers of their groups begin at the firsts."""
        group = np.concatenate([part.group + at for part, at in zip(parts, firsts, strict=True)])
        start, tp_start = (
            np.concatenate(column) for column in zip(*(part[1:3] for part in parts), strict=True)
        )
        if all(part.ends is None for part in parts):
            return cls(group, start, tp_start)
        end, tp_end = (
            np.concatenate(column)
            for column in zip(*((part.end, part.tp_end) for part in parts), strict=True)
        )
        return cls(group, start, tp_start, (end, tp_end))

    def taken(self, start: int, end: int) -> "Ranks":
        """Return those from one place to before another."""
        part = slice(start, end)
        ends = None if self.ends is None else (self.ends[0][part], self.ends[1][part])
        return Ranks(self.group[part], self.start[part], self.tp_start[part], ends)

    def columns(self) -> dict[str, Integers]:
        """Return the ranks, and the positives and the negatives up to these ranks."""
        tp = {"tp_start": self.tp_start, "tp_end": self.tp_end}
        blocks = {"group": self.group, "start": self.start, "end": self.end}
        fp = {"fp_start": self.start - self.tp_start, "fp_end": blocks["end"] - tp["tp_end"]}
        return blocks | tp | fp

    def among(self, n: Integers) -> "Ranks":
        """Return those of the first n items of each group."""
        kept = self.start < n[self.group]
        if kept.all():
            return self
        ends = None if self.ends is None else (self.ends[0][kept], self.ends[1][kept])
        return Ranks(self.group[kept], self.start[kept], self.tp_start[kept], ends)


def ranks_of(
    marked: NDArray[np.bool_], begins: NDArray[np.bool_], first_rows: Integers, merit: int = 0
) -> Ranks:
    """Return the ranks of marked rows, which with a merit of 1 (-1) come first (last) of ties."""
    place = places_of(marked)
    n_hits = np.diff(np.searchsorted(place, np.append(first_rows, marked.size)))
    group, hit = np.zeros(place.size, np.int64), np.arange(place.size)
    if has_groups := first_rows.size > 1:
        group = np.repeat(np.arange(first_rows.size), n_hits)
        hit -= np.repeat(np.cumsum(n_hits) - n_hits, n_hits)
    if begins.all():
        if has_groups:
            place -= np.repeat(first_rows, n_hits)
        return Ranks(group, place, hit)
    # Numbers of each tie block that holds hits, repeated for its hits in the end.
    block_starts = np.flatnonzero(begins)
    block = np.searchsorted(block_starts, place, side="right") - 1
    first_hit = np.flatnonzero(np.diff(block, prepend=-1))
    count = np.diff(first_hit, append=place.size)
    block = block[first_hit]
    size = np.diff(block_starts, append=marked.size)[block]
    start = block_starts[block] - first_rows[group[first_hit]]
    if merit:
        lead = 0 if merit > 0 else size - count
        nth = np.arange(place.size) - np.repeat(first_hit, count)
        return Ranks(group, np.repeat(start + lead, count) + nth, hit)
    above = hit[first_hit]
    del hit, place
    ends = np.repeat(start + size, count), np.repeat(above + count, count)
    return Ranks(group, np.repeat(start, count), np.repeat(above, count), ends)


def n_marked(mask: NDArray[np.bool_], first_rows: Integers) -> Integers:
    """Count the marked ones in each group, from where groups begin, of which some may be empty."""
    if first_rows.size == 1:
        # The places of many rows take more memory than the rows.
        return np.array([np.count_nonzero(mask)])
    return np.diff(np.searchsorted(places_of(mask), np.append(first_rows, mask.size)))


def places_of(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return where a mask is true; where it seldom is, eight values at a time are passed over."""
    n_whole = mask.size - mask.size % _WORD
    if not mask.flags.c_contiguous or np.count_nonzero(mask) * _WORD > mask.size:
        return np.flatnonzero(mask)
    words = mask[:n_whole].view(np.uint64)
    places = np.flatnonzero(words != 0)
    within = np.flatnonzero(words[places].view(np.bool_))
    places *= _WORD
    places = places[within // _WORD]
    places += within % _WORD
    rest = np.flatnonzero(mask[n_whole:])
    return np.append(places, rest + n_whole) if rest.size else places


def block_starts(group: Integers, end: Integers) -> Integers:
    """Return the first row of each block."""
    new = (np.diff(group, prepend=-1) != 0) | (np.diff(end, prepend=-1) != 0)
    return np.flatnonzero(new)


def counted_at_blocks(
    group: Integers, end: Integers, counted: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the running sums within each group above each row's block and up to its end."""
    total = np.append(0, np.cumsum(counted))
    opens = np.flatnonzero(np.diff(group, prepend=-1))
    after = total[1:] - np.repeat(total[opens], np.diff(opens, append=group.size))
    firsts = block_starts(group, end)
    before = np.concatenate([[0], after])[:-1]
    before[np.diff(group, prepend=-1) != 0] = 0
    if firsts.size == group.size:
        return before, after
    count = np.diff(firsts, append=group.size)
    return np.repeat(before[firsts], count), np.repeat(after[firsts + count - 1], count)
