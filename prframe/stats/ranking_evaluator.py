"""Metrics of many rankings of the same labelled items at a time.

A ranking of N items is an array of *levels*, whole numbers: larger ranks higher, items of the same
level are tied, and level 0 is not retrieved. What evaluates rankings takes many rows of levels, or
of multiplicities of the items, and returns its metrics for all of them.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats.cell_statistic import CellStatistic
from prframe.stats.inputs import Floats, positive_labels
from prframe.stats.ranked_cells import Integers, cells_from_scores


class Evaluator(Protocol):
    """What computes metrics of rankings of the same items; `CellEvaluator` is one.

    Examples
    --------
    Any function of this form is one, for instance of the share of items that are retrieved:

    >>> from prframe.stats import PairedRankings
    >>> def retrieved(level, count=None):
    ...     return np.average(level > 0, axis=-1, weights=count)[None, :]
    >>> PairedRankings([[3, 2, 1, 0], [1, 2, 0, 0]], retrieved).values()
    array([[0.75, 0.5 ]])
    """

    def __call__(self, level: Integers, count: Integers | None = None) -> Floats:
        """Return metrics of rankings or of resamples.

        Parameters
        ----------
        level : ndarray of int, shape (R, N) or (1, N)
            Larger ranks higher, equal is tied, 0 is not retrieved; not every number need occur.
        count : ndarray of int, shape (R, N), optional
            How many times each item comes up; once unless told.

        Returns
        -------
        ndarray of float, shape (n_metrics, R)
            NaN where a metric is not defined.
        """
        ...


@runtime_checkable
class InfluenceEvaluator(Evaluator, Protocol):
    """An evaluator that knows derivatives too, of which the BCa interval is made.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision
    >>> isinstance(CellEvaluator([True, False], [AveragePrecision()]), InfluenceEvaluator)
    True
    """

    def influence(self, level: Integers) -> Floats:
        """Return the derivatives of the metrics with respect to the weight of each item.

        Parameters
        ----------
        level : ndarray of int, shape (N,)

        Returns
        -------
        ndarray of float, shape (n_metrics, N)
        """
        ...


class CellEvaluator:
    """Metrics that are functions of the counts in the cells of a ranking; nothing is sorted.

    Parameters
    ----------
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives.
    statistics : sequence of CellStatistic
        The metrics, at least one.

    Raises
    ------
    PrframeError
        Labels that are not of one dimension, or metrics that are no `CellStatistic`.

    Notes
    -----
    Neighbouring levels on which no ranking has a positive are counted as one, as these metrics
    allow. Memory and time are a few times those of the levels.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, RocArea
    >>> evaluate = CellEvaluator([True, False, True, False], [AveragePrecision(), RocArea()])
    >>> evaluate([[4, 3, 2, 1], [1, 2, 2, 0]]).round(3)
    array([[0.833, 0.5  ],
           [0.75 , 0.625]])

    The first ranking with the last item left out, and with its first item twice:

    >>> evaluate([[4, 3, 2, 1]], [[1, 1, 1, 0], [2, 1, 1, 1]]).round(3)
    array([[0.833, 0.917],
           [0.5  , 0.833]])
    """

    def __init__(self, label: ArrayLike, statistics: Sequence[CellStatistic]) -> None:
        """Check and keep both."""
        self.label, self.statistics = positive_labels(label), tuple(statistics)
        if self.label.ndim != 1:
            raise PrframeError(f"`label` must have one dimension; got shape {self.label.shape}.")
        if not self.statistics:
            raise PrframeError("`statistics` must hold at least one metric; got none.")
        for one in self.statistics:
            checks.instance("statistics", one, CellStatistic)
        self._hits = np.flatnonzero(self.label)

    def __call__(self, level: ArrayLike, count: ArrayLike | None = None) -> Floats:
        """Return the metrics, shape (n_metrics, R); see `Evaluator`."""
        levels, counts = np.asarray(level), None if count is None else np.asarray(count)
        rows = len(levels if counts is None else counts)
        cell, n_cells = self._cells(levels)
        # Positives of a row in the first half of its places, negatives in the second.
        key = cell + n_cells * ~self.label
        key = key + 2 * n_cells * np.arange(rows)[:, None]
        weights = None if counts is None else counts.ravel()
        drawn = np.bincount(key.ravel(), weights, minlength=2 * n_cells * rows)
        pos, neg = np.moveaxis(drawn.reshape(rows, 2, n_cells), 1, 0)
        return np.stack([one.values(pos, neg) for one in self.statistics])

    def influence(self, level: ArrayLike) -> Floats:
        """Return the derivatives with respect to the weights of the items.

        Parameters
        ----------
        level : array_like of int, shape (N,)

        Returns
        -------
        ndarray of float, shape (n_metrics, N)
            NaN without a positive.
        """
        levels = np.asarray(level)
        if not self._hits.size:
            return np.full((len(self.statistics), levels.size), np.nan)
        cells, cell = cells_from_scores(np.where(levels > 0, levels, -np.inf), self.label)
        found = [one.influence(cells) for one in self.statistics]
        return np.stack([np.where(self.label, each.pos[cell], each.neg[cell]) for each in found])

    def _cells(self, level: Integers) -> tuple[Integers, int]:
        """Return each item's cell, the best first and what is not retrieved last; how many."""
        has_pos = np.zeros(int(level.max(initial=0)) + 1, dtype=np.bool_)
        has_pos[np.take(level, self._hits, axis=1)] = True
        best_first = has_pos[:0:-1]
        # A cell begins with each level of positives, and behind it.
        opens = best_first.copy()
        opens[1:] |= best_first[:-1]
        opens[:1] = True
        last = int(np.count_nonzero(opens))
        of_level = np.full(has_pos.size, last)
        of_level[:0:-1] = np.cumsum(opens) - 1
        return of_level[level], last + 1
