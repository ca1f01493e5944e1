"""The distribution of the ranks of the positives when every ranking is equally likely.

Of n items n_pos are positive; L_i is the rank of the i-th positive from the top. Zhang & Su,
*Statistical inference on recall, precision and average precision under random selection*, FSKD
2012, give the distributions of L_i, eq. (6), and of a pair, eq. (7), and from these the moments of
1/L_i, of which AP is made: ``AP = (1 / n_pos) sum of i / L_i``. Both equations count the rankings
that there are wrongly; here they are divided by ``C(n, n_pos)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import group_sizes, together, within
from prframe.stats.null.hypergeometric import probability
from prframe.stats.null.random_selection import Moments
from prframe.typing import Floats

# So many pairs take the steps of a recursion together, in arrays that stay in the cache.
_CHUNK = 4096


def hit_rank_pmf(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike, k: ArrayLike) -> Floats:
    """Return the probability that the i-th positive has rank k.

    It is ``P(L_i = k) = C(k - 1, i - 1) C(n - k, n_pos - i) / C(n, n_pos)``.

    Parameters
    ----------
    n, n_pos, i, k : array_like of int
        Items (>= 1), positives among them (1..n), which of these from the top (1..n_pos), and its
        rank (1..n); broadcast.

    Returns
    -------
    ndarray of float in [0, 1]
        Of the common shape; 0 at ranks that the positive cannot have.

    See Also
    --------
    hit_rank_moments : Mean and variance of this rank.
    hit_rank_joint_pmf : The distribution of two of these ranks.

    Notes
    -----
    Zhang & Su 2012 print eq. (6) with ``C(n - 1, n_pos - 1)`` below, so that the probabilities add
    up to ``n / n_pos``. It is the negative hypergeometric distribution, and computed as i/k times
    the probability of i hits among the first k, accurate to about 1e-10 for any n. The
    probability of ``L_i <= k`` is that of at least i hits among the first k: a p-value of
    `hypergeometric_topk`.

    References
    ----------
    Zhang & Su 2012, eq. (6), corrected.

    Examples
    --------
    Of three items two are positive: their ranks are (1, 2), (1, 3) or (2, 3).

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

    It is ``C(s - 1, i - 1) C(t - s - 1, j - i - 1) C(n - t, n_pos - j) / C(n, n_pos)`` for i < j.

    Parameters
    ----------
    n, n_pos, i, j, s, t : array_like of int
        Items (>= 1), positives among them (1..n), which two of these from the top, i below j, and
        their ranks (1..n); broadcast.

    Returns
    -------
    ndarray of float in [0, 1]
        Of the common shape; 0 at ranks that the two cannot have.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or i that is not below j.

    See Also
    --------
    hit_rank_covariance : The covariance of the two ranks.

    Notes
    -----
    Zhang & Su 2012 print eq. (7) with ``C(n - 2, n_pos - 2)`` below. Given the rank t of the j-th
    positive, the j - 1 positives above it are a ranking of t - 1 items, so that the probability is
    a product of two of `hit_rank_pmf`.

    References
    ----------
    Zhang & Su 2012, eq. (7), corrected.

    Examples
    --------
    Of four items two are positive, and the six pairs of ranks are equally likely.

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
    possible = (s < t) & (j <= t)
    above, later = np.maximum(t - 1, 1), np.maximum(j - 1, 1)
    given = _pmf(above, np.minimum(later, above), i, np.minimum(s, above))
    return np.where(possible, _pmf(n, n_pos, j, t) * given, 0.0)


def _pmf(n: Floats, n_pos: Floats, i: Floats, k: Floats) -> Floats:
    """Return P(L_i = k) for checked arrays of one shape."""
    return np.asarray(i / k * probability(i, n, n_pos, k))


def reciprocal_hit_rank_moments(n: ArrayLike, n_pos: ArrayLike, i: ArrayLike) -> Moments:
    """Return mean and variance of 1/L_i, the reciprocal of the rank of the i-th positive.

    Both are exact; the mean of ``1 / L_i^2`` is ``variance + mean^2``.

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
    reciprocal_hit_rank_covariance : Covariances, and how all these are computed.
    delta_moments : Zhang & Su's approximations of these, put together to moments of AP.

    Notes
    -----
    These are the sums that Zhang & Su 2012 write below eq. (7), with the corrected distribution,
    and approximate in eq. (11) by an expansion of 1/L_i around E L_i.

    References
    ----------
    Zhang & Su 2012, the sums below eq. (7), corrected; eq. (5) is why AP is made of them.

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

    Parameters
    ----------
    n, n_pos, i, j : array_like of int
        Items (>= 1), positives among them (1..n), which two of these from the top (1..n_pos);
        broadcast.

    Returns
    -------
    ndarray of float
        Of the common shape.

    See Also
    --------
    ap_null_moments : The variance of AP, which these covariances add up to, in constant time.

    Notes
    -----
    It is the exact value of what Zhang & Su 2012 approximate below eq. (11). With m positives
    among N items and d = N - m, ``e_i(N) = E i/L_i - m/N`` and the covariance c(N) for i <= j
    follow from those of N - 1 items, in which terms are only added::

        e_i(N) = d (e_i(N - 1) + m / (N (N - 1))) / (d + i),
        c(N) = (d c(N - 1) + e_i(N) (E_(N - 1) 1/L_j - 1/N)) / (d + j),

    from ``e_i(m) = c(m) = 0`` on. The results are therefore exact to rounding, and the cost grows
    with the number of pairs times ``n - n_pos``.

    References
    ----------
    Zhang & Su 2012, the sums below eq. (7), corrected.

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
    flat = [values.ravel() for values in (n - n_pos, n_pos, i, j)]
    # Rankings with many negatives come first, so that those not yet complete are a slice.
    order = np.argsort(-flat[0], kind="stable")
    mean, covariance = np.empty((2, n.size))
    for start in range(0, n.size, _CHUNK):
        chunk = order[start : start + _CHUNK]
        mean[chunk], covariance[chunk] = _by_recursion(*(values[chunk] for values in flat))
    return mean.reshape(n.shape), covariance.reshape(n.shape)


def _by_recursion(negatives: Floats, m: Floats, i: Floats, j: Floats) -> tuple[Floats, Floats]:
    """Return what `_reciprocals` does, for numbers of negatives in descending order."""
    # The names of the recursion: e_i, e_j and c.
    e_i, e_j, c = np.zeros((3, m.size))
    for d in range(1, int(negatives[0]) + 1):
        open_ = slice(np.searchsorted(-negatives, -d, side="right"))
        positives, first, last = m[open_], i[open_], j[open_]
        total = positives + d
        pairs = total * (total - 1)
        growth = positives / pairs
        difference = (e_j[open_] + ((positives - last) * total + last) / pairs) / last
        e_i[open_] = d / (d + first) * (e_i[open_] + growth)
        e_j[open_] = d / (d + last) * (e_j[open_] + growth)
        c[open_] = (d * c[open_] + e_i[open_] * difference) / (d + last)
    return (e_i + m / (m + negatives)) / i, c
