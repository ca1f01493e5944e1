"""Rows in order of group and score, by one sort of integers of 64 bits.

A row is packed into the number of its group, the distance of its key from the best one, and its
kind (its label, and what else a metric asks for); if asked for, also its number within its group
and a flag. Where these need more bits, the last ones of the distance are left out, and rows that
differ only there are put in order afterwards.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from timeit import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe.typing import Integers

_Integers: TypeAlias = NDArray[np.integer[Any]]
# Up to so many numbers NumPy and polars take about as long to sort them.
_FEW = 1 << 14
_WIDTH = 64
# The number of rows that are looked at together: few enough to stay in the cache of a processor.
_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class Groups:
    """The first row of each group, and the number of all rows, of which there is at least one."""

    starts: Integers
    n_rows: int

    @classmethod
    def of(cls, group: NDArray[np.unsignedinteger]) -> "Groups":
        """Find out where groups begin, given the number of the group of each row."""
        return cls(np.append(0, np.flatnonzero(group[1:] != group[:-1]) + 1), group.size)

    @property
    def number_bits(self) -> int:
        """The bits that number the rows of the largest group."""
        return int(np.diff(self.starts, append=self.n_rows).max() - 1).bit_length()

    def first_rows(self, start: int, stop: int) -> Integers:
        """Return the first row of the group of each row from `start` to before `stop`."""
        low, high = np.searchsorted(self.starts, [start, stop - 1], side="right")
        within = self.starts[low - 1 : high]
        return np.repeat(within, np.diff(np.maximum(within, start), append=stop))

    def numbers_of_rows(self, packed: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Replace packed rows, in place, by their numbers, of which they hold those in groups."""
        mask = np.uint64((2 << self.number_bits) - 1)
        for start in range(0, self.n_rows, _AT_A_TIME):
            part = packed[start : start + _AT_A_TIME]
            part &= mask
            part >>= np.uint64(1)
            if self.starts.size > 1:
                part += self.first_rows(start, start + part.size).view(np.uint64)
        return packed.view(np.int64)


@dataclass(frozen=True)
class Packing:
    """How a row becomes an integer: its group, the distance of its key from the best, its kind."""

    best: int
    unused: int  # last bits that are 0 in every distance
    dropped: int  # further last bits of the distances, for which there is no room
    key_bits: int
    kind_bits: int
    number_bits: int

    @classmethod
    def of(
        cls,
        group: NDArray[np.unsignedinteger],
        key: NDArray[np.int64],
        kind: NDArray[np.unsignedinteger],
        number_bits: int = 0,
    ) -> "Packing":
        """Find out what groups, keys and kinds need."""
        best, worst = int(key.max()), int(key.min())
        bits = 0
        for start in range(0, key.size, _AT_A_TIME):
            part = key[start : start + _AT_A_TIME]
            bits |= int(np.bitwise_or.reduce(_distances(part, best)))
            if bits & 1:
                break
        unused = (bits & -bits).bit_length() - 1 if bits else 0
        needed = (best - worst).bit_length() - unused
        kind_bits = int(kind.max()).bit_length()
        room = _WIDTH - int(group[-1] - group[0]).bit_length() - kind_bits - number_bits
        return cls(best, unused, max(needed - room, 0), min(needed, room), kind_bits, number_bits)

    def pack(
        self,
        group: NDArray[np.unsignedinteger],
        key: NDArray[np.int64],
        kind: NDArray[np.unsignedinteger],
        flag: NDArray[np.bool_] | None = None,
        groups: Groups | None = None,
    ) -> NDArray[np.uint64]:
        """Return rows as integers, with flags and numbers in their groups if these are given."""
        rows = np.empty(key.size, np.uint64)
        for start in range(0, key.size, _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            packed = self._kept(_distances(key[part], self.best, out=rows[part]))
            if self.kind_bits:
                packed <<= np.uint64(self.kind_bits)
                packed |= kind[part]
            if flag is not None and groups is not None:
                packed <<= np.uint64(self.number_bits)
                number = np.arange(start, start + packed.size)
                number -= groups.first_rows(start, start + packed.size)
                number *= 2
                packed |= number.view(np.uint64)
                packed |= flag[part].view(np.uint8)
            if group[0] != group[-1]:
                numbers = (group[part] - group[0]).astype(np.uint64)
                numbers <<= np.uint64(self.key_bits + self.kind_bits + self.number_bits)
                packed |= numbers
        return rows

    def changes(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return where the group or the key of packed rows in order changes."""
        return _changes(rows, self.kind_bits + self.number_bits)

    def keeps_keys_apart(self, key: NDArray[np.int64]) -> bool:
        """Return whether no two keys differ in the dropped bits alone."""
        distances = _distances(key, self.best)
        sort_integers(distances)
        changes = _changes(distances)
        return bool((changes == _changes(self._kept(distances))).all())

    def _kept(self, distances: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Shift distances, in place, until only the bits that are kept are left."""
        if self.key_bits:
            distances >>= np.uint64(self.unused + self.dropped)
        return distances


def _distances(
    key: NDArray[np.int64], best: int, out: NDArray[np.uint64] | None = None
) -> NDArray[np.uint64]:
    """Return by how much keys are smaller than the best one."""
    # Differences of 64-bit integers may need all 64 bits, which unsigned ones have.
    return np.subtract(np.uint64(best % 2**_WIDTH), key.view(np.uint64), out=out)


def _changes(ascending: NDArray[np.uint64], ignored_bits: int = 0) -> NDArray[np.bool_]:
    """Return which numbers differ from the one before in more than their last bits."""
    changes, shift = np.ones(ascending.size, np.bool_), np.uint64(ignored_bits)
    for start in range(1, ascending.size, _AT_A_TIME):
        part = ascending[start - 1 : start + _AT_A_TIME] >> shift
        np.not_equal(part[1:], part[:-1], out=changes[start : start + _AT_A_TIME])
    return changes


def sort_integers(numbers: _Integers) -> None:
    """Sort integers, in place and ascending, waiting for none of polars' threads."""
    if numbers.size <= _FEW or _numpy_is_fast():
        numbers.sort()
    else:
        sort_by_polars(numbers)


def sort_by_polars(numbers: _Integers) -> None:
    """Sort integers, in place and ascending, in this thread."""
    numbers[:] = pl.Series(numbers).sort(multithreaded=False).to_numpy()


@cache
def _numpy_is_fast() -> bool:
    """Measure whether NumPy sorts as fast as polars, which it does not on AMD's Zen 4."""
    # Multiples of an odd number fill 64 bits evenly and in no order.
    numbers = np.arange(2 * _FEW, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    def seconds(sort: Callable[[_Integers], None]) -> float:
        return min(repeat(lambda: sort(numbers.copy()), number=1, repeat=3))

    return seconds(np.ndarray.sort) <= seconds(sort_by_polars)


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
        start, tp_start = self.start, self.tp_start
        end, tp_end = (start + 1, tp_start + 1) if self.ends is None else self.ends
        tp = {"tp_start": tp_start, "tp_end": tp_end}
        fp = {"fp_start": start - tp_start, "fp_end": end - tp_end}
        return {"group": self.group, "start": start, "end": end} | tp | fp

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
