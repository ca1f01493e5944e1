"""F1 at its best threshold as a function of cells."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from prframe.stats.rankings.cell_sums import (
    Numbers,
    as_arrays,
    ratio,
    running,
    weight_of_negatives,
)
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.typing import Floats

# Behind so many negatives F1 is compared where the top is pure.
_NEGATIVES = np.array([1.0, 2.0, 4.0, 8.0])

# A threshold counts in full if its lower limit, so many standard deviations below its mean, is
# less than the largest one by no more than so many of its standard deviations.
_LIMIT, _BEHIND = 2.0, 0.5
# F1 is at least so far from 0 and from 1 where its odds are taken. A smaller standard deviation of
# these than the second number may be rounding.
_LEAST_F1, _LEAST_SPREAD = 1e-9, 1e-6
# More positives are not listed, and F1 differs at thresholds of items that are.
_MOST_POSITIVES = 10**7


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
        its side is stretched to hold either middle. The lower half is moved down further where
        several thresholds are nearly the best; see `_lower_limits`.
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
        odds = logit(np.minimum(largest, 1 - np.finfo(above.dtype).eps))
        levels = _levels(curves.cells.n_pos)
        # Beyond the recall of all retrieved items F1 is theirs.
        hits = prevalence * np.minimum(levels[:, None], recall[-1])
        f1 = 2 * hits / (curves.share_above(levels) + prevalence)
        every = np.concatenate([f1, self._behind_negatives(curves)])
        middle = every.mean(axis=1).max()
        odds += logit(middle) - odds.mean()
        # F1 is largest at no less than that of all retrieved items.
        least, most = f1[-1].mean(), 1 - np.finfo(above.dtype).eps
        further = np.clip(2 * estimate - largest.mean(), least, most)
        odds += _stretch(odds, float(logit(further) - logit(middle)))
        found = np.asarray(np.maximum(expit(odds), np.minimum(f1[-1], 1.0)))
        limits = _lower_limits(np.concatenate([every, self._of_retrieved(curves)]))
        return _with_lower_half(found, limits)

    def _estimate(self, curves: DrawnCurves) -> float:
        """Return the largest F1 of the sample, at the share of positives that is given."""
        cells = curves.cells
        if curves.prior is None:
            return self.value(cells)
        weight = weight_of_negatives(cells.n_pos, cells.n_neg, curves.prior)
        return float(self.values(cells.pos, cells.neg * weight))

    @staticmethod
    def _of_retrieved(curves: DrawnCurves) -> Floats:
        """Return F1 of all retrieved items; shape (1, n_draws)."""
        prevalence, (recall, rate) = curves.prevalence, curves.retrieved()
        hits = prevalence * recall
        return np.asarray(2 * hits / (hits + (1 - prevalence) * rate + prevalence))[None]

    @staticmethod
    def _behind_negatives(curves: DrawnCurves) -> Floats:
        """Return F1 of drawn curves behind so many negatives; shape (n_numbers, n_draws)."""
        rates, prevalence = _NEGATIVES / curves.cells.n_neg, curves.prevalence
        hits = prevalence * curves.recall_of(rates)
        passed = hits + (1 - prevalence) * rates[:, None]
        return np.asarray(2 * hits / (passed + prevalence))


def _lower_limits(f1: Floats) -> Floats:
    """Return draws whose low quantiles are lower limits of the largest mean F1 of all thresholds.

    Log odds of F1 at threshold k have the mean m_k and the standard deviation s_k over draws. With
    ``t = max_k((x_k - m_k) / s_k - l_k)`` of each draw, a lower limit is ``max_k(m_k - (c + l_k)
    s_k)``, c being a quantile of t (Chernozhukov, Lee & Rosen, Econometrica 2013). Thresholds
    matter the less the farther behind their own limits are: with ``L = max_k(m_k - 2 s_k)``, ``l_k
    = max(0, (L - m_k) / s_k + 2 - 1/2)``. A value that is certain is a lower limit itself.
    """
    odds = logit(np.clip(f1, _LEAST_F1, 1 - _LEAST_F1))
    mean = odds.mean(axis=1, keepdims=True)
    odds -= mean
    size = np.maximum(odds.std(axis=1, keepdims=True), _LEAST_SPREAD)
    certain = mean[size <= _LEAST_SPREAD].max(initial=-np.inf)
    limit = mean - _LIMIT * size
    further = np.maximum((limit.max() - limit) / size - _BEHIND, 0.0)
    farthest = (odds / size - further).max(axis=0)
    limits = (mean - (farthest + further) * size).max(axis=0)
    return np.asarray(expit(np.maximum(limits, certain)))


def _with_lower_half(draws: Floats, others: Floats) -> Floats:
    """Return draws whose lower half is that of others, rank by rank, where these are less."""
    half = draws.size // 2
    least, moved = np.argsort(draws, kind="stable")[:half], draws.copy()
    moved[least] = np.minimum(draws[least], np.sort(others)[:half])
    return moved


def _stretch(draws: Floats, gap: float) -> Floats:
    """Return how far to move draws: the median not at all, and the extreme one by the gap."""
    values, place = np.unique(draws, return_inverse=True)
    from_median = np.linspace(-1, 1, values.size + 2)[1:-1]
    return np.asarray(gap * np.maximum(np.copysign(1.0, gap) * from_median, 0.0)[place])


def _levels(n_pos: int) -> Floats:
    """Return the levels of recall at which means of F1 are compared, dense at both ends.

    Noise makes the largest of many means too large, and of few it is too small; with the cube root
    of the number of positives both are small beside a standard error.
    """
    number = max(16, int(np.ceil(6 * min(n_pos, _MOST_POSITIVES) ** (1 / 3))))
    inside = (1 - np.cos(np.pi * (np.arange(number) + 0.5) / number)) / 2
    return np.append(inside, 1.0)
