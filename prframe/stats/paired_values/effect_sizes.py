"""Effect sizes: the difference between two models, independent of the metric's unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._tolerances import RESIDUE
from prframe.typing import Flags, Floats


def cohen_dz(differences: ArrayLike) -> float:
    """Return Cohen's d_z, the mean of paired differences over their standard deviation.

    It is ``mean(d) / s(d)``, where s has n - 1 in the denominator.

    Parameters
    ----------
    differences : array_like of float, shape (n_queries,)
        One model's value less the other's, query by query; finite.

    Returns
    -------
    float
        0 if all differences are 0; NaN with fewer than two, or if all are equal but not 0.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or not in one dimension.

    Notes
    -----
    It is the statistic of the paired t test over ``sqrt(n)``. A spread below 1e-9 of the mean
    counts as 0.

    References
    ----------
    Cohen, *Statistical Power Analysis for the Behavioral Sciences*, 1988, section 2.3.5.

    See Also
    --------
    paired_t_power : How often the test finds such an effect.

    Examples
    --------
    >>> round(cohen_dz([0.1, 0.3, -0.1, 0.2]), 3)
    0.732
    """
    values = finite_vector("differences", differences)
    return float(cohen_dz_of_columns(values[:, None], np.ones((values.size, 1), np.bool_))[0])


def cohen_dz_of_columns(differences: Floats, defined: Flags) -> Floats:
    """Return Cohen's d_z of each column, over the differences that are defined; others are 0."""
    n = defined.sum(axis=0)
    # Values are in units of the largest, because their squares may overflow or be 0.
    largest = np.abs(differences).max(axis=0, initial=0.0)
    values = differences / np.where(largest > 0, largest, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = values.sum(axis=0) / n
        spread = np.sqrt((np.where(defined, values - mean, 0.0) ** 2).sum(axis=0) / (n - 1))
        sizes = np.where(spread > RESIDUE * np.abs(mean), mean / spread, np.nan)
    return np.where(n > 1, np.where(largest > 0, sizes, 0.0), np.nan)


def cliff_delta(a: ArrayLike, b: ArrayLike) -> float:
    """Return Cliff's delta, how much more often values of one sample exceed those of another.

    ``(#(a_i > b_j) - #(a_i < b_j)) / (n_a n_b)``; equal values count for neither.

    Parameters
    ----------
    a, b : array_like of float, shapes (n_a,) and (n_b,)
        Values of either model; finite. It does not matter which values are of the same query.

    Returns
    -------
    float in [-1, 1]
        NaN if there are no values on one side.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or not in one dimension.

    Notes
    -----
    It equals ``2 A - 1``, where A is the area under the ROC curve that tells a from b. It takes
    ``O(n log n)``.

    References
    ----------
    Cliff, *Dominance statistics: ordinal analyses to answer ordinal questions*, Psychological
    Bulletin 1993.

    See Also
    --------
    probability_of_superiority : For pairs.

    Examples
    --------
    >>> cliff_delta([0.5, 0.7, 0.9, 0.3], [0.4, 0.5, 0.6, 0.2])
    0.4375
    """
    first, second = finite_vector("a", a), np.sort(finite_vector("b", b))
    if not first.size or not second.size:
        return np.nan
    below, up_to = (np.searchsorted(second, first, side).sum() for side in ("left", "right"))
    pairs = first.size * second.size
    return float(below + up_to - pairs) / pairs


def probability_of_superiority(differences: ArrayLike) -> float:
    """Return the share of queries on which one model is better, ties counting half.

    It is ``(wins + ties / 2) / n``, the common-language effect size of pairs.

    Parameters
    ----------
    differences : array_like of float, shape (n_queries,)
        One model's value less the other's, query by query; finite. A tie is a difference of 0.

    Returns
    -------
    float in [0, 1]
        NaN without queries.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or not in one dimension.

    References
    ----------
    Grissom & Kim, *Effect Sizes for Research*, 2nd ed. 2012, on dependent groups.

    Examples
    --------
    >>> probability_of_superiority([0.1, 0.3, -0.1, 0.0])
    0.625
    """
    values = finite_vector("differences", differences)
    return float(np.sign(values).mean() + 1) / 2 if values.size else np.nan


def finite_vector(name: str, values: ArrayLike) -> Floats:
    """Require finite numbers in one dimension, which may be empty."""
    numbers = reals(name, values)
    if numbers.ndim != 1:
        raise PrframeError(f"`{name}` must have one dimension; got shape {numbers.shape}.")
    if (wrong := ~np.isfinite(numbers)).any():
        raise PrframeError(
            f"`{name}` must be finite: {wrong.sum()} of {numbers.size} are not, the first "
            f"{numbers[wrong][0]}."
        )
    return numbers
