"""What a ranking metric is here: a function of the counts in the cells of a ranking.

It knows its name and range, what it is for any counts (of a resample, say), and its *influence*:
the derivative with respect to the weight of one item. The sum of the squared influences of all
items, each of which is a draw from a population, estimates the variance of the metric (the
infinitesimal jackknife, Jaeckel 1972; Efron 1982, chapter 6).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats.rankings.cells import RankedCells
from prframe.typing import Floats


class Influence(NamedTuple):
    """Derivatives with respect to the weight of one positive and of one negative of each cell."""

    pos: Floats
    neg: Floats

    def of_items(self, cells: RankedCells) -> tuple[Floats, Floats]:
        """Return the values that occur, and how many items have each."""
        values = np.concatenate([self.pos, self.neg])
        number = np.concatenate([cells.pos, cells.neg])
        some = number > 0
        return values[some], number[some].astype(np.float64)

    def power_sum(self, cells: RankedCells, power: int) -> float:
        """Return the sum over all items of a power of their influence."""
        values, number = self.of_items(cells)
        return float(number @ values**power)

    def std_error(self, cells: RankedCells) -> float:
        """Return the standard error of the statistic, items being an independent sample."""
        return float(np.sqrt(self.power_sum(cells, 2)))


@dataclass(frozen=True)
class CellStatistic(ABC):
    """A metric of a ranking in cells; all lie in [0, 1].

    Examples
    --------
    `values` takes the counts of many rankings, or of resamples, at once:

    >>> from prframe.stats import AveragePrecision
    >>> AveragePrecision().values(pos=[[1, 0, 1, 0], [0, 0, 2, 0]], neg=[0, 2, 0, 1])
    array([0.75, 0.5 ])
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the catalogue."""

    @abstractmethod
    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric for counts or weights of the cells.

        Parameters
        ----------
        pos, neg : array_like, shape (..., n_cells)
            Non-negative; the last cell is what was not retrieved.

        Returns
        -------
        ndarray of float, shape (...)
            NaN where it is not defined.
        """

    @abstractmethod
    def influence(self, cells: RankedCells) -> Influence:
        """Return the derivative with respect to the weights of the items, once per cell and class.

        Parameters
        ----------
        cells : RankedCells

        Returns
        -------
        Influence
            Two arrays of shape (n_cells,); what no item has means nothing. Over all items they
            add up to 0.
        """

    def value(self, cells: RankedCells) -> float:
        """Return the metric of a ranking."""
        return float(self.values(cells.pos, cells.neg))

    def unbiased(self, cells: RankedCells) -> float:
        """Return an estimate without the bias that is known of the value."""
        return self.value(cells)

    def trials(self, cells: RankedCells) -> int:
        """Return how many observations a value of 0 or 1 stands for."""
        return cells.n_pos
