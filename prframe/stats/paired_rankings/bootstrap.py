"""The paired bootstrap, which draws items once for all rankings of them and all metrics."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prframe._ahead import one_ahead
from prframe.stats._batches import batches
from prframe.stats._units import Units
from prframe.stats.paired_rankings.cell_counts import (
    CellCounts,
    enough_levels,
    metrics_of,
    rows_at_once,
)
from prframe.stats.paired_rankings.multiplicity_draws import drawn_multiplicities
from prframe.stats.paired_rankings.pools import pools_of
from prframe.stats.rankings import CellEvaluator, Evaluator, items_at_once, merged_for
from prframe.typing import Floats, Integers

# Where more multiplicities than this are drawn, a thread of their own draws them, because drawing
# takes longer than the swaps that are drawn at the same time.
_AHEAD = 1 << 26


def paired_replicates(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return metrics of resamples, the same ones for all rankings.

    Parameters
    ----------
    levels : ndarray of int, shape (n_rankings, N)
    evaluate : Evaluator
    units : Units
        The units that are drawn with replacement, as many as there are.
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_metrics, n_rankings, n_resamples)
        NaN where a resample leaves a metric undefined.
    """
    if isinstance(evaluate, CellEvaluator):
        parts = _of_counts(levels, evaluate, units, n_resamples, rng)
    else:
        parts = _of_levels(levels, evaluate, units, n_resamples, rng)
    return np.concatenate(list(parts), axis=2)


def _of_counts(
    levels: Integers,
    evaluate: CellEvaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Yield metrics that take counts in cells."""
    kept = np.stack([enough_levels(level, evaluate) for level in levels])
    pools = pools_of(kept, evaluate, units, n_resamples)
    rankings = [CellCounts.drawn(level, pools) for level in kept]
    for times in _multiplicities(pools.sizes, n_resamples, rng):
        yield np.stack([_metrics_of(counts(times), evaluate) for counts in rankings], axis=1)


def _metrics_of(parts: Iterator[NDArray[np.signedinteger]], evaluate: CellEvaluator) -> Floats:
    """Return the metrics of counts that come in parts, shape (n_metrics, R)."""
    return np.concatenate([metrics_of(rows, evaluate) for rows in parts], axis=1)


def _of_levels(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Yield metrics that take levels."""
    rankings = [merged_for(evaluate, level[None]) for level in levels]
    sizes = np.ones(units.number, dtype=np.int64)
    for times in _multiplicities(sizes, n_resamples, rng):
        for rows in batches(times.shape[1], levels.shape[1], items_at_once(evaluate)):
            count = units.spread(times[:, rows].T.astype(np.int64))
            yield np.stack([evaluate(level, count) for level in rankings], axis=1)


def _multiplicities(
    sizes: Integers, n_resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Draw how many times each unit or pool comes up, a column per resample."""
    drawn = drawn_multiplicities(sizes, n_resamples, rows_at_once(sizes.size), rng)
    return one_ahead(drawn) if sizes.size * n_resamples > _AHEAD else drawn
