"""Moments of average precision under random ranking, in constant time.

With X_i = 1 where rank i holds a positive, ``n_pos * AP = X'GX / 2`` for a symmetric matrix G: a
pair of ranks earns 1/k, k being the end of the later one's tie block, and twice that within one
block. With p = n_pos/n and Y = X - p, the form splits into a constant, a linear form in Y and
Y'BY, where B is G with its row means removed. Variances and covariance of these need five sums
over G, which have closed forms in the harmonic numbers in which nothing large cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import counts, group_sizes
from prframe.stats.null.hypergeometric import plausible_hits, probability
from prframe.stats.null.random_selection import Moments, harmonic
from prframe.typing import Floats, Integers

# Below this many items the general formula divides by zero.
_FEW = 4


def ap_null_moments(n: ArrayLike, n_pos: ArrayLike, ties: Sequence[int] | None = None) -> Moments:
    """Return mean and variance of AP when every ranking is equally likely.

    The mean is ``p + (1 - p) (H_n - 1) / (n - 1)``, with ``p = n_pos / n`` and
    ``H_n = 1 + 1/2 + ... + 1/n``; the variance needs ``1 + 1/4 + ... + 1/n^2`` as well. Both are
    exact up to rounding, a few units of 1e-15 relative, in constant time.

    Parameters
    ----------
    n, n_pos : array_like of int
        Items, >= 1, and positives among them, 1..n.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n` (one number then). AP counts at
        the ends of blocks, as with ``ties="group"``.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or blocks that do not add up to n.

    References
    ----------
    Zhang & Su 2012, E(AP) and Var(AP), with the right normaliser of their eq. (6). Lopes &
    Bontempi 2014, whose ``null.params`` are sums over pairs.

    Examples
    --------
    >>> moments = ap_null_moments([1000, 2000], [100, 500])
    >>> moments.mean.round(6), (1e6 * moments.variance).round(2)
    (array([0.105843, 0.252693]), array([130.15,  98.93]))
    """
    n, n_pos = group_sizes(n, n_pos)
    if ties is None:
        return _moments(n, n_pos, _untied(n))
    sizes = tie_blocks(ties, n)
    if sizes.sum() < _FEW:
        moments = [_by_enumeration(sizes, int(positives)) for positives in n_pos.ravel()]
        mean, variance = np.array(moments).T.reshape(2, *n_pos.shape)
        return Moments(mean, variance)
    return _moments(n, n_pos, _tied(sizes))


def tie_blocks(ties: Sequence[int], n: ArrayLike) -> Floats:
    """Return the sizes of tie blocks, which must add up to n."""
    sizes = np.atleast_1d(counts("ties", ties))
    if sizes.ndim != 1 or (np.asarray(n) != sizes.sum()).any():
        raise PrframeError(
            f"`ties` must be the sizes of blocks that add up to n; they add up to "
            f"{sizes.sum():.0f}, and n is {np.ravel(n)[0]:.0f}."
        )
    return sizes


def retrieved_blocks(ties: Sequence[int], n: int, depth: int | None) -> Integers:
    """Return the sizes of tie blocks, which must add up to the items that are retrieved."""
    sizes = np.atleast_1d(counts("ties", ties))
    total = int(sizes.sum())
    if depth is None and sizes.ndim == 1 and total < n:
        raise PrframeError(
            f"`ties` must be the sizes of blocks that add up to n; they add up to {total}, and n "
            f"is {n}; if no more items are retrieved, give depth={total}."
        )
    if depth is None:
        return tie_blocks(ties, n).astype(np.int64)
    if sizes.ndim != 1 or total != depth:
        raise PrframeError(
            f"`ties` must be the sizes of blocks that add up to depth = {depth}; they add up to "
            f"{total}."
        )
    return sizes.astype(np.int64)


def retrieved_moments(
    n: int, n_pos: int, depth: int, ties: Sequence[int] | None = None
) -> Moments:
    """Return the moments if only `depth` of the items are retrieved and others earn nothing."""
    # Given h hits, n_pos AP is h times the AP of a ranking of the retrieved items.
    hits = plausible_hits(n, n_pos, depth)
    table = np.broadcast_arrays(hits.astype(np.float64), float(n), float(n_pos), float(depth))
    chance = probability(*table)
    chance, positive_hits = chance[hits > 0], hits[hits > 0]
    if not positive_hits.size:
        return Moments(np.zeros(()), np.zeros(()))
    given = ap_null_moments(depth, positive_hits, ties)
    expected = positive_hits * given.mean
    mean = chance @ expected
    scatter = chance @ (positive_hits**2 * given.variance + (expected - mean) ** 2)
    variance = scatter + (1 - chance.sum()) * mean**2 if n_pos < n else 0.0
    return Moments(np.asarray(mean / n_pos), np.asarray(variance / n_pos**2))


@dataclass(frozen=True)
class _Sums:
    """The five sums over G that the variance needs: r_i are row sums, B is G less row means."""

    # They are of (r_i - mean r)^2, (r_i - mean r) B_ii, B_ii^2, B_ii, and of all B_ij^2.
    rows: Floats
    cross: Floats
    diagonal: Floats
    trace: Floats
    squares: Floats


def _untied(n: Floats) -> _Sums:
    """Return the sums without ties, G_ij = (1 + [i = j]) / max(i, j)."""
    h, h2 = harmonic(n)
    return _Sums(
        rows=n - h,
        cross=h * h + h2 - 2 * h - 2 + 2 * h / n,
        diagonal=4 * (h2 + (2 - h * h - h2 - h / n) / n),
        trace=2 * h - 2,
        squares=2 * (h + h2 - 3 + h / n),
    )


def _tied(sizes: Floats) -> _Sums:
    """Return the sums with tie blocks: G_ij = (1 + [same block]) / end of the later block."""
    n, ends = sizes.sum(), np.cumsum(sizes)
    share = sizes / ends
    # A row earns 1/end in its block, twice, and with ranks above, 1/(their end) with later ones.
    row = (ends + sizes) / ends + share.sum() - np.cumsum(share)
    # The mean of the row sums is 2, so that the mean of all of G is 2/n.
    own = 2 / ends - 2 * row / n + 2 / n
    weight = sizes * (row - 2)
    total = (sizes * (4 * sizes + 2 * (ends - sizes)) / ends**2).sum()
    return _Sums(
        rows=(weight * (row - 2)).sum(),
        cross=(weight * own).sum(),
        diagonal=(sizes * own**2).sum(),
        trace=(sizes * own).sum(),
        squares=total - 2 * (sizes * row**2).sum() / n + 4,
    )


def _moments(n: Floats, n_pos: Floats, sums: _Sums) -> Moments:
    """Put the sums together with the moments of sampling without replacement."""
    p, q = n_pos / n, (n - n_pos) / n
    v = p * q
    mean = p + q * sums.trace / 2 / np.maximum(n - 1, 1)
    few = n < _FEW
    m = np.where(few, _FEW, n)
    third, fourth = q - p, 1 - 3 * v
    product = (m - 1) * (m - 2) * (m - 3)
    pairs = (m - 2) * (m - 3)
    linear = p * p * sums.rows / (m - 1)
    mixed = p * sums.cross * third * m / ((m - 1) * (m - 2))
    square = (
        sums.diagonal * (fourth * m * (m + 1) / product - 3 * v * m / pairs)
        + 2 * sums.squares * (v * (m * m - 3 * m + 3) / product - fourth / pairs)
        + sums.trace**2 * (v * (m * m - 3) / ((m - 1) * product) - fourth / pairs)
    )
    variance = m * v * (linear + mixed + square / 4) / n_pos**2
    if few.any():
        n, n_pos, variance = np.broadcast_arrays(n, n_pos, variance)
        variance = variance.copy()
        variance[few] = _variance_of_few(n[few], n_pos[few])
    return Moments(mean, np.where(n_pos == n, 0.0, variance))


def _variance_of_few(n: Floats, n_pos: Floats) -> Floats:
    """Return the variance for up to three items, over all placements of the positives."""
    pairs, place = np.unique([n, n_pos], axis=1, return_inverse=True)
    found = [_by_enumeration(np.ones(k), m)[1] for k, m in pairs.astype(np.int64).T.tolist()]
    return np.array(found)[place.ravel()]


def _by_enumeration(sizes: Floats, n_pos: int) -> tuple[float, float]:
    """Return mean and variance over all placements of the positives in few items."""
    ends = np.repeat(np.cumsum(sizes), sizes.astype(np.int64))
    chosen = [ends[list(ranks)] for ranks in combinations(range(ends.size), n_pos)]
    values = [((ranks <= ranks[:, None]).sum(axis=1) / ranks).mean() for ranks in chosen]
    return float(np.mean(values)), float(np.var(values))
