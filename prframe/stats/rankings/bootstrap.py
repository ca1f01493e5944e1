"""Resamples of a ranking in cells, drawn as counts, so that nothing is sorted again.

If n items are drawn with replacement, the numbers of items from each cell and class are a
multinomial variate. Resamples come in chunks, so that memory is bounded whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from prframe import checks
from prframe.draws import INTERVAL_DRAWS
from prframe.stats._arrays import positive_labels, random_generator
from prframe.stats._batches import batch_sizes
from prframe.stats._units import Units
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.metrics.base import CellStatistic
from prframe.typing import Floats, Integers

# The number of counts in one chunk of resamples; a statistic holds a few arrays of that size.
_CHUNK = 1 << 16
# Items are drawn one by one if there are fewer than this many per kind, because a multinomial
# variate costs about as much per kind as that many draws of an item.
_PER_KIND = 20


def ranking_bootstrap(
    cells: RankedCells,
    statistics: Sequence[CellStatistic],
    n_resamples: int = INTERVAL_DRAWS,
    rng: int | np.random.Generator | None = None,
    clusters: csr_array | None = None,
) -> Floats:
    """Return metrics of resamples of a ranking's items, or of clusters of them.

    The shape is (n_statistics, n_resamples), with NaN where a resample leaves a metric undefined.
    `clusters` is as `cluster_counts` returns it (Efron, Annals of Statistics 1979).
    """
    checks.number_of_draws(n_resamples)
    generator = random_generator(rng)
    if clusters is None:
        draws = _item_draws(cells, n_resamples, generator)
    else:
        draws = _cluster_draws(clusters, n_resamples, generator)
    n_cells = cells.pos.size
    return np.concatenate(
        [
            np.stack(
                [
                    statistic.values(drawn[:, :n_cells], drawn[:, n_cells:])
                    for statistic in statistics
                ]
            )
            for drawn in draws
        ],
        axis=1,
    )


def cluster_counts(
    cell: ArrayLike, label: ArrayLike, cluster: ArrayLike, n_cells: int
) -> csr_array:
    """Count the positives and the negatives that each cluster has in each cell.

    Parameters
    ----------
    cell : array_like of int, shape (n,)
        The cell of each item, from 0.
    cluster : array_like, shape (n,)
        The cluster of each item: numbers or names, which are numbered in their order.
    label : array_like of bool or number, shape (n,)
        True, or above 0, for positives.
    n_cells : int
        Number of cells, the last one, which may be empty, included.

    Returns
    -------
    scipy.sparse.csr_array of int, shape (n_clusters, 2 n_cells)
        Positives in the first half of the columns, negatives in the second.

    Examples
    --------
    >>> cluster_counts([0, 1, 1], [True, False, True], [0, 0, 1], n_cells=2).toarray()
    array([[1, 0, 0, 1],
           [0, 1, 0, 0]])
    """
    rows, number = Units.of(cluster)
    columns = np.asarray(cell) + n_cells * ~positive_labels(label)
    shape = (number, 2 * n_cells)
    # The constructor adds up what stands in one place.
    return csr_array((np.ones(rows.size, dtype=np.int64), (rows, columns)), shape=shape)


def multiplicities(n: int, n_resamples: int, rng: np.random.Generator) -> Integers:
    """Draw n of n objects with replacement, and count how often each comes up in each resample."""
    return _tally(np.arange(n), n, n_resamples, rng)


def _item_draws(
    cells: RankedCells, n_resamples: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Yield counts of the positives, and then the negatives, of all cells, a row per resample."""
    counts = np.concatenate([cells.pos, cells.neg])
    kinds, n = np.flatnonzero(counts), int(cells.n)
    if kinds.size * _PER_KIND < n:
        for size in batch_sizes(n_resamples, counts.size, _CHUNK):
            drawn = np.zeros((size, counts.size), dtype=np.int64)
            drawn[:, kinds] = rng.multinomial(n, counts[kinds] / n, size=size)
            yield drawn
    else:
        of_item = np.repeat(np.arange(counts.size), counts)
        for size in batch_sizes(n_resamples, counts.size, _CHUNK):
            yield _tally(of_item, counts.size, size, rng)


def _tally(of_item: Integers, n_kinds: int, times: int, rng: np.random.Generator) -> Integers:
    """Draw as many items as there are, some times, and count their kinds."""
    n = of_item.size
    drawn = of_item[rng.integers(0, n, (times, n), dtype=np.int32 if n < 1 << 31 else np.int64)]
    drawn += n_kinds * np.arange(times)[:, None]
    return np.bincount(drawn.ravel(), minlength=times * n_kinds).reshape(times, n_kinds)


def _cluster_draws(
    clusters: csr_array, n_resamples: int, rng: np.random.Generator
) -> Iterator[Integers]:
    """Draw clusters and add up their counts, some resamples at a time."""
    number, columns = clusters.shape
    counts = clusters.T.tocsr()
    for size in batch_sizes(n_resamples, max(number, columns), _CHUNK):
        times = multiplicities(number, size, rng).T
        yield np.ascontiguousarray((counts @ times).T)
