"""The metrics whose intervals are asked for, within [0, 1] where they are bounded."""

from dataclasses import dataclass, replace
from math import isfinite, isnan

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import ArgumentError
from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals.confidence import Confidence, within
from prframe.stats.intervals.ends import UNIT
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.rankings import CellStatistic, DrawnCurves, Influence, RankedCells
from prframe.typing import Floats

# These methods move bounded metrics to all numbers; these and further ones need a standard error.
_LOGITS = ("logit", "logit-t")
_BY_INFLUENCE = (*_LOGITS, "wald", "t", "bca")


def check_method(statistic: CellStatistic, method: str) -> None:
    """Refuse a method that no interval of the metric can be made by, whatever the ranking is.

    Parameters
    ----------
    statistic : CellStatistic
    method : str
        As in `ranking_interval`.

    Raises
    ------
    PrframeError
        The method needs a standard error, or bounds, which the metric does not have.
    """
    low, high = statistic.limits
    if method in _LOGITS and not isfinite(high - low):
        raise ArgumentError(
            f"method={method!r} is for metrics within bounds; got {statistic.name}; take 't', "
            "'wald', 'percentile' or 'bca'."
        )
    if method in _BY_INFLUENCE and not statistic.has_influence:
        raise statistic.no_influence()


@dataclass(frozen=True, eq=False)
class Asked:
    """A metric, by which method its interval is made, and what is known of it.

    Attributes
    ----------
    statistic : CellStatistic
        The metric, moved to [0, 1] if it is bounded.
    estimate : float
        Its value; NaN if it is not defined.
    replicates : ndarray, shape (n_resamples,), optional
        Values of resamples, or of draws of the curve, if there are any.
    method : str
    confidence : Confidence
        With the range of the statistic.
    width, low, multiple : float
        The metric itself is ``(width * statistic + low) * multiple``.
    """

    statistic: CellStatistic
    estimate: float
    replicates: Floats | None
    method: str
    confidence: Confidence
    width: float
    low: float
    multiple: float

    @classmethod
    def of(
        cls,
        cells: RankedCells,
        statistic: CellStatistic,
        replicates: Floats | None,
        method: str,
        confidence: Confidence,
    ) -> "Asked":
        """Move a metric to [0, 1], and its replicates."""
        share, multiple = statistic.as_share(cells)
        low, high = share.limits
        width = 1.0
        if replicates is not None and multiple != 1:
            replicates = replicates / multiple
        if share.limits != UNIT and isfinite(high - low):
            share, width = _InUnit(share), high - low
            replicates = None if replicates is None else (replicates - low) / width
        else:
            low = 0.0
        estimate = _within_limits(share.value(cells), share.limits)
        confidence = within(confidence, share.limits)
        return cls(share, estimate, replicates, method, confidence, width, low, multiple)

    @property
    def is_defined(self) -> bool:
        """Whether the metric has a value."""
        return not isnan(self.estimate)

    def by(self, method: str) -> "Asked":
        """Return the same with another method."""
        return replace(self, method=method)

    def without(self) -> IntervalEstimate:
        """Return the estimate without an interval."""
        return IntervalEstimate(self.estimate, np.nan, np.nan, np.nan, self.method)

    def of_metric(self, interval: IntervalEstimate) -> IntervalEstimate:
        """Return the interval of the metric itself from that of the statistic."""
        if isinstance(self.statistic, _InUnit):
            interval = interval.times(self.width).plus(self.low)
        return interval if self.multiple == 1 else interval.times(self.multiple)


def _within_limits(value: float, limits: tuple[float, float]) -> float:
    """Return the end of the range for a value that differs from it by rounding, else the value."""
    return next((end for end in limits if abs(value - end) <= EQUAL), value)


@dataclass(frozen=True)
class _InUnit(CellStatistic):
    """A metric of a bounded range, moved to [0, 1]."""

    metric: CellStatistic

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self.metric.name

    @property
    def of_table(self) -> bool:  # type: ignore[override]
        """Whether the metric is a function of four counts."""
        return self.metric.of_table

    @property
    def is_smooth(self) -> bool:
        """Whether leaving out some items changes the value much as their influence says."""
        return self.metric.is_smooth

    @property
    def _scale(self) -> tuple[float, float]:
        """The least value, and the width of the range."""
        low, high = self.metric.limits
        return low, high - low

    def values(self, pos: ArrayLike, neg: ArrayLike) -> Floats:
        """Return the values within [0, 1]."""
        low, width = self._scale
        return (self.metric.values(pos, neg) - low) / width

    def influence(self, cells: RankedCells) -> Influence:
        """Return the derivatives of these."""
        influence, width = self.metric.influence(cells), self._scale[1]
        return Influence(influence.pos / width, influence.neg / width)

    def trials(self, cells: RankedCells) -> int:
        """Return the number of observations behind a value at either bound."""
        return self.metric.trials(cells)

    def draws(self, curves: DrawnCurves) -> Floats:
        """Return the draws within [0, 1]."""
        low, width = self._scale
        return (self.metric.draws(curves) - low) / width

    def low_draws(self, cells: RankedCells, draws: Floats) -> Floats:
        """Return the draws that the low end is read from, within [0, 1]."""
        low, width = self._scale
        moved = draws * width + low
        lower = self.metric.low_draws(cells, moved)
        return draws if lower is moved else (lower - low) / width
