"""Metrics of many rankings of the same labelled items at once.

A ranking of N items is an array of *levels*, whole numbers: larger ranks higher, items of the same
level are tied, and level 0 is not retrieved. An evaluator takes many rows of levels, or of
multiplicities of the items, and returns its metrics for all of them, NaN for undefined ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.stats._arrays import positive_labels
from prframe.stats.rankings.cells import cells_from_scores
from prframe.stats.rankings.metrics.base import CellStatistic
from prframe.typing import Floats, Integers


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
