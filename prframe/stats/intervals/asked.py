"""The metrics whose intervals are asked for."""

from dataclasses import dataclass, replace
from math import isnan

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals.confidence import Confidence, within
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.rankings import CellStatistic, RankedCells
from prframe.typing import Floats


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
        The method needs a standard error, which the metric does not have.
    """
    if method == "logit-t" and not statistic.has_influence:
        raise statistic.no_influence()


@dataclass(frozen=True, eq=False)
class Asked:
    """A metric, by which method its interval is made, and what is known of it.

    Attributes
    ----------
    statistic : CellStatistic
        The metric; of a multiple of a share, the share.
    estimate : float
        Its value; NaN if it is not defined.
    replicates : ndarray, shape (n_resamples,), optional
        Values of resamples, or of draws of the curve, if there are any.
    method : str
    confidence : Confidence
        With the range of the statistic.
    multiple : float
        The metric itself is so many times the statistic.
    """

    statistic: CellStatistic
    estimate: float
    replicates: Floats | None
    method: str
    confidence: Confidence
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
        """Compute the estimate; a multiple of a share is taken as the share."""
        share, multiple = statistic.as_share(cells)
        if replicates is not None and multiple != 1:
            replicates = replicates / multiple
        value, limits = share.value(cells), share.limits
        # Rounding may leave a hair between the value and the end of the range.
        estimate = next((end for end in limits if abs(value - end) <= EQUAL), value)
        return cls(share, estimate, replicates, method, within(confidence, limits), multiple)

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
        return interval if self.multiple == 1 else interval.times(self.multiple)
