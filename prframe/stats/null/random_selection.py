"""Recall, precision, ranks of positives and AP when every ranking is equally likely.

The quantities of Zhang & Su, *Statistical inference on recall, precision and average precision
under random selection*, FSKD 2012. Of n items n_pos are positive; L_i is the rank of the i-th
positive from the top, so that ``AP = (1 / n_pos) sum of i / L_i``. Their eqs (6) and (7) divide by
``C(n - 1, n_pos - 1)`` and ``C(n - 2, n_pos - 2)``; the right divisor is ``C(n, n_pos)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, zeta

from prframe.errors import PrframeError
from prframe.stats._arrays import group_sizes, together, within
from prframe.stats.null.hypergeometric import probability
from prframe.typing import Floats


class Moments(NamedTuple):
    """Mean and variance; arrays of one shape."""

    mean: Floats
    variance: Floats


def recall_null_moments(n: ArrayLike, n_pos: ArrayLike, k: ArrayLike) -> Moments:
    """Return mean and variance of recall at rank k when every ranking is equally likely.

    The mean is ``k / n``, the variance ``k (n - n_pos) (n - k) / (n_pos n^2 (n - 1))`` (Zhang & Su
    2012, eqs (3) and (4)), of n >= 1 items, n_pos in 1..n and k in 1..n: array_like of int.

    Examples
    --------
    >>> moments = recall_null_moments([1000, 2000], [100, 500], [100, 500])
    >>> moments.mean, moments.variance.round(8)
    (array([0.1 , 0.25]), array([0.00081081, 0.00028139]))
    """
    hits, _, n_pos, _ = _hits(n, n_pos, k)
    return Moments(hits.mean / n_pos, hits.variance / n_pos**2)


def precision_null_moments(n: ArrayLike, n_pos: ArrayLike, k: ArrayLike) -> Moments:
    """Return mean and variance of precision at rank k when every ranking is equally likely.

    The mean is ``n_pos / n``, the variance ``n_pos (n - n_pos) (n - k) / (k n^2 (n - 1))`` (Zhang
    & Su 2012, eqs (3) and (4)), of n >= 1 items, n_pos in 1..n and k in 1..n: array_like of int.

    Examples
    --------
    >>> moments = precision_null_moments(1000, 100, [10, 100])
    >>> moments.mean, moments.variance.round(8)
    (array([0.1, 0.1]), array([0.00891892, 0.00081081]))
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

    The mean is ``i (n + 1) / (n_pos + 1)``, where eq. (8) of Zhang & Su 2012 has ``i n / n_pos``;
    the variance is ``i (n + 1) (n - n_pos) (n_pos + 1 - i) / ((n_pos + 1)^2 (n_pos + 2))``, of
    n >= 1 items, n_pos in 1..n and i in 1..n_pos from the top: array_like of int.

    Examples
    --------
    >>> moments = hit_rank_moments(3, 2, [1, 2])
    >>> moments.mean.round(4), moments.variance.round(4)
    (array([1.3333, 2.6667]), array([0.2222, 0.2222]))
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    return Moments(i * ((n + 1) / (n_pos + 1)), hit_rank_covariance(n, n_pos, i, i))


def hit_rank_covariance(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, j: ArrayLike) -> Floats:
    """Return the covariance of the ranks of the i-th and the j-th positive.

    It is ``i (n + 1) (n - n_pos) (n_pos + 1 - j) / ((n_pos + 1)^2 (n_pos + 2))`` for i <= j (Zhang
    & Su 2012, eqs (9) and (10), corrected). Both i and j are in 1..n_pos, and all arguments are as
    in `hit_rank_moments`.

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
    ``u_i (1 - u_i) + 2 (i - 1) u_i``, divided by ``(n_pos c)^2`` (eqs (11) to (13) of Zhang & Su
    2012 with the moments of `hit_rank_moments`). They are for comparison only: for 100 positives
    among 1000 items the mean is 1.1 % too small and the variance 34 %. Both n >= 1 and n_pos in
    1..n are array_like of int.

    Examples
    --------
    >>> moments = delta_moments([1000, 2000], [100, 500])
    >>> moments.mean.round(6), (1e6 * moments.variance).round(2)
    (array([0.104669, 0.252546]), array([85.59, 92.48]))
    """
    n, n_pos = group_sizes(n, n_pos)
    # As u_i = w (n_pos + 1 - i) / i, the sums reduce to sums of 1/i and 1/i^2.
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


def hit_rank_pmf(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, k: ArrayLike) -> Floats:
    """Return the probability that the i-th positive has rank k.

    It is ``C(k - 1, i - 1) C(n - k, n_pos - i) / C(n, n_pos)`` (Zhang & Su 2012, eq. (6),
    corrected), the negative hypergeometric distribution, accurate to about 1e-10 for any n;
    arguments are as in `hit_rank_moments`, and k is in 1..n.

    Examples
    --------
    >>> hit_rank_pmf(3, 2, 1, [1, 2, 3]).round(4)
    array([0.6667, 0.3333, 0.    ])
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    n, k = within("k", k, "n", n)
    return _pmf(*together("`n`, `n_pos`, `i` and `k`", n, n_pos, i, k))


def hit_rank_joint_pmf(  # noqa: PLR0913, PLR0917
    n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, j: ArrayLike, s: ArrayLike, t: ArrayLike
) -> Floats:
    """Return the probability that the i-th positive has rank s and the j-th has rank t.

    It is ``C(s - 1, i - 1) C(t - s - 1, j - i - 1) C(n - t, n_pos - j) / C(n, n_pos)`` for i < j
    (Zhang & Su 2012, eq. (7), corrected). Arguments are as in `hit_rank_moments`, j in 1..n_pos,
    and s and t in 1..n. An i that is not below j raises a `PrframeError`.

    Examples
    --------
    >>> hit_rank_joint_pmf(4, 2, 1, 2, [1, 3, 2], [2, 4, 2]).round(4)
    array([0.1667, 0.1667, 0.    ])
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    n_pos, j = within("j", j, "n_pos", n_pos)
    n, s = within("s", s, "n", n)
    n, t = within("t", t, "n", n)
    names = "`n`, `n_pos`, `i`, `j`, `s` and `t`"
    n, n_pos, i, j, s, t = together(names, n, n_pos, i, j, s, t)
    if (wrong := i >= j).any():
        raise PrframeError(
            f"`i` must be below `j`; got i = {i[wrong][0]:.0f} with j = {j[wrong][0]:.0f}."
        )
    # Given the rank t, the j - 1 positives above it are a ranking of t - 1 items.
    possible = (s < t) & (j <= t)
    above, later = np.maximum(t - 1, 1), np.maximum(j - 1, 1)
    given = _pmf(above, np.minimum(later, above), i, np.minimum(s, above))
    return np.where(possible, _pmf(n, n_pos, j, t) * given, 0.0)


def _pmf(n: Floats, n_pos: Floats, i: Floats, k: Floats) -> Floats:
    """Return P(L_i = k) for checked arrays of one shape."""
    return np.asarray(i / k * probability(i, n, n_pos, k))


def reciprocal_hit_rank_moments(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike) -> Moments:
    """Return mean and variance of 1/L_i, the reciprocal of the rank of the i-th positive.

    Both are exact: the sums that Zhang & Su 2012 write below eq. (7), with the right distribution.
    Arguments are as in `hit_rank_moments`.

    Examples
    --------
    >>> moments = reciprocal_hit_rank_moments(3, 2, [1, 2])
    >>> moments.mean.round(4), moments.variance.round(4)
    (array([0.8333, 0.3889]), array([0.0556, 0.0062]))
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    return Moments(*_reciprocals(n, n_pos, i, i))


def reciprocal_hit_rank_covariance(
    n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, j: ArrayLike
) -> Floats:
    """Return the covariance of 1/L_i and 1/L_j, the reciprocals of the ranks of two positives.

    It follows exactly from Zhang & Su 2012, eq. (7), corrected. With m positives among N items,
    d = N - m and ``e_i(N) = E i/L_i - m/N``, the covariance c(N) for i <= j follows from that of
    N - 1 items, from ``e_i(m) = c(m) = 0`` on (arguments are as in `hit_rank_covariance`)::

        e_i(N) = d (e_i(N - 1) + m / (N (N - 1))) / (d + i),
        c(N) = (d c(N - 1) + e_i(N) (E_(N - 1) 1/L_j - 1/N)) / (d + j)

    Examples
    --------
    >>> reciprocal_hit_rank_covariance(3, 2, 1, 2).round(4)
    np.float64(0.0093)
    """
    n, n_pos = group_sizes(n, n_pos)
    n_pos, i = within("i", i, "n_pos", n_pos)
    n_pos, j = within("j", j, "n_pos", n_pos)
    n, n_pos, i, j = together("`n`, `n_pos`, `i` and `j`", n, n_pos, i, j)
    return _reciprocals(n, n_pos, np.minimum(i, j), np.maximum(i, j))[1]


def _reciprocals(n: Floats, n_pos: Floats, i: Floats, j: Floats) -> tuple[Floats, Floats]:
    """Return the mean of 1/L_i and its covariance with 1/L_j, where i <= j."""
    n, n_pos, i, j = together("`n`, `n_pos` and `i`", n, n_pos, i, j)
    e_i, e_j, c = np.zeros((3, *n.shape))
    for d in range(1, int((n - n_pos).max(initial=0.0)) + 1):
        left, total = d <= n - n_pos, n_pos + d
        pairs = total * (total - 1)
        difference = (e_j + ((n_pos - j) * total + j) / pairs) / j
        e_i = np.where(left, d / (d + i) * (e_i + n_pos / pairs), e_i)
        e_j = np.where(left, d / (d + j) * (e_j + n_pos / pairs), e_j)
        c = np.where(left, (d * c + e_i * difference) / (d + j), c)
    return np.asarray((e_i + n_pos / n) / i), c
