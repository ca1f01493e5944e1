"""Mean precision at the hits of a block of tied items, over all orders of the block.

A block holds the positions ``start + 1 .. start + size``, ``hits`` of its items are relevant, and
``above`` relevant ones rank above it. Given that a relevant item stands at the block's j-th
position, the j - 1 before it hold (j - 1)(hits - 1)/(size - 1) relevant items on average, so its
mean precision is ``(above + 1 + (j - 1)(hits - 1)/(size - 1)) / (start + j)``
(McSherry & Najork 2008, section 3). Its sum over j is elementary except for harmonic numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.typing import Floats, Integers

# Up to this position the terms 1/i are added up; beyond, an expansion is exact to the last digit.
_TABLE = 64
# The terms of blocks up to this size are added up one by one.
_SHORT = 16
# The number of terms of the series of x - log1p(x) for x <= 1.
_TERMS = 17


def expected_precision(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, above: ArrayLike, depth: ArrayLike
) -> Floats:
    """Return the mean contribution of one relevant item of a tied block to ``n_pos * AP``.

    It is ``sum over j <= depth of P(it stands at j) * precision(start + j)``, with
    ``P(it stands at j) = 1 / size``.

    Parameters
    ----------
    start, size, hits, above, depth : array_like of int, shape (n_blocks,)
        Items above the block (>= 0), its size (>= 1), relevant items in it (1..size) and above it
        (0..start), and how many of its positions count (0..size).

    Returns
    -------
    ndarray of float in [0, 1], shape (n_blocks,)

    Notes
    -----
    The time per block is constant.

    References
    ----------
    McSherry & Najork, *Computing information retrieval performance measures efficiently in the
    presence of tied scores*, ECIR 2008, section 3.

    Examples
    --------
    One relevant item among two tied at the top: (1 + 1/2) / 2.

    >>> expected_precision([0], [2], [1], [0], [2])
    array([0.75])
    """
    start, size, hits, above, depth = _integers(start, size, hits, above, depth)
    return _precision_sum(start, depth, _floats(above + 1), _slope(hits, size)) / _floats(size)


def expected_precision_before(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, above: ArrayLike
) -> Floats:
    """Return the mean precision one position above a relevant item of a tied block.

    It is like `expected_precision`, for the precision at ``start + j - 1``; at the opening point,
    above the first item of all, precision is 1. The trapezoid area needs it.

    Parameters
    ----------
    start, size, hits, above : array_like of int, shape (n_blocks,)
        As in `expected_precision`.

    Returns
    -------
    ndarray of float in [0, 1], shape (n_blocks,)

    References
    ----------
    McSherry & Najork, *Computing information retrieval performance measures efficiently in the
    presence of tied scores*, ECIR 2008, section 3.

    Examples
    --------
    One relevant item among two tied at the top: (1 + 0) / 2.

    >>> expected_precision_before([0], [2], [1], [0])
    array([0.5])
    """
    start, size, hits, above = _integers(start, size, hits, above)
    slope = _slope(hits, size)
    first = np.where(start > 0, above / np.maximum(start, 1), 1.0)
    rest = _precision_sum(start, size - 1, _floats(above + slope), slope)
    return _floats((first + rest) / size)


def _integers(*values: ArrayLike) -> list[Integers]:
    return [np.asarray(value, dtype=np.int64) for value in values]


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _slope(hits: Integers, size: Integers) -> Floats:
    """Return how many relevant items each further position adds on average."""
    return _floats((hits - 1) / np.maximum(size - 1, 1))


def _precision_sum(start: Integers, count: Integers, first: Floats, slope: Floats) -> Floats:
    """Return ``sum((first + slope (j - 1)) / (start + j) for j in 1..count)``."""
    total = np.zeros(start.size)
    for j in range(1, min(int(count.max(initial=0)), _SHORT) + 1):
        total += np.where(j <= count, (first + slope * (j - 1)) / (start + j), 0.0)
    long = count > _SHORT
    if long.any():
        reciprocals, steps = _harmonic_sums(start[long], count[long])
        total[long] = first[long] * reciprocals + slope[long] * steps
    return total


def _harmonic_sums(start: Integers, count: Integers) -> tuple[Floats, Floats]:
    """Return the sums of 1/(start + j) and of (j - 1)/(start + j) over j = 1..count."""
    table = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _TABLE + 1))])
    near = np.clip(_TABLE - start, 0, count)
    low = np.minimum(start, _TABLE)
    reciprocals = table[low + near] - table[low]
    steps = near - (start + 1) * reciprocals * (near > 0)
    far_reciprocals, far_steps = _far_sums(np.maximum(start, _TABLE), count - near)
    return reciprocals + far_reciprocals, steps + far_steps + near * far_reciprocals


def _far_sums(start: Integers, count: Integers) -> tuple[Floats, Floats]:
    """Return both sums by the expansion of the digamma function about half-integers."""
    a = _floats(start + 0.5)
    x = count / a
    log = np.log1p(x)
    rest = _remainder(a + count) - _remainder(a)
    # The difference a x - a log1p(x) loses its digits where x is small.
    steps = a * np.where(x <= 1, _x_minus_log1p(x), x - log) - log / 2 - (a + 0.5) * rest
    return log + rest, steps


def _remainder(x: Floats) -> Floats:
    """Return digamma(x + 1/2) - log(x) for large x."""
    square = 1 / (x * x)
    return np.asarray(square * (1 / 24 - square * (7 / 960 - square * (31 / 8064))))


def _x_minus_log1p(x: Floats) -> Floats:
    """Return x - log(1 + x) for 0 <= x <= 1 to full precision, by log1p(x) = 2 artanh(u)."""
    u = x / (2 + x)
    square = u * u
    tail = np.zeros_like(x)
    for term in range(_TERMS, 0, -1):
        tail = (tail + 1 / (2 * term + 1)) * square
    return np.asarray(x * u - 2 * u * tail)
