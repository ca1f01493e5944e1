"""Rows packed into integers of 64 bits, which sort as the rows do.

A row becomes the number of its group, the distance of its key from the best one and its kind; if
asked for, also its number within its group and a flag. Where these need more than 64 bits, the
last bits of the distance are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from timeit import repeat
from typing import Any, TypeAlias

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
