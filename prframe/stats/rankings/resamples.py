"""Resamples of a ranking, of which metrics read the counts of cells, or their running sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Integers


class Resamples(ABC):
    """Some resamples of a ranking."""

    @abstractmethod
    def counts(self) -> tuple[Integers, Integers]:
        """Return the positives and the negatives in each cell, shape (n_resamples, n_cells)."""

    @abstractmethod
    def up_to(self, cells: Integers) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return what is counted up to the end of each of some cells, from the best one on.

        Both arrays have the shape (cells, n_resamples): the positives there, and the negatives
        there with all positives of the resample, so that F1 is twice the first over the sum.
        """


@dataclass(frozen=True, eq=False)
class CountedResamples(Resamples):
    """Resamples that were drawn as counts.

    Attributes
    ----------
    drawn : ndarray of int, shape (n_resamples, 2 n_cells)
        Positives in the first half of the columns, negatives in the second.
    """

    drawn: Integers

    def counts(self) -> tuple[Integers, Integers]:
        """Return both halves."""
        n_cells = self.drawn.shape[1] // 2
        return self.drawn[:, :n_cells], self.drawn[:, n_cells:]

    def up_to(self, cells: Integers) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Add up the counts."""
        tp, fp = (np.cumsum(counts, axis=1) for counts in self.counts())
        return tp[:, cells].T, (fp[:, cells] + tp[:, -1:]).T


@dataclass(frozen=True, eq=False)
class SharedResamples(Resamples):
    """Resamples that are read from draws of as many items, which rankings share.

    Attributes
    ----------
    passed : ndarray of int, shape (n + 1, n_resamples)
        How many draws are among the first 0, 1, ..., n items.
    bounds : ndarray of int, shape (2 n_cells + 1,)
        The first item of each cell, and n: all positives come before all negatives.
    """

    passed: NDArray[np.integer]
    bounds: Integers

    def counts(self) -> tuple[Integers, Integers]:
        """Subtract the sums."""
        drawn = np.diff(self.passed[self.bounds], axis=0)
        return CountedResamples(drawn.T.astype(np.int64, order="C")).counts()

    def up_to(self, cells: Integers) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Read the sums."""
        n_cells = self.bounds.size // 2
        ends = self.bounds[cells + 1], self.bounds[n_cells + cells + 1]
        return self.passed[ends[0]], self.passed[ends[1]]
