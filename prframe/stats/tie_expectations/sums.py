"""Precision, discounts and areas of a block of tied items, averaged over all orders of the block.

A block holds the positions ``start + 1 .. start + size``, `hits` of its items are relevant, and
`above` relevant ones rank above it. Given that a relevant item is at the block's j-th position,
the mean precision there is ``(above + 1 + (j - 1)(hits - 1)/(size - 1)) / (start + j)`` (McSherry
& Najork, ECIR 2008, section 3). Its sum over j is elementary except for harmonic numbers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.typing import Floats, Integers

# Up to here discounts are added up one by one.
_TABLE = 1 << 16
# Up to this position the terms 1/i are added up; beyond, an expansion is exact to the last digit.
_HARMONIC = 64
# The terms of blocks up to this size are added up one by one.
_SHORT = 16
# The number of terms of the series of x - log1p(x) for x <= 1.
_TERMS = 17


def expected_precision(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, above: ArrayLike, depth: ArrayLike
) -> Floats:
    """Return the mean of ``precision(start + j)`` if j <= depth, else 0, at a relevant item."""
    start, size, hits, above, depth = _integers(start, size, hits, above, depth)
    return _precision_sum(start, depth, _floats(above + 1), _slope(hits, size)) / _floats(size)


def expected_precision_before(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, above: ArrayLike
) -> Floats:
    """Return the mean precision one position above a relevant item; 1 above the first of all."""
    start, size, hits, above = _integers(start, size, hits, above)
    slope = _slope(hits, size)
    first = np.where(start > 0, above / np.maximum(start, 1), 1.0)
    rest = _precision_sum(start, size - 1, _floats(above + slope), slope)
    return _floats((first + rest) / size)


def mean_shortfall(start: Floats, end: Floats, reach: Floats) -> Floats:
    """Return the mean of ``max(0, reach - x)`` over x from start to end."""
    left, right = np.maximum(reach - start, 0.0), np.maximum(reach - end, 0.0)
    # The share of the stretch that lies below the reach is 1 without rounding if all of it does.
    width = end - start
    share = np.where(end <= reach, 1.0, _ratio(np.minimum(left, width), width))
    return np.asarray((left + right) / 2 * share)


def gain_area(  # noqa: PLR0913, PLR0917
    tp_start: Floats,
    tp_end: Floats,
    fp_start: Floats,
    fp_end: Floats,
    n_pos: Floats,
    n_neg: Floats,
) -> Floats:
    """Return the area under the precision-recall-gain curve that tie blocks contribute."""
    odds = _ratio(n_pos, n_neg)
    # Recall gain is 0 where recall is the share of positives.
    first = np.maximum(tp_start, _ratio(n_pos**2, n_pos + n_neg))
    share = _ratio(first - tp_start, tp_end - tp_start)
    fp_first = fp_start + (fp_end - fp_start) * share
    heights = 2 - odds * (_ratio(fp_first, first) + _ratio(fp_end, tp_end))
    width = odds * n_pos * (_ratio(np.asarray(1.0), first) - _ratio(np.asarray(1.0), tp_end))
    return np.where(first < tp_end, heights / 2 * width, 0.0)


def discount_sums(size: int) -> Floats:
    """Return sums of DCG's discounts, ``sum(1 / log2(i + 1) for i in 1..k)`` for k = 0..size."""
    positions = np.arange(1, size + 1, dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(positions + 1))])


def discount_sum(k: ArrayLike) -> Floats:
    """Return `discount_sums` at each k, in constant time for large ones, to 2e-14 of the result.

    Beyond 2^16 the Euler-Maclaurin formula is taken, where the integral of ``ln 2 / ln x`` is
    ``ln 2 li(x)``.
    """
    k = np.asarray(k, dtype=np.int64)
    table = discount_sums(min(int(k.max(initial=0)), _TABLE))
    sums = np.array(table[np.minimum(k, table.size - 1)])
    far = k > _TABLE
    if far.any():
        low, high = np.array([_TABLE + 1.0]), (k[far] + 1).astype(np.float64)
        sums[far] += np.log(2) * (_tail(high) - _tail(low))
    return np.asarray(sums)


def interpolated_discount_sum(rank: ArrayLike) -> Floats:
    """Return `discount_sum` at ranks that may lie between whole ones, interpolated linearly."""
    rank = np.asarray(rank, dtype=np.float64)
    largest = int(np.ceil(rank.max(initial=0)))
    if largest <= _TABLE:
        return np.asarray(np.interp(rank, np.arange(largest + 1), discount_sums(largest)))
    below = np.floor(rank)
    return np.asarray(discount_sum(below) + (rank - below) / np.log2(below + 2))


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
    table = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _HARMONIC + 1))])
    near = np.clip(_HARMONIC - start, 0, count)
    low = np.minimum(start, _HARMONIC)
    reciprocals = table[low + near] - table[low]
    steps = near - (start + 1) * reciprocals * (near > 0)
    far_reciprocals, far_steps = _far_sums(np.maximum(start, _HARMONIC), count - near)
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
    """Return x - log(1 + x) for 0 <= x <= 1, by log1p(x) = 2 artanh(u)."""
    u = x / (2 + x)
    square = u * u
    tail = np.zeros_like(x)
    for term in range(_TERMS, 0, -1):
        tail = (tail + 1 / (2 * term + 1)) * square
    return np.asarray(x * u - 2 * u * tail)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide, and return 0 where the divisor is 0."""
    return np.asarray(top / np.where(bottom == 0, np.inf, bottom))


def _tail(x: Floats) -> Floats:
    """Return the antiderivative of 1 / ln x with its Euler-Maclaurin corrections."""
    # SciPy is imported here, because importing it takes longer than most evaluations.
    from scipy.special import expi  # noqa: PLC0415

    log = np.log(x)
    slope = -1 / (x * log**2)
    return np.asarray(expi(log) + 1 / (2 * log) + slope / 12)
