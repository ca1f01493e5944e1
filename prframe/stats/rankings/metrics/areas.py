"""Areas, and precision at a level of recall, as functions of the counts in cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats._tolerances import WHOLE
from prframe.stats.rankings.cells import (
    RankedCells,
    as_arrays,
    backward,
    ratio,
    running,
)
from prframe.stats.rankings.drawn_curves import DrawnCurves, read
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.typing import Floats

# A smaller share of all items is none.
_NOTHING = 1e-25
# This level stands for recall 1, at the last positive of the population, which no sample shows.
_LAST = 1 - 1e-9


@dataclass(frozen=True)
class AveragePrecision(CellStatistic):
    """AP: the mean over positives of the precision at the end of their tie block.

    Examples
    --------
    >>> round(float(AveragePrecision().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.75
    """

    _name: ClassVar[str] = "AP"
    takes_prior: ClassVar[bool] = True
    of_all_levels: ClassVar[bool] = True
    asks_for_ends: ClassVar[bool] = True

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return ``sum_c pos_c TP_c / K_c / n_pos``, TP and K counted to the end of cell c."""
        pos, neg = as_arrays(pos, neg)
        tp, k = running(pos, neg)
        credit = np.einsum("...c,...c->...", pos[..., :-1], ratio(tp, k, 0.0))
        return ratio(credit, pos.sum(axis=-1))

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate AP; an item changes the precision at all positives not above it."""
        pos, neg = as_arrays(cells.pos, cells.neg)
        tp, k = running(pos, neg)
        precision = ratio(tp, k, 0.0)
        slope = backward(pos[:-1] * ratio(1.0, k, 0.0))
        pull = backward(pos[:-1] * ratio(precision, k, 0.0))
        n_pos = cells.n_pos
        ap = pos[:-1] @ precision / n_pos
        own = np.append(precision + slope - pull, 0.0)
        return Influence((own - ap) / n_pos, np.append(-pull, 0.0) / n_pos)

    def bias(self, cells: RankedCells, weight: float = 1.0) -> float:
        """Return the excess over AP with precisions in which the positive itself does not count.

        At rank K the other K - 1 items give ``(TP - 1) / (K - 1)``, which has no bias for K > 1;
        it is 1 at K = 1. Negatives of weight w < 1 stand between more positives: K is then the sum
        of weights, and the excess about ``w FP / (K (K - w))``.
        """
        pos, neg = as_arrays(cells.pos, cells.neg)
        tp, k = running(pos, neg)
        if weight < 1 and cells.n_pos > 1:
            excess = ratio(k - tp, k * (k - weight), 0.0)
        else:
            excess = ratio(tp, k, 0.0) - ratio(tp - 1, k - 1, 1.0)
        return float(pos[:-1] @ excess) / cells.n_pos

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the area under precision at the end of ties, ``int PR(b) db``."""
        return curves.areas_under_precision(at_ends=True)


@dataclass(frozen=True)
class TrapezoidArea(CellStatistic):
    """AUPRC: the area under the curve of precision by the trapezoidal rule, from (0, 1).

    Examples
    --------
    >>> round(float(TrapezoidArea().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.708
    """

    _name: ClassVar[str] = "AUPRC"
    takes_prior: ClassVar[bool] = True
    of_all_levels: ClassVar[bool] = True

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return ``sum_c pos_c (precision above c + precision at its end) / 2 / n_pos``."""
        pos, neg = as_arrays(pos, neg)
        tp, k = running(pos, neg)
        after = ratio(tp, k, 1.0)
        above = np.concatenate([np.ones_like(after[..., :1]), after[..., :-1]], axis=-1)
        return ratio((pos[..., :-1] * (above + after)).sum(axis=-1) / 2, pos.sum(axis=-1))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the area under precision, ``int PR(b) db``, of ties that under straight lines."""
        cells = curves.cells
        if not (cells.pos[:-1] * cells.neg[:-1]).any():
            return curves.areas_under_precision()
        recall, above = curves.points(area=True, at_ends=True)
        # The lines begin at precision 1, even if half a negative stands above all items.
        begun = (recall > 0) & (above > _NOTHING)
        precision = ratio(recall * curves.prevalence, above * begun, 1.0)
        lines = np.diff(recall, axis=0) * (precision[1:] + precision[:-1]) / 2
        return np.asarray(lines.sum(axis=0), dtype=np.float64)


@dataclass(frozen=True)
class RocArea(CellStatistic):
    """AUC: the probability that a positive ranks above a negative, ties counting half.

    Examples
    --------
    >>> round(float(RocArea().values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.667
    """

    _name: ClassVar[str] = "AUC"
    of_classes: ClassVar[bool] = True
    of_all_levels: ClassVar[bool] = True
    of_two_samples: ClassVar[bool] = True
    trials_are: ClassVar = "both"

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return ``sum_c pos_c (n_neg - FP above c - neg_c / 2) / (n_pos n_neg)``."""
        pos, neg = as_arrays(pos, neg)
        n_pos, n_neg = pos.sum(axis=-1), neg.sum(axis=-1)
        # Items that are not retrieved are tied with each other, like those of any cell.
        wrong = (pos * (2 * np.cumsum(neg, axis=-1) - neg)).sum(axis=-1) / 2
        pairs = n_pos * 1.0 * n_neg
        return ratio(pairs - wrong, pairs)

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate AUC, by each item's share of rightly ordered pairs (DeLong)."""
        pos, neg = as_arrays(cells.pos, cells.neg)
        n_pos, n_neg = pos.sum(), neg.sum()
        right_pos = 1 - ratio(np.cumsum(neg) - neg / 2, n_neg)
        right_neg = ratio(np.cumsum(pos) - pos / 2, n_pos)
        auc = pos @ right_pos / n_pos
        return Influence((right_pos - auc) / n_pos, ratio(right_neg - auc, n_neg))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return ``1 - int alpha(b) db``, alpha being the false positive rate."""
        return np.asarray(1 - curves.path.areas_under_rates())


@dataclass(frozen=True)
class Bedroc(CellStatistic):
    """BEDROC: the sum of exp(-alpha rank / n) over the positives, scaled to [0, 1].

    Ranks within a tie block, and of items not retrieved, count as on average over their orders.
    """

    _name: ClassVar[str] = "BEDROC(alpha={alpha:g})"
    trials_are: ClassVar = "both"
    is_smooth = True
    alpha: float = 20.0

    def __post_init__(self) -> None:
        checks.number("alpha", self.alpha, at_least=0.01, at_most=500)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return ``(sum - worst) / (best - worst)`` for the sum of exp(-alpha rank / n)."""
        pos, neg = as_arrays(pos, neg)
        n_pos, n = pos.sum(axis=-1), (pos + neg).sum(axis=-1)
        size = pos + neg
        rate, end = self.alpha * ratio(1.0, n[..., None], 0.0), np.cumsum(size, axis=-1)
        # The mean term of each cell, times exp(rate) - 1.
        means = ratio(-np.exp(-rate * (end - size)) * np.expm1(-rate * size), size, 0.0)
        total = (pos * means).sum(axis=-1)
        defined = (n_pos > 0) & (n_pos < n)
        scaled = self._scaled(total, np.where(defined, ratio(n_pos, n, 0.0), 0.5))
        return np.where(defined, scaled, np.nan)

    def _scaled(self, total: Floats, p: Floats) -> Floats:
        """Return the metric for a share p of positives."""
        best, rest = -np.expm1(-self.alpha * p), -np.expm1(-self.alpha * (1 - p))
        # Rounding may take the best and the worst ranking a hair beyond 1 and 0.
        return np.asarray(np.clip((total - best * (1 - rest)) / (best * rest), 0.0, 1.0))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return ``alpha p int exp(-alpha s(b)) db``, s being the share above, scaled to [0, 1].

        From point to point s is a straight line in recall.
        """
        p, (recall, above) = curves.prevalence, curves.points(area=True)
        half = self.alpha / 2 * above
        total = _mean_decay(half, np.diff(recall, axis=0))
        # Positives that are not retrieved are tied with all items beyond the last point.
        beyond = np.stack([half[-1], np.full_like(half[-1], self.alpha / 2)])
        total += _mean_decay(beyond, 1 - recall[-1:])
        return self._scaled(self.alpha * p * total, p)


def _mean_decay(half: Floats, weights: Floats) -> Floats:
    """Return the sum over pieces of weights times the mean of exp(-2 x), x being a straight line.

    The mean between x and x + h is ``(exp(-2 x) + exp(-2 (x + h))) / 2 * tanh(h) / h``, in which
    nothing is lost where h is small.
    """
    rise, decay = np.diff(half, axis=0), np.multiply(half, -2)
    np.exp(decay, out=decay)
    mean = decay[1:] + decay[:-1]
    np.clip(rise, _NOTHING, np.inf, out=rise)
    mean /= rise
    mean *= np.tanh(rise, out=rise)
    return np.asarray(np.einsum("kd,kd->d", weights, mean), dtype=np.float64) / 2


@dataclass(frozen=True)
class PrecisionAtRecall(CellStatistic):
    """Prec@r: the precision at the threshold where recall first reaches r; 0 if it never does.

    The influence uses the precision d among the ranks from ``ceil(n_pos^(4/5) / 4)`` positives
    above to as many below (at most half way to the first and the last retrieved positive): ``(r y
    (1 - P/d) - P 1{above} (1 - y/d)) / k`` for P = Prec@r with the threshold at rank k (the delta
    method of Clemencon & Vayatis 2009, eq. (9), with its slip corrected). Where scores have few
    levels the threshold jumps, and a standard error does not describe it.
    """

    _name: ClassVar[str] = "Prec@{r:g}"
    takes_prior: ClassVar[bool] = True
    asks_for_ends: ClassVar[bool] = True
    is_area: ClassVar[bool] = False
    r: float

    def __post_init__(self) -> None:
        checks.number("r", self.r, above=0, at_most=1)

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return TP_c / K_c of the first cell with ``TP_c >= r n_pos``."""
        pos, neg = as_arrays(pos, neg)
        tp, fp = np.cumsum(pos, axis=-1), np.cumsum(neg, axis=-1)
        n_pos = tp[..., -1]
        reached = tp >= (self.r * n_pos - WHOLE)[..., None]
        reached[..., -1] = False
        at = reached.argmax(axis=-1)[..., None]
        hits, misses = (np.take_along_axis(a, at, axis=-1)[..., 0] for a in (tp, fp))
        precision = ratio(hits, hits + misses)
        value = np.where(reached.any(axis=-1), precision, 0.0)
        return np.where(n_pos > 0, value, np.nan)

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return the mean number of positives up to the level in samples of this size."""
        return self.r * cells.n_pos if self.r < 1 else np.inf

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate with the local precision at the threshold."""
        pos, neg = as_arrays(cells.pos, cells.neg)
        tp, k = running(pos, neg)
        n_pos = cells.n_pos
        reached = np.flatnonzero(tp >= self.r * n_pos - WHOLE)
        if not reached.size:
            return Influence(np.zeros(pos.size), np.zeros(pos.size))
        at = reached[0]
        precision = tp[at] / k[at]
        # The reach is shorter near the ends, where precision changes fast.
        reach = min(np.ceil(n_pos**0.8 / 4), max(1.0, min(tp[at], tp[-1] - tp[at]) / 2))
        levels = np.clip([tp[at] - reach, tp[at] + reach], 0.0, tp[-1])
        ranks = np.interp(levels, np.insert(tp, 0, 0.0), np.insert(k, 0, 0.0))
        d = np.diff(levels)[0] / np.diff(ranks)[0]
        above = np.arange(pos.size) <= at
        # This corrects for the recall at the threshold, which is not exactly r.
        drift = (self.r * n_pos - tp[at]) * (1 - precision / d) / cells.n
        of_pos = self.r * (1 - precision / d) - precision * above * (1 - 1 / d) - drift
        return Influence(of_pos / k[at], (-precision * above - drift) / k[at])

    def trials(self, cells: RankedCells) -> int:
        """Return the number of positives that make up the level, all that a value of 1 has."""
        return max(1, int(np.ceil(self.r * cells.n_pos - WHOLE)))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the precision at the level, at the end of ties; 0 where it is not reached."""
        recall, above = curves.points(at_ends=True)
        level = min(self.r, _LAST)
        at = np.count_nonzero(recall < level, axis=0)
        after = np.minimum(at, len(recall) - 1)[None]
        # Within a tie block the level is that of its end.
        tied = curves.tied[np.maximum(after[0] - 1, 0)]
        reached = np.where(tied, np.take_along_axis(recall, after, axis=0)[0], level)
        share = read(above, recall, reached[None])[0]
        return np.where(at < len(recall), curves.prevalence * reached / share, 0.0)
