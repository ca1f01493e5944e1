"""The number of queries that a comparison of models needs, and the difference it can find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, owens_t, poch, stdtrit

from prframe import checks
from prframe.errors import ArgumentError, PrframeError
from prframe.stats._arrays import counts, finite, together
from prframe.stats._p_values import check_alternative
from prframe.typing import Alternative, Floats

_DOUBLINGS, _HALVINGS = 50, 60
# For smaller levels SciPy's noncentral distributions fail if there are few queries.
LEAST_ALPHA = 1e-7
# At all levels that are allowed an effect of this size is certain to be found, so that larger
# effects may be replaced by it.
_HUGE = 1e6


def paired_t_power(
    n: ArrayLike,
    effect: ArrayLike,
    *,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return the power of the paired t test, ``P(T > t)``; two-sided tests add ``P(T < -t)``.

    T is noncentral with n - 1 degrees of freedom and noncentrality ``sqrt(n) effect``, and t is
    the critical value (Cohen, *Statistical Power Analysis for the Behavioral Sciences*, 1988,
    section 2.3.5).

    Parameters
    ----------
    n : array_like of int
        Queries, at least 2.
    effect : array_like of float
        True mean of the differences over their standard deviation, as `cohen_dz` estimates it.
    alpha : float in [1e-7, 1)
        Level of the test.
    alternative : {"two-sided", "less", "greater"}
        As in `scipy.stats.ttest_rel`; with ``"less"``, the test finds effects below 0.

    Returns
    -------
    ndarray of float in [0, 1]
        Of the common shape. Exact for normal differences.

    Raises
    ------
    PrframeError
        An argument out of range. The other functions of designs raise it likewise.

    Examples
    --------
    >>> paired_t_power([50, 100, 200], 0.2).round(3)
    array([0.284, 0.508, 0.804])
    """
    queries, effects = together(
        "`n` and `effect`", counts("n", n, at_least=2), finite("effect", effect)
    )
    _check_test(alpha, alternative)
    shift = np.sqrt(queries) * (-effects if alternative == "less" else effects)
    return _t_power(queries - 1, shift, alpha, two_sided=alternative == "two-sided")


def detectable_difference(
    n: ArrayLike,
    std: ArrayLike,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> Floats:
    """Return the smallest true mean difference that the paired t test finds with some power.

    Parameters
    ----------
    n, alpha, alternative
        As in `paired_t_power`.
    std : array_like of float > 0
        Standard deviation of the differences.
    power : float in (alpha, 1)
        The required probability that the test finds the difference.

    Returns
    -------
    ndarray of float
        Of the common shape and in the unit of `std`; below 0 with ``"less"``.

    Examples
    --------
    >>> detectable_difference([50, 200], 0.15).round(4)
    array([0.0606, 0.0299])
    """
    queries, spread = together("`n` and `std`", counts("n", n, at_least=2), _positive("std", std))
    _check_test(alpha, alternative, power)
    two_sided = alternative == "two-sided"
    shift = _least(
        lambda shift: _t_power(queries - 1, shift, alpha, two_sided=two_sided) >= power,
        np.zeros(queries.shape),
        np.ones(queries.shape),
    )
    difference = shift * spread / np.sqrt(queries)
    return np.asarray(-difference if alternative == "less" else difference)


def queries_needed(
    difference: ArrayLike,
    std: ArrayLike,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> NDArray[np.int64]:
    """Return the smallest number of queries with which the paired t test has some power.

    It is the smallest n whose `paired_t_power` is at least `power` (Sakai, *Topic set size
    design*, Information Retrieval Journal 2016).

    Parameters
    ----------
    difference : array_like of float
        True mean difference to be found, not 0 and of the sign of the alternative.
    std, power, alpha, alternative
        As in `detectable_difference`.

    Returns
    -------
    ndarray of int
        Of the common shape; at least 2. An error if no number up to 2^50 is enough.

    Examples
    --------
    >>> queries_needed([0.1, 0.05, 0.02], 0.15)
    array([ 20,  73, 444])
    """
    size, spread = together(
        "`difference` and `std`", finite("difference", difference), _positive("std", std)
    )
    _check_test(alpha, alternative, power)
    effect = {"two-sided": np.abs(size), "less": -size, "greater": size}[alternative] / spread
    if (wrong := effect <= 0).any():
        must = {"two-sided": "not be 0", "less": "be below 0", "greater": "be above 0"}
        raise ArgumentError(
            f"`difference` must {must[alternative]} with alternative={alternative!r}; "
            f"got {size[wrong][0]:g}."
        )

    def reached(n: Floats) -> NDArray[np.bool_]:
        two_sided = alternative == "two-sided"
        return _t_power(n - 1, np.sqrt(n) * effect, alpha, two_sided=two_sided) >= power

    return _fewest(reached, effect.shape)


def queries_for_width(
    width: ArrayLike, std: ArrayLike, *, confidence_level: float = 0.95
) -> NDArray[np.int64]:
    """Return the number of queries with which t intervals of a mean difference are narrow enough.

    It is the smallest n with ``2 t E[s] / sqrt(n) <= width``, where t is Student's quantile with
    n - 1 degrees of freedom and
    ``E[s] = std sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2)`` (Sakai 2016).

    Parameters
    ----------
    width : array_like of float > 0
        Expected width of the two-sided t interval.
    std : array_like of float > 0
        Standard deviation of the differences.
    confidence_level : float in (0, 1)
        Coverage.

    Returns
    -------
    ndarray of int
        Of the common shape; at least 2. An error if no number up to 2^50 is enough.

    Examples
    --------
    >>> queries_for_width([0.1, 0.05], 0.15)
    array([ 37, 141])
    """
    target, spread = together(
        "`width` and `std`", _positive("width", width), _positive("std", std)
    )
    checks.number("confidence_level", confidence_level, above=0, below=1)
    tail = (1 - confidence_level) / 2

    def reached(n: Floats) -> NDArray[np.bool_]:
        s = spread * np.sqrt(2 / (n - 1)) * poch((n - 1) / 2, 0.5)
        return np.asarray(-2 * stdtrit(n - 1, tail) * s / np.sqrt(n) <= target)

    return _fewest(reached, target.shape)


def _t_power(df: Floats, shift: Floats, alpha: float, *, two_sided: bool) -> Floats:
    """Return the power of a one-sided or two-sided t test for a noncentrality."""
    tail = alpha / 2 if two_sided else alpha
    critical = np.asarray(-stdtrit(df, tail), dtype=np.float64)
    power = _noncentral_t_above(critical, df, shift)
    if two_sided:
        power += _noncentral_t_above(critical, df, -shift)
    return power


def _noncentral_t_above(value: Floats, df: Floats, shift: Floats) -> Floats:
    """Return P(T > value) for a noncentral t variate."""
    from scipy.stats import nct  # noqa: PLC0415

    # With one degree of freedom, where SciPy's series may fail, it is the probability of a wedge
    # under two independent normal variates.
    apex = shift / np.hypot(1, value)
    above = np.array(np.maximum(ndtr(apex) - 2 * owens_t(apex, value), 0), dtype=np.float64)
    several = df > 1
    above[several] = nct.sf(value[several], df[several], np.clip(shift[several], -_HUGE, _HUGE))
    return above


def _fewest(
    reached: Callable[[Floats], NDArray[np.bool_]], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the smallest n >= 2 that is enough, if every larger number is enough too."""
    # The lower end 1 is never tried, because middles are rounded up.
    low = np.ones(shape)
    return np.asarray(_least(reached, low, 2 * low, np.ceil), dtype=np.int64)


def _least(
    reached: Callable[[Floats], NDArray[np.bool_]],
    low: Floats,
    high: Floats,
    rounded: Callable[[Floats], Floats] = np.asarray,
) -> Floats:
    """Return the least number that is enough, by doubling and then halving."""
    for _ in range(_DOUBLINGS):
        if (enough := reached(high)).all():
            break
        low, high = np.where(enough, low, high), np.where(enough, high, 2 * high)
    else:
        raise ArgumentError("What is asked for needs more than 2^50 queries; ask for less.")
    for _ in range(_HALVINGS):
        middle = rounded((low + high) / 2)
        enough = reached(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _check_test(alpha: float, alternative: str, power: float | None = None) -> None:
    """Require a level, a power above it, and an alternative."""
    checks.number("alpha", alpha, at_least=LEAST_ALPHA, below=1)
    if power is not None:
        checks.number("power", power, above=alpha, below=1)
    check_alternative(alternative)


def _positive(name: str, values: ArrayLike) -> Floats:
    """Require finite numbers above 0."""
    numbers = finite(name, values)
    if (wrong := numbers <= 0).any():
        raise PrframeError(f"`{name}` must be above 0; got {numbers[wrong][0]:g}.")
    return numbers
