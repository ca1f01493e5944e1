"""The units of a computation, each drawn, swapped or added up as a whole: items or clusters."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.errors import PrframeError
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

        Where every item is a unit of its own, the values stay in their order: draws of units are
        exchangeable.
        """
        return values if self.number == self.of_item.size else values[..., self.of_item]

    def sums(self, values: Floats) -> Floats:
        """Add up over the items of each unit, along the last axis of one or two."""
        rows = np.atleast_2d(values)
        sums = [np.bincount(self.of_item, row, minlength=self.number) for row in rows]
        return np.array(sums, dtype=np.float64).reshape(*values.shape[:-1], self.number)

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
