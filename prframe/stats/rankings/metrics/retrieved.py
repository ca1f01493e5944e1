"""Metrics of all retrieved items, such as those above a threshold, as functions of cells.

They are functions of four counts: positives and negatives, retrieved and not.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats.rankings.cell_sums import Numbers, as_arrays, ratio
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence, draws_of_ends
from prframe.typing import Floats

# With an imaginary step so small, the imaginary part has all digits of the derivative.
_STEP = 1e-20


@dataclass(frozen=True)
class _OfRetrieved(CellStatistic):
    """A function of the counts of all retrieved items, or of those above a threshold."""

    of_table: ClassVar[bool] = True

    @abstractmethod
    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return the metric for the retrieved positives, all retrieved items, positives and items.

        It does not change if all four are multiplied by one factor.
        """

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of the items in all cells but the last."""
        pos, neg = as_arrays(pos, neg)
        tp, fp = pos[..., :-1].sum(axis=-1), neg[..., :-1].sum(axis=-1)
        n_pos = tp + pos[..., -1]
        return self._value(tp, tp + fp, n_pos, n_pos + fp + neg[..., -1])

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate by the four counts, by a complex step (Squire & Trapp 1998)."""
        # Counts of negatives that are weighed need not be whole.
        pos, neg = cells.pos, cells.neg
        table = np.array([pos[:-1].sum(), neg[:-1].sum(), pos[-1], neg[-1]], dtype=np.float64)
        slopes = np.zeros(table.size)
        if table[:2].any() and not np.isnan(self.value(cells)):
            moved = self._of_table(*(table[:, None] + _STEP * 1j * np.eye(table.size)))
            slopes = np.where(table > 0, moved.imag / _STEP, 0.0)
        of_tp, of_fp, of_fn, of_tn = slopes
        shown = np.arange(pos.size) < pos.size - 1
        return Influence(np.where(shown, of_tp, of_fn), np.where(shown, of_fp, of_tn))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of counts for the low end, where it is less, and for the high end."""
        return draws_of_ends(*(self._of_table(*table) for table in curves.tables))

    def _of_table(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
        """Return the metric of positives and negatives that are retrieved, and that are not."""
        return self._value(tp, tp + fp, tp + fn, tp + fp + fn + tn)


@dataclass(frozen=True)
class SetPrecision(_OfRetrieved):
    """SetP: the precision of all retrieved items, `empty` if there are none (0 in draws)."""

    empty: float = field(default=0.0, repr=False)

    _name: ClassVar[str] = "SetP"
    trials_are: ClassVar = "items"
    takes_prior: ClassVar[bool] = True

    def value(self, cells: RankedCells) -> float:
        """Return the precision of a ranking."""
        return super().value(cells) if self.trials(cells) else self.empty

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp / k."""
        del n_pos, n
        return ratio(tp, k, 0.0)

    def trials(self, cells: RankedCells) -> int:
        """Return the number of retrieved items."""
        return int((cells.pos + cells.neg)[:-1].sum())


@dataclass(frozen=True)
class SetRecall(_OfRetrieved):
    """SetR: the recall of all retrieved items."""

    _name: ClassVar[str] = "SetR"
    of_classes: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp / n_pos."""
        del k, n
        return ratio(tp, n_pos)


@dataclass(frozen=True)
class SetFMeasure(_OfRetrieved):
    """SetF: the F measure of all retrieved items, ``(1 + beta^2) tp / (beta^2 n_pos + k)``."""

    _name: ClassVar[str] = "SetF(beta={beta:g})"
    takes_prior: ClassVar[bool] = True
    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the weight."""
        checks.number("beta", self.beta, above=0, at_most=1e6)

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return the weighted harmonic mean."""
        del n
        square = self.beta**2
        return np.where(n_pos > 0, ratio((1 + square) * tp, square * n_pos + k), np.nan)


@dataclass(frozen=True)
class SetAveragePrecision(_OfRetrieved):
    """SetAP: precision times recall of all retrieved items."""

    _name: ClassVar[str] = "SetAP"
    takes_prior: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return tp^2 / (k n_pos)."""
        del n
        return ratio(tp, k, 0.0) * ratio(tp, n_pos)


@dataclass(frozen=True)
class SetSpecificity(_OfRetrieved):
    """Specificity: the share of negatives that are not retrieved."""

    _name: ClassVar[str] = "Specificity(threshold=0.5)"
    trials_are: ClassVar = "negatives"
    of_classes: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return (n - n_pos - (k - tp)) / (n - n_pos)."""
        return ratio(n - n_pos - (k - tp), n - n_pos)


@dataclass(frozen=True)
class SetBalancedAccuracy(_OfRetrieved):
    """Balanced accuracy: the mean of recall and specificity of what is retrieved."""

    _name: ClassVar[str] = "BalancedAccuracy(threshold=0.5)"
    trials_are: ClassVar = "both"
    of_classes: ClassVar[bool] = True

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return (recall + specificity) / 2."""
        return (ratio(tp, n_pos) + ratio(n - n_pos - (k - tp), n - n_pos)) / 2


@dataclass(frozen=True)
class SetMatthews(_OfRetrieved):
    """MCC: the correlation of being positive and being retrieved, 0 if one is constant."""

    _name: ClassVar[str] = "MCC(threshold=0.5)"
    trials_are: ClassVar = "both"
    takes_prior: ClassVar[bool] = True

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        """Return the least and the largest value."""
        del cells
        return -1.0, 1.0

    def _value(self, tp: Numbers, k: Numbers, n_pos: Numbers, n: Numbers) -> Floats:
        """Return ``(n tp - k n_pos) / sqrt(n_pos n_neg k (n - k))``."""
        spread = np.sqrt(n_pos * 1.0 * (n - n_pos)) * np.sqrt(k * 1.0 * (n - k))
        value = ratio(n * 1.0 * tp - k * 1.0 * n_pos, spread, 0.0)
        return np.where((n_pos > 0) & (n_pos < n), np.clip(value, -1.0, 1.0), np.nan)
