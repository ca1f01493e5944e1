"""Draws of the metrics of a population, from the Bayesian bootstrap of its ROC curve."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from prframe.stats.curves import Draws, RocPath, draw_curves
from prframe.stats.rankings import CellStatistic, CurveDraws, RankedCells
from prframe.typing import Floats

# Levels of recall on which curves are integrated; they are dense near 0, where precision bends.
_NODES = 128
# Recall 1 is where the last positive is found, which no sample shows.
_LAST = 1 - 1e-9


def posterior_replicates(
    cells: RankedCells,
    statistics: Sequence[CellStatistic],
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Return draws of what the metrics are in the population that the items come from.

    Parameters
    ----------
    cells : RankedCells
        With positives and negatives.
    statistics : sequence of CellStatistic
    n_resamples : int
        Draws, >= 1; the same curves for all statistics.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of float, shape (n_statistics, n_resamples)

    Notes
    -----
    With ``PR(b)`` and ``alpha(b)`` the drawn precision and false positive rate at recall b, AP
    and AUPRC are ``int PR(b) db``, AUC is ``1 - int alpha(b) db``, Prec@r is ``PR(r)``, R@k the b
    at which ``p b + (1 - p) alpha(b) = k / n`` and P@k is ``p b n / k``; what a metric makes of a
    curve it says itself (`CellStatistic.draws`). A tie block counts at its end for metrics of
    thresholds, in proportion for the others. If all that is retrieved is among the first k, b is
    the share of the positives that are retrieved.
    """
    levels, weights = _nodes([level for one in statistics for level in one.levels(cells)])
    path = RocPath.of(cells)
    parts = []
    for size in path.batch_sizes(n_resamples):
        curves = _Curves(cells, path, levels, weights, size, int(rng.integers(1 << 62)))
        parts.append(np.stack([one.draws(curves) for one in statistics]))
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class _Curves:
    """Draws of curves at the nodes of integrals, of each kind when it is first asked for.

    It is what `prframe.stats.rankings.DrawnCurves` describes.
    """

    cells: RankedCells
    path: RocPath
    levels: Floats
    weights: Floats
    size: int
    seed: int
    kinds: dict[tuple[bool, bool], Draws] = field(default_factory=dict)

    def drawn(self, *, area: bool = False, at_ends: bool = False) -> Draws:
        """Return curves for single levels, or for areas; in proportion within ties, or at ends."""
        at_ends = at_ends and bool(self.path.tied.any())
        if (area, at_ends) not in self.kinds:
            rng = np.random.default_rng(self.seed)
            self.kinds[area, at_ends] = draw_curves(
                self.path, self.levels, self.size, rng, block_ends=at_ends, fading=area
            )
        return self.kinds[area, at_ends]

    def at(self, level: float) -> int:
        """Return which node a level of recall is."""
        return int(np.searchsorted(self.levels, min(level, _LAST)))

    def false_rates(self, drawn: CurveDraws) -> Floats:
        """Return the false positive rates of curves; what is not retrieved is tied."""
        rates = np.exp(drawn.log_fpr)
        unlisted = self.cells.neg[-1] / self.cells.n_neg
        return np.where(np.isinf(rates), 1 - unlisted / 2, rates)

    def found(self, k: float, share: float | Floats) -> Floats:
        """Return the recall at which a share of all items, k of the sample, is above."""
        cells, prevalence = self.cells, self.drawn().prevalence
        if k >= cells.n - cells.pos[-1] - cells.neg[-1]:
            return self._shares(cells.n_pos, int(cells.pos[-1]))
        above = prevalence * self.levels + (1 - prevalence) * self.false_rates(self.drawn())
        return _recall_at(self.levels, above, share)

    def retrieved(self) -> tuple[Floats, Floats]:
        """Return the recall and the false positive rate of all that is retrieved."""
        cells = self.cells
        recall = self._shares(cells.n_pos, int(cells.pos[-1]))
        return recall, self._shares(cells.n_neg, int(cells.neg[-1]), stream=1)

    def _shares(self, total: int, missed: int, stream: int = 0) -> Floats:
        """Draw the share of a class that is retrieved, which is 1 if all of it is."""
        if not missed:
            return np.ones(self.size)
        rng = np.random.default_rng([self.seed, stream] if stream else self.seed)
        return rng.beta(total - missed + 0.5, missed + 0.5, self.size)


def _nodes(extra: Sequence[float]) -> tuple[Floats, Floats]:
    """Return Gauss's nodes for an integral over recall and their weights, and extra levels."""
    x, w = _gauss()
    t = (x + 1) / 2
    # b = t^3 on (0, 1).
    nodes, weights = t**3, w / 2 * 3 * t**2
    more = np.setdiff1d(np.minimum(np.array(extra, dtype=np.float64), _LAST), nodes)
    levels = np.concatenate([nodes, more])
    order = np.argsort(levels)
    return levels[order], np.concatenate([weights, np.zeros(more.size)])[order]


@cache
def _gauss() -> tuple[Floats, Floats]:
    """Return Gauss's nodes on (-1, 1) and their weights, which take a millisecond to find."""
    return np.polynomial.legendre.leggauss(_NODES)


def _recall_at(levels: Floats, above: Floats, share: float | Floats) -> Floats:
    """Return the recall at which a share of all items is above, given what is at each level."""
    first = np.arange(above.shape[0])
    edges = np.zeros((first.size, 1)), np.ones((first.size, 1))
    shares = np.concatenate([edges[0], np.minimum(above, 1.0), edges[1]], axis=1)
    recall = np.concatenate([[0.0], levels, [1.0]])
    wanted = np.broadcast_to(share, first.shape)
    at = (shares < wanted[:, None])[:, 1:].sum(axis=1)
    low, high = shares[first, at], shares[first, at + 1]
    return np.asarray(recall[at] + (wanted - low) / (high - low) * np.diff(recall)[at])
