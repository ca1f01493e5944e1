"""The interval of a metric of few clusters, from its values without each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from prframe.stats._batches import batches
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.ends import wald_interval
from prframe.stats.rankings import CellStatistic, RankedCells

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# With more clusters the influence of each says nearly as much as the value without it.
_MOST_CLUSTERS = 100
# The jackknife may raise the standard error of influence values by half. Without a cluster a
# ranking may be nearly perfect, and the logit of its value anything.
_MOST_GROWTH = 1.5
# So many counts are held at once.
_HELD = 1 << 22


def jackknife_interval(  # noqa: PLR0913
    cells: RankedCells,
    statistic: CellStatistic,
    clusters: csr_array,
    std_error: float,
    *,
    confidence: Confidence,
    df: float,
) -> tuple[float, float] | None:
    """Return the interval of a metric, moved to [0, 1], by the jackknife on the logit scale.

    Of c clusters, ``p_j = c logit(v) - (c - 1) logit(v_j)`` is the pseudo-value of cluster j,
    where v is the metric, on the scale of [0, 1], and v_j that without the cluster, the others
    weighing c / (c - 1). The ends are ``mean(p) -+ q std(p) / sqrt(c)``, transformed back, with a
    quantile of Student's t distribution. The error is 1 to 1.5 times that of influence values, on
    the same scale, from which the middle lies no farther away; the ends hold v.

    There is none, None, of more than 100 clusters, of a metric that is not smooth, and where v or
    a v_j is 0 or 1, whose logit is infinite, or undefined. The influence of a cluster tells what a
    small part of it changes. That of a whole cluster is larger where there are few, and the metric
    of few clusters is biased, as their own noise does not blur their ranking: the jackknife counts
    both. Metrics that count the positives above a rank jump as clusters are left out, so that it
    fails for these, as for quantiles (Miller, *The jackknife - a review*, Biometrika 1974).
    """
    number, n_cells = clusters.shape[0], cells.pos.size
    if number > _MOST_CLUSTERS or not statistic.is_smooth:
        return None
    counts = np.concatenate([cells.pos, cells.neg])
    without = np.empty(number)
    for rows in batches(number, counts.size, _HELD):
        left = (counts - clusters[rows].toarray()) * (number / (number - 1))
        without[rows] = statistic.values(left[:, :n_cells], left[:, n_cells:])
    least, most = statistic.limits
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
