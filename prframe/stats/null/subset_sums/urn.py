"""An urn of numbers, some of them several times, n of which are drawn without replacement."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prframe.typing import Floats, Integers

# Sums that differ by less, times the size of the urn and its largest number, are equal.
EQUAL = 1e-14
# The unit of a lattice is the smallest gap divided by one of these, numbers may span so many
# units, and places are whole to within the last number.
_SHARES, _SPAN, ROUNDING = (1, 2, 3, 4, 6, 12), 1e7, 1e-7


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
        ends = (self.values, self.sizes), (self.values[::-1], self.sizes[::-1])
        low, high = (
            float(np.diff(np.minimum(np.cumsum(sizes), self.n), prepend=0) @ values)
            for values, sizes in ends
        )
        return low, high

    @property
    def slack(self) -> float:
        """The largest difference of sums that count as equal."""
        return EQUAL * self.size * float(max(abs(self.values[0]), abs(self.values[-1])))

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice of the numbers, if they have one."""
        return Lattice.of(self.values)

    def left_over(self) -> "Urn":
        """Return the urn of the numbers left over, with changed signs."""
        return Urn(-self.values[::-1], self.sizes[::-1], self.size - self.n)
