"""F1 at its best threshold, and metrics of all retrieved items, as functions of cells."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats.rankings.best_ends import first_best_ends
from prframe.stats.rankings.cell_sums import Numbers, as_arrays, ratio, running
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.stats.rankings.resamples import CountedResamples, Resamples
from prframe.typing import Floats, Integers, Reals

# Different fractions whose divisors are smaller differ in single precision.
_SINGLE = 1 << 12

Slopes: TypeAlias = tuple[float, float, float]


@dataclass(frozen=True)
class LargestF1(CellStatistic):
    """MaxF1: the largest F1 of all thresholds, ``max over k of 2 tp / (k + n_pos)``.

    Notes
    -----
    At the best threshold F1 is flat, so that a small move of the threshold hardly changes it. The
    influence is therefore that of F1 at the best threshold, as if this were fixed.

    Examples
    --------
    >>> round(float(LargestF1().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.667
    """

    _name: ClassVar[str] = "MaxF1"

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the largest ``2 TP_c / (K_c + n_pos)``, counted to the end of cell c."""
        pos, neg = as_arrays(pos, neg)
        n_pos = pos.sum(axis=-1)
        largest = self.curve(pos, neg).max(axis=-1, initial=0.0)
        return np.where(n_pos > 0, largest, np.nan)

    @staticmethod
    def curve(pos: Numbers, neg: Numbers) -> Floats:
        """Return F1 at the end of each cell but the last."""
        tp, k = running(pos, neg)
        return ratio(2 * tp, k + pos.sum(axis=-1)[..., None], 0.0)

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate at the best k: ``(2 y 1{above} - F (y + 1{above})) / (k + n_pos)``."""
        f1 = self.curve(cells.pos, cells.neg)
        if not f1.any():
            return Influence(np.zeros(cells.pos.size), np.zeros(cells.pos.size))
        best = int(f1.argmax())
        value, above = f1[best], (np.arange(cells.pos.size) <= best).astype(np.float64)
        total = running(cells.pos, cells.neg)[1][best] + cells.n_pos
        return Influence((2 * above - value * (1 + above)) / total, -value * above / total)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the largest harmonic mean of precision and recall, less what noise adds to it.

        The largest F1 of a drawn curve lies above that of the mean of all draws, as that of a
        sample lies above that of its population. On the scale of log odds the draws are therefore
        moved down, until their mean is that of the largest mean F1 at a level of recall.
        """
        prevalence, (recall, above) = curves.prevalence, curves.points(at_ends=True)
        begun = np.count_nonzero(recall.min(axis=1) <= 0)
        halves = above[begun:] + prevalence.astype(above.dtype)
        np.divide(recall[begun:], halves, out=halves)
        largest = 2 * prevalence * halves.max(axis=0, initial=0.0)
        if self.value(curves.cells) == 0:
            return np.asarray(largest)
        # Rounding alone makes a curve that has no negative among the positives perfect.
        odds = logit(np.minimum(largest, 1 - np.finfo(above.dtype).eps))
        levels = _levels(curves.cells.n_pos)
        # Beyond the recall of all retrieved items F1 is theirs.
        hits = prevalence * np.minimum(levels[:, None], recall[-1])
        means = (2 * hits / (curves.share_above(levels) + prevalence)).mean(axis=1)
        return np.asarray(expit(odds - odds.mean() + logit(means.max())))


def _levels(n_pos: int) -> Floats:
    """Return the levels of recall at which means of F1 are compared, dense at both ends.

    Noise makes the largest of many means too large, and the largest of few is too small by the
    square of their distance. Both are small beside a standard error if the number of levels grows
    with the cube root of the number of positives.
    """
    number = max(16, int(np.ceil(6 * n_pos ** (1 / 3))))
    inside = (1 - np.cos(np.pi * (np.arange(number) + 0.5) / number)) / 2
    return np.append(inside, 1.0)


@dataclass(frozen=True, eq=False)
class ThresholdOfLargestF1(CellStatistic):
    """The threshold at which F1 is largest; the highest one, if there are several.

    Parameters
    ----------
    thresholds : ndarray, shape (n_cells - 1,)
        The least score of each cell of a ranking but the last; NaN where there is no positive.

    Notes
    -----
    The largest F1 hardly depends on the threshold, so that the threshold varies with the cube root
    of the number of items and has no influence. Quantiles of resamples cover it all the same.

    Examples
    --------
    >>> threshold = ThresholdOfLargestF1(np.array([0.9, np.nan, 0.4]))
    >>> float(threshold.values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1]))
    0.9
    """

    thresholds: Floats
    lacks_influence: ClassVar[str] = "because it jumps"
    reads_sums: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The name in the results of `interval`."""
        return "MaxF1 threshold"

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value."""
        return -np.inf, np.inf

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the threshold at the end of the best cell, NaN where F1 is 0 everywhere."""
        counts = np.concatenate(np.broadcast_arrays(*as_arrays(pos, neg)), axis=-1)
        drawn = CountedResamples(counts.reshape(-1, counts.shape[-1]))
        return self.resampled(drawn).reshape(counts.shape[:-1])

    def resampled(self, resamples: Resamples) -> Floats:
        """Return the threshold of resamples.

        The cells without a positive are left out, as F1 is no larger there than above them.
        """
        cells = self._ends
        tp, others = resamples.up_to(cells)
        if not cells.size:
            return np.full(tp.shape[1], np.nan)
        is_exact = others.dtype.kind != "f" and others.max() < _SINGLE
        if not others[0].all():
            others = others + (others == 0)
        # The odds of F1 are twice these.
        odds = np.divide(tp, others, dtype=np.float32 if is_exact else np.float64)
        best = _first_largest(odds)
        return np.where(tp[-1] > 0, self.thresholds[cells[best]], np.nan)

    def resampled_in_part(
        self, cells: RankedCells, n_resamples: int, rng: np.random.Generator
    ) -> Floats | None:
        """Return the threshold of resamples that are drawn in detail where F1 may be largest."""
        if not self._ends.size:
            return None
        best = first_best_ends(cells, self._ends, n_resamples, rng)
        return np.where(best >= 0, self.thresholds[self._ends[best]], np.nan)

    @property
    def _ends(self) -> Integers:
        """The cells with a threshold."""
        return np.flatnonzero(~np.isnan(self.thresholds))

    def influence(self, cells: RankedCells) -> Influence:
        """Refuse: the derivative does not say how the threshold varies.

        Raises
        ------
        PrframeError
            Always.
        """
        del cells
        raise ArgumentError(
            f"{self.name} has no standard error, {self.lacks_influence}; take 'percentile'."
        )


def _first_largest(rows: Reals) -> Integers:
    """Return the row in which each column is largest; `argmax` is slow along columns."""
    largest = rows == rows.max(axis=0)
    number = np.arange(len(rows), 0, -1, dtype=np.min_scalar_type(len(rows)))
    first = np.multiply(largest.view(np.uint8), number[:, None]).max(axis=0)
    return np.asarray(len(rows) - first.astype(np.int64))


@dataclass(frozen=True)
class _OfRetrieved(CellStatistic):
    """A function of the counts of all retrieved items.

    Whether an item is retrieved depends on the item alone, and not on the others. Items above a
    threshold may be taken for the retrieved ones.
    """

    # Whether the metric depends on the number of negatives that were not retrieved.
    counts_negatives: ClassVar[bool] = False

    @abstractmethod
    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return the metric for the retrieved positives, all retrieved items, positives and items.

        It does not change if all four are multiplied by the same factor.
        """

    @abstractmethod
    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return the derivatives of `_value` by its first three arguments.

        That by the number of all items follows from them, because a common factor changes nothing.
        """

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of the items in all cells but the last."""
        pos, neg = as_arrays(pos, neg)
        tp, fp = pos[..., :-1].sum(axis=-1), neg[..., :-1].sum(axis=-1)
        n_pos = tp + pos[..., -1]
        return self._value(tp, tp + fp, n_pos, n_pos + fp + neg[..., -1])

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate by the three counts."""
        tp, size = int(cells.pos[:-1].sum()), int((cells.pos + cells.neg)[:-1].sum())
        shown = np.append(np.ones(cells.pos.size - 1), 0.0)
        if not size or np.isnan(self.value(cells)):
            return Influence(shown * 0.0, shown * 0.0)
        counted = tp, size, cells.n_pos
        of_tp, of_k, of_n_pos = slopes = self._slopes(*counted, cells.n)
        of_n = -float(np.dot(slopes, counted)) / cells.n if self.counts_negatives else 0.0
        return Influence(shown * (of_tp + of_k) + of_n_pos + of_n, shown * of_k + of_n)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric with shares of the population in place of counts."""
        p = curves.drawn().prevalence[:, 0]
        recall, rate = curves.retrieved(by_threshold=True)
        return self._value(p * recall, p * recall + (1 - p) * rate, p, np.ones_like(p))


@dataclass(frozen=True)
class SetPrecision(_OfRetrieved):
    """SetP: the precision of all retrieved items, 0 if there are none.

    Examples
    --------
    >>> round(float(SetPrecision().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.5
    """

    _name: ClassVar[str] = "SetP"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp / k."""
        del n_pos, n
        return ratio(tp, k, 0.0)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        del n_pos, n
        return 1 / k, -tp / k**2, 0.0

    def trials(self, cells: RankedCells) -> int:
        """Return the number of retrieved items."""
        return int((cells.pos + cells.neg)[:-1].sum())


@dataclass(frozen=True)
class SetRecall(_OfRetrieved):
    """SetR: the recall of all retrieved items.

    Examples
    --------
    >>> round(float(SetRecall().values(pos=[1, 0, 1, 1], neg=[0, 2, 0, 1])), 3)
    0.667
    """

    _name: ClassVar[str] = "SetR"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp / n_pos."""
        del k, n
        return ratio(tp, n_pos)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        del k, n
        return 1 / n_pos, 0.0, -tp / n_pos**2


@dataclass(frozen=True)
class SetFMeasure(_OfRetrieved):
    """SetF: the F measure of all retrieved items, ``(1 + beta^2) tp / (beta^2 n_pos + k)``.

    Parameters
    ----------
    beta : float in (0, 1e6]
        Weight of recall against precision.

    Examples
    --------
    >>> round(float(SetFMeasure().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.667
    """

    _name: ClassVar[str] = "SetF(beta={beta:g})"
    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the weight."""
        checks.number("beta", self.beta, above=0, at_most=1e6)

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return the weighted harmonic mean."""
        del n
        square = self.beta**2
        return np.where(n_pos > 0, ratio((1 + square) * tp, square * n_pos + k), np.nan)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        del n
        square = self.beta**2
        total = square * n_pos + k
        value = (1 + square) * tp / total
        return (1 + square) / total, -value / total, -square * value / total


@dataclass(frozen=True)
class SetAveragePrecision(_OfRetrieved):
    """SetAP: precision times recall of all retrieved items.

    Examples
    --------
    >>> round(float(SetAveragePrecision().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.5
    """

    _name: ClassVar[str] = "SetAP"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp^2 / (k n_pos)."""
        del n
        return ratio(tp, k, 0.0) * ratio(tp, n_pos)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        del n
        value = tp**2 / (k * n_pos)
        return 2 * tp / (k * n_pos), -value / k, -value / n_pos


@dataclass(frozen=True)
class SetSpecificity(_OfRetrieved):
    """Specificity: the share of negatives that are not retrieved.

    Examples
    --------
    >>> round(float(SetSpecificity().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.333
    """

    _name: ClassVar[str] = "Specificity(threshold=0.5)"
    counts_negatives: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return (n - n_pos - (k - tp)) / (n - n_pos)."""
        return ratio(n - n_pos - (k - tp), n - n_pos)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        n_neg = n - n_pos
        return 1 / n_neg, -1 / n_neg, -(k - tp) / n_neg**2

    def trials(self, cells: RankedCells) -> int:
        """Return the number of negatives."""
        return cells.n_neg


@dataclass(frozen=True)
class SetBalancedAccuracy(_OfRetrieved):
    """Balanced accuracy: the mean of recall and specificity of what is retrieved.

    Examples
    --------
    >>> round(float(SetBalancedAccuracy().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.667
    """

    _name: ClassVar[str] = "BalancedAccuracy(threshold=0.5)"
    counts_negatives: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return (recall + specificity) / 2."""
        return (ratio(tp, n_pos) + ratio(n - n_pos - (k - tp), n - n_pos)) / 2

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives."""
        n_neg = n - n_pos
        of_n_pos = -tp / n_pos**2 - (k - tp) / n_neg**2
        return (1 / n_pos + 1 / n_neg) / 2, -1 / n_neg / 2, of_n_pos / 2

    def trials(self, cells: RankedCells) -> int:
        """Return the size of the smaller class."""
        return min(cells.n_pos, cells.n_neg)


@dataclass(frozen=True)
class SetMatthews(_OfRetrieved):
    """MCC: the correlation of being positive and being retrieved, 0 if one of them is constant.

    Examples
    --------
    >>> round(float(SetMatthews().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.408
    """

    _name: ClassVar[str] = "MCC(threshold=0.5)"
    counts_negatives: ClassVar[bool] = True

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the largest value."""
        return -1.0, 1.0

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return ``(n tp - k n_pos) / sqrt(n_pos n_neg k (n - k))``."""
        spread = np.sqrt(n_pos * 1.0 * (n - n_pos)) * np.sqrt(k * 1.0 * (n - k))
        value = ratio(n * 1.0 * tp - k * 1.0 * n_pos, spread, 0.0)
        return np.where((n_pos > 0) & (n_pos < n), np.clip(value, -1.0, 1.0), np.nan)

    def _slopes(self, tp: float, k: float, n_pos: float, n: float) -> Slopes:
        """Return its derivatives, 0 where every item is retrieved."""
        if k == n:
            return 0.0, 0.0, 0.0
        product = n_pos * (n - n_pos) * 1.0 * k * (n - k)
        spread = product**0.5
        value = (n * tp - k * n_pos) / spread
        of_k = -n_pos / spread - value * (n - 2 * k) / (2 * k * (n - k))
        of_n_pos = -k / spread - value * (n - 2 * n_pos) / (2 * n_pos * (n - n_pos))
        return n / spread, of_k, of_n_pos

    def trials(self, cells: RankedCells) -> int:
        """Return the size of the smaller class."""
        return min(cells.n_pos, cells.n_neg)
