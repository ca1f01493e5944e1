"""Pools of items, which stand in the same cells of all rankings and are drawn together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prframe.stats._units import Units
from prframe.stats.rankings import CellEvaluator
from prframe.typing import Flags, Integers

# Where not more numbers than this are drawn, each item is drawn by itself.
_MANY = 1 << 26
_MOST = np.iinfo(np.int64).max
# Numbers of items in a pool, the largest first.
SIZES = 8, 4, 2, 1


class Pools(NamedTuple):
    """Units whose numbers are drawn, each of which may stand for several items.

    Items of one class that stand in the same cell of each ranking change all counts alike: it
    matters how many of them are drawn or swapped, and not which ones.

    Attributes
    ----------
    item : ndarray of int, shape (n,)
        The items, or an item of each pool.
    evaluate : CellEvaluator
        The metrics, with the labels of these.
    units : Units
        What is drawn: the pools, or the units of items that are not pooled.
    sizes : ndarray of int, shape (units.number,)
        How many items a pool has, the largest first; 1 for a unit that is no pool.
    """

    item: Integers
    evaluate: CellEvaluator
    units: Units
    sizes: Integers

    @classmethod
    def of_units(cls, evaluate: CellEvaluator, units: Units) -> Pools:
        """Return units that are drawn by themselves."""
        sizes = np.ones(units.number, dtype=np.int64)
        return cls(np.arange(units.of_item.size), evaluate, units, sizes)

    @classmethod
    def of_items(
        cls, levels: Integers, evaluate: CellEvaluator, moves: Flags | None = None
    ) -> Pools:
        """Pool items that have the same label and levels, and both move or both do not.

        The order of the pools follows from these, so that near pools stand in near cells.
        """
        moving = np.zeros(levels.shape[1], dtype=np.int64) if moves is None else moves
        cell, span = evaluate.label + 2 * moving, 4
        for level in levels:
            number = int(level.max(initial=0)) + 1
            if span * number > _MOST:
                cell = np.unique(cell, return_inverse=True)[1]
                span = level.size
            cell, span = cell * number + level, span * number
        _, first, count = np.unique(cell, return_index=True, return_counts=True)
        largest = SIZES[0]
        times = [count // largest, *((count & size) // size for size in SIZES[1:])]
        item = np.concatenate([np.repeat(first, number) for number in times])
        sizes = np.repeat(SIZES, [number.sum() for number in times])
        evaluator = CellEvaluator(evaluate.label[item], evaluate.statistics)
        return cls(item, evaluator, Units(np.arange(item.size), item.size), sizes)


def pools_of(
    levels: Integers,
    evaluate: CellEvaluator,
    units: Units,
    n_draws: int,
    moves: Flags | None = None,
) -> Pools:
    """Pool items if they come without clusters and many numbers are to be drawn.

    Parameters
    ----------
    levels : ndarray of int, shape (n_rankings, N)
        In cells that the metrics need.
    evaluate : CellEvaluator
    units : Units
    n_draws : int
        Number of resamples or swaps.
    moves : ndarray of bool, shape (N,), optional
        Which items may move; by default all.

    Returns
    -------
    Pools
    """
    alone = units.number == units.of_item.size
    if not alone or units.number * n_draws <= _MANY:
        return Pools.of_units(evaluate, units)
    return Pools.of_items(
        levels, evaluate, np.ones_like(levels[0] > 0) if moves is None else moves
    )
