"""The units of a computation, each drawn, swapped or added up as a whole: items or clusters."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.errors import PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.typing import Flags, Floats, Integers

Numbers = TypeVar("Numbers", bound=np.generic)


class Units(NamedTuple):
    """The unit of each item, numbered from 0, and how many units there are."""

    of_item: Integers
    number: int

    @classmethod
    def of(cls, labels: ArrayLike) -> "Units":
        """Return units of the items that have the same label, in the order of labels."""
        names, of_item = np.unique(np.asarray(labels), return_inverse=True)
        return cls(of_item, names.size)

    def spread(self, values: NDArray[Numbers]) -> NDArray[Numbers]:
        """Return for each item the value of its unit, along the last axis.

        Where every item is a unit, the values stay in their order: draws of units are
        exchangeable.
        """
        return values if self.number == self.of_item.size else values[..., self.of_item]

    def sums(self, values: Floats) -> Floats:
        """Add up over the items of each unit, along the last axis of one or two."""
        rows = np.atleast_2d(values)
        sums = [np.bincount(self.of_item, row, minlength=self.number) for row in rows]
        return np.array(sums, dtype=np.float64).reshape(*values.shape[:-1], self.number)

    def sums_of_rows(self, values: Floats) -> Floats:
        """Add up the rows, or numbers, of each unit; rows that are units stay in order."""
        return values if self.number == len(values) else self.sums(values.T).T

    def number_among(self, items: Flags) -> int:
        """Return how many units have at least one of the chosen items."""
        has = np.zeros(self.number, dtype=np.bool_)
        has[self.of_item[items]] = True
        return int(has.sum())


def units_of(cluster: ArrayLike | None, n: int) -> Units:
    """Return the units of n items: their clusters, or without clusters the items themselves."""
    if cluster is None:
        return Units(np.arange(n), n)
    names = np.asarray(cluster)
    if names.shape != (n,):
        raise PrframeError(
            f"`cluster` must have one entry per item, {n}; got shape {names.shape}."
        )
    return Units.of(names)


@dataclass(frozen=True, eq=False)
class UnitSums:
    """Sums of values over independent units, and how many values each has."""

    sums: Floats
    sizes: Floats
    test_train_ratio: float = 0.0

    @classmethod
    def of(cls, values: Floats, units: Units) -> Self:
        """Add up the values of each unit."""
        return cls(units.sums_of_rows(values), units.sums_of_rows(np.ones(values.size)))

    @cached_property
    def mean(self) -> float:
        """The mean of all values."""
        return float(self.sums.sum() / self.sizes.sum()) if self.sums.size else np.nan

    @cached_property
    def influence(self) -> Floats:
        """The contribution of each unit to the mean, less that of a unit at the mean."""
        return np.asarray((self.sums - self.mean * self.sizes) / self.sizes.sum())

    @cached_property
    def std_error(self) -> float:
        """The standard error of the mean; NaN for a single unit."""
        n, largest = self.sums.size, float(np.abs(self.influence).max(initial=0.0))
        if n <= 1 or not largest:
            return 0.0 if n > 1 else np.nan
        # Values are in units of the largest, because their squares may overflow or be 0.
        squares = ((self.influence / largest) ** 2).sum()
        return largest * float(np.sqrt(n / (n - 1) * squares * (1 + n * self.test_train_ratio)))

    @property
    def constant(self) -> bool:
        """Whether the means of all units are the same, except for rounding."""
        size = float(np.abs(self.sums).max(initial=0.0))
        return bool(np.abs(self.influence * self.sizes.sum()).max(initial=0.0) <= EQUAL * size)
