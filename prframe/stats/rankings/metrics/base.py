"""The base of ranking metrics, which are functions of the counts in the cells of a ranking.

A metric has a name, a value for any counts (for example those of a resample), a value for a drawn
curve, and an *influence*, the derivative with respect to the weight of one item. The sum of the
squared influences of all items, each of which is a draw from a population, estimates the variance
of the metric (the infinitesimal jackknife, Jaeckel 1972; Efron 1982, chapter 6). Engines ask the
metric itself for all that they need.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats._batches import batches
from prframe.stats.rankings.cells import RankedCells, as_arrays, ratio, weight_of_negatives
from prframe.stats.rankings.drawn_curves import DrawnCurves
from prframe.typing import Floats, Integers

# The weight of an item changes by so much, up and down.
_STEP = 1e-4
# Numerical derivatives are those of a ranking with so many cells at the top, and others.
_FIRST, _FURTHER = 256, 128
# The number of counts of changed rankings at a time.
_HELD = 1 << 20


class Influence(NamedTuple):
    """Derivatives with respect to the weight of one positive and of one negative of each cell."""

    pos: Floats
    neg: Floats

    def of_items(self, cells: RankedCells) -> tuple[Floats, Floats]:
        """Return the values of cells with items, and how many items have each."""
        values = np.concatenate([self.pos, self.neg])
        number = np.concatenate([cells.pos, cells.neg])
        occupied = number > 0
        return values[occupied], number[occupied].astype(np.float64)


@dataclass(frozen=True)
class CellStatistic(ABC):
    """A metric of a ranking in cells. A subclass has at least `name` and `values`.

    Attributes
    ----------
    lacks_influence : str
        Why influence values do not say how the metric varies; empty if they do.
    is_area : bool
        Whether the metric adds up many levels of recall.
    of_all_levels : bool
        Whether it adds up all of them, so that half a negative above all items may matter.
    is_smooth : bool
        Whether leaving out some items changes the value much as their influence says. What is
        counted above a rank or a level jumps.
    asks_for_ends : bool
        Whether nothing but what is above the ends of cells with positives matters to the metric.
    of_two_samples : bool
        Whether DeLong's variance and test are for the metric.
    of_first_ranks : bool
        Whether discounts let the first ranks decide.
    trials_are : {"positives", "negatives", "both", "items"}
        What a value of 0 or 1 is observed of: the first positives, as many as `trials` says, the
        first items, all negatives, or all of the smaller class.
    of_table : bool
        Whether the metric is a function of the numbers of retrieved and of all items of a class.
    takes_prior : bool
        Whether the metric has a meaning at another share of positives, which `AtPrior` gives it.
    of_classes : bool
        Whether the metric is the same whatever share is positive.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from prframe.stats import CellStatistic, cells_from_scores, ranking_interval
    >>> @dataclass(frozen=True)
    ... class FirstNegative(CellStatistic):
    ...     name: str = "recall before the first negative"
    ...
    ...     def values(self, pos, neg):
    ...         pure = np.cumsum(neg, axis=-1) == 0
    ...         return (pos * pure).sum(-1) / pos.sum(-1)
    >>> cells, _ = cells_from_scores([4, 3, 2, 1], [True, True, False, True])
    >>> round(FirstNegative().value(cells), 4)
    0.6667
    """

    # The name in the catalogue, with fields in braces, for example "EF(fraction={fraction:g})".
    _name: ClassVar[str]
    _limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    lacks_influence: ClassVar[str] = ""
    is_area: ClassVar[bool] = True
    of_all_levels: ClassVar[bool] = False
    asks_for_ends: ClassVar[bool] = False
    of_two_samples: ClassVar[bool] = False
    of_first_ranks: ClassVar[bool] = False
    trials_are: ClassVar[Literal["positives", "negatives", "both", "items"]] = "positives"
    of_table: ClassVar[bool] = False
    takes_prior: ClassVar[bool] = False
    of_classes: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name in the catalogue; of a metric at a threshold, with one as an example."""
        return self._name.format_map(vars(self))

    @abstractmethod
    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the metric for counts or weights of the cells.

        Parameters
        ----------
        pos, neg : array_like, shape (..., n_cells)
            Non-negative; the last cell holds the items that were not retrieved.

        Returns
        -------
        ndarray of float, shape (...)
            NaN where the metric is not defined.
        """

    def value(self, cells: RankedCells) -> float:
        """Return the metric of a ranking."""
        return float(self.values(cells.pos, cells.neg))

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        """Return the least and the largest value."""
        return self._limits

    @property
    def is_smooth(self) -> bool:
        """Whether leaving out some items changes the value much as their influence says."""
        return self.of_all_levels or self.of_table

    def influence(self, cells: RankedCells) -> Influence:
        """Return the derivative with respect to the weights of the items, once per cell and class.

        Unless a subclass has a formula, counts are changed a little, with n fixed.

        Returns
        -------
        Influence
            Two arrays of shape (n_cells,), which add up to 0 over all items. The value for a cell
            without items of the class has no meaning.

        Raises
        ------
        PrframeError
            The derivative does not say how the metric varies.
        """
        self.check_influence()
        counts = np.stack([cells.pos, cells.neg]).astype(np.float64)
        first = _first_of_tied(cells.pos.size)
        slopes = self._slopes(np.add.reduceat(counts, first, axis=1))
        slopes = np.repeat(slopes, np.diff(first, append=cells.pos.size), axis=1)
        centre = float((slopes * counts).sum() / counts.sum())
        return Influence(slopes[0] - centre, slopes[1] - centre)

    def _slopes(self, counts: Floats) -> Floats:
        """Return the derivatives by the counts of both classes in each cell."""
        slopes = np.zeros_like(counts)
        for side in (0, 1):
            occupied = np.flatnonzero(counts[side])
            for rows in batches(occupied.size, counts.size, _HELD):
                cell = occupied[rows]
                changed = np.repeat(counts[:, None], cell.size, axis=1)
                step = np.zeros_like(changed)
                step[side, np.arange(cell.size), cell] = _STEP
                rise = self.values(*changed + step) - self.values(*changed - step)
                slopes[side, cell] = rise / (2 * _STEP)
        return slopes

    def check_influence(self) -> None:
        """Raise an error if the derivative does not say how the metric varies."""
        if self.lacks_influence:
            raise ArgumentError(
                f"{self.name} has no standard error, because {self.lacks_influence}; take "
                "'bayesian-bootstrap' or 'percentile'."
            )

    def bias(self, cells: RankedCells, weight: float = 1.0) -> float:
        """Return the known bias of the value; `weight` is how often each negative counts."""
        return 0.0

    def trials(self, cells: RankedCells) -> int:
        """Return the number of observations that a value of 0 or 1 is made of."""
        of = {"both": min(cells.n_pos, cells.n_neg), "negatives": cells.n_neg}
        return of.get(self.trials_are, cells.n_pos)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the metric of drawn curves, here of rankings with these, shape (n_draws,)."""
        return self.values(*curves.counts(area=self.is_area))

    def largest_possible(self, cells: RankedCells, tail: float) -> float:
        """Return how large the metric may be but for a tail of samples; 0 if draws show it."""
        return 0.0

    def deciding_positives(self, cells: RankedCells) -> float:
        """Return how many positives at the top make the value 1, on average over samples.

        It is infinite if a single negative above any of them shows a value below 1.
        """
        return float("inf")


def draws_of_ends(low: Floats, high: Floats) -> Floats:
    """Return draws whose lower half is that of `low`, and whose upper half is that of `high`.

    Intervals then reach from quantiles of the ones to quantiles of the others.
    """
    half = low.size // 2
    return np.concatenate([np.sort(low)[:half], np.sort(high)[half:]])


def _first_of_tied(n_cells: int) -> Integers:
    """Return the first of the cells that are taken for tied, so that there are few: lower ones."""
    if n_cells <= _FIRST + _FURTHER:
        return np.arange(n_cells)
    # The last cell, which holds what was not retrieved, remains by itself.
    further = np.linspace(_FIRST, n_cells - 1, _FURTHER).astype(np.int64)
    return np.concatenate([np.arange(_FIRST), further])


# Negatives decide from this weight on.
_HEAVY = 3.0


@dataclass(frozen=True)
class AtPrior(CellStatistic):
    """A metric of a ranking whose negatives are weighed so that a given share is positive.

    A negative counts ``n_pos (1 - prior) / (n_neg prior)`` times, so that precision is ``tp' /
    (tp' + fp')`` with ``tp' = tp prior / n_pos`` and ``fp' = fp (1 - prior) / n_neg`` (Hoiem,
    Chodpathumwan & Dai, ECCV 2012). The metric must not change if all counts are multiplied by a
    number.
    """

    metric: CellStatistic
    prior: float

    def __post_init__(self) -> None:
        checks.number("prior", self.prior, above=0, below=1)
        for name in ("lacks_influence", "of_all_levels", "trials_are", "of_table", "is_area"):
            object.__setattr__(self, name, getattr(self.metric, name))

    @property
    def name(self) -> str:
        return self.metric.name

    def limits(self, cells: RankedCells) -> tuple[float, float]:
        return self.metric.limits(cells)

    def _weighed(self, cells: RankedCells) -> RankedCells:
        """Return cells whose negatives are weighed."""
        weight = weight_of_negatives(cells.n_pos, cells.n_neg, self.prior)
        return _WeighedCells(cells.pos, np.multiply(cells.neg, weight))

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
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

    def bias(self, cells: RankedCells, weight: float = 1.0) -> float:
        weight *= float(weight_of_negatives(cells.n_pos, cells.n_neg, self.prior))
        return self.metric.bias(self._weighed(cells), weight)

    def trials(self, cells: RankedCells) -> int:
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
