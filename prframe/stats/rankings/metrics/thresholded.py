"""F1 at its best threshold as a function of cells."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

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
from prframe.typing import Floats

# Rounding may leave so much of a perfect F1.
_ROUNDING = 2.0**-23
# Behind so many negatives F1 is compared where the top is pure.
_NEGATIVES = np.array([1.0, 2.0, 4.0, 8.0])


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
        halves = above[begun:] + prevalence.astype(above.dtype)
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

        Noise makes the largest of many means too large, and of few it is too small; with the cube
        root of the number of positives both are small beside a standard error.
        """
        prevalence, (recall, above) = curves.prevalence, curves.points()
        number = max(16, int(np.ceil(6 * curves.cells.n_pos ** (1 / 3))))
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
        share = p.astype(above.dtype)
        hits = p * read(recall, (above - share * recall) / (1 - share), rates)
        return np.asarray(2 * hits / (hits + (1 - p) * rates + p))


def _stretch(draws: Floats, gap: float) -> Floats:
    """Return how far to move draws: the median not at all, and the extreme one by the gap."""
    values, place = np.unique(draws, return_inverse=True)
    from_median = np.linspace(-1, 1, values.size + 2)[1:-1]
    return np.asarray(gap * np.maximum(np.copysign(1.0, gap) * from_median, 0.0)[place])
