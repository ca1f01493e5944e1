"""Sums with random signs: equal numbers, units, counting, and which method has a tail."""

from functools import cached_property
from math import remainder
from typing import NamedTuple

import numpy as np
from scipy.special import comb, gammaln

from prframe.stats._batches import batches
from prframe.stats._p_values import from_tails
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.sign_flips.convolved import TiltedSums, saddlepoint_tails
from prframe.stats.null.tilted import complement
from prframe.typing import Alternative, Floats, Integers

# Sizes are equal if they differ by less than this share of the largest.
_SAME = 1e-12
# What Euclid's algorithm takes for rounding, the least unit, and how far multiples may be off, as
# shares of the largest number: of numbers in double precision, and of those that were stored in
# single precision.
_DOUBLE, _SINGLE = (1e-10, 1e-6, 1e-10), (2e-4, 2e-3, 2.0**-21)
# SciPy's binomial coefficients overflow for larger numbers, which no half has many of.
MOST_ALIKE = 1000
# Sums are counted if at most two to this power may differ; with "exact", to the other.
QUICK, MOST = 32, 44
# Sums are on their lattice if their standard deviation is at most this many units. Where nothing
# else is accurate or asked for, that number times the number of different sizes may be the other.
_QUICK_LATTICE, _MOST_LATTICE = 2048, 1 << 21
# Places are whole to within this.
_WHOLE = 1e-4
# This many numbers of many sums are taken together.
_AT_A_TIME = 1 << 18
_TINY = float(np.finfo(np.float64).tiny)


class Kinds(NamedTuple):
    """The different values among rising sizes, and how often each occurs."""

    values: Floats
    counts: Integers

    @classmethod
    def of(cls, rising: Floats) -> "Kinds":
        """Return the kinds of rising, positive sizes."""
        starts = np.flatnonzero(np.diff(rising, prepend=-np.inf) > _SAME * rising.max(initial=0.0))
        counts = np.diff(starts, append=rising.size)
        return cls(np.add.reduceat(rising, starts) / counts if starts.size else rising, counts)

    def chance(self, numbers: Floats) -> float:
        """Return the probability that numbers of each kind have as many plus signs as these."""
        above = (numbers > 0)[np.argsort(np.abs(numbers), kind="stable")]
        starts = np.cumsum(self.counts) - self.counts
        plus = np.asarray(np.add.reduceat(above, starts, dtype=np.float64))
        return float(np.exp(_log_chances(self.counts, plus).sum()))


def likeliest(rising: Floats) -> tuple[Floats, Floats]:
    """Return log2 of the number of sums, and the log chance of the likeliest, by column."""
    n, m = rising.shape
    new = np.diff(rising, axis=0, prepend=-1.0) > _SAME * rising.max(axis=0, initial=0.0)
    starts = np.flatnonzero(new.T)
    counts = np.diff(starts, append=n * m) * (rising.T.ravel()[starts] > 0)
    column = starts // max(n, 1)
    bits, logs = np.log2(counts + 1.0), _log_chances(counts, counts / 2)
    return tuple(np.bincount(column, each, minlength=m)[:m] + 0.0 for each in (bits, logs))  # type: ignore[return-value]


def _log_chances(counts: Integers, plus: Floats) -> Floats:
    """Return logarithms of the probabilities of numbers of plus signs."""
    ways = gammaln(counts + 1) - gammaln(plus + 1) - gammaln(counts - plus + 1)
    return np.asarray(ways - counts * np.log(2))


def multiples(rising: Floats, at_least: float = 0.0) -> tuple[Integers, float] | None:
    """Return rising numbers as multiples of a unit of some size, and the unit, if there is one."""
    largest = float(rising.max(initial=0.0))
    for rounding, least, off in (_DOUBLE, _SINGLE) if largest else ():
        unit, smallest = 0.0, max(least * largest, at_least)
        # This is Euclid's algorithm, up to rounding.
        for rest in rising.tolist():
            while rest > rounding * largest:
                unit, rest = rest, abs(remainder(unit, rest))  # noqa: PLW2901
            if 0 < unit < smallest:
                break
        if unit >= smallest:
            whole = np.rint(rising / unit)
            unit = float(rising.sum() / whole.sum())
            if np.abs(rising - unit * whole).max() <= off * largest:
                return whole.astype(np.int64), unit
    return None


def without_single_precision(numbers: Floats) -> Floats:
    """Return multiples of a unit that were stored in single precision without its rounding."""
    sizes = np.unique(np.abs(numbers[numbers != 0]))
    found = multiples(sizes)
    if found is None or np.abs(sizes - found[1] * found[0]).max() <= _DOUBLE[2] * sizes[-1]:
        return numbers
    return np.asarray(found[1] * np.rint(numbers / found[1]))


class CountedSums:
    """The sums of each half of the kinds, rising, with their probabilities."""

    # Equal numbers count as one with a binomial number of plus signs.
    def __init__(self, kinds: Kinds) -> None:
        # Frequent values alternate between the halves, which become about equally long.
        order = np.argsort(-kinds.counts, kind="stable")
        values, counts = kinds.values[order], kinds.counts[order]
        self._left, self._chance = _half(values[::2], counts[::2])
        self._right, right_chance = _half(values[1::2], counts[1::2])
        self._above = np.append(np.cumsum(right_chance[::-1])[::-1], 0.0)

    def at_least(self, limit: float) -> float:
        """Return P(S >= limit)."""
        # Rising queries are quicker, because neighbouring places are in the cache.
        first = np.searchsorted(self._right, limit - self._left[::-1])
        return min(float(self._chance[::-1] @ self._above[first]), 1.0)


def _half(values: Floats, counts: Integers) -> tuple[Floats, Floats]:
    """Return the sums of some values under all signs, rising, and their probabilities."""
    sums, chances = np.zeros(1), np.ones(1)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        steps = np.arange(-count, count + 1, 2)
        ways = comb(count, np.arange(count + 1.0)) * 0.5**count
        sums = (steps[:, None] * value + sums).ravel()
        chances = np.multiply.outer(ways, chances).ravel()
    order = np.argsort(sums, kind="stable")
    return sums[order], chances[order]


class SignSums:
    """The sums of some numbers, none of which is 0, with random signs."""

    def __init__(self, numbers: Floats, method: str) -> None:
        self.method, self.sizes = method, np.sort(np.abs(numbers))
        largest = float(self.sizes.max(initial=0.0))
        # The root of the sum of squares is a float even if that sum overflows.
        self.norm = largest * float(np.sqrt(((self.sizes / (largest or 1.0)) ** 2).sum()))
        self.most = float(self.sizes.sum())
        self.slack = EQUAL * self.most
        self.unit = multiples(self.sizes)
        self._scaled = self.sizes / (self.norm or 1.0)
        self._kinds = Kinds.of(self._scaled)
        self._bits, self._log_atom = likeliest(self.sizes[:, None])
        self._log_least = -self.sizes.size * float(np.log(2))

    @cached_property
    def counted(self) -> CountedSums | None:
        """All sums, divided by the norm, if they are few."""
        is_few = self._bits <= (MOST if self.method == "exact" else QUICK)
        is_few &= self._kinds.counts.max(initial=0) <= MOST_ALIKE
        return CountedSums(self._kinds) if is_few else None

    def observed(self, numbers: Floats) -> tuple[float, str]:
        """Return log P(S >= sum of the numbers)."""
        own = self._kinds.chance(numbers) if numbers.size else 0.0
        return self.tail(float(numbers.sum()), own)

    def tail(self, x: float, own: float = 0.0) -> tuple[float, str]:
        """Return log P(S >= x); `own` is the probability of x itself, if that is known."""
        if x > self.most + self.slack:
            return -np.inf, "exact"
        if x <= self.slack - self.most:
            return 0.0, "exact"
        if x >= self.most - self.slack:
            return self._log_least, "exact"
        counts, found = self.method != "convolution", None
        if not (counts and self.sizes.size <= QUICK):
            found = self._on_lattice(x, quickly=self.method == "auto")
        if found is None and counts and self.counted:
            chance = self.counted.at_least((x - self.slack) / self.norm)
            found = float(np.log(max(chance, _TINY))), "exact"
        if found is None:
            found = self._continuous(x / self.norm, own)
        if found[1] == "estimate":
            found = self._on_lattice(x, quickly=False) or found
        return max(found[0], self._log_least), found[1]

    def _on_lattice(self, x: float, *, quickly: bool) -> tuple[float, str] | None:
        """Return log P(S >= x) on the lattice of the numbers, unless that takes long."""
        most = _QUICK_LATTICE if quickly else _MOST_LATTICE / max(self._kinds.counts.size, 1)
        if not self.unit or self.norm > most * self.unit[1]:
            return None
        places, unit = self.unit
        total = int(places.sum())
        # Sums are the total less an even number of units.
        below = int(np.floor((self.most - x + self.slack) / unit / 2 + _WHOLE))
        place, step = total - 2 * below, unit / self.norm
        kinds = Kinds.of(np.asarray(places * step, dtype=np.float64))
        log_tail = TiltedSums(kinds, max(place, 2 - place) * step).on_lattice(step)
        return (log_tail if place > 0 else complement(log_tail)), "exact"

    def _continuous(self, z: float, own: float) -> tuple[float, str]:
        """Return log P(S >= z) of a standardised sum, where sums are so many as to be smooth."""
        log_tail, method, good = 0.0, "saddlepoint", False
        if self.method == "auto":
            at = np.array([abs(z)])
            logs, known = saddlepoint_tails(self._scaled[:, None], at, self._log_atom)
            log_tail, good = float(logs[0]), bool(known[0])
        if not good:
            log_tail, good = TiltedSums(self._kinds, abs(z)).at_least()
            method = "convolution" if good else "estimate"
        log_tail = log_tail if z >= 0 else complement(log_tail)
        # Half of the probability of the sum itself is in the tail.
        own_half = np.log(own / 2) if own else -np.inf
        return min(float(np.logaddexp(log_tail, own_half)), 0.0), method


def sign_flip_p_values(numbers: Floats, alternative: Alternative) -> Floats:
    """Return the p-values of many sums by saddlepoints, NaN where another method must serve."""
    # There is a column per sum, its numbers with their observed signs; zeros have no effect.
    total, rising = numbers.sum(axis=0), np.sort(np.abs(numbers), axis=0)
    largest = np.maximum(rising.max(axis=0, initial=0.0), _TINY)
    rising = rising / largest
    norm = np.sqrt((rising**2).sum(axis=0))
    chances = np.full(total.size, np.nan)
    bits, log_atom = likeliest(rising)
    many = np.flatnonzero(bits > QUICK)
    for some in batches(many.size, len(rising), _AT_A_TIME):
        columns = many[some]
        scaled = rising[:, columns] / norm[columns]
        z = np.abs(total[columns]) / largest[columns] / norm[columns]
        log_tail, good = saddlepoint_tails(scaled, z, log_atom[columns])
        chances[columns[good]] = np.exp(log_tail[good])
    for column in np.flatnonzero(~np.isnan(chances)):
        if multiples(rising[:, column], float(norm[column]) / _QUICK_LATTICE):
            chances[column] = np.nan
    upper, lower = np.where(total > 0, [chances, 1 - chances], [1 - chances, chances])
    return from_tails(upper, lower, alternative)
