"""F1 at its best threshold, and metrics of all retrieved items, as functions of cells."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe import checks
from prframe.stats.rankings.cell_sums import Numbers, both, ratio, running
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metric_base import CellStatistic, Influence
from prframe.typing import Floats


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

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return "MaxF1"

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the largest ``2 TP_c / (K_c + n_pos)``, counted to the end of cell c."""
        pos, neg = both(pos, neg)
        n_pos = pos.sum(axis=-1)
        largest = self._curve(pos, neg).max(axis=-1, initial=0.0)
        return np.where(n_pos > 0, largest, np.nan)

    @staticmethod
    def _curve(pos: Numbers, neg: Numbers) -> Floats:
        """Return F1 at the end of each cell but the last."""
        tp, k = running(pos, neg)
        return ratio(2 * tp, k + pos.sum(axis=-1)[..., None], 0.0)

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate at the best k: ``(2 y 1{above} - F (y + 1{above})) / (k + n_pos)``."""
        f1 = self._curve(cells.pos, cells.neg)
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
        moved down by the mean of that difference.
        """
        drawn = curves.drawn(at_ends=True)
        f1 = 2 * drawn.precision * drawn.recall / (drawn.precision + drawn.recall)
        if self.value(curves.cells) == 0:
            return np.asarray(f1.max(axis=1))
        scale = logit(f1)
        largest = scale.max(axis=1)
        return np.asarray(expit(largest - largest.mean() + scale.mean(axis=0).max()))


@dataclass(frozen=True)
class _OfRetrieved(CellStatistic):
    """A function of the counts of all retrieved items.

    Whether an item is retrieved depends on the item alone, and not on the others.
    """

    @abstractmethod
    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers) -> Floats:
        """Return the metric for the retrieved positives, all retrieved items, and all positives.

        It does not change if all three are multiplied by the same factor.
        """

    @abstractmethod
    def _slopes(self, tp: float, k: float, n_pos: float) -> tuple[float, float, float]:
        """Return the derivatives of `_value` by its three arguments."""

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of the items in all cells but the last."""
        pos, neg = both(pos, neg)
        tp, fp = pos[..., :-1].sum(axis=-1), neg[..., :-1].sum(axis=-1)
        return self._value(tp, tp + fp, tp + pos[..., -1])

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate by the three counts."""
        tp, size = int(cells.pos[:-1].sum()), int((cells.pos + cells.neg)[:-1].sum())
        shown = np.append(np.ones(cells.pos.size - 1), 0.0)
        if not size:
            return Influence(shown * 0.0, shown * 0.0)
        of_tp, of_k, of_n_pos = self._slopes(tp, size, cells.n_pos)
        return Influence(shown * (of_tp + of_k) + of_n_pos, shown * of_k)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric with shares of the population in place of counts."""
        p = curves.drawn().prevalence[:, 0]
        recall, rate = curves.retrieved()
        return self._value(p * recall, p * recall + (1 - p) * rate, p)


@dataclass(frozen=True)
class SetPrecision(_OfRetrieved):
    """SetP: the precision of all retrieved items, 0 if there are none.

    Examples
    --------
    >>> round(float(SetPrecision().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.5
    """

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return "SetP"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers) -> Floats:
        """Return tp / k."""
        del n_pos
        return ratio(tp, k, 0.0)

    def _slopes(self, tp: float, k: float, n_pos: float) -> tuple[float, float, float]:
        """Return its derivatives."""
        del n_pos
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

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return "SetR"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers) -> Floats:
        """Return tp / n_pos."""
        del k
        return ratio(tp, n_pos)

    def _slopes(self, tp: float, k: float, n_pos: float) -> tuple[float, float, float]:
        """Return its derivatives."""
        del k
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

    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the weight."""
        checks.number("beta", self.beta, above=0, at_most=1e6)

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return f"SetF(beta={self.beta:g})"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers) -> Floats:
        """Return the weighted harmonic mean."""
        square = self.beta**2
        return np.where(n_pos > 0, ratio((1 + square) * tp, square * n_pos + k), np.nan)

    def _slopes(self, tp: float, k: float, n_pos: float) -> tuple[float, float, float]:
        """Return its derivatives."""
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

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return "SetAP"

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers) -> Floats:
        """Return tp^2 / (k n_pos)."""
        return ratio(tp, k, 0.0) * ratio(tp, n_pos)

    def _slopes(self, tp: float, k: float, n_pos: float) -> tuple[float, float, float]:
        """Return its derivatives."""
        value = tp**2 / (k * n_pos)
        return 2 * tp / (k * n_pos), -value / k, -value / n_pos
