"""Confidence intervals for the metrics of one ranking, whose items are an independent sample."""

from typing import TYPE_CHECKING

import numpy as np

from prframe import checks
from prframe.stats.cell_bootstrap import bootstrap, cluster_influence
from prframe.stats.cell_statistics import CellStatistic
from prframe.stats.inputs import Floats
from prframe.stats.intervals import (
    Confidence,
    IntervalEstimate,
    acceleration,
    bca_interval,
    degrees_of_freedom,
    logit_interval,
    percentile_interval,
    spread,
    wald_interval,
)
from prframe.stats.ranked_cells import RankedCells

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_METHODS = ("wald", "logit", "logit-t", "percentile", "bca")


def ranking_interval(  # noqa: PLR0913
    cells: RankedCells,
    statistic: CellStatistic,
    method: str = "logit-t",
    confidence: Confidence | None = None,
    *,
    clusters: "csr_array | None" = None,
    replicates: Floats | None = None,
    n_resamples: int = 2000,
    rng: int | np.random.Generator | None = None,
) -> IntervalEstimate:
    """Return a confidence interval for a metric in the population that the items come from.

    Parameters
    ----------
    cells : RankedCells
    statistic : CellStatistic
    method : {"logit-t", "logit", "wald", "percentile", "bca"}
        ``"wald"``: the estimate and normal quantiles of its standard error, from influence
        values. ``"logit"``: the same on the logit scale. ``"logit-t"``: there, with AP corrected
        for its bias, and quantiles of Student's t law with as many degrees of freedom as the
        standard error has. ``"percentile"``, ``"bca"``: quantiles of resamples, plain, or
        corrected for bias and acceleration.
    confidence : Confidence, optional
        95 % and two-sided unless told.
    clusters : sparse array, optional
        As `cluster_counts` returns it: clusters of items, not items, are independent.
    replicates : ndarray of float, shape (n_resamples,), optional
        Resampled values of the statistic, if there are any already.
    n_resamples : int
        Else how many to draw, for ``"percentile"`` and ``"bca"``.
    rng : int or numpy.random.Generator, optional
        Seed or generator.

    Returns
    -------
    IntervalEstimate
        All NaN where the metric is not defined. ``std_error`` is from influence values, or the
        standard deviation of the replicates.

    Raises
    ------
    PrframeError
        An unknown method.

    Notes
    -----
    The number of items is fixed, that of positives random. In simulations with 20 to 200 positives
    on average, at prevalences of .001 to .5, ``"logit-t"`` covered the AP of the population in 92
    to 98 % of the samples where 95 % were asked for, with two exceptions among 40 settings, both
    with 20 positives: 91 % where a single positive at the top decides, and 99 % where many samples
    are ranked perfectly (``python -m benchmarks.interval_coverage``). The other methods covered
    in as few as 69 to 84 %.

    Examples
    --------
    >>> from prframe.stats.cell_statistics import AveragePrecision
    >>> from prframe.stats.ranked_cells import cells_from_scores
    >>> cells, _ = cells_from_scores(range(8, 0, -1), [1, 1, 0, 1, 0, 1, 0, 0])
    >>> found = ranking_interval(cells, AveragePrecision())
    >>> round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    (0.854, 0.429, 0.972)
    """
    checks.one_of("method", method, _METHODS)
    confidence, estimate = confidence or Confidence(), statistic.value(cells)
    if np.isnan(estimate):
        return IntervalEstimate(estimate, np.nan, np.nan, np.nan, method)
    influence = statistic.influence(cells)
    if clusters is None:
        values, number = influence.of_items(cells)
    else:
        values = cluster_influence(influence, clusters)
        number = np.ones(values.size)
    if method in {"percentile", "bca"}:
        drawn = replicates
        if drawn is None:
            drawn = np.asarray(bootstrap(cells, [statistic], n_resamples, rng, clusters)[0])
        if method == "percentile":
            low, high = percentile_interval(drawn, confidence)
        else:
            low, high = bca_interval(estimate, drawn, acceleration(values, number), confidence)
        return IntervalEstimate(estimate, spread(drawn), low, high, method)
    std_error = float(np.sqrt(number @ values**2))
    if method == "wald":
        low, high = wald_interval(estimate, std_error, confidence)
    else:
        corrected = method == "logit-t"
        low, high = logit_interval(
            estimate,
            std_error,
            confidence,
            unbiased=statistic.unbiased(cells) if corrected else estimate,
            df=degrees_of_freedom(values, number) if corrected else np.inf,
            trials=statistic.trials(cells),
        )
    return IntervalEstimate(estimate, std_error, low, high, method)
