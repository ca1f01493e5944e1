"""Pools of near items of large samples, and how many items of each are drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats._batches import batches
from prframe.stats._units import Units
from prframe.stats.rankings import CellEvaluator, CellStatistic, mid_ranks
from prframe.typing import Floats, Integers

# Items of smaller samples are drawn one by one.
_LARGE = 3_000
# A pool has 1 / _FINE of the items of its class above it, or of the squares of all differences in
# log rank, if that is less.
_FINE = 150
# They are finer where rankings hardly differ, so that few items have all others of a pool between
# their ranks.
_FINER = 20
# Pools need so many items that decide the difference of rankings, as few make it jump.
_MANY = 300
# The cut at rank k moves by so many roots of k at most.
_REACH = 6.0
# So many counts are held at a time, few enough for the processor's cache.
HELD = 1 << 17
# Random numbers of 16 bits are looked up in tables of quantiles.
_WORD = 1 << 16


class Pools(NamedTuple):
    """Units that are drawn, each of which may stand for a pool of several items.

    Attributes
    ----------
    item : ndarray of int, shape (n,)
        The items whose ranks are taken, one of each pool; that of its pool for each item in
        clusters.
    units : Units
        The units of these items.
    sizes : ndarray of int, shape (units.number,)
        How many items a pool has, in rising order; 1 for a unit that is no pool.
    """

    item: Integers
    units: Units
    sizes: Integers


def pools_of(levels: Integers, evaluate: CellEvaluator, units: Units) -> Pools:
    """Pool items of a large sample that have one label and nearly the same rank in each ranking.

    An item of each pool stands for it. Items at the top of a ranking, and those that decide how
    rankings differ, stay alone. Clusters are drawn as they are, with the ranks of pools.
    """
    alone = Pools(np.arange(units.of_item.size), units, np.ones(units.number, dtype=np.int64))
    if units.of_item.size <= _LARGE or not all(map(_suits_pools, evaluate.statistics)):
        return alone
    from scipy.spatial import cKDTree  # noqa: PLC0415 - its import takes long

    classes = [np.flatnonzero(evaluate.label == side) for side in (True, False)]
    ranks = [np.log([mid_ranks(level) / 2 for level in levels[:, of]]) for of in classes]
    apart = [np.ptp(logs, axis=0) for logs in ranks]
    first, total, fourth = (
        sum(float((each**power).sum()) for each in apart) for power in (1, 2, 4)
    )
    if total**2 < _MANY * fourth:
        return alone
    fine = max(_FINE, _FINER * first / (total or 1.0))
    of_item = np.arange(units.of_item.size)
    for chosen, logs, reach in zip(classes, ranks, apart, strict=True):
        share = fine * (np.exp(-logs.min(axis=0)) + reach**2 / (total or 1.0))
        order = cKDTree(np.vstack([logs.mean(axis=0) / 4, np.diff(logs, axis=0)]).T).indices
        largest = 2 ** np.floor(np.maximum(-np.log2(share[order]), 0)).astype(np.int64)
        for size in np.unique(largest):
            near = chosen[order[largest == size]]
            pools = near[: near.size // size * size].reshape(-1, size)
            of_item[pools] = pools[:, size // 2, None]
    if units.number < of_item.size:
        return Pools(of_item, units, alone.sizes)
    item, sizes = np.unique(of_item, return_counts=True)
    rising = np.argsort(sizes, kind="stable")
    return Pools(item[rising], Units(np.arange(item.size), item.size), sizes[rising])


def _suits_pools(metric: CellStatistic) -> bool:
    """Return whether no item that is pooled is at a threshold of a metric, which draws move."""
    k = getattr(metric, "k", None)
    return metric.is_smooth or (k is not None and k + _REACH * k**0.5 < 2 * _FINE)


class Draws:
    """Random numbers of items of each pool, independent of each other.

    `chances` returns the cumulative probabilities of 0, 1, ... items of a pool of some size.
    """

    def __init__(self, sizes: Integers, chances: Callable[[int], Floats]) -> None:
        grid = (np.arange(_WORD) + 0.5) / _WORD
        different, start = np.unique(sizes, return_index=True)
        self._tables = [
            np.searchsorted(chances(int(size)), grid).astype(np.int32) for size in different
        ]
        self._ends = np.append(start, sizes.size)

    def __call__(self, number: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw so many times, shape (n_pools, number)."""
        drawn = np.empty((self._ends[-1], number), dtype=np.int32)
        for table, start, end in zip(self._tables, self._ends, self._ends[1:], strict=False):
            drawn[start:end] = table[rng.integers(0, _WORD, (end - start, number), np.uint16)]
        return drawn


def metrics_of(evaluate: CellEvaluator, counts: Integers) -> Floats:
    """Return the metrics of draws of counts, shape (n_cells, R), a few draws at a time."""
    parts = [
        evaluate.of_counts(np.ascontiguousarray(counts[:, some].T, dtype=np.int64))
        for some in batches(counts.shape[1], len(counts), HELD)
    ]
    return np.concatenate(parts, axis=1)
