"""The paired bootstrap, which draws items once for all rankings of them and all metrics."""

import numpy as np

from prframe.stats._batches import batch_sizes
from prframe.stats._units import Units
from prframe.stats.rankings import Evaluator, items_at_once, merged_for
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
    rankings = [merged_for(evaluate, level[None]) for level in levels]
    parts = []
    for size in batch_sizes(n_resamples, levels.shape[1], items_at_once(evaluate)):
        count = units.spread(_multiplicities(size, units.number, rng))
        parts.append(np.stack([evaluate(level, count) for level in rankings], axis=1))
    return np.concatenate(parts, axis=2)


def _multiplicities(size: int, n: int, rng: np.random.Generator) -> Integers:
    """Return how many times each of n units is among n that are drawn, shape (size, n)."""
    place = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
    return np.bincount(place.ravel(), minlength=size * n).reshape(size, n)
