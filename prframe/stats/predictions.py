"""Means of which few units have a human value and all have a machine's: their intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import Units, units_of
from prframe.stats.intervals import (
    Confidence,
    IntervalEstimate,
    logit_interval,
    mean_interval,
    wald_interval,
)
from prframe.typing import Flags, Floats

_UNIT = (0.0, 1.0)
_METHODS = ("auto", "t", "logit")
# With fewer human units nothing tells how far the slope may be off.
_LEAST_UNITS = 4


@dataclass(frozen=True)
class PredictedMean(IntervalEstimate):
    """A prediction-powered mean with its interval and its parts; see `predicted_mean`."""

    df: float
    n: int
    n_predicted: int
    weight: float
    bias: float
    n_effective: float


def predicted_mean(  # noqa: PLR0913
    human: ArrayLike,
    predicted: ArrayLike,
    method: str = "auto",
    confidence: Confidence | None = None,
    *,
    cluster: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> PredictedMean:
    """Return the prediction-powered interval of a mean.

    With machine values g of N units, of which a random n have a human value y too::

        mean = mean_n(y) + b (mean_N(g) - mean_n(g)),  b = cov_n(y, g) / var_n(g)
        se^2 = s^2 (1 + (1 - n / N) / (n - 3)) / n + b^2 var_N(g) / N

    where s^2 is the sum of squares of y - mean_n(y) - b (g - mean_n(g)), divided by n - 2.

    Parameters
    ----------
    human : array_like of float, shape (n_units,)
        The human values; NaN where there is none.
    predicted : array_like of float, shape (n_units,)
        The machine's values of the same units; NaN where one is undefined.
    method : {"auto", "t", "logit"}
    confidence : Confidence, optional
    cluster : array_like, shape (n_units,), optional
        As in `mean_interval`.
    judged : array_like of bool, shape (n_units,), optional
        Which units humans have judged, where some of these have no value, as AP has none without
        positives. Absent: those with a human value.

    Returns
    -------
    PredictedMean
        ``estimate``, ``std_error``, ``low``, ``high``, ``method``, and ``df``, the
        degrees of freedom of Student's t, the numbers ``n``
        of human and ``n_predicted`` of machine values, the ``weight`` of the latter in [0, 1] (0
        leaves the interval of the human values), the ``bias``, the mean of human minus machine
        values, and ``n_effective``: so many human values alone would give the same standard error.
        The numbers are NaN without human values.

    Raises
    ------
    PrframeError
        Arrays of unlike shape, infinite values, or what `mean_interval` refuses.

    Notes
    -----
    With ``weight = b (1 - n / N)``, clipped to [0, 1], the estimate is ``weight mean(g of the
    others) + mean_n(y - weight g)``, that of PPI++ (Angelopoulos, Duchi & Zrnic 2023,
    arXiv:2311.01453), which divides the covariance by the variance of all g. It is a regression
    estimator in double sampling (Cochran, *Sampling Techniques*, 1977, section 12.6). Without
    correlation, without further units or with fewer than four human ones, the weight is 0, and the
    interval is that of `mean_interval`.

    The degrees of freedom are Satterthwaite's, of n - 2 for the first term of the variance and
    N - 1 for the second. The factor with n - 3 is due to the estimated slope, and exact for normal
    values. With clusters, both terms are sums over clusters of the influence of their values, and
    numbers of clusters replace n and N. A mean is over those units that have its value.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> machine = rng.random(500)
    >>> human = np.clip(machine + rng.normal(0, 0.1, 500), 0, 1)
    >>> human[40:] = np.nan
    >>> mean = predicted_mean(human, machine, "t")
    >>> round(mean.estimate, 3), round(mean.std_error, 3), round(mean.n_effective)
    (0.479, 0.021, 193)
    """
    checks.one_of("method", method, _METHODS)
    confidence = Confidence.of(confidence)
    y, g = reals("human", human), reals("predicted", predicted)
    if y.ndim != 1 or y.shape != g.shape or np.isinf(y).any() or np.isinf(g).any():
        raise PrframeError(
            "`human` and `predicted` must be lists of one length, of finite numbers or NaN; got "
            f"shapes {y.shape} and {g.shape}."
        )
    units = units_of(cluster, y.size)
    # The order of the units has no effect on sums.
    seen = ~np.isnan(y) if judged is None else np.asarray(judged, dtype=np.bool_)
    if seen.shape != y.shape:
        raise PrframeError(f"`judged` must have the shape {y.shape} of `human`; got {seen.shape}.")
    order = np.lexsort((units.of_item, seen, g, y))
    y, g = y[order], g[order]
    units = units if cluster is None else Units(units.of_item[order], units.number)
    has_y, has_g = ~np.isnan(y), ~np.isnan(g)
    # The machine's mean of the sample is over all that humans have judged, as that of all is.
    both, pairs = seen[order] & has_g, has_y & has_g
    of_y, of_g = _influence(y, has_y, units), _influence(g, both, units)
    # The numbers of human units and of all, and the share of the former.
    n, n_all = units.number_among(has_y), units.number_among(has_g)
    share = both.sum() / max(has_g.sum(), 1)
    slope = _slope(of_y, of_g, 1 - share) if n >= _LEAST_UNITS and share < 1 else 0.0
    counts: dict[str, Any] = {
        "n": int(has_y.sum()),
        "n_predicted": int(has_g.sum()),
        "weight": slope * float(1 - share),
        "bias": float((y - g)[pairs].mean()) if pairs.any() else np.nan,
    }
    if not slope:
        names = None if cluster is None else units.of_item[has_y]
        nothing = IntervalEstimate(np.nan, np.nan, np.nan, np.nan, method)
        found = mean_interval(y[has_y], method, confidence, cluster=names) if n else nothing
        effective = float(has_y.sum())
        return PredictedMean(**vars(found), df=max(n - 1.0, 1.0), n_effective=effective, **counts)
    factor = n / (n - 2) * (1 + (1 - n / n_all) / (n - 3))
    first = np.sqrt(factor) * (of_y - slope * of_g)
    second = np.sqrt(n_all / (n_all - 1)) * slope * _influence(g, has_g, units)
    variance = float(((first + second) ** 2).sum())
    parts = first @ first / variance, second @ second / variance
    df = 1 / (parts[0] ** 2 / (n - 2) + parts[1] ** 2 / (n_all - 1))
    df = float(np.clip(df, 1, n_all - 1))
    if method == "auto":
        method = "logit" if confidence.limits == _UNIT else "t"
    limits = _UNIT if method == "logit" else confidence.limits
    mean = y[has_y].mean() + slope * (g[has_g].mean() - g[both].mean())
    mean = float(np.clip(mean, *limits))
    error = variance**0.5
    # Near an end of the range the logit of so large an error says nothing.
    on_logits = method == "logit" and error < mean * (1 - mean)
    enclosed = logit_interval if on_logits else wald_interval
    low, high = enclosed(mean, error, replace(confidence, limits=limits), df=df)
    effective = float(has_y.sum() * n / (n - 1) * (of_y @ of_y) / variance)
    return PredictedMean(mean, error, low, high, method, df=df, n_effective=effective, **counts)


def _influence(values: Floats, known: Flags, units: Units) -> Floats:
    """Return the influence of each cluster on the mean of the known values."""
    if not known.any():
        return np.zeros(units.number)
    return units.sums(np.where(known, values - values[known].mean(), 0.0) / known.sum())


def _slope(of_human: Floats, of_machine: Floats, rest: float) -> float:
    """Return by how much human values rise with the machine's, at least 0; weights are up to 1."""
    squares, product = of_machine @ of_machine, of_human @ of_machine
    if product <= EQUAL * np.sqrt(squares) * np.sqrt(of_human @ of_human):
        return 0.0
    return float(np.minimum(product / squares, 1 / rest))
