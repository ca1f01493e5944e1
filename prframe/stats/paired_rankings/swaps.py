"""Randomization of two rankings of the same items, which exchange the ranks of an item."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import bdtr

from prframe.stats._batches import batch_sizes, batches
from prframe.stats._units import Units
from prframe.stats.paired_rankings.pools import HELD, Draws, Pools, metrics_of, pools_of
from prframe.stats.rankings import (
    CellEvaluator,
    Evaluator,
    items_at_once,
    joint_levels,
    merged_for,
)
from prframe.typing import Flags, Floats, Integers


class SwapDistribution(NamedTuple):
    """Differences of metrics under the null hypothesis that ranks are exchangeable.

    `differences`, shape (n_metrics, n_swaps), are NaN where a metric is not defined. `exact` says
    whether the swaps are all that are possible, each once.
    """

    differences: Floats
    exact: bool


def swap_distribution(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> SwapDistribution:
    """Return differences of metrics after the ranks of units of items have been swapped.

    If there are not more than `n_resamples` swaps, all are enumerated. Mid-ranks are swapped. One
    coin per swap orders equal mid-ranks of different rankings, but for tie blocks of both that are
    one level; see `joint_levels`. Items with the same mid-rank in both rankings keep it.
    """
    pools = pools_of(levels, evaluate, units)
    joint = joint_levels(levels)[..., pools.item]
    # Items with the same mid-rank in both models keep it, as a swap could break a model's ties.
    differs = joint[0, 0] // 2 != joint[0, 1] // 2
    # This is 2^n <= n_resamples, without computing a huge number.
    exact = units.number < n_resamples.bit_length()
    if isinstance(evaluate, CellEvaluator):
        few = CellEvaluator(evaluate.label[pools.item], evaluate.statistics)
        swapped = [_counted(few, table, differs, pools) for table in joint]
        held = HELD
    else:
        swapped = [_ranked(evaluate, table, differs, units) for table in joint]
        held = items_at_once(evaluate)
    swaps = _all_swaps if exact else partial(_swaps, n_resamples, rng)
    parts = [swapped[coin](heads) for coin, heads in swaps(pools.sizes, held)]
    differences = np.concatenate(parts, axis=1)
    if exact:
        # In the other half of the swaps both rankings change places.
        differences = np.concatenate([differences, -differences], axis=1)
    return SwapDistribution(differences, exact)


def _counted(
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


def _ranked(
    evaluate: Evaluator, levels: Integers, differs: Flags, units: Units
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return the differences by which units are swapped, for any evaluator."""
    first, second = merged_for(evaluate, levels)

    def differences(heads: NDArray[np.int32]) -> Floats:
        swapped = units.spread(heads.T > 0) & differs
        given = evaluate(np.where(swapped, second, first))
        return given - evaluate(np.where(swapped, first, second))

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
