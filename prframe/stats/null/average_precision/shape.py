"""Skewness and kurtosis of average precision under random ranking.

Read the ranking from its end. Given the hits h among the first t ranks, rank t holds one with
probability h/t, then adds h/t to ``n_pos * AP`` and leaves h - 1 hits to the t - 1 ranks above. By
the law of total cumulance each rank adds a function of h to every cumulant, of which the mean over
the ranks below is taken. In the forms of `bernstein` such means change nothing, so that the second
to fourth cumulants are sums over the ranks, with coefficients that depend on the rank alone. Each
term is of the order of its contribution: nothing large cancels, whatever n is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from prframe.stats._arrays import group_sizes
from prframe.stats.null.average_precision.bernstein import bump, slope, star, value, with_share
from prframe.stats.null.average_precision.moments import ap_null_moments, tie_blocks
from prframe.stats.null.hypergeometric import plausible_hits, probability
from prframe.stats.null.random_selection import harmonic
from prframe.typing import Floats

# The function takes the number of a cumulant (0: second) and what every rank adds to it; it
# returns the cumulant before and after each rank.
Accumulate = Callable[[int, Floats], tuple[Floats, Floats]]

# The cumulants have the degrees 4, 6 and 8; their coefficients stand below one another.
_ORDERS = (slice(0, 5), slice(5, 12), slice(12, 21))
# The sums are tabulated up to this n. Beyond, they are interpolated in the logarithm of n.
_TABLE = 1 << 12
# The interpolation is split into panels [a, 4a], which are this wide in the logarithm of n.
_WIDTH = np.log(4)
# The number of panels, which together reach beyond checks.LARGEST_COUNT.
_PANELS = 21
# The number of nodes of each panel.
_NODES = 16
# The number of pairs, or of ranks, that are treated at a time, which bounds the memory.
_CHUNK = 1 << 13


class Shape(NamedTuple):
    """Skewness and excess kurtosis; arrays of one shape."""

    skewness: Floats
    kurtosis: Floats


def ap_null_shape(n: ArrayLike, n_pos: ArrayLike, ties: Sequence[int] | None = None) -> Shape:
    """Return skewness and kurtosis of AP when every ranking is equally likely.

    The skewness is ``k3 / k2^(3/2)`` and the kurtosis ``k4 / k2^2``, with the cumulants k2, k3 and
    k4 of AP. Both are 0 for a normal distribution, as with ``scipy.stats``.

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
    For any n the relative error is below 1e-12 for the skewness and 1e-11 for the kurtosis, save
    near their zeros, where the terms of their sums cancel. Constant time per pair, after tables
    that the first call makes. With `ties`, one pass over the ranks, in bounded memory, which takes
    large blocks at a leap; the error is then below 1e-10.

    Examples
    --------
    >>> shape = ap_null_shape([1000, 10**9], [100, 10])
    >>> shape.skewness.round(4).tolist()
    [0.7871, 5697.7214]
    """
    n, n_pos = group_sizes(n, n_pos)
    pairs = n.ravel(), n_pos.ravel()
    if ties is None:
        parts = [
            _shape(_untied(items), items, hits)
            for items, hits in zip(*(_parts(numbers) for numbers in pairs), strict=True)
        ]
    else:
        forms = _tied(tie_blocks(ties, n))
        parts = [_shape(forms, *pairs)]
    skewness, kurtosis = np.concatenate(parts, axis=1).reshape(2, *n.shape)
    return Shape(skewness, kurtosis)


def retrieved_shape(n: int, n_pos: int, depth: int, ties: Sequence[int] | None = None) -> Shape:
    """Return the shape if only `depth` of the items are retrieved and others earn nothing.

    Given h positives among the retrieved, n_pos AP is h times the AP of a ranking of these; h is
    hypergeometric. Central moments are means over h of those around the moving mean.
    """
    hits = plausible_hits(n, n_pos, depth)
    table = np.broadcast_arrays(hits.astype(np.float64), float(n), float(n_pos), float(depth))
    chance = probability(*table)
    has_hits = hits > 0
    cumulants = np.zeros((4, hits.size))
    if has_hits.any():
        mean, variance = ap_null_moments(depth, hits[has_hits], ties)
        shape = np.nan_to_num(ap_null_shape(depth, hits[has_hits], ties))
        scale, spread = hits[has_hits], np.sqrt(variance) * hits[has_hits]
        cumulants[:, has_hits] = (
            scale * mean,
            spread**2,
            shape[0] * spread**3,
            shape[1] * spread**4,
        )
    mean, second, third, fourth = cumulants
    away = mean - chance @ mean
    variance = chance @ (second + away**2)
    if not variance > 0:
        return Shape(np.asarray(np.nan), np.asarray(np.nan))
    skewed = chance @ (third + 3 * second * away + away**3)
    peaked = chance @ (fourth + 3 * second**2 + 4 * third * away + 6 * second * away**2 + away**4)
    return Shape(np.asarray(skewed / variance**1.5), np.asarray(peaked / variance**2 - 3))


def _parts(numbers: Floats) -> list[Floats]:
    """Cut an array into pieces that bound the memory."""
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
    # These are the cumulants of X, which is 1 with probability h/t, over its variance h (t -
    # h)/t^2.
    skew = np.array([[others, -others]]) / rank
    ends = 1 - 6 * (rank - 1) / rank**2
    kurt = np.array([[ends, 2 * ends - 6 * others * (others - 1) / rank**2, ends]])
    share = (rank - 1) / rank
    square = star(step, step, others)
    second, second_after = accumulate(0, bump(square) * share)
    # A hit at the rank lowers the cumulant before the rank by this.
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
    """Return the `step` of `_cumulants` without ties."""
    mean = harmonic(rank - 1)[0] / (rank - 1)
    return np.array([[1 / rank - mean, mean - 1 - 1 / rank]])


@cache
def _table() -> Floats:
    """Return the forms for n = 0.._TABLE, those of the cumulants below one another."""

    def accumulate(_order: int, added: Floats) -> tuple[Floats, Floats]:
        """Return the cumulants before and after each rank of the table."""
        after = np.cumsum(added, axis=-1)
        return after - added, after

    rank = np.arange(2.0, _TABLE + 1)
    cumulants = _cumulants(rank, _step(rank), accumulate)
    return np.pad(np.concatenate(cumulants, axis=1)[0], ((0, 0), (2, 0)))


@cache
def _panels() -> Floats:
    """Return Chebyshev series of the forms beyond _TABLE: axes term, form, panel."""
    begin = [_table()[None, order, -1:] for order in _ORDERS]
    series = _smooth(_TABLE, _TABLE * np.exp(_PANELS * _WIDTH), _PANELS, _step, begin)
    return np.concatenate(series, axis=2)[:, 0]


def _smooth(
    low: float, high: float, panels: int, step: Callable[[Floats], Floats], begin: list[Floats]
) -> list[Floats]:
    """Return series of the forms between two ranks: axes term, power, degree, panel."""
    nodes = chebyshev.chebpts1(_NODES)
    width = np.log(high / low) / panels
    rank = low * np.exp(width * ((nodes[:, None] + 1) / 2 + np.arange(panels)))
    basis = chebyshev.chebvander(nodes, _NODES).astype(np.float64)
    series = list(begin)

    def accumulate(order: int, added: Floats) -> tuple[Floats, Floats]:
        """Return the cumulants before and after the nodes of a panel."""
        terms = np.moveaxis(added.reshape(*added.shape[:2], *rank.shape), 2, 0)
        series[order] = _sums(terms, basis, rank[:, None, None] * width / 2, begin[order])
        after = np.moveaxis(np.tensordot(basis, series[order], 1), 0, 2).reshape(added.shape)
        return after - added, after

    _cumulants(rank.ravel(), step(rank.ravel()), accumulate)
    return series


def _sums(terms: Floats, basis: Floats, speed: Floats, begin: Floats) -> Floats:
    """Return Chebyshev series, panel by panel, of `begin` plus the sum of the terms up to a rank.

    By Euler and Maclaurin it is the integral, half of the last term and a twelfth of its
    derivative. The next terms are below 1e-16 of the sum, as every further pair of derivatives
    divides by rank^2.
    """
    transform = np.linalg.inv(basis[:, :-1])
    rate = chebyshev.chebder(np.tensordot(transform, terms, 1))
    rate = np.tensordot(basis[:, :-2], rate, 1) / speed
    series = chebyshev.chebint(np.tensordot(transform, terms * speed, 1))
    series[:-1] += np.tensordot(transform, terms / 2 + rate / 12, 1)
    left, right = np.moveaxis(chebyshev.chebval(np.array([-1.0, 1.0]), series), -1, 0)
    series[0] += begin + np.cumsum(right - left, axis=-1) - right
    return np.asarray(series, dtype=np.float64)


def _tied(sizes: Floats) -> Floats:
    """Return the forms with ties; c is the share of hits at the end of a rank's block."""
    ends = np.cumsum(sizes)
    shares = np.cumsum(sizes / ends)
    states = [np.zeros((order, 2 * order - 1, 1)) for order in (3, 4, 5)]
    # The first block adds nothing: once its hits are given nothing in it is left to chance.
    done = ends[0]
    if done == 1 and sizes.size > 1:
        done = ends[1]
        for state, form in zip(states, _after_one(ends[1:2]), strict=True):
            state[:1] = form
    begins = np.maximum(ends[:-1], _TABLE)
    for block in np.flatnonzero((ends[1:] - begins > _CHUNK) & (ends[1:] > done)):
        _walk(done, begins[block], ends, shares, states)
        _leap(begins[block], ends[block : block + 2], shares[block], states)
        done = ends[block + 1]
    _walk(done, ends[-1], ends, shares, states)
    for state, cumulant in zip(states, _one_positive(sizes), strict=True):
        state[0, 1] = cumulant
    return np.concatenate([state[0] for state in states])


def _one_positive(sizes: Floats) -> Floats:
    """Return n times the cumulants for one positive: the coefficients of x (1 - x)^(d - 1).

    AP is 1/end then; it hardly varies where the first block is large, and the walk would lose that
    to rounding.
    """
    ends = np.cumsum(sizes)
    n = ends[-1]
    rise = (n - ends) / (n * ends)
    rise -= (sizes * rise).sum() / n
    second, third, fourth = ((sizes * rise**k).sum() for k in (2, 3, 4))
    return np.array([second, third, fourth - 3 * second**2 / n])


def _after_one(end: Floats) -> list[Floats]:
    """Return the forms at the end of the second block where the first is a single item.

    With the share c of hits, a hit at the top earns 1 - c more than one below, and the top is a
    hit with probability c. The walk would lose that to rounding where c is next to 1.
    """
    hit, miss = np.array([[[0.0], [1.0]]]), np.array([[[1.0], [0.0]]])
    spread = star(hit, miss, end)
    square = star(miss, miss, end)
    third = star(star(miss - hit, miss, end), square, end)
    fourth = star(np.array([[[1.0], [2.0], [1.0]]]) - 6 * spread, star(square, square, end), end)
    return [star(spread, form, end) for form in (square, third, fourth)]


def _tied_step(rank: Floats, start: ArrayLike, share: ArrayLike) -> Floats:
    """Return the `step` of `_cumulants` within the block after rank `start`.

    `share` is the sum of size/end over the blocks before.
    """
    step = np.zeros((2, 2, rank.size))
    step[0, 0], step[0, 1], step[1, 0] = np.negative(share), share - np.multiply(2, start), start
    return step / (rank - 1)


def _leap(low: float, block: Floats, share: float, states: list[Floats]) -> None:
    """Take the states from a rank within a large block to its end."""
    start, end = block
    panels = int(np.ceil(np.log(end / low) / _WIDTH))
    series = _smooth(low, end, panels, lambda rank: _tied_step(rank, start, share), states)
    for state, terms in zip(states, series, strict=True):
        # At the right end of the last panel every polynomial is 1.
        closed = with_share(terms[..., -1:].sum(axis=0), end)
        state[:1], state[1:] = closed, 0


def _walk(low: float, high: float, ends: Floats, shares: Floats, states: list[Floats]) -> None:
    """Take the states from one rank to another, rank by rank."""
    for begin in np.arange(low, high, _CHUNK):
        rank = np.arange(begin + 1, min(begin + _CHUNK, high) + 1)
        block = np.searchsorted(ends, rank)
        step = _tied_step(rank, ends[block - 1], shares[block - 1])
        _cumulants(rank, step, _by_blocks(rank, rank == ends[block], states))


def _by_blocks(rank: Floats, closing: NDArray[np.bool_], states: list[Floats]) -> Accumulate:
    """Return sums that begin at the states, with c replaced at the ends of blocks.

    The states are updated.
    """
    ends = np.flatnonzero(closing)
    opened: NDArray[np.int64] = np.cumsum(closing) - closing

    def accumulate(order: int, added: Floats) -> tuple[Floats, Floats]:
        """Return the cumulants before and after each rank of some tie blocks."""
        total = np.cumsum(added, axis=-1)
        blocks = np.diff(total[..., ends], axis=-1, prepend=0.0)
        blocks[..., :1] += states[order]
        closed = np.zeros_like(blocks)
        closed[0] = np.cumsum(with_share(blocks, rank[ends]), axis=-1)[0]
        begin = np.concatenate([states[order], closed - total[..., ends]], axis=-1)
        after = begin[..., opened] + total
        # If a block ends with the last rank, c is replaced in the state, which `after` does not
        # show.
        states[order] = begin[..., -1:] + total[..., -1:]
        return after - added, after

    return accumulate
