"""Differences of several strata pooled into one, and the test of whether they are equal."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, fdtrc, stdtr, stdtrit

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.typing import Floats

PoolingModel: TypeAlias = Literal["random", "fixed"]

# No standard error may be a smaller share of the largest, and no difference larger by more.
_SMALLEST = 1e-9
# The variance between strata is found to this share of the smallest variance within one.
_ACCURACY = 1e-10


class PooledDifference(NamedTuple):
    """A difference that was pooled over strata, and how much those of the strata vary.

    Attributes
    ----------
    difference, std_error, low, high, p_value : float
        The pooled difference, its standard error and interval, and the two-sided p-value of the
        hypothesis that it is 0.
    q, q_p_value : float
        Cochran's Q and the p-value of the hypothesis that all strata have the same difference.
    i_squared : float, in [0, 1]
        The share of the variation among the strata that is not due to chance.
    tau : float
        The standard deviation of the differences of strata; 0 of ``"fixed"``.
    df : float
        The degrees of freedom of the interval and of its p-value; infinity if the standard errors
        of ``"fixed"`` are known.

    Examples
    --------
    >>> from prframe.stats import pool_differences
    >>> pool_differences([0.1, 0.3], [0.1, 0.1], model="fixed").difference.__round__(2)
    0.2
    """

    difference: float
    std_error: float
    low: float
    high: float
    p_value: float
    q: float
    q_p_value: float
    i_squared: float
    tau: float
    df: float


def pool_differences(
    differences: ArrayLike,
    std_errors: ArrayLike,
    *,
    model: PoolingModel = "random",
    sizes: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> PooledDifference:
    """Pool the differences of independent strata, and test whether they are equal.

    With the weights ``w_j = 1 / (se_j^2 + tau^2)`` the pooled difference is
    ``m = sum_j w_j d_j / sum_j w_j``. Cochran's ``Q = sum_j (d_j - m_0)^2 / se_j^2``, where m_0
    is m with ``tau = 0``, is compared with the chi-squared distribution with k - 1 degrees of
    freedom, and ``I^2 = max(0, 1 - (k - 1) / Q)``.

    Parameters
    ----------
    differences, std_errors : array_like of float, shape (k,)
        Differences of k >= 2 strata, and their standard errors, above 0.
    model : {"random", "fixed"}
        The argument `pooling` of `prframe.compare`.
        ``"fixed"``: all strata have one difference, ``tau = 0``, and ``se^2 = 1 / sum_j w_j`` with
        normal quantiles, if the standard errors are known. ``"random"``: differences vary with the
        standard deviation tau, for which
        ``sum_j w_j (d_j - m)^2 = k - 1`` (Paule & Mandel); the square of the standard error is
        ``sum_j w_j (d_j - m)^2 / ((k - 1) sum_j w_j)`` with Student's quantiles (Hartung & Knapp),
        the first sum being at least k - 1.
    sizes : array_like of int >= 2, shape (k,), optional
        With ``"fixed"``: the numbers n_j of queries, or of clusters, that the standard errors
        come from. With the shares ``v_j = w_j / sum_i w_i`` the square of the standard error is
        then ``(1 + 4 sum_j v_j (1 - v_j) / (n_j - 1)) / sum_j w_j`` (Meier), and quantiles are
        Student's with ``1 / sum_j (v_j^2 / (n_j - 1))`` degrees of freedom (Satterthwaite).
    confidence_level : float in (0, 1)
        Level of the interval.

    Returns
    -------
    PooledDifference

    Raises
    ------
    PrframeError
        Numbers that are not finite, standard errors that are not positive, sizes below 2, fewer
        than two strata, or an unknown option.

    References
    ----------
    Cochran, *The combination of estimates from different experiments*, 1954; Meier, *Variance of
    a weighted mean*, Biometrics 1953; Paule & Mandel 1982; Hartung & Knapp 2001; Higgins &
    Thompson 2002.

    Examples
    --------
    >>> pooled = pool_differences([0.02, 0.05, 0.01, 0.06], [0.01, 0.02, 0.01, 0.02])
    >>> round(pooled.difference, 4), round(pooled.p_value, 3), round(pooled.q_p_value, 3)
    (0.0297, 0.082, 0.071)
    """
    checks.one_of("model", model, get_args(PoolingModel))
    level = float(checks.number("confidence_level", confidence_level, above=0, below=1))
    effects, errors = reals("differences", differences), reals("std_errors", std_errors)
    _check(effects, errors)
    numbers = None if sizes is None else _sizes(sizes, effects.size)
    # Numbers are in units of the largest error, because their squares may overflow or be 0.
    unit = float(errors.max())
    if errors.min() < _SMALLEST * unit or np.abs(effects).max() > unit / _SMALLEST:
        raise PrframeError(
            "`std_errors` and `differences` must be of comparable size; leave out strata whose "
            "standard error is practically 0 beside the others'."
        )
    effects, variances = effects / unit, (errors / unit) ** 2
    others = effects.size - 1
    q = _q(0.0, effects, variances)
    tau_squared, scale, df = 0.0, 1.0, np.inf
    if model == "random":
        tau_squared = _paule_mandel(effects, variances, others)
        scale, df = max(_q(tau_squared, effects, variances) / others, 1.0), float(others)
    elif numbers is not None:
        scale, df = 1 + error_growth(errors, numbers), _degrees(errors, numbers)
    weights = 1 / (variances + tau_squared)
    pooled = float(weights @ effects / weights.sum())
    error = float(np.sqrt(scale / weights.sum()))
    reach = -float(stdtrit(df, (1 - level) / 2))
    return PooledDifference(
        pooled * unit,
        error * unit,
        (pooled - reach * error) * unit,
        (pooled + reach * error) * unit,
        2 * float(stdtr(df, -abs(pooled) / error)),
        q,
        float(chdtrc(others, q)),
        max(0.0, 1 - others / q) if q > 0 else 0.0,
        float(np.sqrt(tau_squared)) * unit,
        df,
    )


def error_growth(std_errors: Floats, sizes: Floats) -> float:
    """Return by what share the weights' own errors raise the variance of the pooled difference.

    Strata are weighed by standard errors that come from few queries each, see `pool_differences`.
    """
    shares = _shares(std_errors)
    return 4 * float((shares * (1 - shares) / (sizes - 1)).sum())


def _degrees(std_errors: Floats, sizes: Floats) -> float:
    """Return Satterthwaite's degrees of freedom of the pooled difference."""
    return 1 / float((_shares(std_errors) ** 2 / (sizes - 1)).sum())


def _shares(std_errors: Floats) -> Floats:
    """Return the shares of strata of the sum of weights."""
    weights: Floats = (std_errors / std_errors.max()) ** -2.0
    return np.asarray(weights / weights.sum())


def _sizes(sizes: ArrayLike, strata: int) -> Floats:
    """Return the numbers of queries, of which each stratum needs two."""
    numbers: Floats = reals("sizes", sizes)
    if numbers.shape != (strata,) or not (np.isfinite(numbers).all() and (numbers >= 2).all()):  # noqa: PLR2004
        raise PrframeError(
            f"`sizes` must hold the number of queries of each of the {strata} strata, 2 or more; "
            f"got {checks.brief(sizes)}."
        )
    return numbers


def equality_p_value(differences: ArrayLike, std_errors: ArrayLike, sizes: ArrayLike) -> float:
    """Return Welch's p-value of the hypothesis that all strata have the same difference.

    With the weights ``w_j = 1 / se_j^2`` of k strata, and their shares v_j of the sum of weights,
    ``Q / (k - 1) / (1 + 2 (k - 2) c / (k^2 - 1))`` is compared with the F distribution with k - 1
    and ``(k^2 - 1) / (3 c)`` degrees of freedom, where ``c = sum_j (1 - v_j)^2 / (n_j - 1)``. So
    few queries of a stratum, from which its standard error comes, are allowed for.

    Parameters
    ----------
    differences, std_errors : array_like of float, shape (k,)
        Mean differences of k >= 2 strata, and their standard errors, above 0.
    sizes : array_like of int >= 2, shape (k,)
        The numbers n_j of queries, or of clusters, that the standard errors come from.

    Returns
    -------
    float

    References
    ----------
    Welch, *On the comparison of several mean values: an alternative approach*, Biometrika 1951.

    Examples
    --------
    >>> round(equality_p_value([0.02, 0.05, 0.01], [0.01, 0.02, 0.01], [10, 12, 9]), 3)
    0.238
    """
    effects, errors = reals("differences", differences), reals("std_errors", std_errors)
    errors, effects = errors / errors.max(), effects / errors.max()
    k, shares = effects.size, _shares(errors)
    spread = float(((1 - shares) ** 2 / (reals("sizes", sizes) - 1)).sum())
    f = _q(0.0, effects, errors**2) / (k - 1) / (1 + 2 * (k - 2) * spread / (k**2 - 1))
    return float(fdtrc(k - 1, (k**2 - 1) / (3 * spread), f))


def _check(effects: Floats, errors: Floats) -> None:
    """Require finite differences and positive errors of two strata or more."""
    if effects.ndim != 1 or effects.shape != errors.shape or effects.size < 2:  # noqa: PLR2004
        raise PrframeError(
            "`differences` and `std_errors` must be lists of one length, of two strata or more; "
            f"got shapes {effects.shape} and {errors.shape}."
        )
    if not (np.isfinite(effects).all() and np.isfinite(errors).all() and (errors > 0).all()):
        raise PrframeError(
            "`differences` must be finite, and `std_errors` finite and above 0; leave out strata "
            "that have none."
        )


def _q(tau_squared: float, effects: Floats, variances: Floats) -> float:
    """Return the weighted sum of squares about the pooled difference."""
    weights = 1 / (variances + tau_squared)
    return float(weights @ (effects - weights @ effects / weights.sum()) ** 2)


def _paule_mandel(effects: Floats, variances: Floats, df: int) -> float:
    """Return the variance of the differences of strata for which Q is as large as expected."""
    if _q(0.0, effects, variances) <= df:
        return 0.0
    # The sum of squares falls in tau, and is below k - 1 if tau is the range of the differences.
    most = float(np.ptp(effects)) ** 2 * effects.size
    accuracy = _ACCURACY * float(variances.min())
    return float(brentq(lambda t: _q(t, effects, variances) - df, 0.0, most, xtol=accuracy))
