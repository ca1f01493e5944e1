"""Expectations over the orders within a block of tied items, in closed form.

A block holds the positions ``start + 1 .. start + size``; `hits` of its items are relevant and
every order of the block is equally likely. The position J of the first relevant item within the
block then has ``P(J > j) = C(size - j, hits) / C(size, hits)``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from prframe.typing import Floats, Integers

# The number of terms that are summed at a time, which bounds the memory for any block sizes.
_CHUNK = 1 << 20
# A tail whose probability is below this cannot move a float64 result.
_NEGLIGIBLE = 1e-18
# Up to here discounts are added up one by one.
_TABLE = 1 << 16


def discount_sums(size: int) -> Floats:
    """Return the running sums of the DCG discounts.

    The sum up to k is ``sum(1 / log2(i + 1) for i in 1..k)``, as in Järvelin & Kekäläinen 2002.

    Parameters
    ----------
    size : int
        The largest k, >= 0.

    Returns
    -------
    ndarray of float, shape (size + 1,)

    References
    ----------
    Järvelin & Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, ACM Transactions
    on Information Systems 2002.

    Examples
    --------
    >>> discount_sums(3).round(4)
    array([0.    , 1.    , 1.6309, 2.1309])
    """
    positions = np.arange(1, size + 1, dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(positions + 1))])


def discount_sum(k: ArrayLike) -> Floats:
    """Return ``D(k) = sum(1 / log2(i + 1) for i in 1..k)`` in constant time for large k.

    Parameters
    ----------
    k : array_like of int, shape (n,)
        Cut-offs, >= 0.

    Returns
    -------
    ndarray of float, shape (n,)

    Notes
    -----
    Up to 2^16 the sums come from a table. Beyond, they are computed by the Euler-Maclaurin formula
    for ``f(x) = ln 2 / ln x``, whose integral is ``ln 2 li(x)``, li being the logarithmic
    integral. The error is below 2e-14 of the result, that of adding up the table.

    References
    ----------
    Järvelin & Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, ACM Transactions
    on Information Systems 2002.

    Examples
    --------
    >>> discount_sum([1, 3, 10**12]).round(4).tolist()
    [1.0, 2.1309, 26067844703.6475]
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
    """Return D at ranks that may lie between whole ones, on straight lines from one to the next.

    Examples
    --------
    >>> interpolated_discount_sum([1.0, 1.5]).round(4)
    array([1.    , 1.3155])
    """
    rank = np.asarray(rank, dtype=np.float64)
    largest = int(np.ceil(rank.max(initial=0)))
    if largest <= _TABLE:
        return np.asarray(np.interp(rank, np.arange(largest + 1), discount_sums(largest)))
    below = np.floor(rank)
    return np.asarray(discount_sum(below) + (rank - below) / np.log2(below + 2))


def _tail(x: Floats) -> Floats:
    """Return the antiderivative of 1 / ln x with its Euler-Maclaurin corrections."""
    # SciPy is imported here, because importing it takes longer than most evaluations.
    from scipy.special import expi  # noqa: PLC0415

    log = np.log(x)
    slope = -1 / (x * log**2)
    return np.asarray(expi(log) + 1 / (2 * log) + slope / 12)


def hit_probability(size: ArrayLike, hits: ArrayLike, depth: ArrayLike) -> Floats:
    """Return the probability that the first `depth` items of a tied block hold a relevant one.

    It is ``1 - C(size - depth, hits) / C(size, hits)``.

    Parameters
    ----------
    size, hits, depth : array_like of int, shape (n_blocks,)
        Block sizes (>= 1), relevant items in them (1..size), and depths (0..size).

    Returns
    -------
    ndarray of float in [0, 1], shape (n_blocks,)

    Notes
    -----
    Depth and hits may be exchanged, which is done in blocks of a million items: the sum then has
    as many terms as the smaller of them, and at most about ``sqrt(40 size)``.

    References
    ----------
    McSherry & Najork, *Computing information retrieval performance measures efficiently in the
    presence of tied scores*, ECIR 2008, section 3.

    Examples
    --------
    >>> hit_probability([4], [1], [2])
    array([0.5])
    """
    size, hits, depth = (np.asarray(value, dtype=np.int64) for value in (size, hits, depth))
    exchanged = (size >= _CHUNK) & (depth > hits)
    hits, depth = np.where(exchanged, depth, hits), np.where(exchanged, hits, depth)
    return _first_hit_sum(np.zeros_like(size), size, hits, depth, power=0)


def expected_reciprocal_rank(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, depth: ArrayLike
) -> Floats:
    """Return the mean of 1/rank of the first relevant item of a tied block.

    ``sum over j <= depth of P(J = j) / (start + j)``; ranks beyond ``start + depth`` earn 0.

    Parameters
    ----------
    start, size, hits, depth : array_like of int, shape (n_blocks,)
        Items above the block (>= 0), its size (>= 1), relevant items in it (1..size),
        and how many of its positions count (0..size).

    Returns
    -------
    ndarray of float in [0, 1], shape (n_blocks,)

    Notes
    -----
    Terms are summed until the rest is negligible, which takes about ``40 size / hits`` terms. All
    terms of a block of a million items at the top, of which fewer than half are relevant, are
    ``hits / (size - hits + 1) (1 / hits + ... + 1 / size)``.

    References
    ----------
    McSherry & Najork, *Computing information retrieval performance measures efficiently in the
    presence of tied scores*, ECIR 2008, section 3.

    Examples
    --------
    One relevant item among two tied at the top: (1 + 1/2) / 2.

    >>> expected_reciprocal_rank([0], [2], [1], [2])
    array([0.75])
    """
    start, size, hits, depth = (
        np.asarray(value, dtype=np.int64) for value in (start, size, hits, depth)
    )
    others = size - hits
    closed = (start == 0) & (depth > others) & (others > hits) & (size >= _CHUNK)
    total = _first_hit_sum(start, size, hits, np.where(closed, 0, depth), power=1)
    if closed.any():
        # SciPy is imported here, because importing it takes longer than most evaluations.
        from scipy.special import psi  # noqa: PLC0415

        harmonic = psi(size[closed] + 1.0) - psi(hits[closed].astype(np.float64))
        total[closed] = hits[closed] / (others[closed] + 1) * harmonic
    return total


def _first_hit_sum(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, depth: ArrayLike, power: int
) -> Floats:
    """Return the sum over j <= depth of P(J = j) / (start + j)^power for each block."""
    start, size, hits, depth = (
        np.asarray(value, dtype=np.int64) for value in (start, size, hits, depth)
    )
    certain = size == hits
    total = np.where(certain & (depth > 0), 1 / (start + 1.0) ** power, 0.0)
    last = np.minimum(depth, size - hits + 1)
    for rows in _batches(np.flatnonzero(~certain & (last > 0)), last):
        total[rows] = _sum_terms(start[rows], size[rows], hits[rows], last[rows], power)
    return total


def _batches(rows: Integers, lengths: Integers) -> Iterator[Integers]:
    """Split the rows, shortest sums first, into batches of sums of similar length."""
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    for chunk in np.array_split(rows, np.arange(_CHUNK, rows.size, _CHUNK)):
        # Lengths are split at powers of 2, so that a batch wastes less than half of its terms.
        cuts = np.flatnonzero(np.diff(np.frexp(lengths[chunk])[1])) + 1
        yield from (part for part in np.split(chunk, cuts) if part.size)


def _sum_terms(
    start: Integers, size: Integers, hits: Integers, last: Integers, power: int
) -> Floats:
    """Sum P(J = j) / (start + j)^power for j = 1..last, some positions at a time.

    Numbers are multiplied and added one after the other, so that the other blocks, which decide
    how many positions are taken at a time, do not change a bit of the result.
    """
    total = np.zeros(start.size)
    survival = np.ones(start.size)
    alive = np.arange(start.size)
    done = 0
    while alive.size:
        width = max(1, min(_CHUNK // alive.size, int(last[alive].max()) - done))
        j = np.arange(done + 1, done + width + 1)
        # The hazard is P(J = j | J >= j): of the size - j + 1 items left, `hits` are relevant.
        left = np.maximum(size[alive, None] - j + 1, 1)
        hazard = np.minimum(hits[alive, None] / left, 1.0)
        reach = np.cumprod(np.column_stack([survival[alive], 1 - hazard]), axis=1)
        before = reach[:, :-1]
        value = before * hazard / (start[alive, None] + j) ** power
        counts = (j <= last[alive, None]) & (before > _NEGLIGIBLE)
        terms = np.column_stack([total[alive], np.where(counts, value, 0.0)])
        total[alive] = np.cumsum(terms, axis=1)[:, -1]
        survival[alive] = reach[:, -1]
        done += width
        alive = alive[(last[alive] > done) & (survival[alive] > _NEGLIGIBLE)]
    return total
