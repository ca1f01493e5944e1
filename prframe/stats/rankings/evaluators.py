"""Metrics of many rankings of the same labelled items at a time.

A ranking of N items is an array of *levels*, whole numbers: larger ranks higher, items of the same
level are tied, and level 0 is not retrieved. What evaluates rankings takes many rows of levels, or
of multiplicities of the items, and returns its metrics for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import positive_labels
from prframe.stats.rankings.cells import cells_from_scores
from prframe.stats.rankings.metric_base import CellStatistic
from prframe.typing import Floats, Integers

# Items of all rankings at a time: few enough for the processor's cache.
_AT_ONCE = 1 << 14


class Evaluator(Protocol):
    """What computes metrics of rankings of the same items; `CellEvaluator` is one.

    It may have an attribute ``at_once``, how many items of all rankings it is given at a time.

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


@runtime_checkable
class _Merger(Protocol):
    """An evaluator that says which levels it cannot tell apart."""

    def merge(self, levels: Integers) -> Integers:
        """Return levels that are fewer."""
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
    Memory and time are a few times those of the levels, plus those of the cells, of which there is
    one per row and level; `merge` makes them fewer.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision, RocArea
    >>> evaluate = CellEvaluator([True, False, True, False], [AveragePrecision(), RocArea()])
    >>> evaluate([[4, 3, 2, 1], [1, 2, 2, 0]]).round(3)
    array([[0.833, 0.583],
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

    def __call__(self, level: ArrayLike, count: ArrayLike | None = None) -> Floats:
        """Return the metrics, shape (n_metrics, R); see `Evaluator`."""
        levels, counts = np.asarray(level), None if count is None else np.asarray(count)
        rows = len(levels if counts is None else counts)
        n_cells = int(levels.max(initial=0)) + 1
        # The best level comes first; positives of a row in the first half of its places.
        first = 2 * n_cells * np.arange(rows)[:, None]
        key = first + (n_cells * (1 + ~self.label) - 1 - levels)
        weights = None if counts is None else counts.ravel()
        drawn = np.bincount(key.ravel(), weights, minlength=2 * n_cells * rows)
        # Whole numbers add up faster than floats.
        whole = drawn if counts is None or counts.dtype.kind == "f" else drawn.astype(np.int64)
        pos, neg = np.moveaxis(whole.reshape(rows, 2, n_cells), 1, 0)
        return np.stack([one.values(pos, neg) for one in self.statistics])

    def influence(self, level: ArrayLike) -> Floats:
        """Return the derivatives with respect to the weights of the items.

        Parameters
        ----------
        level : array_like of int, shape (N,)

        Returns
        -------
        ndarray of float, shape (n_metrics, N)
            NaN where a metric is not defined.
        """
        levels = np.asarray(level)
        if not self.label.any():
            # What is defined without positives is constant.
            return self(levels[None]) * np.zeros(levels.size)
        cells, cell = cells_from_scores(np.where(levels > 0, levels, -np.inf), self.label)
        found = [one.influence(cells) for one in self.statistics]
        return np.stack([np.where(self.label, each.pos[cell], each.neg[cell]) for each in found])

    def merge(self, levels: ArrayLike) -> Integers:
        """Merge neighbouring levels without a positive, which these metrics cannot tell apart.

        Parameters
        ----------
        levels : array_like of int, shape (..., N)
            Of one ranking or of several, whose levels are merged alike.

        Returns
        -------
        ndarray of int, of the same shape
            Every metric of a ranking on these levels, the items' labels being the same, is what
            it was; also of one that has an item on a level which the item has in another ranking.

        Examples
        --------
        >>> from prframe.stats import AveragePrecision
        >>> evaluate = CellEvaluator([False, True, False, False, False], [AveragePrecision()])
        >>> evaluate.merge([9, 7, 4, 2, 0])
        array([3, 2, 1, 1, 0])
        """
        return merged_levels(np.asarray(levels), self.label)


def merged_levels(levels: Integers, marked: NDArray[np.bool_]) -> Integers:
    """Merge levels between which none has a marked item; those of marked items stay apart."""
    has = np.zeros(int(levels.max(initial=0)) + 1, dtype=np.bool_)
    has[levels[..., marked]] = True
    # A cell begins with each level of marked items, and behind it; what is not retrieved is one.
    opens = has.copy()
    opens[1:] |= has[:-1]
    opens[:2] = [False, True][: opens.size]
    return np.asarray(np.cumsum(opens)[levels], dtype=np.int64)


def items_at_once(evaluate: Evaluator) -> int:
    """Return how many items of all rankings an evaluator is given at a time."""
    return int(getattr(evaluate, "at_once", _AT_ONCE))


def merged_for(evaluate: Evaluator, levels: Integers) -> Integers:
    """Merge levels that an evaluator cannot tell apart, if it says which."""
    return evaluate.merge(levels) if isinstance(evaluate, _Merger) else levels
