"""Metrics of the first k items, as functions of the counts in cells.

Each is the number of positives among the first k, over a divisor.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv

from prframe import checks
from prframe.stats._tolerances import WHOLE
from prframe.stats.rankings.cells import (
    Numbers,
    RankedCells,
    as_arrays,
    local_precision,
    ratio,
    share_above,
)
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.typing import Floats

# So few positives above a cut let draws of the curve end too low.
_FEW_HITS = 1.0


@dataclass(frozen=True)
class TopStatistic(CellStatistic):
    """Positives among the first k, over a divisor; under ties, the mean over their orders.

    The influence uses the precision d among the ranks within ``ceil(k^(4/5) / 2)`` of k, because
    the derivative of the empirical number of positives jumps.
    """

    is_area: ClassVar[bool] = False

    @abstractmethod
    def _cut(self, n_pos: Numbers, n: Numbers) -> Numbers:
        """Return the rank k."""

    @abstractmethod
    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        """Return what the positives are divided by, linear in n_pos upwards; 0 if undefined.

        It is of order 1 in all three together, so that of shares of n it is a share of n.
        """

    # By how much the rank k moves with a positive more, n being fixed.
    _cut_slope: ClassVar[float] = 0.0

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the expected positives among the first k, over the divisor."""
        pos, neg = as_arrays(pos, neg)
        n_pos = pos.sum(axis=-1)
        n = n_pos + neg.sum(axis=-1)
        k = np.broadcast_to(self._cut(n_pos, n), n.shape)
        hits = (pos * _shares(pos, neg, k[..., None])).sum(axis=-1)
        return ratio(hits, self._divisor(k, n_pos, n))

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate with the local precision d at the cut.

        An item above the cut pushes another one out: ``1{above} (y - d) - (k / n) (P@k - d)``, if
        k is a fixed share of n; d = 0 if all retrieved items are above the cut. A positive also
        changes the divisor.
        """
        k, divisor = self.at_cut(cells.n_pos, cells.n)
        slope = float(self._divisor(*map(np.asarray, (k, cells.n_pos + 1, cells.n)))) - divisor
        pos, neg = cells.pos, cells.neg
        share, depth = _shares(pos, neg, k), float((pos + neg)[:-1].sum())
        d = local_precision(pos, neg, k, depth) if k < depth else 0.0
        hits, p = float(cells.pos @ share), cells.n_pos / cells.n
        drift = (hits - k * d) / cells.n
        value = hits / divisor
        moved = d * self._cut_slope - value * slope
        of_pos = share * (1 - d) - drift + moved * (1 - p)
        of_neg = -share * d - drift - moved * p
        return Influence(of_pos / divisor, of_neg / divisor)

    def at_cut(self, n_pos: int, n: int) -> tuple[int, float]:
        """Return k and the divisor."""
        sizes = np.asarray(n_pos), np.asarray(n)
        k = np.asarray(self._cut(*sizes))
        return int(k), float(self._divisor(k, *sizes))

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the recall at which a share k / n is above the threshold, over the divisor."""
        cells, p = curves.cells, curves.prevalence
        k = self.at_cut(cells.n_pos, cells.n)[0]
        share = self._share(k / cells.n, p)
        return self._of_recall(curves.found(k, share), share, p)

    def _share(self, share: float, p: Floats) -> Floats:
        """Return the share of items above the cut, for a share p of positives."""
        return np.asarray(share)

    def _of_recall(self, recall: Floats, share: Floats, p: Floats) -> Floats:
        """Return the metric of a recall above a share of all items."""
        return np.asarray(recall * p / self._divisor(share, p, np.asarray(1.0)))

    def largest_possible(self, cells: RankedCells, tail: float) -> float:
        """Return the largest value if all of the first k are positive, or at most one of them is.

        With few hits the upper ends of Jeffreys' intervals of the shares of n_pos and of k bound
        it, or Clopper & Pearson's if there are none (Brown, Cai & DasGupta 2001, section 4.1.2).
        """
        n, n_pos = cells.n, cells.n_pos
        k, divisor = self.at_cut(n_pos, n)
        p, hits = n_pos / n, self.value(cells) * divisor
        if k <= cells.n_pure:
            # The share of positives may be as small as this.
            p = float(betaincinv(n_pos + 0.5, cells.n_neg + 0.5, tail))
            recall = 1.0 if self._cut_slope else min(1.0, k / n / p)
        elif hits <= _FEW_HITS:
            few = max(hits, 0.5) + 0.5
            sizes = n_pos, min(k, n)
            recall = min(float(m * betainccinv(few, m - few + 1, tail)) for m in sizes) / n_pos
        else:
            return 0.0
        prevalence = np.asarray(p)
        share = self._share(min(k, n) / n, prevalence)
        return float(self._of_recall(np.asarray(recall), share, prevalence))


def _shares(pos: Numbers, neg: Numbers, k: Numbers | int) -> Floats:
    """Return the share of each cell among the first k; the last cell is never among them."""
    size = pos + neg
    share = share_above(k, np.cumsum(size, axis=-1) - size, size)
    share[..., -1] = 0.0
    return share


@dataclass(frozen=True)
class _FirstK(TopStatistic):
    """A metric of the first k."""

    k: int

    def __post_init__(self) -> None:
        checks.whole_number("k", self.k, at_least=1)

    def _cut(self, n_pos: Numbers, n: Numbers) -> Numbers:
        return np.asarray(self.k)


@dataclass(frozen=True)
class PrecisionAt(_FirstK):
    """P@k: the positives among the first k, over k; under ties, the mean over their orders.

    With d as the local precision at k, the squares of the influence ``(1{above} (y - d) - (k/n) (P
    - d)) / k`` add up to ``(P (1 - P) + (1 - k/n) (P - d)^2) / k`` for P = P@k.

    Examples
    --------
    >>> round(float(PrecisionAt(k=4).values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.5
    """

    _name: ClassVar[str] = "P@{k}"
    trials_are: ClassVar = "items"

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        return k

    def trials(self, cells: RankedCells) -> int:
        return min(self.k, cells.n)

    def deciding_positives(self, cells: RankedCells) -> float:
        return self.k if self.k < cells.n_pos else np.inf


@dataclass(frozen=True)
class RecallAt(_FirstK):
    """R@k: the positives among the first k, over n_pos; under ties, the mean over their orders.

    Examples
    --------
    >>> round(float(RecallAt(k=4).values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    1.0
    """

    _name: ClassVar[str] = "R@{k}"

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        return n_pos


@dataclass(frozen=True)
class FAt(_FirstK):
    """F@k: the F measure of P@k and R@k, ``(1 + beta^2) tp / (k + beta^2 n_pos)``."""

    _name: ClassVar[str] = "F(beta={beta:g})@{k}"
    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.number("beta", self.beta, above=0, at_most=1e6)

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        square = self.beta**2
        return np.where(n_pos > 0, (k + square * n_pos) / (1 + square), 0.0)


@dataclass(frozen=True)
class F1At(FAt):
    """F1@k: the harmonic mean of P@k and R@k, ``2 tp / (k + n_pos)``."""

    _name: ClassVar[str] = "F1@{k}"
    beta: float = field(default=1.0, init=False, repr=False)


@dataclass(frozen=True)
class RelativePrecisionAt(_FirstK):
    """RelP@k: P@k over that of the best ranking, ``tp / min(k, n_pos)``."""

    _name: ClassVar[str] = "RelP@{k}"

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        return np.minimum(k, n_pos)

    def trials(self, cells: RankedCells) -> int:
        """Return the largest possible number of positives above the cut."""
        return min(self.k, cells.n_pos)


@dataclass(frozen=True)
class RPrecision(TopStatistic):
    """Rprec: the precision at rank n_pos, where it equals recall."""

    _name: ClassVar[str] = "Rprec"
    _cut_slope: ClassVar[float] = 1.0

    def _cut(self, n_pos: Numbers, n: Numbers) -> Numbers:
        return n_pos

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        return n_pos

    def _share(self, share: float, p: Floats) -> Floats:
        return p


@dataclass(frozen=True)
class _LiftStatistic(TopStatistic):
    """R@k over k / n: a multiple of recall, as n and the share of items above are fixed."""

    def _divisor(self, k: Numbers, n_pos: Numbers, n: Numbers) -> Numbers:
        return ratio(k * 1.0 * n_pos, n, 0.0)

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        return 0.0, cells.n / self.at_cut(cells.n_pos, cells.n)[0]


@dataclass(frozen=True)
class LiftAt(_LiftStatistic, _FirstK):
    """Lift@k: P@k over the share of positives."""

    _name: ClassVar[str] = "Lift@{k}"


@dataclass(frozen=True)
class Enrichment(_LiftStatistic):
    """EF: the lift in the first fraction of all items, ``ceil(fraction n)`` of them."""

    _name: ClassVar[str] = "EF(fraction={fraction:g})"
    fraction: float = 0.01

    def __post_init__(self) -> None:
        checks.number("fraction", self.fraction, above=0, at_most=1)

    def _cut(self, n_pos: Numbers, n: Numbers) -> Numbers:
        """Return the number of items that make up the fraction, not raised by rounding errors."""
        return np.maximum(np.ceil(self.fraction * n - WHOLE), 1).astype(np.int64)
