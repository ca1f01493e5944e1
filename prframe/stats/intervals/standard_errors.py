"""Intervals of the metrics of one ranking from the standard error that influence values give."""

from dataclasses import dataclass, replace
from math import ceil, isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from prframe.stats._batches import batches
from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals.ends import (
    UNIT,
    Confidence,
    beta_interval,
    degrees_of_freedom,
    logit_interval,
    wald_interval,
    within,
)
from prframe.stats.intervals.means import IntervalEstimate
from prframe.stats.rankings import CellStatistic, RankedCells
from prframe.typing import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# With more clusters the influence of each says nearly as much as the value without it.
_MOST_CLUSTERS = 100
# The jackknife may raise the standard error of influence values by half. Without a cluster a
# ranking may be nearly perfect, and the logit of its value anything.
_MOST_GROWTH = 1.5
# So many counts are held at once.
_HELD = 1 << 22


@dataclass(frozen=True, eq=False)
class Asked:
    """A metric, and how its interval is made.

    `replicates` are values of resamples, or of draws of the curve, if there are any, and
    `confidence` has the range of the statistic.
    """

    statistic: CellStatistic
    estimate: float
    replicates: Floats | None
    method: str
    confidence: Confidence

    @classmethod
    def of(
        cls,
        cells: RankedCells,
        statistic: CellStatistic,
        replicates: Floats | None,
        method: str,
        confidence: Confidence,
    ) -> "Asked":
        """Compute the estimate."""
        value, limits = statistic.value(cells), statistic.limits(cells)
        # Rounding may leave a hair between the value and the end of the range.
        slack = EQUAL * max(1.0, abs(value))
        estimate = next((end for end in limits if abs(value - end) <= slack), value)
        return cls(statistic, estimate, replicates, method, within(confidence, limits))

    @property
    def is_defined(self) -> bool:
        """Whether the metric has a value."""
        return not isnan(self.estimate)

    def without(self) -> IntervalEstimate:
        """Return the estimate without an interval."""
        return IntervalEstimate(self.estimate, np.nan, np.nan, np.nan, self.method)


def from_influence(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None"
) -> IntervalEstimate:
    """Return the interval ``"logit-t"``, from the standard error that influence values give.

    A metric without bounds has no logit, and has Student's interval on its own scale.
    """
    statistic, confidence, estimate = asked.statistic, asked.confidence, asked.estimate
    values, number = influence_of_units(cells, statistic, clusters)
    std_error = standard_error(cells, statistic, clusters)
    least, most = statistic.limits(cells)
    if not std_error and estimate not in {least, most}:
        # No item matters. The interval of an end of the range is one of trials, not of an error.
        return asked.without()
    df = degrees_of_freedom(values, number)
    df = df if clusters is None else min(df, values.size - 1)
    if isfinite(most - least):
        low, high = _on_logits(cells, asked, clusters, std_error, df)
    elif std_error:
        low, high = wald_interval(estimate, std_error, confidence, df)
    else:
        return asked.without()
    return IntervalEstimate(estimate, std_error, low, high, asked.method)


def standard_error(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None"
) -> float:
    """Return the standard error from influence values, 0 where no item matters.

    That of AUC is DeLong's, or Obuchowski's with clusters.
    """
    if statistic.of_two_samples:
        error = _of_two_samples(cells, statistic.influence(cells), clusters)
    else:
        values, number = influence_of_units(cells, statistic, clusters)
        error = float(np.sqrt(number @ values**2))
    return error if error > EQUAL * max(abs(statistic.value(cells)), 1 / cells.n) else 0.0


def _clusters_of_trials(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array"
) -> int:
    """Return how many clusters hold the observations that a value of 0 or 1 is made of."""
    number, kind = statistic.trials(cells), statistic.trials_are
    pos, neg = clusters[:, : cells.pos.size], clusters[:, cells.pos.size :]
    if kind == "both":
        return min(_holding(pos), _holding(neg))
    if kind == "negatives":
        return _holding(neg)
    counts = cells.pos if kind == "positives" else cells.pos + cells.neg
    above = np.cumsum(counts)
    last = int(np.searchsorted(above, number))
    held = _holding((pos if kind == "positives" else pos + neg)[:, : last + 1])
    # A run of negatives is one cell, and may hold more items, of as many clusters more.
    share = 1.0 if cells.pos[last] else min(1.0, number / float(above[last]))
    return ceil(held * share)


def _holding(counts: "csr_array") -> int:
    """Return how many clusters hold any of the items."""
    return int(np.count_nonzero(counts.sum(axis=1)))


def low_end_with_room(
    cells: RankedCells,
    statistic: CellStatistic,
    estimate: float,
    std_error: float,
    confidence: Confidence,
) -> float:
    """Return the low end for a metric with bounds, with a margin for a misplaced item.

    For AUC it is that of `RankStatistic.interval`, an item of the smaller class being the step.
    """
    least, most = statistic.limits(cells)
    width, of_unit = most - least, replace(confidence, limits=UNIT)
    share, step = (estimate - least) / width, 1 / statistic.trials(cells)
    return least + width * beta_interval(share, std_error / width, of_unit, step=step)[0]


def _on_logits(
    cells: RankedCells, asked: Asked, clusters: "csr_array | None", std_error: float, df: float
) -> tuple[float, float]:
    """Return the ends with Student's quantiles on the logit scale, for a metric with bounds.

    Few clusters are left out one by one; what the first ranks decide has a margin of a rank.
    """
    statistic, (least, most) = asked.statistic, asked.confidence.limits
    width, confidence = most - least, replace(asked.confidence, limits=UNIT)
    unbiased = statistic.value(cells) - statistic.bias(cells)
    value, unbiased = ((x - least) / width for x in (asked.estimate, unbiased))
    error, trials, ends = std_error / width, statistic.trials(cells), None
    if clusters is not None:
        trials = min(trials, _clusters_of_trials(cells, statistic, clusters))
        if error:
            ends = _jackknife_interval(
                cells, statistic, clusters, error, confidence=confidence, df=df
            )
    low, high = ends or logit_interval(
        value, error, confidence, unbiased=unbiased, df=df, trials=trials
    )
    if statistic.of_first_ranks:
        margin = beta_interval(value, error, confidence, step=1 / trials)
        low, high = confidence.ends(min(low, margin[0]), max(high, margin[1]))
    return least + width * low, least + width * high


def _jackknife_interval(  # noqa: PLR0913
    cells: RankedCells,
    statistic: CellStatistic,
    clusters: "csr_array",
    std_error: float,
    *,
    confidence: Confidence,
    df: float,
) -> tuple[float, float] | None:
    """Return the interval of a metric, moved to [0, 1], by the jackknife on the logit scale.

    Of c clusters, ``p_j = c logit(v) - (c - 1) logit(v_j)`` is the pseudo-value of cluster j,
    where v_j is the metric v without the cluster, the others weighing c / (c - 1). The ends are
    ``mean(p) -+ q std(p) / sqrt(c)``, transformed back, with Student's quantile q. The error is 1
    to 1.5 times that of influence values, and the ends hold v. None for more than 100 clusters, a
    metric that is not smooth (Miller, Biometrika 1974), or a v or v_j that is 0, 1 or undefined.
    """
    number, n_cells = clusters.shape[0], cells.pos.size
    if number > _MOST_CLUSTERS or not statistic.is_smooth:
        return None
    counts = np.concatenate([cells.pos, cells.neg])
    without = np.empty(number)
    for rows in batches(number, counts.size, _HELD):
        left = (counts - clusters[rows].toarray()) * (number / (number - 1))
        without[rows] = statistic.values(left[:, :n_cells], left[:, n_cells:])
    least, most = statistic.limits(cells)
    values = (np.append(without, statistic.value(cells)) - least) / (most - least)
    if not ((values > 0) & (values < 1)).all():
        return None
    *parts, whole = logit(values)
    pseudo = number * whole - (number - 1) * np.array(parts)
    scale = std_error / (values[-1] * (1 - values[-1]))
    middle = whole + np.clip(pseudo.mean() - whole, -scale, scale)
    error = np.clip(pseudo.std(ddof=1) / number**0.5, scale, _MOST_GROWTH * scale)
    everywhere = replace(confidence, limits=(-np.inf, np.inf))
    low, high = wald_interval(float(middle), float(error), everywhere, df)
    ends = expit(min(low, whole)), expit(max(high, whole))
    return confidence.ends(*map(float, ends))


def _of_two_samples(
    cells: RankedCells, influence: tuple[Floats, Floats], clusters: "csr_array | None"
) -> float:
    """Return the standard error of DeLong, or with clusters that of Obuchowski.

    `influence` is that of the positives and of the negatives of each cell. Sums of squares over m
    positives, negatives or clusters are multiplied by m / (m - 1).
    """
    if clusters is None:
        pos, neg = (
            float(number @ values**2) * _less_one(int(number.sum()))
            for number, values in zip((cells.pos, cells.neg), influence, strict=True)
        )
        return float(np.sqrt(pos + neg))
    halves = clusters[:, : cells.pos.size], clusters[:, cells.pos.size :]
    sums = [half @ values for half, values in zip(halves, influence, strict=True)]
    sizes = [_holding(half) for half in halves]
    within = [_less_one(m) * float(part @ part) for m, part in zip(sizes, sums, strict=True)]
    across = 2 * _less_one(clusters.shape[0]) * float(sums[0] @ sums[1])
    return float(np.sqrt(max(sum(within) + across, 0.0)))


def _less_one(number: int) -> float:
    """Return n / (n - 1), and 1 for a single one, which varies in nothing."""
    return number / (number - 1) if number > 1 else 1.0


def influence_of_units(
    cells: RankedCells, statistic: CellStatistic, clusters: "csr_array | None"
) -> tuple[Floats, Floats]:
    """Return the influence of items or clusters, whose squares add up to the variance; numbers."""
    influence = statistic.influence(cells)
    if clusters is None:
        return influence.of_items(cells)
    values = np.asarray(clusters @ np.concatenate(influence))
    # The variance among c clusters is corrected by c / (c - 1), which hardly matters for items.
    return values * (values.size / (values.size - 1)) ** 0.5, np.ones(values.size)
