"""Skewness and kurtosis of average precision under random ranking.

Read the ranking from its end. Given the hits h among the first t ranks, rank t holds one with
probability h/t, then adds h/t to ``n_pos * AP`` and leaves h - 1 hits to the t - 1 ranks above. By
the law of total cumulance each rank adds to the mean, over what lies below, of every cumulant a
function of h. In the forms of `bernstein` such means change nothing, so that the second to fourth
cumulants are sums over the ranks, with coefficients that depend on the rank alone. Each term is of
the order of its contribution: nothing large cancels, whatever n.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from prframe.stats.ap_moments import harmonic, tie_blocks
from prframe.stats.bernstein import bump, settle, slope, star, value
from prframe.stats.inputs import group_sizes

Floats = NDArray[np.float64]
# Takes the number of a cumulant (0: second) and what every rank adds to it; returns the cumulant
# before and after each rank.
Accumulate = Callable[[int, Floats], tuple[Floats, Floats]]

# The cumulants are of degree 4, 6 and 8: their coefficients below one another.
_ORDERS = (slice(0, 5), slice(5, 12), slice(12, 21))
# Up to here the sums are tabulated; beyond, they are interpolated in the logarithm of n, on
# panels [a, 4a] with as many nodes, up to checks.LARGEST_COUNT = 2^53.
_TABLE = 1 << 12
_WIDTH = np.log(4)
_PANELS = 21
_NODES = 16
# How many pairs or ranks are treated at a time: bounds the memory.
_CHUNK = 1 << 13


class Shape(NamedTuple):
    """Skewness and excess kurtosis; arrays of one shape."""

    skewness: Floats
    kurtosis: Floats


def ap_null_shape(n: ArrayLike, n_pos: ArrayLike, ties: Sequence[int] | None = None) -> Shape:
    """Return skewness and kurtosis of AP when every ranking is equally likely.

    ``skewness = k3 / k2^(3/2)`` and ``kurtosis = k4 / k2^2``, with the cumulants k2, k3 and k4 of
    AP: 0 and 0 for a normal law, as with ``scipy.stats``.

    Parameters
    ----------
    n : array_like of int
        Items, >= 1.
    n_pos : array_like of int
        Positives among them, 1..n; broadcast against `n`.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n` (one number then). AP counts at
        the ends of blocks, as with ``ties="group"``.

    Returns
    -------
    Shape
        ``skewness`` and ``kurtosis``, arrays of the common shape; NaN where AP is constant: all
        items are positive, or all are tied.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or blocks that do not add up to n.

    See Also
    --------
    ap_null_moments : mean and variance.

    Notes
    -----
    Exact up to rounding, for any n. Constant time per pair, after tables that the first call
    makes; with `ties`, time in proportion to n and bounded memory.

    Examples
    --------
    >>> shape = ap_null_shape([1000, 10**9], [100, 10])
    >>> shape.skewness.round(4).tolist()
    [1.1463, 5696.8846]
    """
    n, n_pos = group_sizes(n, n_pos)
    pairs = n.ravel(), n_pos.ravel()
    if ties is None:
        parts = [
            _shape(_untied(some), some, hits)
            for some, hits in zip(*(_parts(numbers) for numbers in pairs), strict=True)
        ]
    else:
        forms = _tied(tie_blocks(ties, n))
        parts = [_shape(forms, *pairs)]
    skewness, kurtosis = np.concatenate(parts, axis=1).reshape(2, *n.shape)
    return Shape(skewness, kurtosis)


def _parts(numbers: Floats) -> list[Floats]:
    """Cut an array into pieces."""
    return np.array_split(numbers, np.arange(_CHUNK, numbers.size, _CHUNK))


def _shape(forms: Floats, n: Floats, n_pos: Floats) -> Floats:
    """Return skewness and kurtosis from the forms of the cumulants."""
    second, third, fourth = (value(forms[order], n, n_pos) for order in _ORDERS)
    constant = (n_pos == n) | (forms[_ORDERS[0]] == 0).all(axis=0)
    second = np.where(constant, np.nan, second)
    return np.array([third / second**1.5, fourth / second**2])


def _cumulants(rank: Floats, step: Floats, accumulate: Accumulate) -> list[Floats]:
    """Return the forms of the second to fourth cumulant after each rank.

    `step` is the form of what a hit at the rank changes in the mean of ``n_pos * AP`` given the
    hits up to it, as a function of those among the other ``rank - 2`` once the hit and a
    negative are set aside; the forms below are of that kind as well.
    """
    others = rank - 2
    # Cumulants of X - h/t for X = 1 with probability h/t, over h (t - h)/t^2.
    skew = np.array([[others, -others]]) / rank
    ends = 1 - 6 * (rank - 1) / rank**2
    kurt = np.array([[ends, 2 * ends - 6 * others * (others - 1) / rank**2, ends]])
    share = (rank - 1) / rank
    square = star(step, step, others)
    second, second_after = accumulate(0, bump(square) * share)
    # The cumulants before the rank fall by this with a hit.
    second = slope(second) / (rank - 1)
    terms = star(skew, square, others) - 3 * second
    third, third_after = accumulate(1, bump(star(step, terms, others)) * share)
    third = slope(third) / (rank - 1)
    terms = star(kurt, square, others) - 6 * star(skew, second, others)
    terms = (
        star(square, terms, others)
        + 3 * star(second, second, others)
        - 4 * star(step, third, others)
    )
    _, fourth_after = accumulate(2, bump(terms) * share)
    return [second_after, third_after, fourth_after]


def _untied(n: Floats) -> Floats:
    """Return the forms of the cumulants without ties."""
    table = _table()
    forms = table[:, np.minimum(n, _TABLE).astype(np.int64)]
    far = n > _TABLE
    if far.any():
        place = np.log(n[far] / _TABLE) / _WIDTH
        panel = np.minimum(place.astype(np.int64), _PANELS - 1)
        series = _panels()[:, :, panel]
        forms[:, far] = chebyshev.chebval(2 * (place - panel) - 1, series, tensor=False)
    return forms


def _step(rank: Floats) -> Floats:
    """Return `step` without ties."""
    mean = harmonic(rank - 1)[0] / (rank - 1)
    return np.array([[1 / rank - mean, mean - 1 - 1 / rank]])


@cache
def _table() -> Floats:
    """Return the forms for n = 0.._TABLE, one below the other."""

    def accumulate(_order: int, added: Floats) -> tuple[Floats, Floats]:
        after = np.cumsum(added, axis=-1)
        return after - added, after

    rank = np.arange(2.0, _TABLE + 1)
    cumulants = _cumulants(rank, _step(rank), accumulate)
    return np.pad(np.concatenate(cumulants, axis=1)[0], ((0, 0), (2, 0)))


@cache
def _panels() -> Floats:
    """Return Chebyshev series of the forms beyond _TABLE: axes term, form, panel."""
    nodes = chebyshev.chebpts1(_NODES)
    rank = _TABLE * np.exp(_WIDTH * ((nodes[:, None] + 1) / 2 + np.arange(_PANELS)))
    found: list[Floats] = []

    def accumulate(order: int, added: Floats) -> tuple[Floats, Floats]:
        terms = added[0].reshape(-1, *rank.shape).swapaxes(0, 1)
        found.append(_sums(terms, nodes, rank[:, None], _table()[_ORDERS[order], -1]))
        after = np.tensordot(chebyshev.chebvander(nodes, _NODES), found[-1], 1)
        after = after.swapaxes(0, 1).reshape(added.shape)
        return after - added, after

    _cumulants(rank.ravel(), _step(rank.ravel()), accumulate)
    return np.concatenate(found, axis=1)


def _sums(terms: Floats, nodes: Floats, rank: Floats, begin: Floats) -> Floats:
    """Return Chebyshev series, panel by panel, of `begin` plus the sum of the terms up to a rank.

    Euler-Maclaurin: the integral, half of the last term and a twelfth of its derivative. What
    follows is below 1e-16 of the sum, as every further pair of derivatives divides by rank^2.
    """
    transform = np.linalg.inv(chebyshev.chebvander(nodes, _NODES - 1))
    speed = rank * _WIDTH / 2
    rate = chebyshev.chebder(np.tensordot(transform, terms, 1))
    rate = np.tensordot(chebyshev.chebvander(nodes, _NODES - 2), rate, 1) / speed
    series = chebyshev.chebint(np.tensordot(transform, terms * speed, 1))
    series[:-1] += np.tensordot(transform, terms / 2 + rate / 12, 1)
    left, right = chebyshev.chebval(np.array([-1.0, 1.0]), series).transpose(2, 0, 1)
    rise = np.cumsum(right - left, axis=-1)
    series[0] += begin[:, None] + rise - right
    return np.asarray(series)


def _tied(sizes: Floats) -> Floats:
    """Return the forms with ties; c is the share of hits at the end of a rank's block."""
    ends = np.cumsum(sizes)
    shares = np.cumsum(sizes / ends)
    states = [np.zeros((order, 2 * order - 1, 1)) for order in (3, 4, 5)]
    # Not the first block: once its hits are given nothing in it is left to chance.
    for low in np.arange(ends[0], ends[-1], _CHUNK):
        rank = np.arange(low + 1, min(low + _CHUNK, ends[-1]) + 1)
        block = np.searchsorted(ends, rank)
        step = _tied_step(rank, ends[block - 1], shares[block - 1])
        _cumulants(rank, step, _walk(rank, rank == ends[block], states))
    return np.concatenate([state[0] for state in states])


def _tied_step(rank: Floats, start: Floats, share: Floats) -> Floats:
    """Return `step` within the block after `start`; `share` adds up size/end of those before."""
    step = np.zeros((2, 2, rank.size))
    step[0] = -share, share - 2 * start
    step[1, 0] = start
    return step / (rank - 1)


def _walk(rank: Floats, closing: NDArray[np.bool_], states: list[Floats]) -> Accumulate:
    """Sum in place, from the states at the first rank on, and put c in at the ends of blocks."""
    ends = np.flatnonzero(closing)
    opened = np.cumsum(closing) - closing

    def accumulate(order: int, added: Floats) -> tuple[Floats, Floats]:
        total = np.cumsum(added, axis=-1)
        blocks = np.diff(total[..., ends], axis=-1, prepend=0.0)
        blocks[..., :1] += states[order]
        settled = np.zeros_like(blocks)
        settled[0] = np.cumsum(settle(blocks, rank[ends]), axis=-1)[0]
        begin = np.concatenate([states[order], settled - total[..., ends]], axis=-1)
        states[order] = begin[..., -1:] + total[..., -1:]
        after = begin[..., opened] + total
        return after - added, after

    return accumulate
