"""The paired bootstrap, which draws items once for all rankings of them and all metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prframe._ahead import one_ahead
from prframe.stats._batches import batches
from prframe.stats._units import Units
from prframe.stats.paired_rankings.cell_counts import (
    CellCounts,
    counts_of_both,
    enough_levels,
    metrics_of,
    rows_at_once,
)
from prframe.stats.paired_rankings.multiplicity_draws import drawn_multiplicities
from prframe.stats.paired_rankings.wide_cells import wide_cells
from prframe.stats.rankings import CellEvaluator, Evaluator, items_at_once, merged_for
from prframe.typing import Flags, Floats, Integers

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
    rankings = [_CountedRanking.of(level, evaluate, units) for level in levels]
    for times in _multiplicities(units, n_resamples, rng):
        yield np.stack([ranking(times) for ranking in rankings], axis=1)


@dataclass(frozen=True)
class _CountedRanking:
    """A ranking whose resamples are counted in cells.

    Attributes
    ----------
    counts : CellCounts
    evaluate : CellEvaluator
    wide : ndarray of bool, shape (n_cells,)
    lacking : ndarray of float, shape (n_metrics, 1)
        What wide cells leave out of the metrics of all items.
    """

    counts: CellCounts
    evaluate: CellEvaluator
    wide: Flags
    lacking: Floats

    @classmethod
    def of(cls, level: Integers, evaluate: CellEvaluator, units: Units) -> "_CountedRanking":
        """Return a ranking of items that come in units."""
        levels, wide = wide_cells(enough_levels(level, evaluate), evaluate)
        once = metrics_of(counts_of_both(levels[None], evaluate)[None], evaluate, wide)
        lacking = evaluate(level[None]) - once if wide.any() else np.zeros_like(once)
        return cls(CellCounts.drawn(levels, evaluate, units), evaluate, wide, lacking)

    def __call__(self, times: NDArray[np.uint8]) -> Floats:
        """Return the metrics for numbers of units, shape (n_metrics, R)."""
        return metrics_of(self.counts(times), self.evaluate, self.wide) + self.lacking


def _of_levels(
    levels: Integers,
    evaluate: Evaluator,
    units: Units,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """Yield metrics that take levels."""
    rankings = [merged_for(evaluate, level[None]) for level in levels]
    for times in _multiplicities(units, n_resamples, rng):
        for rows in batches(times.shape[1], levels.shape[1], items_at_once(evaluate)):
            count = units.spread(times[:, rows].T.astype(np.int64))
            yield np.stack([evaluate(level, count) for level in rankings], axis=1)


def _multiplicities(
    units: Units, n_resamples: int, rng: np.random.Generator
) -> Iterator[NDArray[np.uint8]]:
    """Draw how many times each unit comes up, a column per resample."""
    drawn = drawn_multiplicities(units.number, n_resamples, rows_at_once(units.number), rng)
    return one_ahead(drawn) if units.number * n_resamples > _AHEAD else drawn
