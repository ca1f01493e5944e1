"""Means of which few units have a human value and all have a machine's: their intervals."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A prediction-powered mean with its interval, and what it is made of.

    Attributes
    ----------
    df : float
        Degrees of freedom of Student's t.
    n, n_predicted : int
        How many values are human, and how many are the machine's.
    weight : float in [0, 1]
        The weight of the machine's values; 0 leaves the ordinary interval of the human ones.
    bias : float
        The mean of human minus machine values, where both are known.
    n_effective : float
        So many human values alone would give the same standard error.

    Examples
    --------
    >>> mean = predicted_mean([0.2, 0.4, 0.5, 0.7, np.nan], [0.3, 0.5, 0.5, 0.6, 0.9])
    >>> mean.n, mean.n_predicted, round(mean.weight, 3), round(mean.bias, 3)
    (4, 5, 0.316, -0.025)
    """

    df: float
    n: int
    n_predicted: int
    weight: float
    bias: float
    n_effective: float


def predicted_mean(
    human: ArrayLike,
    predicted: ArrayLike,
    method: str = "auto",
    confidence: Confidence | None = None,
    *,
    cluster: ArrayLike | None = None,
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

    Returns
    -------
    PredictedMean
        The numbers are NaN without human values.

    Raises
    ------
    PrframeError
        Arrays of unlike shape, infinite values, or what `mean_interval` refuses.

    Notes
    -----
    With ``weight = b (1 - n / N)`` the same estimate is ``weight mean(g of the others) +
    mean_n(y - weight g)``, that of PPI++. The weight is clipped to [0, 1]. PPI++ divides the
    covariance by the variance of all g, here it is that of the n: then a perfect machine
    (y = g) gives the mean of all N values and its standard error. Without correlation, without
    further units or with fewer than four human ones, the weight is 0, and the interval is that of
    `mean_interval`.

    The degrees of freedom are Satterthwaite's, of n - 2 for the first term of the variance and
    N - 1 for the second. The factor with n - 3 is due to the estimated slope, and exact for normal
    values. With clusters, both terms are sums over clusters of the influence of their values, and
    numbers of clusters replace n and N. A mean is over those units that have its value.

    References
    ----------
    Angelopoulos, Duchi & Zrnic, *PPI++: efficient prediction-powered inference*, 2023
    (arXiv:2311.01453), on power tuning; Cochran, *Sampling Techniques*, 3rd ed. 1977, section
    12.6, on regression estimators in double sampling, which this one is.

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
    confidence = confidence or Confidence()
    y, g = reals("human", human), reals("predicted", predicted)
    if y.ndim != 1 or y.shape != g.shape or np.isinf(y).any() or np.isinf(g).any():
        raise PrframeError(
            "`human` and `predicted` must be lists of one length, of finite numbers or NaN; got "
            f"shapes {y.shape} and {g.shape}."
        )
    units = units_of(cluster, y.size)
    # The order of the units has no effect on sums.
    order = np.lexsort((units.of_item, g, y))
    return _Sample(y[order], g[order], Units(units.of_item[order], units.number)).interval(
        method, confidence
    )


class _Sample:
    """Human and machine values, and their influence on their means, added up over clusters."""

    def __init__(self, y: Floats, g: Floats, units: Units) -> None:
        self.y, self.units = y, units
        self.human, self.machine = ~np.isnan(y), ~np.isnan(g)
        self.both = self.human & self.machine
        self.g = g
        self.n, self.n_predicted = int(self.human.sum()), int(self.machine.sum())
        self.n_units = units.number_among(self.human)

    def influence(self, values: Floats, known: Flags) -> Floats:
        """Return the influence of each cluster on the mean of the known values."""
        if not known.any():
            return np.zeros(self.units.number)
        own = np.where(known, values - values[known].mean(), 0.0) / known.sum()
        return self.units.sums(own)

    def slope(self, of_human: Floats, of_machine: Floats) -> float:
        """Return by how much human values rise with the machine's, 0 where that says nothing."""
        squares = of_machine @ of_machine
        product = float(of_human @ of_machine)
        share = self.both.sum() / max(self.n_predicted, 1)
        is_noise = product <= EQUAL * np.sqrt(squares) * np.sqrt(of_human @ of_human)
        if share == 1 or self.n_units < _LEAST_UNITS or is_noise:
            return 0.0
        return float(min(product / squares, 1 / (1 - share)))

    def interval(self, method: str, confidence: Confidence) -> PredictedMean:
        """Return the mean with its interval."""
        of_human = self.influence(self.y, self.human)
        of_machine = self.influence(self.g, self.both)
        slope, c = self.slope(of_human, of_machine), self.n_units
        bias = float((self.y - self.g)[self.both].mean()) if self.both.any() else np.nan
        if not slope:
            return self._ordinary(method, confidence, bias)
        share = self.both.sum() / self.n_predicted
        rise = self.g[self.machine].mean() - self.g[self.both].mean()
        mean = float(self.y[self.human].mean() + slope * rise)
        n_machine = self.units.number_among(self.machine)
        factor = c / (c - 2) * (1 + (1 - c / n_machine) / (c - 3))
        first = np.sqrt(factor) * (of_human - slope * of_machine)
        of_all = self.influence(self.g, self.machine)
        second = np.sqrt(n_machine / (n_machine - 1)) * slope * of_all
        variance = float(((first + second) ** 2).sum())
        shares = (first @ first / variance, second @ second / variance)
        df = 1 / (shares[0] ** 2 / (c - 2) + shares[1] ** 2 / (n_machine - 1))
        df = float(min(max(df, 1.0), n_machine - 1.0))
        error = float(np.sqrt(variance))
        if method == "auto":
            method = "logit" if confidence.limits == _UNIT else "t"
        mean = float(np.clip(mean, *(_UNIT if method == "logit" else confidence.limits)))
        # Near an end of the range the logit of so large an error says nothing.
        on_logits = method == "logit" and error < mean * (1 - mean)
        enclosed = logit_interval if on_logits else wald_interval
        low, high = enclosed(mean, error, confidence, df=df)
        alone = c / (c - 1) * float(of_human @ of_human)
        return PredictedMean(
            estimate=mean,
            std_error=error,
            low=low,
            high=high,
            method=method,
            df=df,
            n=self.n,
            n_predicted=self.n_predicted,
            weight=float(slope * (1 - share)),
            bias=bias,
            n_effective=self.n * alone / variance,
        )

    def _ordinary(self, method: str, confidence: Confidence, bias: float) -> PredictedMean:
        """Return the ordinary interval of the human values."""
        names, nan = self.units.of_item[self.human], float("nan")
        cluster = None if self.units.number == self.y.size else names
        found = (
            mean_interval(self.y[self.human], method, confidence, cluster=cluster)
            if self.n
            else IntervalEstimate(nan, nan, nan, nan, method)
        )
        return PredictedMean(
            **vars(found),
            df=max(self.n_units - 1.0, 1.0),
            n=self.n,
            n_predicted=self.n_predicted,
            weight=0.0,
            bias=bias,
            n_effective=float(self.n),
        )
