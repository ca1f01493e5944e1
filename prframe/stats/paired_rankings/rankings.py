"""Two or more rankings of the same items, and how their metrics vary together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import bdtr, pdtr

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.stats._arrays import random_generator
from prframe.stats._batches import batch_sizes, batches
from prframe.stats._units import Units, units_of
from prframe.stats.rankings import (
    CellEvaluator,
    CellStatistic,
    checked_levels,
    joint_levels,
    mid_ranks,
)
from prframe.typing import Flags, Floats, Integers

# Independent Poisson variates with this many standard deviations below the number of items in all
# leave some to be drawn one by one, and rarely are too many.
_SHORT = 3.0


class SwapDistribution(NamedTuple):
    """Differences of metrics, shape (n_metrics, n_swaps), and whether these are all swaps."""

    differences: Floats
    exact: bool


class PairedRankings:
    """Rankings of the same items, with an evaluator of the metrics that compare them.

    `levels` has a row per ranking, as `ranking_levels` returns them; `cluster` has one entry per
    item, and whole clusters are drawn and swapped. With a seed, every pair and metric has the same
    draws.
    """

    def __init__(
        self, levels: ArrayLike, evaluate: CellEvaluator, cluster: ArrayLike | None = None
    ) -> None:
        self.levels, self.evaluate, self.cluster = checked_levels(levels), evaluate, cluster
        self.units = units_of(cluster, self.levels.shape[1])

    @property
    def n_units(self) -> int:
        """The number of items or clusters with positives, or with negatives if these are fewer."""
        label = self.evaluate.label
        return min(self.units.number_among(of) for of in (label, ~label))

    def values(self) -> Floats:
        """Return the metrics of the rankings, shape (n_metrics, n_rankings)."""
        return self.evaluate(self.levels)

    def replicates(
        self, n_resamples: int = TEST_DRAWS, rng: int | np.random.Generator | None = None
    ) -> Floats:
        """Return the metrics of resamples of items or clusters, the same ones for all rankings.

        The shape is (n_metrics, n_rankings, n_resamples). NaN where a resample leaves a metric
        undefined, and of a single item or cluster, whose resamples do not vary.
        """
        number = checks.number_of_draws(n_resamples)
        if self.units.number == 1:
            return np.repeat(self.values()[..., None] * np.nan, number, axis=2)
        generator = random_generator(rng)
        pools = pools_of(self.levels, self.evaluate, self.units)
        few = CellEvaluator(self.evaluate.label[pools.item], self.evaluate.statistics)
        rankings = [_resampled(few, level, pools.units) for level in self.levels[:, pools.item]]
        parts = [
            np.stack([ranking(times) for ranking in rankings], axis=1)
            for times in multiplicities(pools.sizes, number, HELD, generator)
        ]
        replicates = np.concatenate(parts, axis=2)
        if np.array_equal(pools.item, np.arange(self.levels.shape[1])):
            return replicates
        once = [ranking(pools.sizes[:, None].astype(np.int32)) for ranking in rankings]
        return replicates + (self.values() - np.concatenate(once, axis=1))[..., None]

    def randomization(
        self,
        first: int,
        second: int,
        n_resamples: int = TEST_DRAWS,
        rng: int | np.random.Generator | None = None,
    ) -> SwapDistribution:
        """Return differences of the metrics after items have swapped their ranks at random.

        If 2 to the power of the number of items or clusters is at most `n_resamples`, all swaps
        are enumerated. Mid-ranks are swapped, so the scores need not be on one scale (Venkatraman
        & Begg, Biometrika 1996). One coin per swap orders equal mid-ranks of different rankings,
        but for tie blocks of both that are one level; see `joint_levels`. What one model does not
        retrieve is not retrieved in the ranking that gets this rank. NaN for undefined metrics.
        """
        number = checks.number_of_draws(n_resamples)
        pair, generator = self.levels[[first, second]], random_generator(rng)
        pools = pools_of(pair, self.evaluate, self.units)
        joint = joint_levels(pair)[..., pools.item]
        # Items with one mid-rank in both models keep it, as a swap could break a model's ties.
        differs = joint[0, 0] // 2 != joint[0, 1] // 2
        # This is 2^n <= n_resamples, without computing a huge number.
        exact = self.units.number < number.bit_length()
        few = CellEvaluator(self.evaluate.label[pools.item], self.evaluate.statistics)
        swapped = [_swapped(few, table, differs, pools) for table in joint]
        swaps = _all_swaps if exact else partial(_swaps, number, generator)
        parts = [swapped[coin](heads) for coin, heads in swaps(pools.sizes, HELD)]
        differences = np.concatenate(parts, axis=1)
        if exact:
            # In the other half of the swaps both rankings change places.
            differences = np.concatenate([differences, -differences], axis=1)
        return SwapDistribution(differences, exact)


def _resampled(
    evaluate: CellEvaluator, level: Integers, units: Units
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return the metrics of a ranking by how often units come up, which are added up in cells."""
    cell, n_cells = evaluate.cells(evaluate.merge(level))
    ones = np.ones(cell.size, dtype=np.int32)
    counts = csr_array((ones, (cell, units.of_item)), shape=(n_cells, units.number))
    return lambda times: metrics_of(evaluate, np.asarray(counts @ times))


def multiplicities(
    sizes: Integers, n_resamples: int, held: int, rng: np.random.Generator
) -> Iterator[NDArray[np.int32]]:
    """Draw n of n items with replacement, and count those of each pool, a column per resample.

    Independent Poisson variates are multinomial, given their sum. What is lacking in that sum is
    drawn one by one. Where it is too much, all are drawn again.
    """
    n = int(sizes.sum())
    rate = max(0.0, 1 - _SHORT / np.sqrt(n))
    draws = Draws(sizes, lambda size: np.asarray(pdtr(np.arange(2.0 * size + 40), rate * size)))
    pool = np.repeat(np.arange(sizes.size), sizes)
    for number in batch_sizes(n_resamples, sizes.size, held):
        drawn = draws(number, rng)
        lacking = n - drawn.sum(axis=0)
        over = lacking < 0
        drawn[:, over] = rng.multinomial(n, sizes / n, int(over.sum())).T
        lacking[over] = 0
        column = np.repeat(np.arange(number), lacking)
        place = pool[rng.integers(0, n, column.size)] * number + column
        drawn += np.bincount(place, minlength=drawn.size).reshape(drawn.shape)
        yield drawn


def _swapped(
    evaluate: CellEvaluator, levels: Integers, differs: Flags, pools: Pools
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return the differences by how many items of each unit are swapped, added up in cells."""
    (first, second), n_cells = evaluate.cells(evaluate.merge(levels))
    unit, sizes = pools.units.of_item, pools.units.spread(pools.sizes)
    given, other = (
        np.bincount(cell, sizes, n_cells).astype(np.int32)[:, None] for cell in (first, second)
    )
    adds = np.repeat(np.array([-1, 1], dtype=np.int32), differs.sum())
    cell = np.concatenate([first[differs], second[differs]])
    moves = csr_array((adds, (cell, np.tile(unit[differs], 2))), shape=(n_cells, pools.sizes.size))

    def differences(heads: NDArray[np.int32]) -> Floats:
        gained = np.asarray(moves @ heads)
        ours, theirs = (metrics_of(evaluate, x) for x in (given + gained, other - gained))
        return np.asarray(ours - theirs)

    return differences


def _all_swaps(sizes: Integers, held: int) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield all swaps of units, with either coin, in which the last unit stays where it is."""
    for coin in (0, 1):
        for some in batches(1 << (sizes.size - 1), sizes.size, held):
            number = np.arange(some.start, some.stop, dtype=np.int32)
            yield coin, (number >> np.arange(sizes.size, dtype=np.int32)[:, None]) & 1


def _swaps(
    n_resamples: int, rng: np.random.Generator, sizes: Integers, held: int
) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Draw how many items of each unit are swapped; the first side of the coin comes first."""
    draws = Draws(sizes, lambda size: bdtr(np.arange(size + 1.0), size, 0.5))
    heads = int(rng.binomial(n_resamples, 0.5))
    for coin, total in enumerate((heads, n_resamples - heads)):
        for number in batch_sizes(total, sizes.size, held):
            yield coin, draws(number, rng)


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
