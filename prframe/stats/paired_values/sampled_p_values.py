"""P-values by counting among draws of a statistic under the null hypothesis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe.stats._p_values import extremeness
from prframe.stats._tolerances import EQUAL
from prframe.stats.intervals import defined
from prframe.typing import Alternative, Floats


class SampledPValue(NamedTuple):
    """A p-value and its Monte Carlo standard error, which is NaN where nothing was sampled.

    Examples
    --------
    >>> sampled_p_value(2.0, [-1.0, 0.0, 2.0], "greater").p_value
    0.5
    """

    p_value: float
    std_error: float


def sampled_p_value(
    observed: float, drawn: ArrayLike, alternative: Alternative, *, exact: bool = False
) -> SampledPValue:
    """Return ``(b + 1) / (B + 1)`` for b of B draws that are at least as extreme as the observed.

    Parameters
    ----------
    observed : float
        A statistic that is about 0 under the null hypothesis.
    drawn : array_like of float, shape (B,)
        Draws of the statistic under the null hypothesis. NaN is left out.
    alternative : {"two-sided", "less", "greater"}
        Values are extreme if they are far from 0, small, or large.
    exact : bool
        Whether the draws are all possible values, equally likely. The p-value is then ``b / B``.

    Returns
    -------
    SampledPValue
        ``p_value``, and ``std_error = sqrt(p (1 - p) / B)``. Both are NaN if the observed value
        is, or without draws.

    Notes
    -----
    Draws that differ from the observed value by rounding, 1e-12, count as equal to it.

    References
    ----------
    Davison & Hinkley, *Bootstrap Methods and their Application*, 1997, eq. (4.11).

    Examples
    --------
    >>> found = sampled_p_value(2.0, [-2.0, -1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0], "two-sided")
    >>> found.p_value, round(found.std_error, 3)
    (0.3, 0.153)
    """
    values = defined(drawn)
    if np.isnan(observed) or not values.size:
        return SampledPValue(np.nan, np.nan)
    extreme = np.count_nonzero(_excess(values, observed, alternative) >= 0)
    p_value, std_error = counted_p_values(np.array(extreme), values.size, exact=exact)
    return SampledPValue(float(p_value), float(std_error))


def counted_p_values(
    extreme: NDArray[np.integer], n_draws: int, *, exact: bool = False
) -> tuple[Floats, Floats]:
    """Return p-values and their errors from the numbers of draws that are as extreme.

    The observed value counts as one more draw, unless the draws are all possible values.
    """
    if exact:
        p_values = np.asarray(extreme / n_draws, dtype=np.float64)
        return p_values, np.full_like(p_values, np.nan)
    p_values = np.asarray((extreme + 1) / (n_draws + 1), dtype=np.float64)
    return p_values, np.sqrt(p_values * (1 - p_values) / n_draws)


def _excess(values: Floats, observed: float, alternative: Alternative) -> Floats:
    """Return by how much values are more extreme; rounding counts in their favour."""
    hair = EQUAL * max(1.0, abs(observed))
    return extremeness(values, alternative) - extremeness(np.array(observed), alternative) + hair
