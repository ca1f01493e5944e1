"""Exact distributions of the sum of numbers drawn without replacement, by counting subsets."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import betaln

from prframe.stats.null.subset_sums.urn import ROUNDING, Lattice, Urn
from prframe.typing import Floats, Integers

# Draws of at most this many numbers are counted directly.
_PAIR = 2
# The most entries of the table of each half, and the most cells of all steps of a walk.
MOST_ENTRIES, _MOST_CELLS = 1 << 16, 1 << 22


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
        logs.append(_log_choose(int(sizes[at]), last) - _log_choose(urn.size, urn.n))
    return logs[0], logs[1]


def complement(log_chance: float) -> float:
    """Return log(1 - p) for log(p)."""
    return float(np.log(-np.expm1(log_chance))) if log_chance < 0 else -np.inf


def _log_choose(n: int, k: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return float(-np.log1p(n) - betaln(n - k + 1, k + 1))


def counted(urn: Urn) -> "Exact | None":
    """Return the exact distribution, if it is small enough."""
    if urn.n <= _PAIR:
        return FewDrawn(urn)
    return SubsetTables.of(urn) or LatticeDistribution.of(urn, urn.lattice)


class FewDrawn:
    """One number, or the sum of two by a search for the second one."""

    def __init__(self, urn: Urn) -> None:
        self._urn, self._sizes = urn, urn.sizes.astype(np.float64)
        self._upward = np.append(np.cumsum(self._sizes[::-1])[::-1], 0.0)
        self._downward = np.insert(np.cumsum(self._sizes), 0, 0.0)

    def tails(self, x: float) -> Tails:
        """Return both tails of a value."""
        values, slack = self._urn.values, self._urn.slack
        if self._urn.n == 1:
            above = self._upward[np.searchsorted(values, x - slack, side="left")]
            below = self._downward[np.searchsorted(values, x + slack, side="right")]
            return Tails(float(np.log(above / self._urn.size)), _log(below / self._urn.size))
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
    """All sums, from tables of two halves of the urn that are searched for pairs of classes.

    The numbers that the halves lack are drawn from the largest block, which is in neither.
    """

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
        self._upward = np.append(np.cumsum(chance[urn.n, ::-1])[::-1], 0.0)
        self._downward = np.insert(np.cumsum(chance[urn.n]), 0, 0.0)

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
