"""The paired bootstrap, which draws items once for all rankings of them and all metrics."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import pdtr

from prframe.stats._batches import batch_sizes
from prframe.stats._units import Units
from prframe.stats.paired_rankings.pools import HELD, Draws, metrics_of, pools_of
from prframe.stats.rankings import CellEvaluator, Evaluator, items_at_once, merged_for
from prframe.typing import Floats, Integers

# Independent Poisson variates with this many standard deviations below the number of items in all
# leave some to be drawn one by one, and rarely are too many.
_SHORT = 3.0


def paired_replicates(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return metrics of resamples, the same ones for all rankings.

    As many units are drawn with replacement as there are. The shape is (n_metrics, n_rankings,
    n_resamples), with NaN where a resample leaves a metric undefined.
    """
    pools = pools_of(levels, evaluate, units)
    if isinstance(evaluate, CellEvaluator):
        few = CellEvaluator(evaluate.label[pools.item], evaluate.statistics)
        rankings = [_counted(few, level, pools.units) for level in levels[:, pools.item]]
        held = HELD
    else:
        rankings = [_ranked(evaluate, level, units) for level in levels]
        held = items_at_once(evaluate)
    parts = [
        np.stack([ranking(times) for ranking in rankings], axis=1)
        for times in multiplicities(pools.sizes, n_resamples, held, rng)
    ]
    replicates = np.concatenate(parts, axis=2)
    if np.array_equal(pools.item, np.arange(units.of_item.size)):
        return replicates
    once = [ranking(pools.sizes[:, None].astype(np.int32)) for ranking in rankings]
    return replicates + (evaluate(levels) - np.concatenate(once, axis=1))[..., None]


def _counted(
    evaluate: CellEvaluator, level: Integers, units: Units
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return the metrics of a ranking by how often units come up, which are added up in cells."""
    cell, n_cells = evaluate.cells(evaluate.merge(level))
    ones = np.ones(cell.size, dtype=np.int32)
    counts = csr_array((ones, (cell, units.of_item)), shape=(n_cells, units.number))
    return lambda times: metrics_of(evaluate, np.asarray(counts @ times))


def _ranked(
    evaluate: Evaluator, level: Integers, units: Units
) -> Callable[[NDArray[np.int32]], Floats]:
    """Return the metrics of a ranking by how often units come up, for any evaluator."""
    merged = merged_for(evaluate, level[None])
    return lambda times: evaluate(merged, units.spread(times.T.astype(np.int64)))


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
