"""Rows in order of group and score, by one sort of integers that hold both and the kind of row.

Sorting integers is several times faster than sorting rows by columns, and no permutation has to be
applied afterwards: the kind of a row, which is its label and what else a metric asks for, travels
in the last bits. Where group, score and kind need more than 64 bits, the last bits of the score
are left out, and rows that are then equal but should not be are told apart afterwards.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_WIDTH = 64
# The number of rows that are looked at together: few enough to stay in the cache of a processor.
_AT_A_TIME = 1 << 16
# With so many bits of the keys of a group, few rows are left that have to be told apart by more.
_TELLING_BITS = 32


class SortedRows(NamedTuple):
    """Rows in order: group by group, and best first within a group.

    Attributes
    ----------
    kind : ndarray of unsigned int, shape (n_rows,)
        The kind of each row. The order among rows of one group and key has no meaning.
    begins : ndarray of bool, shape (n_rows,)
        Whether a row has another group or another key than the row before it.
    """

    kind: NDArray[np.unsignedinteger]
    begins: NDArray[np.bool_]


class RowOrder(NamedTuple):
    """The permutation that puts rows in order.

    Attributes
    ----------
    order : ndarray of int64, shape (n_rows,)
        The number of the row at each place.
    begins : ndarray of bool, shape (n_rows,)
        Whether it has another group or another key than the row at the place before.
    flag : ndarray of bool, shape (n_rows,)
        Its flag.
    """

    order: NDArray[np.int64]
    begins: NDArray[np.bool_]
    flag: NDArray[np.bool_]


def sort_rows(
    group: NDArray[np.unsignedinteger], key: NDArray[np.int64], kind: NDArray[np.unsignedinteger]
) -> SortedRows:
    """Sort rows by group, ascending, and by key, descending.

    Parameters
    ----------
    group : ndarray of unsigned int, shape (n_rows,)
        Numbers of groups, which ascend already.
    key : ndarray of int64, shape (n_rows,)
        Numbers that sort as the scores do.
    kind : ndarray of unsigned int, shape (n_rows,)
        Numbers of kinds of rows, the fewer the better.
    """
    if not key.size:
        return SortedRows(kind, np.zeros(0, np.bool_))
    packing = _Packing.of(group, key, kind)
    rows = packing.pack(group, key, kind)
    rows.sort()
    begins = packing.changes(rows)
    if packing.dropped and not begins.all() and not packing.keeps_keys_apart(key):
        order, begins, _ = order_of_rows(group, key, kind, np.ones(key.size, np.bool_))
        return SortedRows(kind[order], begins)
    rows &= np.uint64((1 << packing.kind_bits) - 1)
    return SortedRows(rows.astype(kind.dtype), begins)


def order_of_rows(
    group: NDArray[np.unsignedinteger],
    key: NDArray[np.int64],
    kind: NDArray[np.unsignedinteger],
    flag: NDArray[np.bool_],
) -> RowOrder:
    """Return the permutation that sorts rows by group, ascending, key, descending, and kind.

    Rows that agree in all three keep their order. The first arguments are those of `sort_rows`,
    which is faster and serves where nothing else has to be brought into this order. A flag of
    each row is brought along, which is faster than to look it up afterwards.
    """
    if not key.size:
        return RowOrder(np.zeros(0, np.int64), np.zeros(0, np.bool_), flag)
    # Where there is room for the number of a row and its flag, they travel in the last bits.
    number_bits = (key.size - 1).bit_length() + 1
    packing = _Packing.of(group, key, kind, number_bits)
    if packing.dropped and packing.key_bits < _TELLING_BITS:
        packing = _Packing.of(group, key, kind)
        rows = packing.pack(group, key, kind)
        order = np.argsort(rows, kind="stable")
        begins, ordered = packing.changes(rows[order]), flag.take(order)
    else:
        rows = packing.pack(group, key, kind, flag)
        rows.sort()
        last_bits = rows.astype(np.uint8)
        last_bits &= 1
        begins, ordered = packing.changes(rows), last_bits.view(np.bool_)
        rows &= np.uint64((1 << number_bits) - 1)
        rows >>= np.uint64(1)
        order = rows.view(np.int64)
    if packing.dropped:
        places = _put_in_order_of_keys(order, begins, key, kind)
        ordered[places] = flag[order[places]]
    return RowOrder(order, begins, ordered)


@dataclass(frozen=True)
class _Packing:
    """How a row becomes one integer: its group, the distance of its key from the best, its kind.

    Attributes
    ----------
    best : int
        The largest key.
    unused : int
        Last bits that are 0 in every distance.
    dropped : int
        Further last bits of the distances, for which there is no room.
    key_bits, kind_bits, number_bits : int
        Bits that the distance, the kind, and the number of the row with its flag are given.
    """

    best: int
    unused: int
    dropped: int
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
    ) -> "_Packing":
        """Find out what groups, keys and kinds need."""
        best, worst = int(key.max()), int(key.min())
        parts = (key[start : start + _AT_A_TIME] for start in range(0, key.size, _AT_A_TIME))
        bits = 0
        for part in parts:
            bits |= int(np.bitwise_or.reduce(_distances(part, best)))
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
    ) -> NDArray[np.uint64]:
        """Return rows as integers, with a flag if they have numbers."""
        rows = np.empty(key.size, np.uint64)
        for start in range(0, key.size, _AT_A_TIME):
            part = slice(start, start + _AT_A_TIME)
            packed = self._kept(_distances(key[part], self.best))
            if self.kind_bits:
                packed <<= np.uint64(self.kind_bits)
                packed |= kind[part]
            if flag is not None:
                packed <<= np.uint64(self.number_bits)
                packed |= 2 * np.arange(start, start + packed.size, dtype=np.uint64)
                packed |= flag[part].view(np.uint8)
            if group[0] != group[-1]:
                numbers = (group[part] - group[0]).astype(np.uint64)
                packed |= numbers << np.uint64(self.key_bits + self.kind_bits + self.number_bits)
            rows[part] = packed
        return rows

    def changes(self, rows: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Tell where the group or the key of packed rows in order changes."""
        return _changes(rows, self.kind_bits + self.number_bits)

    def keeps_keys_apart(self, key: NDArray[np.int64]) -> bool:
        """Tell whether no two keys differ in the dropped bits alone."""
        distances = _distances(key, self.best)
        distances.sort()
        changes = _changes(distances)
        return bool((changes == _changes(self._kept(distances))).all())

    def _kept(self, distances: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Shift distances, in place, until only the bits that are kept are left."""
        if self.key_bits:
            distances >>= np.uint64(self.unused + self.dropped)
        return distances


def _distances(key: NDArray[np.int64], best: int) -> NDArray[np.uint64]:
    """Return by how much keys are smaller than the best one."""
    # Differences of 64-bit integers may need all 64 bits, which unsigned ones have.
    return np.uint64(best % 2**_WIDTH) - key.view(np.uint64)


def _changes(ascending: NDArray[np.uint64], ignored_bits: int = 0) -> NDArray[np.bool_]:
    """Tell which numbers differ from the one before in more than their last bits.

    The first number does.
    """
    changes, shift = np.ones(ascending.size, np.bool_), np.uint64(ignored_bits)
    for start in range(1, ascending.size, _AT_A_TIME):
        part = ascending[start - 1 : start + _AT_A_TIME] >> shift
        np.not_equal(part[1:], part[:-1], out=changes[start : start + _AT_A_TIME])
    return changes


def _put_in_order_of_keys(
    order: NDArray[np.int64],
    begins: NDArray[np.bool_],
    key: NDArray[np.int64],
    kind: NDArray[np.unsignedinteger],
) -> NDArray[np.int64]:
    """Sort rows by their whole keys, in place, where what was kept of these is equal.

    Return the places of these rows.
    """
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
    places = np.sort(
        np.concatenate([alike[opens[is_mixed]] - 1, alike[np.repeat(is_mixed, count)]])
    )
    rows = order[places]
    # The complement of an integer descends where the integer ascends.
    rows = rows[np.lexsort([rows, kind[rows], ~key[rows], stretch])]
    order[places] = rows
    begins[places[1:]] |= key[rows[1:]] != key[rows[:-1]]
    return places
