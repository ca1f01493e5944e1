"""The paired bootstrap, which draws items once for all rankings of them and all metrics."""

from collections.abc import Iterator

import numpy as np

from prframe.stats._batches import batch_sizes
from prframe.stats._units import Units
from prframe.stats.rankings import Evaluator, items_at_once, merged_for, multiplicities
from prframe.typing import Floats, Integers


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
    rows = [merged_for(evaluate, level[None]) for level in levels]
    return np.concatenate(
        [
            np.stack([evaluate(row, count) for row in rows], axis=1)
            for count in _counts(units, n_resamples, items_at_once(evaluate), rng)
        ],
        axis=2,
    )


def _counts(
    units: Units, n_resamples: int, items: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Draw how many times each item comes up, for so many items at a time."""
    for size in batch_sizes(n_resamples, units.of_item.size, items):
        yield units.spread(multiplicities(units.number, size, rng))
