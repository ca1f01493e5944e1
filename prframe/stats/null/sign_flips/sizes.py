"""The sizes of numbers with random signs: equal ones, and a unit of which all are multiples."""

from math import remainder
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from prframe.typing import Floats, Integers

# Sizes are equal if they differ by less than this share of the largest.
_SAME = 1e-12
# What Euclid's algorithm takes for rounding, the least unit, and how far multiples may be off, as
# shares of the largest number: of numbers in double precision, and of those that were stored in
# single precision.
_DOUBLE, _SINGLE = (1e-10, 1e-6, 1e-10), (2e-4, 2e-3, 2.0**-21)


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
