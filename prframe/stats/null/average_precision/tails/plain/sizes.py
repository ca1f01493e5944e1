"""Ranges of sizes, whose cases share a walk on a lattice.

Which hits a walk goes through, and which of its terms count, follows from the range and not from
the cases that happen to be there, so that tails have the same digits in every company.
"""

from collections.abc import Iterable
from math import ceil, floor, log2
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats, Integers

# Cases with at most so many items are in one range of items, and those with at most so many
# positives in one range of positives.
_FEW_ITEMS = 1 << 12
_FEW_POSITIVES = 96
# Beyond these an octave of items or of positives has this many ranges.
_PER_OCTAVE = 8


class Sizes(NamedTuple):
    """The least and the most items of cases, and positives among them."""

    least_n: int
    most_n: int
    least_pos: int
    most_pos: int

    @classmethod
    def among(cls, sizes: Iterable[tuple[int, int]]) -> "Sizes":
        """Return the sizes of cases, given the items and the positives of each."""
        n, n_pos = zip(*sizes, strict=True)
        return cls(min(n), max(n), min(n_pos), max(n_pos))

    @classmethod
    def around(cls, n: int, n_pos: int) -> "Sizes":
        """Return the range to which a case belongs."""
        return cls(*_range(n, _FEW_ITEMS), *_range(n_pos, _FEW_POSITIVES))

    def log_chance(self, hits: Integers, end: Integers) -> Floats:
        """Return the largest logarithms of the chances of hits among the first `end` items.

        Where none of the cases needs to have more hits on average, nor fewer, this is taken to
        be 0.
        """
        n = np.maximum(self.least_n, end)
        most = np.minimum(self.most_pos, n)
        above = _log_chance(n, most, hits, end)
        below = _log_chance(self.most_n, self.least_pos, hits, end)
        high, low = end * (most / n), end * (self.least_pos / self.most_n)
        return np.where(hits >= high, above, np.where(hits <= low, below, 0.0))


def _range(number: int, few: int) -> tuple[int, int]:
    """Return the ends of the range of a number."""
    if number <= few:
        return 1, few
    place = floor(_PER_OCTAVE * log2(number / few))
    low, high = (ceil(few * 2 ** (end / _PER_OCTAVE)) for end in (place, place + 1))
    return min(low, number), max(high, number)


def _log_chance(
    n: "int | Integers", n_pos: "int | Integers", hits: Integers, end: Integers
) -> Floats:
    """Return the logarithms of the chances that so many of the first items are positive."""
    ways = log_binomial(n_pos, hits) + log_binomial(n - n_pos, end - hits)
    return ways - log_binomial(n, end)
