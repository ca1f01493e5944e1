"""Differences of two systems on the same queries, one by one or summed over clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._tolerances import EQUAL
from prframe.stats._units import Units, UnitSums
from prframe.typing import Floats


class PairedTest(NamedTuple):
    """A statistic, its p-value, and the Monte Carlo error of the latter, NaN if not sampled.

    Examples
    --------
    >>> from prframe.stats import sign_test
    >>> sign_test([1.0, 2.0, -0.5])
    PairedTest(statistic=2.0, p_value=1.0, std_error=nan, method='sign')
    """

    statistic: float
    p_value: float
    std_error: float
    method: str


@dataclass(frozen=True, eq=False)
class PairedSample(UnitSums):
    """Sums of differences over independent units, queries or clusters of them.

    Attributes
    ----------
    sums : ndarray, shape (n_units,)
        The sum of the differences of each unit.
    sizes : ndarray, shape (n_units,)
        The number of differences in each sum; 1 if the units are queries.
    test_train_ratio : float
        Of values of a resampling, such as the folds of a cross-validation: the size of a test set
        divided by that of its training set. 0 if the units are independent.

    Examples
    --------
    >>> sample = PairedSample(np.array([0.5, 0.25, 0.75]), np.ones(3))
    >>> sample.mean, round(sample.std_error, 4)
    (0.5, 0.1443)
    """


def paired_differences(a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Return the differences of values, 0 where they are equal except for rounding.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        Values of two systems on the same queries; if b is missing, a holds the differences.

    Returns
    -------
    ndarray of float, shape (n,)

    Raises
    ------
    PrframeError
        Values that are not finite, or of different lengths.

    Notes
    -----
    Metrics are sums, which depend on the order of their parts in the last digits. Values that
    differ by 1e-12 of their size or less are taken as equal.

    Examples
    --------
    >>> paired_differences([0.1 + 0.2, 0.5], [0.3, 0.25])
    array([0.  , 0.25])
    """
    first = reals("a", a)
    second = np.zeros_like(first) if b is None else reals("b", b)
    if first.ndim != 1 or first.shape != second.shape:
        raise PrframeError(
            "`a` and `b` must be lists of one length, a value per query; got shapes "
            f"{first.shape} and {second.shape}."
        )
    for name, values in (("a", first), ("b", second)):
        if not np.isfinite(values).all():
            raise PrframeError(
                f"`{name}` must be finite: {(~np.isfinite(values)).sum()} of {values.size} values "
                "are not; leave these queries out."
            )
    return rounded_differences(first, second)


def rounded_differences(first: Floats, second: Floats) -> Floats:
    """Return differences of arrays that broadcast, 0 if they are rounding; NaN stays NaN."""
    difference = np.asarray(first - second)
    rounding = np.maximum(np.abs(first), np.abs(second))
    rounding *= EQUAL
    np.copyto(difference, 0.0, where=np.abs(difference) <= rounding)
    return difference


def paired_sample(
    a: ArrayLike, b: ArrayLike | None = None, cluster: ArrayLike | None = None
) -> PairedSample:
    """Return the differences of values, summed over clusters if there are any.

    Parameters
    ----------
    a, b : array_like of float, shape (n,)
        As in `paired_differences`.
    cluster : array_like, shape (n,), optional
        The cluster of each query.

    Returns
    -------
    PairedSample

    Examples
    --------
    >>> paired_sample([0.5, 0.3, 0.2], [0.4, 0.4, 0.1], cluster=["x", "x", "y"]).sizes
    array([2., 1.])
    """
    differences = paired_differences(a, b)
    if cluster is None:
        return PairedSample(differences, np.ones(differences.size))
    names = np.asarray(cluster)
    if names.shape != differences.shape:
        raise PrframeError(
            f"`cluster` must have an entry per value; got shapes {names.shape} and "
            f"{differences.shape}."
        )
    units = Units.of(names)
    return PairedSample(units.sums(differences), units.sums(np.ones(differences.size)))
