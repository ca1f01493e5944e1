"""Partial areas, recall at a precision, and the area under the precision-recall-gain curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats.rankings.cells import Numbers, RankedCells, as_arrays, ratio, running
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic
from prframe.stats.tie_expectations import gain_area, mean_shortfall
from prframe.typing import Flags, Floats

# A precision reaches a level if rounding alone leaves it below.
_HAIR_BELOW = 1 - 1e-12
# What is divided by is at least this.
_LEAST = 1e-300


@dataclass(frozen=True)
class PartialRocArea(CellStatistic):
    """pAUC: the area A under the ROC curve up to a false positive rate, ties as straight lines.

    On McClish's scale (1989) it is ``(1 + (A - m) / (max_fpr - m)) / 2`` with ``m = max_fpr^2 /
    2``, which is 1/2 for a random and 1 for a perfect ranking.
    """

    _name: ClassVar[str] = 'pAUC(max_fpr={max_fpr:g},scale="{scale}")'
    of_classes: ClassVar[bool] = True
    trials_are: ClassVar = "both"
    is_smooth = True
    max_fpr: float = 0.1
    scale: str = "area"

    def __post_init__(self) -> None:
        """Check the rate and the scale."""
        checks.number("max_fpr", self.max_fpr, above=0, at_most=1)
        checks.one_of("scale", self.scale, ("area", "mcclish"))

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        """Return the least and the largest value."""
        del cells
        least, most = map(float, _scaled(np.array([0.0, self.max_fpr]), self))
        return least, most

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the mean over the positives of ``max(0, max_fpr - false positive rate)``."""
        pos, neg = as_arrays(pos, neg)
        n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
        end = np.cumsum(neg, axis=-1)
        reach = (self.max_fpr * n_neg)[..., None]
        area = (pos * mean_shortfall(end - neg, end, reach)).sum(axis=-1)
        return _scaled(ratio(area, n_pos * 1.0 * n_neg), self)

    def trials(self, cells: RankedCells) -> int:
        """Return the size of the smaller class, of the negatives those within the rate."""
        return max(1, min(cells.n_pos, int(self.max_fpr * cells.n_neg)))


def _scaled(area: Floats, metric: PartialRocArea) -> Floats:
    """Return an area on the scale that is asked for."""
    if metric.scale == "area":
        return area
    least = metric.max_fpr**2 / 2
    return (1 + (area - least) / (metric.max_fpr - least)) / 2


@dataclass(frozen=True)
class PartialAveragePrecision(CellStatistic):
    """pAP: the mean precision of the positives up to `max_recall`, ties there in part."""

    _name: ClassVar[str] = "pAP(max_recall={max_recall:g})"
    takes_prior: ClassVar[bool] = True
    max_recall: float = 0.5

    def __post_init__(self) -> None:
        """Check the level."""
        checks.number("max_recall", self.max_recall, above=0, at_most=1)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the precision at ends of cells, weighed by their positives up to the level."""
        pos, neg = as_arrays(pos, neg)
        reach = self.max_recall * pos.sum(axis=-1)
        tp, k = running(pos, neg)
        within = np.minimum(tp, reach[..., None]) - np.minimum(
            tp - pos[..., :-1], reach[..., None]
        )
        return ratio((within * ratio(tp, k, 0.0)).sum(axis=-1), reach)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the mean precision up to the level, ``int PR(b) db / max_recall``."""
        up_to = np.full(curves.prevalence.size, self.max_recall)
        return curves.areas_under_precision(at_ends=True, up_to=up_to) / self.max_recall

    def trials(self, cells: RankedCells) -> int:
        """Return the number of positives up to the level."""
        return max(1, int(self.max_recall * cells.n_pos))

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return the mean number of positives up to the level in samples of this size."""
        return self.max_recall * cells.n_pos if self.max_recall < 1 else np.inf


@dataclass(frozen=True)
class RecallAtPrecision(CellStatistic):
    """R(at_precision=p): the largest recall of all thresholds where precision is at least p.

    Most of how it varies is the move of the threshold, which small changes of counts leave in
    place. It therefore has no influence.
    """

    _name: ClassVar[str] = "R(at_precision={p:g})"
    takes_prior: ClassVar[bool] = True
    is_area: ClassVar[bool] = False
    lacks_influence: ClassVar[str] = "its threshold jumps from item to item"
    p: float

    def __post_init__(self) -> None:
        """Check the precision."""
        checks.number("p", self.p, above=0, at_most=1)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the largest ``TP_c / n_pos`` with ``TP_c >= p K_c``."""
        pos, neg = as_arrays(pos, neg)
        tp, k = running(pos, neg)
        reached = np.where(self._reaches(tp, k), tp, 0)
        return ratio(reached.max(axis=-1, initial=0), pos.sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the recall up to which precision is at least p, also between levels of recall.

        Both classes rise in proportion there; ties end blocks.
        """
        (pos, neg), blocks = curves.counts(area=self.is_area), curves.tied
        tp, k = (np.pad(counts, ((0, 0), (1, 0))) for counts in running(pos, neg))
        # The cell after the last threshold that reaches p; beyond all retrieved items is none.
        after = tp.shape[1] - 1 - self._reaches(tp, k)[:, ::-1].argmax(axis=1)[:, None]
        tp, k, more, others = (
            np.take_along_axis(x, after, axis=1)[:, 0] for x in (tp, k, pos, neg)
        )
        whole = blocks[after[:, 0]] | (after[:, 0] == pos.shape[1] - 1)
        others = np.where(whole, np.inf, others)
        share = (tp - self.p * k) / np.maximum(self.p * others - (1 - self.p) * more, _LEAST)
        return ratio(tp + np.clip(share, 0, 1) * more, pos.sum(axis=-1))

    def _reaches(self, tp: Numbers, k: Numbers) -> Flags:
        """Tell at which thresholds precision is at least p."""
        return np.asarray(tp >= self.p * k * _HAIR_BELOW)


@dataclass(frozen=True)
class GainArea(CellStatistic):
    """AUPRG: the area under the precision-recall-gain curve, from recall gain 0 to 1.

    With pi the share of positives, the gain of a precision or a recall x is ``(x - pi) / ((1 - pi)
    x)``; between thresholds the curve is straight (Flach & Kull, NeurIPS 2015).
    """

    _name: ClassVar[str] = "AUPRG"
    of_all_levels: ClassVar[bool] = True
    takes_prior: ClassVar[bool] = True

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        """Return the least and the largest value."""
        del cells
        return -np.inf, 1.0

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Add up the areas of cells; what was not retrieved is the last one."""
        pos, neg = (counts.astype(np.float64) for counts in as_arrays(pos, neg))
        n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
        tp, fp = np.cumsum(pos, axis=-1), np.cumsum(neg, axis=-1)
        area = gain_area(tp - pos, tp, fp - neg, fp, n_pos[..., None], n_neg[..., None])
        return np.where((n_pos > 0) & (n_neg > 0), area.sum(axis=-1), np.nan)
