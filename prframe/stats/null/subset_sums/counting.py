"""An urn of numbers, n of which are drawn without replacement, and exact tails of their sum."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from prframe.stats.null.average_precision.steps import log_binomial
from prframe.typing import Floats, Integers

# Sums that differ by less, times how many numbers they add up and the largest, are equal.
EQUAL = 1e-14
# The unit of a lattice is the smallest gap divided by one of these, numbers may span so many
# units, and places are whole to within the last number.
_SHARES, _SPAN, ROUNDING = (1, 2, 3, 4, 6, 12), 1e7, 1e-7
# Draws of at most this many numbers are counted directly.
PAIR = 2
# The most entries of the table of each half, and the most cells of all steps of a walk.
MOST_ENTRIES, _MOST_CELLS = 1 << 16, 1 << 22


class Lattice(NamedTuple):
    """Numbers that are multiples of a unit, counted from the least one."""

    least: float
    unit: float
    places: Integers

    @classmethod
    def of(cls, values: Floats) -> "Lattice | None":
        """Return the lattice of distinct, rising numbers, if they have one."""
        if values.size == 1:
            return cls(float(values[0]), 1.0, np.zeros(1, np.int64))
        distance = values - values[0]
        gap = float(np.diff(values).min())
        for share in _SHARES if gap * _SPAN >= distance[-1] else ():
            places = distance / gap * share
            if places[-1] > _SPAN:
                return None
            whole = np.round(places)
            if (np.abs(places - whole) < ROUNDING).all():
                common = int(np.gcd.reduce(whole.astype(np.int64)))
                unit = float(distance[-1]) / (int(whole[-1]) // common)
                return cls(float(values[0]), unit, whole.astype(np.int64) // common)
        return None


@dataclass(frozen=True, eq=False)
class Urn:
    """Distinct numbers, rising, how often each occurs, and how many numbers are drawn."""

    values: Floats
    sizes: Integers
    n: int
    # Values of the sum were computed from so many numbers, if these are more than `n`.
    added: int = 0

    @cached_property
    def size(self) -> int:
        """How many numbers there are, repeated ones included."""
        return int(self.sizes.sum())

    @cached_property
    def total(self) -> float:
        """The sum of all numbers."""
        return float(self.sizes @ self.values)

    @cached_property
    def centre(self) -> float:
        """The mean of the numbers, without rounding if all are equal."""
        return float(self.values[0]) if self.values.size == 1 else self.total / self.size

    @property
    def mean(self) -> float:
        """The mean of the sum."""
        return self.n * self.centre

    @cached_property
    def variance(self) -> float:
        """The variance of the sum, ``n (N - n) / (N (N - 1)) sum (a - mean a)^2``."""
        if self.n in {0, self.size}:
            return 0.0
        pairs = self.n * (self.size - self.n) / (self.size * (self.size - 1))
        return pairs * float(self.sizes @ (self.values - self.centre) ** 2)

    @property
    def shape(self) -> tuple[float, float]:
        """Skewness and excess kurtosis of the sum; NaN where the variance is 0.

        With d the numbers less their mean and p_k the sum of d^k, the third central moment is
        ``n (N - n) (N - 2n) p_3 / (N (N - 1) (N - 2))``, and the fourth is ``n (N - n) ((N (N + 1)
        - 6 n (N - n)) p_4 + 3 (n - 1) (N - n - 1) p_2^2) / (N (N - 1) (N - 2) (N - 3))``.
        """
        if self.variance == 0:
            return np.nan, np.nan
        total, drawn, left = float(self.size), float(self.n), float(self.size - self.n)
        # Powers are taken in units of the deviation of the sum, so that they are floats.
        away = (self.values - self.centre) / self.variance**0.5
        second, third, fourth = (float(self.sizes @ away**k) for k in (2, 3, 4))
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
        taken = (np.minimum(np.cumsum(sizes), self.n) for sizes in (self.sizes, self.sizes[::-1]))
        low, high = (np.diff(each, prepend=0) for each in taken)
        return float(low @ self.values), float(high @ self.values[::-1])

    @property
    def slack(self) -> float:
        """The largest difference of sums that count as equal."""
        largest = float(max(abs(self.values[0]), abs(self.values[-1])))
        return EQUAL * max(self.n, self.added) * largest

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice of the numbers, if they have one."""
        return Lattice.of(self.values)

    def left_over(self) -> "Urn":
        """Return the urn of the numbers left over, with changed signs."""
        return Urn(-self.values[::-1], self.sizes[::-1], self.size - self.n, self.size)


class Tails(NamedTuple):
    """The logarithms of P(S >= x) and P(S <= x)."""

    above: float
    below: float


def outside(urn: Urn, x: float) -> Tails | None:
    """Return the tails of values at and beyond the ends of the support, else None."""
    low, high = urn.support
    if x > high + urn.slack:
        return Tails(-np.inf, 0.0)
    if x < low - urn.slack:
        return Tails(0.0, -np.inf)
    if urn.variance == 0 or high - low <= urn.slack:
        return Tails(0.0, 0.0)
    if x >= high - urn.slack:
        return Tails(ends(urn)[1], 0.0)
    if x <= low + urn.slack:
        return Tails(0.0, ends(urn)[0])
    return None


def ends(urn: Urn) -> tuple[float, float]:
    """Return the logarithms of the probabilities of the least and of the largest sum."""
    logs = []
    for sizes in (urn.sizes, urn.sizes[::-1]):
        before = np.cumsum(sizes)
        at = int(np.searchsorted(before, urn.n))
        last = urn.n - (int(before[at - 1]) if at else 0)
        logs.append(float(log_binomial(sizes[at], last) - log_binomial(urn.size, urn.n)))
    return logs[0], logs[1]


def counted(urn: Urn) -> "Exact | None":
    """Return the exact distribution, if it is small enough."""
    if urn.n <= PAIR:
        return FewDrawn(urn)
    return SubsetTables.of(urn) or LatticeDistribution.of(urn, urn.lattice)


class FewDrawn:
    """One number, or the sum of two by a search for the second one."""

    def __init__(self, urn: Urn) -> None:
        self._urn, self._sizes = urn, urn.sizes.astype(np.float64)
        self._upward, self._downward = _cumulative(self._sizes)

    def tails(self, x: float) -> Tails:
        """Return both tails of a value."""
        values, slack = self._urn.values, self._urn.slack
        if self._urn.n == 1:
            above = self._upward[np.searchsorted(values, x - slack, side="left")]
            below = self._downward[np.searchsorted(values, x + slack, side="right")]
            return Tails(_log(above / self._urn.size), _log(below / self._urn.size))
        # Ordered pairs are counted, minus those of a number with itself.
        rest = x - values
        above = self._sizes @ self._upward[np.searchsorted(values, rest - slack, side="left")]
        below = self._sizes @ self._downward[np.searchsorted(values, rest + slack, side="right")]
        above -= self._sizes @ (2 * values >= x - slack)
        below -= self._sizes @ (2 * values <= x + slack)
        pairs = float(self._urn.size) * (self._urn.size - 1)
        return Tails(_log(float(above) / pairs), _log(float(below) / pairs))


class _Table(NamedTuple):
    """Classes of subsets with equally many members: their sums, rising, and cumulative chances."""

    sums: Floats
    upward: Floats
    downward: Floats


class SubsetTables:
    """All sums, from tables of two halves of the urn that are searched for pairs of classes."""

    # The numbers that the halves lack are drawn from the largest block, which is in neither.
    def __init__(self, urn: Urn, split: int) -> None:
        self._urn = urn
        largest = int(urn.sizes.argmax())
        rest = np.delete(np.arange(urn.values.size), largest)
        self._value = float(urn.values[largest])
        # This many at least come from the largest block, as the others have no more.
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
        """Yield the number of members of pairs of tables, and the pair."""
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
    numbers, first = np.unique(count, return_index=True)
    parts = (slice(*ends) for ends in pairwise([*first.tolist(), count.size]))
    tables = (_Table(sums[part], *_cumulative(chance[part])) for part in parts)
    return dict(zip(numbers.tolist(), tables, strict=True))


def _cumulative(chance: Floats) -> tuple[Floats, Floats]:
    """Return the sums of chances from each place on, and before it."""
    return np.append(np.cumsum(chance[::-1])[::-1], 0.0), np.insert(np.cumsum(chance), 0, 0.0)


class LatticeDistribution:
    """The distribution of sums on a lattice, from drawing one number after the other."""

    def __init__(self, urn: Urn, lattice: Lattice, longest: int) -> None:
        self._least, self._unit = urn.n * lattice.least, lattice.unit
        chance = np.zeros((urn.n + 1, longest + 1))
        chance[0, 0] = 1
        for i, place in enumerate(np.repeat(lattice.places, urn.sizes)):
            low, high = max(0, urn.n - (urn.size - i)), min(i, urn.n)
            # Each is drawn with the chance that is the share of numbers still to be drawn.
            drawn = (urn.n - np.arange(low, high + 1)) / (urn.size - i)
            taken = chance[low : high + 1] * drawn[:, None]
            chance[low : high + 1] -= taken
            end = min(high + 1, urn.n)
            moved = taken[: end - low, : longest + 1 - place]
            chance[low + 1 : end + 1, place:] += moved
        self._upward, self._downward = _cumulative(chance[urn.n])

    @classmethod
    def of(cls, urn: Urn, lattice: Lattice | None) -> "LatticeDistribution | None":
        """Return the distribution, if the walk is short enough."""
        if lattice is None:
            return None
        longest = int(Urn(lattice.places.astype(np.float64), urn.sizes, urn.n).support[1])
        cells = urn.size * (urn.n + 1) * (longest + 1)
        return cls(urn, lattice, longest) if cells <= _MOST_CELLS else None

    def tails(self, x: float) -> Tails:
        """Return both tails of a value."""
        place = (x - self._least) / self._unit
        last = self._upward.size - 1
        first = int(np.clip(np.ceil(place - ROUNDING), 0, last))
        beyond = int(np.clip(np.floor(place + ROUNDING) + 1, 0, last))
        return Tails(_log(self._upward[first]), _log(self._downward[beyond]))


Exact: TypeAlias = FewDrawn | SubsetTables | LatticeDistribution


def _log(chance: float) -> float:
    """Return the logarithm of a chance, -infinity for 0."""
    return float(np.log(min(chance, 1.0))) if chance > 0 else -np.inf
