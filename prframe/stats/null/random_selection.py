"""Moments of recall, precision, ranks and AP when every ranking is equally likely.

The quantities of Zhang & Su, *Statistical inference on recall, precision and average precision
under random selection*, FSKD 2012. Of n items n_pos are positive; L_i is the rank of the i-th
positive from the top, with ``P(L_i = k) = C(n - k, n_pos - i) C(k - 1, i - 1) / C(n, n_pos)``.
Their eqs (6) and (7) divide by ``C(n - 1, n_pos - 1)`` and ``C(n - 2, n_pos - 2)`` instead, which
leaves no distribution; the moments of the L_i here are those of the corrected one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, zeta

from prframe.stats._arrays import group_sizes, within
from prframe.typing import Floats


class Moments(NamedTuple):
    """Mean and variance; arrays of one shape."""

    mean: Floats
    variance: Floats


def recall_null_moments(n: ArrayLike, n_pos: ArrayLike, k: ArrayLike) -> Moments:
    """Return mean and variance of recall at rank k when every ranking is equally likely.

    The mean is ``k / n``, the variance ``k (n - n_pos) (n - k) / (n_pos n^2 (n - 1))``.

    Parameters
    ----------
    n, n_pos, k : array_like of int
        Items (>= 1), positives among them (1..n), rank (1..n); broadcast.

    Returns
    -------
    Moments

    References
    ----------
    Zhang & Su 2012, eqs (3) and (4).

    Examples
    --------
    >>> moments = recall_null_moments([1000, 2000], [100, 500], [100, 500])
    >>> moments.mean
    array([0.1 , 0.25])
    >>> moments.variance.round(8)
    array([0.00081081, 0.00028139])
    """
    hits, _, n_pos, _ = _hits(n, n_pos, k)
    return Moments(hits.mean / n_pos, hits.variance / n_pos**2)


def precision_null_moments(n: ArrayLike, n_pos: ArrayLike, k: ArrayLike) -> Moments:
    """Return mean and variance of precision at rank k when every ranking is equally likely.

    The mean is ``n_pos / n``, the variance ``n_pos (n - n_pos) (n - k) / (k n^2 (n - 1))``.

    Parameters
    ----------
    n, n_pos, k : array_like of int
        Items (>= 1), positives among them (1..n), rank (1..n); broadcast.

    Returns
    -------
    Moments

    References
    ----------
    Zhang & Su 2012, eqs (3) and (4).

    Examples
    --------
    >>> moments = precision_null_moments(1000, 100, [10, 100])
    >>> moments.mean
    array([0.1, 0.1])
    >>> moments.variance.round(8)
    array([0.00891892, 0.00081081])
    """
    hits, _, _, k = _hits(n, n_pos, k)
    return Moments(hits.mean / k, hits.variance / k**2)


def _hits(n: ArrayLike, n_pos: ArrayLike, k: ArrayLike) -> tuple[Moments, Floats, Floats, Floats]:
    """Return the moments of the number of hits, and n, n_pos and k of the same shape."""
    n, n_pos = group_sizes(n, n_pos)
    n, k = within("k", k, "n", n)
    n, n_pos = np.broadcast_arrays(n, n_pos)
    p = n_pos / n
    # The variance of a single item is 0, so that any divisor but 0 serves.
    variance = k * p * (1 - p) * ((n - k) / np.maximum(n - 1, 1))
    return Moments(k * p, variance), n, n_pos, k


def hit_rank_moments(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike) -> Moments:
    """Return mean and variance of the rank of the i-th positive.

    The mean is ``i (n + 1) / (n_pos + 1)``, the variance
    ``i (n + 1) (n - n_pos) (n_pos + 1 - i) / ((n_pos + 1)^2 (n_pos + 2))``.

    Parameters
    ----------
    n, n_pos, i : array_like of int
        Items (>= 1), positives among them (1..n), which of these from the top (1..n_pos);
        broadcast.

    Returns
    -------
    Moments

    See Also
    --------
    hit_rank_covariance : Covariance of two such ranks.

    Notes
    -----
    These replace eqs (8) and (9) of Zhang & Su 2012, which follow from a wrong normaliser in their
    eq. (6) and give ``i n / n_pos`` for the mean.

    References
    ----------
    Zhang & Su 2012, eq. (8), corrected.

    Examples
    --------
    Of three items two are positive: their ranks are (1, 2), (1, 3) or (2, 3).

    >>> moments = hit_rank_moments(3, 2, [1, 2])
    >>> moments.mean.round(4)
    array([1.3333, 2.6667])
    >>> moments.variance.round(4)
    array([0.2222, 0.2222])
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    return Moments(i * ((n + 1) / (n_pos + 1)), hit_rank_covariance(n, n_pos, i, i))


def hit_rank_covariance(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, j: ArrayLike) -> Floats:
    """Return the covariance of the ranks of the i-th and the j-th positive.

    It is ``i (n + 1) (n - n_pos) (n_pos + 1 - j) / ((n_pos + 1)^2 (n_pos + 2))`` for i <= j.

    Parameters
    ----------
    n, n_pos, i, j : array_like of int
        Items (>= 1), positives among them (1..n), which two of these from the top (1..n_pos);
        broadcast.

    Returns
    -------
    ndarray of float
        Of the common shape.

    Notes
    -----
    It replaces eq. (10) of Zhang & Su 2012; see `hit_rank_moments`.

    References
    ----------
    Zhang & Su 2012, eqs (9) and (10), corrected.

    Examples
    --------
    >>> hit_rank_covariance(3, 2, 1, 2).round(4)
    np.float64(0.1111)
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    n_pos, j = within("j", j, "n_pos", n_pos)
    first, last = np.minimum(i, j), np.maximum(i, j)
    return np.asarray(
        first * (n_pos + 1 - last) * ((n + 1) / (n_pos + 1) ** 2) * ((n - n_pos) / (n_pos + 2))
    )


def delta_moments(n: ArrayLike, n_pos: ArrayLike) -> Moments:
    """Return Zhang & Su's approximations to mean and variance of AP under random ranking.

    With ``c = (n + 1) / (n_pos + 1)`` and ``u_i = Var L_i / (E L_i)^2``, the mean is that of
    ``1 + u_i`` over i = 1..n_pos, divided by c; the variance is the sum of
    ``u_i (1 - u_i) + 2 (i - 1) u_i``, divided by ``(n_pos c)^2``.

    Parameters
    ----------
    n, n_pos : array_like of int
        Items (>= 1), positives among them (1..n); broadcast.

    Returns
    -------
    Moments

    See Also
    --------
    ap_null_moments : The exact moments, which cost as little.

    Notes
    -----
    These are eqs (11) to (13) of Zhang & Su 2012, which expand 1/L_i to second order around E L_i,
    with the moments of `hit_rank_moments` in place of their eqs (8) to (10). The first ranks vary
    too much for the expansion: for 100 positives among 1000 items the mean comes out 1.1 % too
    small and the variance 34 % too small. They are for comparison only.

    As ``u_i = w (n_pos + 1 - i) / i`` with ``w = (n - n_pos) / ((n + 1) (n_pos + 2))``, the sums
    over i and over pairs reduce to sums of 1/i and 1/i^2, which take constant time.

    References
    ----------
    Zhang & Su 2012, eqs (11), (12) and (13), corrected.

    Examples
    --------
    >>> moments = delta_moments([1000, 2000], [100, 500])
    >>> moments.mean.round(6)
    array([0.104669, 0.252546])
    >>> (1e6 * moments.variance).round(2)
    array([85.59, 92.48])
    """
    n, n_pos = group_sizes(n, n_pos)
    h, h2 = harmonic(n_pos)
    n_pos_plus_1 = n_pos + 1
    scale = n_pos * ((n + 1) / n_pos_plus_1)
    w = (n - n_pos) / ((n + 1) * (n_pos + 2))
    linear = n_pos * (n_pos + 2) - n_pos_plus_1 * h
    squares = n_pos_plus_1**2 * h2 - 2 * n_pos_plus_1 * h + n_pos
    mean = (n_pos + w * (n_pos_plus_1 * h - n_pos)) / scale
    return Moments(mean, w * (linear - w * squares) / scale**2)


def harmonic(n: Floats) -> tuple[Floats, Floats]:
    """Return the sums of 1/i and of 1/i^2 over i = 1..n."""
    return digamma(n + 1) + np.euler_gamma, zeta(2.0) - zeta(2.0, n + 1)
