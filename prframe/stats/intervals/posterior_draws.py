"""Draws of the metrics of a population, from the Bayesian bootstrap of its ROC curve."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from prframe.stats.curves import Draws, RocPath, batch_sizes, draw_curves
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    PrecisionAt,
    PrecisionAtRecall,
    RankedCells,
    RecallAt,
    RocArea,
    TrapezoidArea,
)
from prframe.typing import Floats

# Levels of recall on which curves are integrated; they are dense near 0, where precision bends.
_NODES = 128
# Recall 1 is where the last positive is found, which no sample shows.
_LAST = 1 - 1e-9
# Below this recall the nodes are more than a sixth apart.
_SPARSE = 0.01


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
    at which ``p b + (1 - p) alpha(b) = k / n`` and P@k is ``p b n / k``. A tie block counts at its
    end for AP and Prec@r, in proportion for the others. If all that is retrieved is among the
    first k, b is the share of the positives that are retrieved.
    """
    levels, weights = _nodes([level for one in statistics for level in _extra(one, cells)])
    path = RocPath.of(cells)
    parts = []
    for size in batch_sizes(path, n_resamples):
        curves = _Curves(path, levels, weights, size, int(rng.integers(1 << 62)))
        parts.append(np.stack([_values(one, cells, curves) for one in statistics]))
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class _Curves:
    """Draws of curves at the nodes of integrals, of each kind when it is first asked for."""

    path: RocPath
    levels: Floats
    weights: Floats
    size: int
    seed: int

    @cached_property
    def single(self) -> Draws:
        """Curves for single levels, in proportion within ties."""
        return self._draw()

    @cached_property
    def at_ends(self) -> Draws:
        """Curves for single levels, at the end of ties."""
        return self._draw(block_ends=True) if self.path.tied.any() else self.single

    @cached_property
    def area(self) -> Draws:
        """Curves for areas, in proportion within ties."""
        return self._draw(fading=True)

    @cached_property
    def area_at_ends(self) -> Draws:
        """Curves for areas, at the end of ties."""
        return self._draw(block_ends=True, fading=True) if self.path.tied.any() else self.area

    def _draw(self, *, block_ends: bool = False, fading: bool = False) -> Draws:
        rng = np.random.default_rng(self.seed)
        return draw_curves(
            self.path, self.levels, self.size, rng, block_ends=block_ends, fading=fading
        )


def _extra(statistic: CellStatistic, cells: RankedCells) -> Sequence[float]:
    """Return the level of a metric, or those that are as near a cut-off as nodes should be."""
    if isinstance(statistic, PrecisionAtRecall):
        return [statistic.r]
    if isinstance(statistic, (PrecisionAt, RecallAt)):
        # What recall is if all of the first k are positive.
        most = statistic.k / cells.n_pos
        if most < _SPARSE:
            return [float(level) for level in np.geomspace(most / 64, most * 1.3, 25)]
    return []


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


def _values(statistic: CellStatistic, cells: RankedCells, curves: _Curves) -> Floats:
    """Return the draws of one metric."""
    # On use: SciPy takes longer to import than most evaluations take.
    from scipy.special import expit  # noqa: PLC0415

    if isinstance(statistic, AveragePrecision):
        return np.asarray(expit(curves.area_at_ends.logit) @ curves.weights)
    if isinstance(statistic, TrapezoidArea):
        return np.asarray(expit(curves.area.logit) @ curves.weights)
    if isinstance(statistic, PrecisionAtRecall):
        at = np.searchsorted(curves.levels, min(statistic.r, _LAST))
        return np.asarray(expit(curves.at_ends.logit[:, at]))
    drawn = curves.single
    if isinstance(statistic, RocArea):
        return np.asarray(1 - _rates(drawn, cells) @ curves.weights)
    if isinstance(statistic, (PrecisionAt, RecallAt)):
        prevalence, share = expit(drawn.log_odds), statistic.k / cells.n
        if statistic.k >= cells.n - cells.pos[-1] - cells.neg[-1]:
            found = _retrieved(cells, curves)
        else:
            found = _found(drawn, curves.levels, prevalence, share, cells)
        precision = found * prevalence[:, 0] / share
        return np.asarray(precision if isinstance(statistic, PrecisionAt) else found)
    raise TypeError(statistic)


def _rates(draws: Draws, cells: RankedCells) -> Floats:
    """Return false positive rates; what is not retrieved is tied at the end."""
    rates = np.exp(draws.log_fpr)
    unlisted = cells.neg[-1] / cells.n_neg
    return np.where(np.isinf(rates), 1 - unlisted / 2, rates)


def _retrieved(cells: RankedCells, curves: _Curves) -> Floats:
    """Return the recall of all that is retrieved, which is 1 if every positive is."""
    missed = int(cells.pos[-1])
    if not missed:
        return np.ones(curves.size)
    rng = np.random.default_rng(curves.seed)
    return rng.beta(cells.n_pos - missed + 0.5, missed + 0.5, curves.size)


def _found(
    draws: Draws, levels: Floats, prevalence: Floats, share: float, cells: RankedCells
) -> Floats:
    """Return the recall at which a share of all items is above the threshold."""
    above = prevalence * levels + (1 - prevalence) * _rates(draws, cells)
    first = np.arange(above.shape[0])
    edges = np.zeros((first.size, 1)), np.ones((first.size, 1))
    shares = np.concatenate([edges[0], np.minimum(above, 1.0), edges[1]], axis=1)
    recall = np.concatenate([[0.0], levels, [1.0]])
    at = (shares < share)[:, 1:].sum(axis=1)
    low, high = shares[first, at], shares[first, at + 1]
    return np.asarray(recall[at] + (share - low) / (high - low) * np.diff(recall)[at])
