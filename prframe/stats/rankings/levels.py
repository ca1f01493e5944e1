"""Rankings as levels, which are whole numbers, and metrics of many such rankings at once.

A larger level ranks higher, items of the same level are tied, and level 0 is not retrieved.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import comparable, known, positive_labels
from prframe.stats.rankings.cells import cells_from_scores
from prframe.stats.rankings.metrics.base import CellStatistic
from prframe.typing import Floats, Integers

_TWO = 2


def ranking_levels(scores: ArrayLike) -> Integers:
    """Return the levels of rankings that are given by scores.

    Parameters
    ----------
    scores : array_like of float, shape (n_rankings, N) or (N,)
        Higher ranks first; -inf is not retrieved. No NaN.

    Returns
    -------
    ndarray of int, of the same shape
        1 for the lowest score of the ranking, 2 for the next one, and so on; equal scores have
        the same level, and -inf has level 0.

    Raises
    ------
    PrframeError
        A score that is NaN, or other than one or two dimensions.

    Examples
    --------
    >>> ranking_levels([[0.9, 0.1, 0.5, 0.5], [7.0, 8.0, -np.inf, 9.0]])
    array([[3, 1, 2, 2],
           [1, 2, 0, 3]])
    """
    numbers = known("scores", comparable(scores))
    if numbers.ndim not in {1, _TWO}:
        raise PrframeError(f"`scores` must have one or two dimensions; got {numbers.ndim}.")
    levels = np.empty(numbers.shape, dtype=np.int64)
    for row, level in zip(np.atleast_2d(numbers), np.atleast_2d(levels), strict=True):
        values, place = np.unique(row, return_inverse=True)
        level[:] = place + (values[:1] != -np.inf)
    return levels


def checked_levels(levels: ArrayLike) -> Integers:
    """Require levels of rankings, row by row, as `ranking_levels` returns them."""
    numbers = np.asarray(levels)
    if numbers.ndim != _TWO or not numbers.size or numbers.dtype.kind not in "iu":
        raise PrframeError(
            "`levels` must be whole numbers with a row per ranking and a column per item, at "
            f"least one of each; got {checks.brief(levels)}."
        )
    if (wrong := (numbers < 0) | (numbers > numbers.shape[1])).any():
        raise PrframeError(
            f"`levels` must lie between 0 and the number of items, {numbers.shape[1]}; "
            f"got {numbers[wrong][0]}. `ranking_levels` makes them from scores."
        )
    return numbers.astype(np.int64)


def joint_levels(levels: Integers) -> Integers:
    """Merge two rankings into one order of levels, by mid-rank.

    The shape is (2, 2, N), by coin and ranking. Where both have the same mid-rank, a coin orders
    the two: the second ranking wins in the first table, and the first one in the second table. Tie
    blocks of the two that share more than half of the ranks of the larger one, or have one
    mid-rank, are the same level.
    """
    first, second = levels
    own, other = mid_ranks(first), mid_ranks(second)
    matched = _matched_blocks(first, second)
    # A matched block of the second ranking has the mid-rank of that of the first one.
    other = np.where(matched[second] >= 0, matched[second], other)
    keys = np.stack([own, other])
    _, order = np.unique(-keys, return_inverse=True)
    ranks = order.reshape(levels.shape) + 1
    of_first = np.isin(own, matched[matched >= 0])
    coin = ~np.stack([of_first, matched[second] >= 0])
    row = np.arange(2)[:, None]
    return np.stack([np.where(levels > 0, 2 * ranks + coin * (row ^ c), 0) for c in (0, 1)])


def _matched_blocks(first: Integers, second: Integers) -> Integers:
    """Return twice the mid-rank of the block that each level of the second matches, or -1."""
    (begin, end), (other_begin, other_end) = _block_ranks(first), _block_ranks(second)
    # The block of the first ranking that holds the middle of each block of the second one.
    middle = (other_begin + other_end) / 2
    at = np.clip(first.max(initial=0) - np.searchsorted(begin[::-1], middle, "right") + 1, 0, None)
    at = np.minimum(at, end.size - 1)
    shared = np.minimum(end[at], other_end) - np.maximum(begin[at], other_begin)
    size, other_size = end[at] - begin[at], other_end - other_begin
    same = (2 * shared > np.maximum(size, other_size)) & (np.minimum(size, other_size) > 1)
    # Items in the middle of a block of the other ranking have its mid-rank.
    same |= (begin[at] + end[at] == other_begin + other_end) & (np.maximum(size, other_size) > 1)
    same &= (at > 0) & (np.arange(middle.size) > 0)
    return np.where(same, begin[at] + end[at] + 1, -1)


def _block_ranks(level: Integers) -> tuple[Integers, Integers]:
    """Return how many items rank above each level, and how many above or on it."""
    size = np.bincount(level)
    end = level.size - np.cumsum(size) + size
    return end - size, end


def joint_ranks(levels: Integers) -> Integers:
    """Merge rankings into one order of levels, by mid-rank, in which entries may be equal."""
    _, order = np.unique(np.stack([-mid_ranks(level) for level in levels]), return_inverse=True)
    return np.where(levels > 0, order.reshape(levels.shape) + 1, 0)


def mid_ranks(level: Integers) -> Integers:
    """Return twice the mean rank of the items on each one's level, the best rank being 1."""
    begin, end = _block_ranks(level)
    return (begin + end + 1)[level]


class CellEvaluator:
    """An evaluator of metrics that are functions of the counts in cells; nothing is sorted.

    `label`, shape (N,), is True or above 0 for positives.
    """

    def __init__(self, label: ArrayLike, statistics: Sequence[CellStatistic]) -> None:
        self.label, self.statistics = positive_labels(label), tuple(statistics)

    def __call__(self, level: ArrayLike, count: ArrayLike | None = None) -> Floats:
        """Return the metrics, shape (n_metrics, R), of levels of the shape (R, N) or (1, N).

        `count`, shape (R, N), says how many times each item comes up, by default once.
        """
        levels, counts = np.asarray(level), None if count is None else np.asarray(count)
        rows = len(levels if counts is None else counts)
        cell, n_cells = self.cells(levels)
        key = cell + n_cells * np.arange(rows)[:, None]
        weights = None if counts is None else counts.ravel()
        drawn = np.bincount(key.ravel(), weights, minlength=n_cells * rows).reshape(rows, n_cells)
        # Integers add up faster than floats.
        is_whole = counts is None or counts.dtype.kind != "f"
        return self.of_counts(drawn.astype(np.int64, copy=False) if is_whole else drawn)

    def cells(self, levels: Integers) -> tuple[Integers, int]:
        """Return the cell of each item, those of positives and the best first, and how many."""
        n_levels = int(levels.max(initial=0)) + 1
        return n_levels * (1 + ~self.label) - 1 - levels, 2 * n_levels

    def of_counts(self, counts: NDArray[np.integer | np.floating]) -> Floats:
        """Return the metrics, shape (n_metrics, R), of counts in cells, shape (R, n_cells)."""
        pos, neg = np.hsplit(counts, 2)
        return np.stack([statistic.values(pos, neg) for statistic in self.statistics])

    def influence(self, level: ArrayLike) -> Floats:
        """Return the derivatives by the weights of items, shape (n_metrics, N)."""
        levels = np.asarray(level)
        if not self.label.any():
            # A metric that is defined without positives is constant there.
            return self(levels[None]) * np.zeros(levels.size)
        cells, cell = cells_from_scores(np.where(levels > 0, levels, -np.inf), self.label)
        influences = [statistic.influence(cells) for statistic in self.statistics]
        return np.stack(
            [np.where(self.label, each.pos[cell], each.neg[cell]) for each in influences]
        )

    def merge(self, levels: ArrayLike) -> Integers:
        """Merge neighbouring levels, of all rankings alike, that these metrics cannot tell apart.

        Levels without a positive are merged; if all metrics ask for the ends of cells alone, also
        with the next positive below.
        """
        levels, label = np.asarray(levels), self.label
        has = np.zeros(int(levels.max(initial=0)) + 1, dtype=np.bool_)
        has[levels[..., label]] = True
        # A cell begins at each level with positives, and behind it; level 0, which holds the items
        # that are not retrieved, is a cell of its own.
        opens = has.copy()
        if not all(statistic.asks_for_ends for statistic in self.statistics):
            opens[1:] |= has[:-1]
        opens[:2] = [False, True][: opens.size]
        return np.asarray(np.cumsum(opens)[levels], dtype=np.int64)
