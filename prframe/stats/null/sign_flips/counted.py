"""Sums of few numbers with random signs, counted for many sums at once."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import comb

from prframe.stats._batches import batches
from prframe.stats._p_values import check_alternative
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.sign_flips.units import (
    multiples_of_units,
    place_of_sum,
    without_single_precision,
)
from prframe.typing import Alternative, Floats, Integers

# All sums of up to so many numbers are counted unless told otherwise.
QUICK = 32
# Of rows, so many are taken together at least, and those with at most so many different sums.
_TOGETHER, _DIFFERENT = 8, 1 << 20
# So many sums of halves are held at a time.
_HELD = 1 << 18


@dataclass(frozen=True, eq=False)
class CountedSums:
    """The sums of each half of the numbers of each row under all signs, rising.

    Equal numbers are one number with a binomial number of plus signs, so that a half has as many
    sums as there are numbers of plus signs, each of which occurs so often.

    Examples
    --------
    >>> sums = CountedSums.of(np.array([[1.0, 2.0]]), np.array([2, 1]))
    >>> sums.at_least(np.array([2.0])), sums.at_least(np.array([4.0]))
    (array([0.375]), array([0.125]))
    """

    left: Floats
    right: Floats
    left_number: Floats | None = None
    right_above: Floats | None = None

    @classmethod
    def of(cls, values: Floats, multiplicity: Integers) -> "CountedSums":
        """Count the sums of rows of values, each of which comes so many times."""
        parts = [slice(0, None, 2), slice(1, None, 2)]
        left, right = (_sums(values[:, part], multiplicity[part]) for part in parts)
        if (multiplicity == 1).all():
            return cls(np.sort(left, axis=1), np.sort(right, axis=1))
        (left, left_number), (right, right_number) = (
            _rising(sums, multiplicity[part])
            for sums, part in zip((left, right), parts, strict=True)
        )
        above = np.zeros((len(values), right.shape[1] + 1))
        above[:, :-1] = np.cumsum(right_number[:, ::-1], axis=1)[:, ::-1]
        return cls(left, right, left_number, above)

    def at_least(self, limits: Floats) -> Floats:
        """Return P(S >= x) for a number x per row."""
        # Rising queries are quicker, because neighbouring places are in the cache.
        asked = limits[:, None] - self.left[:, ::-1]
        searched = zip(self.right, asked, strict=True)
        below = np.array([np.searchsorted(rising, queries) for rising, queries in searched])
        if self.left_number is None or self.right_above is None:
            size = self.right.shape[1]
            return np.asarray((size - below).mean(axis=1) / size)
        above = np.take_along_axis(self.right_above, below, axis=1)
        ways = (self.left_number[:, ::-1] * above).sum(axis=1)
        every = self.right_above[:, 0] * self.left_number.sum(axis=1)
        # Sums of large numbers of ways are rounded.
        return np.asarray(np.minimum(ways / every, 1.0))


def _sums(values: Floats, multiplicity: Integers) -> Floats:
    """Return the different sums of rows of values under all signs."""
    sums = np.zeros((len(values), 1))
    for column, times in zip(values.T[:, :, None], multiplicity.tolist(), strict=True):
        steps = range(-times, times + 1, 2)
        sums = np.concatenate([sums + step * column for step in steps], axis=1)
    return sums


def _rising(sums: Floats, multiplicity: Integers) -> tuple[Floats, Floats]:
    """Return sums of rows of values, rising, and how often each occurs."""
    number = np.ones(1)
    for times in multiplicity.tolist():
        number = np.outer(_ways(times), number).ravel()
    order = np.argsort(sums, axis=1)
    return np.take_along_axis(sums, order, axis=1), number[order]


@cache
def _ways(number: int) -> Floats:
    """Return in how many ways some of a number of signs are plus signs."""
    return np.asarray(comb(number, np.arange(number + 1)), dtype=np.float64)


def distinct_values(rising: Floats, slack: Floats) -> Iterator[tuple[Integers, Floats, Integers]]:
    """Yield rows of rising numbers whose numbers of equal values are the same, some at a time.

    Parameters
    ----------
    rising : ndarray, shape (n_rows, n_numbers)
    slack : ndarray, shape (n_rows,)
        How far the sum of a row may move if numbers are taken as equal.

    Yields
    ------
    rows : ndarray of int
    values : ndarray, shape (n_rows, n_values)
        The different values of each of these rows.
    multiplicity : ndarray of int, shape (n_values,)
        How often each occurs, falling.
    """
    n_rows, n = rising.shape
    # A value differs from the mean of its chain of neighbours by less than n such gaps.
    is_new = np.diff(rising, axis=1, prepend=-np.inf) > slack[:, None] / (2 * max(n, 1) ** 2)
    if is_new.all():
        yield np.arange(n_rows), rising, np.ones(n, dtype=np.int64)
        return
    place = (np.arange(n_rows)[:, None] * n + np.cumsum(is_new, axis=1) - 1).ravel()
    times = np.bincount(place, minlength=n_rows * n).reshape(n_rows, n)
    total = np.bincount(place, rising.ravel(), minlength=n_rows * n).reshape(n_rows, n)
    order = np.argsort(-times, axis=1, kind="stable")
    times, total = (np.take_along_axis(x, order, axis=1) for x in (times, total))
    # Rows of small numbers sort fast as strings, which end before the zeros.
    _, first, kind = np.unique(
        times.astype(np.uint8).view(f"S{n}")[:, 0], return_index=True, return_inverse=True
    )
    by_kind = np.split(np.argsort(kind, kind="stable"), np.cumsum(np.bincount(kind))[:-1])
    for row, rows in zip(first, by_kind, strict=True):
        number = times[row][times[row] > 0]
        yield rows, total[rows, : number.size] / number, number


def counted_p_values(numbers: Floats, alternative: Alternative) -> Floats:
    """Return the p-values of sums of few numbers, under all signs.

    Parameters
    ----------
    numbers : ndarray, shape (n_numbers, n_sums)
        A column per sum, its numbers with their observed signs; zeros have no effect.
    alternative : {"greater", "less", "two-sided"}

    Returns
    -------
    ndarray, shape (n_sums,)
        As `SignFlipNull.p_value` has them; NaN where there are more than 32 numbers or more than
        2^20 different sums, and where few sums have as many numbers, so that nothing is shared.

    Examples
    --------
    >>> counted_p_values(np.tile([[1.0], [2.0], [4.0]], 8), "two-sided")[:2]
    array([0.25, 0.25])
    """
    check_alternative(alternative)
    size = np.count_nonzero(numbers, axis=0)
    p_values = np.where(size == 0, 1.0, np.full(size.size, np.nan))
    alike = np.bincount(size, minlength=1)[1 : QUICK + 1]
    for n in (np.flatnonzero(alike >= _TOGETHER) + 1).tolist():
        columns = np.flatnonzero(size == n)
        by_sum = numbers[:, columns].T
        p_values[columns] = _p_values(by_sum[by_sum != 0].reshape(-1, n), alternative)
    return p_values


def _p_values(numbers: Floats, alternative: Alternative) -> Floats:
    """Return the p-values of rows of numbers, of which none is 0."""
    order = np.argsort(np.abs(numbers), axis=1, kind="stable")
    signed = np.take_along_axis(numbers, order, axis=1)
    sizes = without_single_precision(np.abs(signed))
    total, slack = (np.sign(signed) * sizes).sum(axis=1), EQUAL * sizes.sum(axis=1)
    if alternative == "two-sided":
        p_values = np.minimum(1.0, 2 * _at_least(sizes, np.abs(total), slack))
        return np.where(np.abs(total) <= slack, 1.0, p_values)
    return _at_least(sizes, total if alternative == "greater" else -total, slack)


def _at_least(sizes: Floats, total: Floats, slack: Floats) -> Floats:
    """Return the probabilities that rows of rising sizes with random signs reach so far."""
    sizes, limits, slack = _in_units(sizes, total, slack)
    chances = np.full(total.size, np.nan)
    for rows, values, multiplicity in distinct_values(sizes, slack):
        different = np.prod(multiplicity + 1.0)
        if different > _DIFFERENT:
            continue
        for part in batches(rows.size, int(np.sqrt(different)), _HELD):
            sums = CountedSums.of(values[part], multiplicity)
            chances[rows[part]] = sums.at_least(limits[rows[part]])
    return chances


def _in_units(sizes: Floats, total: Floats, slack: Floats) -> tuple[Floats, Floats, Floats]:
    """Return numbers, limits of their sums and slacks, in the units of the rows that have one."""
    places, has_unit = multiples_of_units(sizes)
    unit = sizes.sum(axis=1) / places.sum(axis=1)
    limits = np.where(has_unit, place_of_sum(total, slack, unit) - 0.5, total - slack)
    return (
        np.where(has_unit[:, None], places, sizes),
        limits,
        np.where(has_unit, EQUAL * places.sum(axis=1), slack),
    )
