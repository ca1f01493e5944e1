"""Metrics at another share of positives than that of the sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.stats.rankings.cells import RankedCells, as_arrays, ratio, weight_of_negatives
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.stats.rankings.metrics.base import CellStatistic, Influence
from prframe.typing import Floats

# Negatives decide from this weight on.
_HEAVY = 3.0


@dataclass(frozen=True)
class AtPrior(CellStatistic):
    """A metric of a ranking whose negatives are weighed so that a given share is positive.

    A negative counts ``n_pos (1 - prior) / (n_neg prior)`` times, so that precision is ``tp' /
    (tp' + fp')`` with ``tp' = tp prior / n_pos`` and ``fp' = fp (1 - prior) / n_neg`` (Hoiem,
    Chodpathumwan & Dai, ECCV 2012). The metric must not change if all counts are multiplied by a
    number.

    Examples
    --------
    >>> from prframe.stats import AveragePrecision
    >>> at_half = AtPrior(AveragePrecision(), prior=0.5)
    >>> round(float(at_half.values(pos=[1, 0, 1, 0], neg=[0, 2, 0, 1])), 3)
    0.8
    """

    metric: CellStatistic
    prior: float

    def __post_init__(self) -> None:
        """Check the share, and take what the metric says of itself."""
        checks.number("prior", self.prior, above=0, below=1)
        for name in ("lacks_influence", "of_all_levels", "trials_are", "of_table", "is_area"):
            object.__setattr__(self, name, getattr(self.metric, name))

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metric.name

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        """Return the least and the largest value."""
        return self.metric.limits(cells)

    def _weighed(self, cells: RankedCells) -> RankedCells:
        """Return cells whose negatives are weighed."""
        weight = weight_of_negatives(cells.n_pos, cells.n_neg, self.prior)
        return _WeighedCells(cells.pos, np.multiply(cells.neg, weight))

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric of weighed counts."""
        pos, neg = as_arrays(pos, neg)
        weight = weight_of_negatives(pos.sum(axis=-1), neg.sum(axis=-1), self.prior)
        return self.metric.values(pos, neg * weight[..., None])

    def influence(self, cells: RankedCells) -> Influence:
        """Differentiate; an item also changes the weight of all negatives."""
        weight = float(weight_of_negatives(cells.n_pos, cells.n_neg, self.prior))
        influence = self.metric.influence(self._weighed(cells))
        of_weight = float(influence.neg @ cells.neg) * weight
        of_neg = ratio(of_weight, np.asarray(cells.n_neg), 0.0)
        return Influence(
            influence.pos + of_weight / max(cells.n_pos, 1), influence.neg * weight - of_neg
        )

    def bias(self, cells: RankedCells, weight: float = 1.0) -> float | None:
        """Return the known bias of the value."""
        weight *= float(weight_of_negatives(cells.n_pos, cells.n_neg, self.prior))
        return self.metric.bias(self._weighed(cells), weight)

    def trials(self, cells: RankedCells) -> int:
        """Return the number of observations that a value of 0 or 1 is made of."""
        return self.metric.trials(cells)

    def negatives_decide(self, cells: RankedCells) -> bool:
        """Return whether a negative weighs so much that precision hangs on few of them.

        Standard errors and resamples know no others than those of the sample, and are then too
        small.
        """
        if self.of_table or not cells.n_pos or not cells.n_neg:
            return False
        return float(weight_of_negatives(cells.n_pos, cells.n_neg, self.prior)) >= _HEAVY

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return the number of positives that make the value 1, as the prior moves it nowhere."""
        return self.metric.deciding_positives(cells)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of the drawn curves in a population with the given share."""
        return self.metric.draws(curves.at_prior(self.prior))


class _WeighedCells(RankedCells):
    """Cells whose negatives have weights."""

    def __post_init__(self) -> None:
        """Take the counts as they are, although they are not whole."""

    @cached_property
    def n_neg(self) -> int:
        """The weight of all negatives, which need not be whole."""
        return self.neg.sum()  # type: ignore[no-any-return]
