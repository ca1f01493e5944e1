"""The distribution of the sum of numbers drawn without replacement, by counting.

An urn holds numbers, some of them several times; n are drawn, and all subsets are equally likely.
Where the subsets are few, or fall into few classes, or all sums lie on a lattice, probabilities
are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from prframe.stats.null.subset_sums.contents import ROUNDING, Contents, Lattice
from prframe.typing import Floats, Integers

# The most entries of the table of each half. A half ends before the block that would need more.
MOST_ENTRIES = 1 << 16
# The most cells of all steps of a walk. Where there would be more, there is no walk.
MOST_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Urn:
    """An urn from which numbers are drawn without replacement.

    Attributes
    ----------
    contents : Contents
    n : int
        How many numbers are drawn.
    """

    contents: Contents
    n: int

    @classmethod
    def of(cls, values: Floats, sizes: Integers, n: int) -> "Urn":
        """Return the urn of distinct rising values, each `sizes` times, of which n are drawn."""
        return cls(Contents(values, sizes), n)

    @property
    def values(self) -> Floats:
        """The distinct numbers, rising."""
        return self.contents.values

    @property
    def sizes(self) -> Integers:
        """The multiplicity of each number."""
        return self.contents.sizes

    @property
    def size(self) -> int:
        """How many numbers the urn holds, repeated ones included."""
        return self.contents.size

    @property
    def mean(self) -> float:
        """The mean of the sum."""
        return self.n * self.contents.mean

    @property
    def variance(self) -> float:
        """The variance of the sum, ``n (N - n) / (N (N - 1)) sum (a - mean a)^2``."""
        if self.n in {0, self.size}:
            return 0.0
        pairs = self.n * (self.size - self.n) / (self.size * (self.size - 1))
        return pairs * self.contents.squares

    @cached_property
    def shape(self) -> tuple[float, float]:
        """Skewness and excess kurtosis of the sum; NaN where the variance is 0.

        With d the numbers less their mean and p_k the sum of d^k, the third central moment is
        ``n (N - n) (N - 2n) p_3 / (N (N - 1) (N - 2))``, and the fourth is ``n (N - n) ((N (N + 1)
        - 6 n (N - n)) p_4 + 3 (n - 1) (N - n - 1) p_2^2) / (N (N - 1) (N - 2) (N - 3))``.
        """
        if self.variance == 0:
            return np.nan, np.nan
        total, drawn, left = float(self.size), float(self.n), float(self.size - self.n)
        away = self.values - self.contents.mean
        # Powers are taken in units of the deviation of the sum, so that they neither overflow nor
        # vanish.
        second, third, fourth = (
            float(self.sizes @ (away / self.variance**0.5) ** k) for k in (2, 3, 4)
        )
        if min(drawn, left) == 1:
            return (third if drawn == 1 else -third) / total, fourth / total - 3
        pairs = drawn / total * left / (total - 1)
        skewness = pairs * (left - drawn) / (total - 2) * third
        share = (total * (total + 1) - 6 * drawn * left) / (total - 2) / (total - 3)
        product = 3 * (drawn - 1) / (total - 2) * (left - 1) / (total - 3)
        return skewness, pairs * (share * fourth + product * second**2) - 3

    @cached_property
    def support(self) -> tuple[float, float]:
        """The least and the largest sum."""
        return _first_sum(self.values, self.sizes, self.n), _first_sum(
            self.values[::-1], self.sizes[::-1], self.n
        )

    @cached_property
    def gaps(self) -> tuple[float, float]:
        """The gaps between the least sum and the next one, and between the largest and the next.

        The last number that is drawn is exchanged for the next one; without one a gap is infinite.
        """
        # The first numbers are in at most as many blocks as numbers are drawn.
        blocks = self.n + 1
        return _first_gap(self.values[:blocks], self.sizes[:blocks], self.n), _first_gap(
            -self.values[: -blocks - 1 : -1], self.sizes[: -blocks - 1 : -1], self.n
        )

    @property
    def slack(self) -> float:
        """The largest difference of sums that count as equal."""
        return self.contents.slack

    def left_over(self) -> "Urn":
        """Return the urn from which the numbers left over are drawn, with changed signs.

        Its sums are the sums of this urn minus the sum of all numbers.
        """
        return Urn.of(-self.values[::-1], self.sizes[::-1], self.size - self.n)

    @property
    def total(self) -> float:
        """The sum of all numbers."""
        return float(self.sizes @ self.values)


def _first_sum(values: Floats, sizes: Integers, n: int) -> float:
    """Return the sum of the first n numbers."""
    # They are in at most the first n blocks.
    number = np.diff(np.minimum(np.cumsum(sizes[:n]), n), prepend=0)
    return float(number @ values[:n])


def _first_gap(values: Floats, sizes: Integers, n: int) -> float:
    """Return the smallest step from the sum of the first n numbers to another sum."""
    before = np.cumsum(sizes)
    at = int(np.searchsorted(before, n))
    gaps = np.append(np.insert(np.diff(values), 0, np.inf), np.inf)
    # A block that is drawn in part may be exchanged with the block on either side.
    return float(gaps[at + 1] if before[at] == n else min(gaps[at : at + 2]))


class Tails(NamedTuple):
    """The logarithms of P(S >= x) and P(S <= x)."""

    above: float
    below: float


class _Table(NamedTuple):
    """Classes of subsets with equally many members: their sums, rising, and cumulative chances."""

    sums: Floats
    upward: Floats
    downward: Floats


class SubsetTables:
    """All sums, from tables of two halves of the urn that are searched for pairs of classes.

    The largest block is in neither half: the numbers that the halves lack are drawn from it.
    """

    def __init__(self, urn: Urn, split: int) -> None:
        self._urn = urn
        largest = int(urn.sizes.argmax())
        rest = np.delete(np.arange(urn.values.size), largest)
        self._value = float(urn.values[largest])
        # So many at least come from the largest block, as the others have no more.
        self._least = max(0, urn.n - int(urn.sizes[rest].sum()))
        self._filling = _binomial(int(urn.sizes[largest]), urn, self._least)
        self._halves = [_tables(urn, part) for part in (rest[:split], rest[split:])]

    @classmethod
    def of(cls, urn: Urn) -> "SubsetTables | None":
        """Return the tables, if they are small enough."""
        sizes = np.delete(urn.sizes, urn.sizes.argmax())
        forward, backward = _reach(sizes, urn.n), _reach(sizes[::-1], urn.n)
        if forward + backward < sizes.size:
            return None
        # A split in the middle makes the fewest entries, if both halves can reach it.
        return cls(urn, min(forward, max(sizes.size - backward, sizes.size // 2)))

    def tails(self, x: float) -> Tails:
        """Return both tails of a value."""
        above = below = total = 0.0
        for count, left, right in self._pairs():
            weight = self._filling[self._urn.n - count - self._least]
            rest = x - (self._urn.n - count) * self._value - left.sums
            own = -np.diff(left.upward)
            total += weight * float(own.sum() * right.upward[0])
            first = np.searchsorted(right.sums, rest - self._urn.slack, side="left")
            last = np.searchsorted(right.sums, rest + self._urn.slack, side="right")
            above += weight * float(own @ right.upward[first])
            below += weight * float(own @ right.downward[last])
        return Tails(_log(above / total), _log(below / total))

    def _pairs(self) -> Iterator[tuple[int, _Table, _Table]]:
        """Yield the number of members of pairs of tables, and the pair.

        The other numbers must be in the largest block.
        """
        n, most = self._urn.n - self._least, self._filling.size - 1
        left, right = self._halves
        for i, left_table in left.items():
            for j, right_table in right.items():
                if 0 <= n - i - j <= most:
                    yield i + j, left_table, right_table


def _reach(sizes: Integers, n: int) -> int:
    """Return how many of the first blocks together have few enough classes of subsets."""
    n = min(n, int(sizes.sum()))
    classes = np.zeros(n + 1)
    classes[0] = 1
    for i, size in enumerate(sizes):
        sums = np.cumsum(classes)
        sums[size + 1 :] -= sums[: -size - 1].copy() if size < n else 0
        classes = sums
        if classes.sum() > MOST_ENTRIES:
            return i
    return int(sizes.size)


def _binomial(size: int, urn: Urn, least: int = 0) -> Floats:
    """Return the chances of `least` members of a block or more, each drawn independently."""
    # SciPy is imported here, because its import takes longer than most evaluations.
    from scipy.stats import binom  # noqa: PLC0415

    share = urn.n / urn.size
    if size == 1:
        return np.array([1 - share, share])[least : urn.n + 1]
    return np.asarray(binom.pmf(np.arange(least, min(size, urn.n) + 1), size, share))


def _tables(urn: Urn, part: Integers) -> dict[int, _Table]:
    """Return a table for each number of members that some blocks may give."""
    count, sums, chance = np.zeros(1, np.int64), np.zeros(1), np.ones(1)
    for block in part:
        chances = _binomial(int(urn.sizes[block]), urn)
        members = np.arange(chances.size)
        counts = np.add.outer(members, count)
        possible = counts <= urn.n
        count = counts[possible]
        sums = np.add.outer(members * urn.values[block], sums)[possible]
        chance = np.multiply.outer(chances, chance)[possible]
    order = np.lexsort([sums, count])
    count, sums, chance = count[order], sums[order], chance[order]
    bounds = np.searchsorted(count, np.arange(count[-1] + 2))
    return {
        i: _Table(
            sums[low:high],
            np.append(np.cumsum(chance[low:high][::-1])[::-1], 0.0),
            np.insert(np.cumsum(chance[low:high]), 0, 0.0),
        )
        for i, (low, high) in enumerate(pairwise(bounds))
        if low < high
    }


class LatticeDistribution:
    """The distribution of sums on a lattice, from drawing one number after the other."""

    def __init__(self, urn: Urn, lattice: Lattice) -> None:
        self._least = urn.n * lattice.least
        self._unit = lattice.unit
        chance = _walk(urn, lattice)
        self._upward = np.append(np.cumsum(chance[::-1])[::-1], 0.0)
        self._downward = np.insert(np.cumsum(chance), 0, 0.0)

    @classmethod
    def of(cls, urn: Urn, lattice: Lattice | None) -> "LatticeDistribution | None":
        """Return the distribution, if the walk is short enough."""
        if lattice is None:
            return None
        cells = urn.size * (urn.n + 1) * (_longest(urn, lattice) + 1)
        return cls(urn, lattice) if cells <= MOST_CELLS else None

    def tails(self, x: float) -> Tails:
        """Return both tails of a value."""
        place = (x - self._least) / self._unit
        last = self._upward.size - 1
        first = int(np.clip(np.ceil(place - ROUNDING), 0, last))
        beyond = int(np.clip(np.floor(place + ROUNDING) + 1, 0, last))
        return Tails(_log(self._upward[first]), _log(self._downward[beyond]))


def _longest(urn: Urn, lattice: Lattice) -> int:
    """Return the largest sum of places."""
    return int(Urn.of(lattice.places.astype(np.float64), urn.sizes, urn.n).support[1])


def _walk(urn: Urn, lattice: Lattice) -> Floats:
    """Return the probability of each sum of places.

    Number by number, each is drawn with the chance that is the share of numbers still to be drawn.
    """
    longest, places = _longest(urn, lattice), np.repeat(lattice.places, urn.sizes)
    chance = np.zeros((urn.n + 1, longest + 1))
    chance[0, 0] = 1
    for i, place in enumerate(places):
        low, high = max(0, urn.n - (urn.size - i)), min(i, urn.n)
        drawn = (urn.n - np.arange(low, high + 1)) / (urn.size - i)
        taken = chance[low : high + 1] * drawn[:, None]
        chance[low : high + 1] -= taken
        end = min(high + 1, urn.n)
        moved = taken[: end - low, : longest + 1 - place]
        chance[low + 1 : end + 1, place:] += moved
    return np.asarray(chance[urn.n])


def _log(chance: float) -> float:
    """Return the logarithm of a chance, -infinity for 0."""
    return float(np.log(min(chance, 1.0))) if chance > 0 else -np.inf
