"""Intervals of the metrics of one ranking from the standard error that influence values give."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals.asked import Asked
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.ends import (
    beta_interval,
    border,
    degrees_of_freedom,
    logit_interval,
    wald_interval,
)
from prframe.stats.intervals.jackknife import jackknife_interval
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.rankings import CellStatistic, RankedCells, cluster_influence
from prframe.typing import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def from_influence(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None"
) -> IntervalEstimate:
    """Return the interval from the standard error that influence values give."""
    statistic, method, confidence = asked.statistic, asked.method, asked.confidence
    estimate, (values, number) = asked.estimate, influence_of_units(cells, statistic, clusters)
    if statistic.of_two_samples:
        std_error = _of_two_samples(cells, statistic.influence(cells), clusters)
    else:
        std_error = float(np.sqrt(number @ values**2))
    middle = estimate
    if std_error <= EQUAL * max(abs(estimate), 1 / cells.n):
        # No item matters. The logit interval of 0 or 1 alone is one of trials, not of an error.
        middle, std_error = border(estimate), 0.0
        if method in {"wald", "t"} or middle not in {0, 1}:
            return asked.without()
    # The items of one cluster may all agree, so a cluster counts as one observation.
    trials = min(statistic.trials(cells), cells.n if clusters is None else values.size)
    if method == "wald":
        low, high = wald_interval(estimate, std_error, confidence)
    elif method == "logit":
        low, high = logit_interval(middle, std_error, confidence, trials=trials)
    else:
        df = degrees_of_freedom(values, number)
        df = df if clusters is None else min(df, values.size - 1)
        if method == "t":
            low, high = wald_interval(estimate, std_error, confidence, df)
        else:
            error = _Error(middle, std_error, df, trials)
            low, high = _logit_t(cells, statistic, clusters, error, confidence)
    return IntervalEstimate(estimate, std_error, low, high, method)


class _Error(NamedTuple):
    """A value, its standard error, and how much this is worth.

    Where the value is 0 or 1 it is one of so many trials.
    """

    value: float
    std_error: float
    df: float
    trials: int


def _logit_t(
    cells: RankedCells,
    statistic: CellStatistic,
    clusters: "csr_array | None",
    error: _Error,
    confidence: Confidence,
) -> tuple[float, float]:
    """Return the interval with Student's quantiles on the logit scale.

    Few clusters are left out one by one, and what the first ranks decide has room for a rank more.
    """
    value, std_error, df, trials = error
    jackknifed = None
    if clusters is not None and std_error:
        jackknifed = jackknife_interval(
            cells, statistic, clusters, std_error, confidence=confidence, df=df
        )
    unbiased = statistic.unbiased(cells)
    low, high = jackknifed or logit_interval(
        value, std_error, confidence, unbiased=unbiased, df=df, trials=trials
    )
    if statistic.of_first_ranks:
        room = beta_interval(value, std_error, confidence, step=1 / trials)
        low, high = confidence.ends(min(low, room[0]), max(high, room[1]))
    return low, high


def _of_two_samples(
    cells: RankedCells, influence: tuple[Floats, Floats], clusters: "csr_array | None"
) -> float:
    """Return the standard error of DeLong, or with clusters that of Obuchowski.

    `influence` is that of the positives and that of the negatives of each cell.

    The sums of squares over m positives, negatives or clusters are multiplied by m / (m - 1).
    """
    if clusters is None:
        pos, neg = (
            float(number @ values**2) * _less_one(int(number.sum()))
            for number, values in zip((cells.pos, cells.neg), influence, strict=True)
        )
        return float(np.sqrt(pos + neg))
    halves = clusters[:, : cells.pos.size], clusters[:, cells.pos.size :]
    sums = [half @ values for half, values in zip(halves, influence, strict=True)]
    sizes = [int(np.count_nonzero(half.sum(axis=1))) for half in halves]
    within = [_less_one(m) * float(part @ part) for m, part in zip(sizes, sums, strict=True)]
    across = 2 * _less_one(clusters.shape[0]) * float(sums[0] @ sums[1])
    return float(np.sqrt(max(sum(within) + across, 0.0)))


def _less_one(number: int) -> float:
    """Return n / (n - 1), and 1 for a single one, which varies in nothing."""
    return number / (number - 1) if number > 1 else 1.0


def influence_of_units(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None"
) -> tuple[Floats, Floats]:
    """Return the influence of items, or of clusters, and the number of these with each value.

    The sum of the squared influences is the variance of the statistic.
    """
    influence = statistic.influence(cells)
    if clusters is None:
        return influence.of_items(cells)
    values = cluster_influence(influence, clusters)
    # The variance among c clusters is corrected by c / (c - 1), which hardly matters for items.
    return values * (values.size / (values.size - 1)) ** 0.5, np.ones(values.size)
