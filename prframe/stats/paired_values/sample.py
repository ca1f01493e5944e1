"""Differences of two systems on the same queries or clusters, and their effect size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import finite, reals
from prframe.stats._tolerances import EQUAL, RESIDUE
from prframe.stats._units import UnitSums, units_of
from prframe.typing import Flags, Floats


class PairedTest(NamedTuple):
    """A statistic, its p-value, and the Monte Carlo error of the latter, NaN if not sampled."""

    statistic: float
    p_value: float
    std_error: float
    method: str


def paired_differences(a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Return finite differences of values, 0 where they are equal but for rounding."""
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
) -> UnitSums:
    """Return the differences of values, summed over clusters if there are any."""
    differences = paired_differences(a, b)
    units = units_of(cluster, differences.size)
    return UnitSums(units.sums(differences), units.sums(np.ones(differences.size)))


def cohen_dz(differences: ArrayLike) -> float:
    """Return Cohen's d_z, the mean of paired differences over their standard deviation.

    It is ``mean(d) / s(d)``, where s has n - 1 in the denominator (Cohen, *Statistical Power
    Analysis for the Behavioral Sciences*, 1988, section 2.3.5): t of the paired test over
    ``sqrt(n)``.

    Parameters
    ----------
    differences : array_like of float, shape (n_queries,)
        One model's value less the other's, query by query; finite.

    Returns
    -------
    float
        0 if all differences are 0; NaN with fewer than two, or if they are not 0 and their spread
        is below 1e-9 of the mean.

    Raises
    ------
    PrframeError
        Numbers that are not finite, or not in one dimension.

    Examples
    --------
    >>> round(cohen_dz([0.1, 0.3, -0.1, 0.2]), 3)
    0.732
    """
    values = finite("differences", differences)
    if values.ndim != 1:
        raise PrframeError(f"`differences` must have one dimension; got shape {values.shape}.")
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
