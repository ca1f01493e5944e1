"""Partial areas, recall at a precision, the area under the gain curve, and the largest F1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe import checks
from prframe.stats.rankings.cells import (
    Numbers,
    RankedCells,
    as_arrays,
    ratio,
    running,
    weight_of_negatives,
)
from prframe.stats.rankings.drawn_curves import DrawnCurves, read
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
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
        checks.number("max_fpr", self.max_fpr, above=0, at_most=1)
        checks.one_of("scale", self.scale, ("area", "mcclish"))

    def limits(self, cells: RankedCells) -> tuple[float, float]:
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
    _limits: ClassVar[tuple[float, float]] = (-np.inf, 1.0)
    of_all_levels: ClassVar[bool] = True
    takes_prior: ClassVar[bool] = True

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Add up the areas of cells; what was not retrieved is the last one."""
        pos, neg = (counts.astype(np.float64) for counts in as_arrays(pos, neg))
        n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
        tp, fp = np.cumsum(pos, axis=-1), np.cumsum(neg, axis=-1)
        area = gain_area(tp - pos, tp, fp - neg, fp, n_pos[..., None], n_neg[..., None])
        return np.where((n_pos > 0) & (n_neg > 0), area.sum(axis=-1), np.nan)


# Rounding may leave so much of a perfect F1.
_ROUNDING = 2.0**-23
# The largest F1 of drawn curves is sought at so many levels of recall at most.
_MOST_LEVELS = 1000
# Behind so many negatives F1 is compared where the top is pure.
_NEGATIVES = np.array([1.0, 2.0, 4.0, 8.0])


@dataclass(frozen=True)
class LargestF1(CellStatistic):
    """MaxF1: the largest F1 of all thresholds, ``max over k of 2 tp / (k + n_pos)``.

    F1 is flat there, so the influence is that at the best threshold as if this were fixed.
    """

    _name: ClassVar[str] = "MaxF1"
    takes_prior: ClassVar[bool] = True

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

        The largest F1 of a drawn curve lies above that of the mean of all draws. Draws are
        therefore moved down in log odds, until their mean is that of the largest mean F1 at a
        level of recall, or behind a few negatives where the top is pure. Twice the estimate less
        the mean of the draws, the middle by the bootstrap, also knows edges at a score and
        thresholds that are as good as each other, but is too noisy alone: the half of the draws on
        its side is stretched to hold either middle.
        """
        estimate = self._estimate(curves)
        prevalence, (recall, above) = curves.prevalence, curves.points(at_ends=True)
        begun = np.count_nonzero(recall.min(axis=1) <= 0)
        halves = above[begun:] + prevalence
        np.divide(recall[begun:], halves, out=halves)
        largest = 2 * prevalence * halves.max(axis=0, initial=0.0)
        if estimate == 0:
            return np.asarray(largest)
        # Rounding alone makes a curve that has no negative among the positives perfect.
        most = 1 - _ROUNDING
        odds = logit(np.minimum(largest, most))
        f1 = self._at_levels(curves)
        middle = max(f1.mean(axis=1).max(), self._behind_negatives(curves).mean(axis=1).max())
        odds += logit(middle) - odds.mean()
        # F1 is largest at no less than that of all retrieved items.
        further = np.clip(2 * estimate - largest.mean(), f1[-1].mean(), most)
        odds += _stretch(odds, float(logit(further) - logit(middle)))
        return np.asarray(np.maximum(expit(odds), np.minimum(f1[-1], 1.0)))

    def _estimate(self, curves: DrawnCurves) -> float:
        """Return the largest F1 of the sample, at the share of positives that is given."""
        cells = curves.cells
        if curves.prior is None:
            return self.value(cells)
        weight = weight_of_negatives(cells.n_pos, cells.n_neg, curves.prior)
        return float(self.values(cells.pos, cells.neg * weight))

    @staticmethod
    def _at_levels(curves: DrawnCurves) -> Floats:
        """Return F1 of drawn curves at levels of recall, the last of which is 1.

        Noise makes the largest of many means too large, and of few it is too small.
        """
        prevalence, (recall, above) = curves.prevalence, curves.points()
        number = int(np.clip(np.ceil(6 * curves.cells.n_pos ** (1 / 3)), 16, _MOST_LEVELS))
        inside = (1 - np.cos(np.pi * (np.arange(number) + 0.5) / number)) / 2
        levels = np.append(inside, 1.0)[:, None]
        # Beyond the recall of all retrieved items F1 is theirs.
        hits = prevalence * np.minimum(levels, recall[-1])
        return np.asarray(2 * hits / (read(above, recall, levels) + prevalence))

    @staticmethod
    def _behind_negatives(curves: DrawnCurves) -> Floats:
        """Return F1 of drawn curves behind so many negatives; shape (n_numbers, n_draws)."""
        rates = _NEGATIVES[:, None] / curves.cells.n_neg
        p, (recall, above) = curves.prevalence, curves.points(at_ends=True)
        hits = p * read(recall, (above - p * recall) / (1 - p), rates)
        return np.asarray(2 * hits / (hits + (1 - p) * rates + p))


def _stretch(draws: Floats, gap: float) -> Floats:
    """Return how far to move draws: the median not at all, and the extreme one by the gap."""
    values, place = np.unique(draws, return_inverse=True)
    from_median = np.linspace(-1, 1, values.size + 2)[1:-1]
    return np.asarray(gap * np.maximum(np.copysign(1.0, gap) * from_median, 0.0)[place])
