"""The base of metrics that are known by their values alone.

The values of drawn curves follow from the counts that a population with such a curve has in a
sample of the same size, and the influence follows from small changes of the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prframe.stats._batches import batches
from prframe.stats.rankings.cells import RankedCells
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.typing import Floats, Integers

# The weight of an item changes by so much, up and down.
_STEP = 1e-4
# The influence is computed at so many cells, and between these it is interpolated.
_CELLS = 1024
# The number of counts of changed rankings at a time.
_HELD = 1 << 20


@dataclass(frozen=True)
class CountedStatistic(CellStatistic):
    """A metric of which `values` says everything.

    Attributes
    ----------
    at_ends : bool
        Whether a tie block counts at its end, in draws of the curve, and not in proportion.
    is_area : bool
        Whether the metric adds up many levels of recall.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from prframe.stats import CountedStatistic, cells_from_scores
    >>> @dataclass(frozen=True)
    ... class FirstNegative(CountedStatistic):
    ...     name: str = "recall before the first negative"
    ...
    ...     def values(self, pos, neg):
    ...         pure = np.cumsum(neg, axis=-1) == 0
    ...         return (pos * pure).sum(-1) / pos.sum(-1)
    >>> cells, _ = cells_from_scores([4, 3, 2, 1], [True, True, False, True])
    >>> round(float(FirstNegative().values(cells.pos, cells.neg)), 4)
    0.6667
    """

    at_ends: ClassVar[bool] = False
    is_area: ClassVar[bool] = True

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of rankings of as many items, with the drawn curves."""
        return self.values(*curves.counts(area=self.is_area, at_ends=self.at_ends))

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate by small changes of the counts, the number of items being fixed.

        Raises
        ------
        PrframeError
            The derivative does not say how the metric varies.
        """
        if not self.has_influence:
            raise self.no_influence()
        counts = np.stack([cells.pos, cells.neg]).astype(np.float64)
        slopes = np.zeros_like(counts)
        for side in (0, 1):
            occupied = np.flatnonzero(counts[side])
            if occupied.size:
                chosen = _spread_out(occupied)
                slope = self._slopes(counts, side, chosen)
                slopes[side] = np.interp(np.arange(counts.shape[1]), chosen, slope)
        centre = float((slopes * counts).sum() / counts.sum())
        return Influence(slopes[0] - centre, slopes[1] - centre)

    def _slopes(self, counts: Floats, side: int, at: Integers) -> Floats:
        """Return the derivatives by the counts of one class in some cells."""
        parts = []
        for rows in batches(at.size, counts.size, _HELD):
            cell = at[rows]
            values = []
            for step in (_STEP, -_STEP):
                changed = np.repeat(counts[:, None], cell.size, axis=1)
                changed[side, np.arange(cell.size), cell] += step
                values.append(self.values(*changed))
            parts.append((values[0] - values[1]) / (2 * _STEP))
        return np.concatenate(parts)


def _spread_out(cells: Integers) -> Integers:
    """Choose cells, all if they are few, else the first ones and ever fewer beyond."""
    if cells.size <= _CELLS:
        return cells
    first = np.arange(_CELLS // 2)
    rest = np.geomspace(first.size, cells.size - 1, _CELLS // 2)
    return np.asarray(cells[np.unique(np.concatenate([first, rest.astype(np.int64)]))])
