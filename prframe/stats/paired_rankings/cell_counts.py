"""Counts in the cells of rankings, as sums over units that are swapped or drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from prframe.stats._batches import batches
from prframe.stats.paired_rankings.pools import Pools
from prframe.stats.rankings import (
    CellEvaluator,
    items_at_once,
)
from prframe.typing import Flags, Floats, Integers

# So many items of a cell, and the rest of a pool, are added up together, so few that 8 bits hold
# the sum: each comes up once on average, and 256 of so many are out of the question.
_TOGETHER = 60
# So many numbers are drawn or counted together, but at least so many rows of them.
_HELD, _LEAST_ROWS = 1 << 20, 64


def rows_at_once(n_numbers: int) -> int:
    """Return how many rows of so many numbers are drawn or counted together."""
    return max(_LEAST_ROWS, _HELD // max(n_numbers, 1))


def enough_levels(levels: Integers, evaluate: CellEvaluator) -> Integers:
    """Merge levels that metrics cannot tell apart, in the same way for all rankings.

    Metrics that ask for the ends of cells with positives do not tell the negatives above such a
    cell from those in it.
    """
    if not all(statistic.asks_for_ends for statistic in evaluate.statistics):
        return evaluate.merge(levels)
    has = np.zeros(int(levels.max(initial=0)) + 1, dtype=np.bool_)
    has[levels[..., evaluate.label]] = True
    has[0] = False
    return np.asarray(np.cumsum(has)[levels], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Counts of positives and negatives in the cells of a ranking, a linear function of units.

    Attributes
    ----------
    parts : csr_array, shape (n_parts, n_units)
        What a unit adds to each part of a cell.
    cells : csr_array, shape (2 n_cells, n_parts)
        The parts of each cell; those of positives come first, and the best cells.
    constant : ndarray of int, shape (2 n_cells,)
        The counts if all units are 0.
    """

    parts: csr_array
    cells: csr_array
    constant: NDArray[np.signedinteger]

    @classmethod
    def drawn(cls, level: Integers, pools: Pools) -> CellCounts:
        """Return the counts if each unit, or pool of items, comes up so many times."""
        n_cells = int(level.max(initial=0)) + 1
        cell = _cells_of(level[pools.item], pools.evaluate, n_cells)
        return cls._of(cell, np.ones_like(cell), np.arange(cell.size), pools, n_cells)

    @classmethod
    def swapped(cls, levels: Integers, moves: Flags, pools: Pools) -> CellCounts:
        """Return the counts of the first of two rankings if some units swap their levels.

        Of the items of these units only those move that may; of a pool either all or none.
        """
        n_cells = int(levels.max(initial=0)) + 1
        cells = _cells_of(levels[:, pools.item], pools.evaluate, n_cells)
        items = np.flatnonzero(moves[pools.item] & (cells[0] != cells[1]))
        adds = np.repeat(np.array([-1, 1]), items.size)
        counts = cls._of(cells[:, items].ravel(), adds, np.tile(items, 2), pools, n_cells)
        items_of = pools.sizes[pools.units.of_item]
        constant = np.bincount(cells[0], items_of, minlength=2 * n_cells)
        return replace(counts, constant=constant.astype(counts.constant.dtype))

    @classmethod
    def _of(
        cls, cell: Integers, adds: Integers, item: Integers, pools: Pools, n_cells: int
    ) -> CellCounts:
        """Return counts to which items, or pools of them, add something, each in a cell."""
        units = pools.units
        order = np.argsort(cell, kind="stable")
        cell, adds, unit = cell[order], adds[order], units.of_item[item[order]]
        before = np.cumsum(pools.sizes[unit]) - pools.sizes[unit]
        within = before - before[np.searchsorted(cell, cell)]
        opens = (np.diff(cell, prepend=-1) != 0) | (np.diff(within // _TOGETHER, prepend=0) != 0)
        part, of_part = np.cumsum(opens) - 1, cell[opens]
        # A unit of several items may come up more often than 8 bits hold.
        narrow = np.int8 if (adds < 0).any() else np.uint8
        dtype = narrow if units.number == units.of_item.size else np.int32
        # Arrays of half the size stay in the cache.
        counted = np.int16 if dtype == narrow and pools.sizes.sum() < 1 << 15 else np.int32
        shape = of_part.size, units.number
        return cls(
            csr_array((adds.astype(dtype), (part, unit)), shape=shape),
            csr_array(
                (np.ones(of_part.size, counted), (of_part, np.arange(of_part.size))),
                shape=(2 * n_cells, of_part.size),
            ),
            np.zeros(2 * n_cells, dtype=counted),
        )

    def __call__(self, times: NDArray[np.uint8]) -> Iterator[NDArray[np.signedinteger]]:
        """Yield the counts, shape (R, 2 n_cells), for numbers of units, shape (n_units, all R).

        They stand in memory that the next ones use again.
        """
        for begin in range(0, times.shape[1], self._at_once):
            yield self._counted(times[:, begin : begin + self._at_once])

    def _counted(self, times: NDArray[np.uint8]) -> NDArray[np.signedinteger]:
        """Return the counts of a few rows."""
        known = times if self.parts.dtype == np.int32 else times.view(self.parts.dtype)
        counts = self.cells @ (self.parts @ known).astype(self.cells.dtype)
        shape = known.shape[1], self.constant.size
        memory = self._memory[: shape[0] * shape[1]].reshape(shape)
        np.add(counts.T, self.constant, out=memory)
        return memory

    @cached_property
    def _memory(self) -> NDArray[np.signedinteger]:
        """Room for the counts of as many draws as are counted together."""
        return np.empty(self._at_once * self.constant.size, dtype=self.constant.dtype)

    @cached_property
    def _at_once(self) -> int:
        """The number of draws that are counted together."""
        return rows_at_once(max(self.constant.size, self.parts.shape[1]))


def counts_of_both(levels: Integers, evaluate: CellEvaluator) -> NDArray[np.signedinteger]:
    """Return how many items of rankings together are in each cell, as `CellCounts` lists them."""
    n_cells = int(levels.max(initial=0)) + 1
    cells = _cells_of(levels, evaluate, n_cells)
    return np.bincount(cells.ravel(), minlength=2 * n_cells).astype(np.int32)


def metrics_of(counts: NDArray[np.signedinteger], evaluate: CellEvaluator) -> Floats:
    """Return the metrics of rankings that are given by counts, shape (n_metrics, R)."""
    parts = [_metrics(counts[rows], evaluate) for rows in _rows(counts, evaluate)]
    return np.concatenate(parts, axis=1)


def differences_of(
    counts: NDArray[np.signedinteger],
    both: NDArray[np.signedinteger],
    evaluate: CellEvaluator,
) -> Floats:
    """Return metrics less those of the other ranking, which has the rest of both, as above."""
    parts = [
        _metrics(counts[rows], evaluate) - _metrics(both - counts[rows], evaluate)
        for rows in _rows(counts, evaluate)
    ]
    return np.concatenate(parts, axis=1)


def _rows(counts: NDArray[np.signedinteger], evaluate: CellEvaluator) -> Iterator[slice]:
    """Cut rows of counts into so few that they stay in the cache."""
    return batches(len(counts), counts.shape[1] // 2, items_at_once(evaluate))


def _metrics(counts: NDArray[np.signedinteger], evaluate: CellEvaluator) -> Floats:
    """Return the metrics of a few rows of counts."""
    pos, neg = np.hsplit(counts, 2)
    pos, neg = pos.astype(np.int64), neg.astype(np.int64)
    return np.stack([statistic.values(pos, neg) for statistic in evaluate.statistics])


def _cells_of(level: Integers, evaluate: CellEvaluator, n_cells: int) -> Integers:
    """Return the cell of each item, where those of positives come first, and the best ones."""
    return np.asarray(n_cells * (1 + ~evaluate.label) - 1 - level)
