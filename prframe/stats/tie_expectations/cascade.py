"""Expected reciprocal rank of a block of tied items, over all orders of the block.

A reader walks down the ranking and stops at an item of grade g with a probability R(g) that
grows with g (Chapelle et al. 2009). Which of a block's relevant items comes t-th does not depend
on the positions they take. Let ``passed[t]`` be the mean of the product of ``1 - R`` over all
choices of t relevant items; the chance to stop at the t-th one is ``passed[t - 1] - passed[t]``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from prframe.typing import Floats, Integers

# What is left to read below this cannot move a float64 result.
_NEGLIGIBLE = 1e-18
# How many numbers a batch of blocks holds at a time.
_CHUNK = 1 << 20


def expected_cascade(
    start: ArrayLike, size: ArrayLike, depth: ArrayLike, block: ArrayLike, stop: ArrayLike
) -> Floats:
    """Return the mean of 1/rank at which a reader stops within a tied block; no stop counts 0.

    Parameters
    ----------
    start, size, depth : array_like of int, shape (n_blocks,)
        Items above the block (>= 0), its size (>= 1), and how many of its positions count.
    block : array_like of int, shape (n_relevant,)
        The block of each relevant item, ascending, each of 0..n_blocks - 1 at least once.
    stop : array_like of float in [0, 1], shape (n_relevant,)
        The probability to stop at it.

    Returns
    -------
    ndarray of float in [0, 1], shape (n_blocks,)

    Notes
    -----
    It is averaged over the orders of the block: the number t of relevant items among the first j
    is hypergeometric. The time grows with ``hits + size`` times the number of relevant items
    after which hardly anybody reads on.

    References
    ----------
    Chapelle, Metzler, Zhang & Grinspan, *Expected reciprocal rank for graded relevance*, CIKM
    2009, eq. (4).

    Examples
    --------
    One item that always stops among two tied at the top: (1 + 1/2) / 2.

    >>> expected_cascade([0], [2], [2], [0], [1.0])
    array([0.75])
    """
    start, size, depth, block = (
        np.asarray(value, dtype=np.int64) for value in (start, size, depth, block)
    )
    hits = np.bincount(block, minlength=start.size)
    first = np.cumsum(hits) - hits
    passing = 1 - np.asarray(stop, dtype=np.float64)
    total = np.zeros(start.size)
    for batch in _batches(hits):
        column = np.arange(int(hits[batch].max()))
        inside = column < hits[batch, None]
        items = np.where(inside, first[batch, None] + column, 0)
        products = np.where(inside, passing[items], 1.0)
        horizon = _horizon(products, hits[batch])
        passed = _mean_products(products, hits[batch], horizon)
        total[batch] = _walk(start[batch], size[batch], hits[batch], depth[batch], passed, horizon)
    return total


def _batches(hits: Integers) -> Iterator[Integers]:
    """Split the blocks into batches of blocks with similar numbers of hits."""
    order = np.argsort(hits, kind="stable")
    cuts = np.flatnonzero(np.diff(np.frexp(hits[order])[1])) + 1
    for alike in np.split(order, cuts):
        if alike.size:
            length = max(1, _CHUNK // int(hits[alike].max()))
            yield from np.split(alike, np.arange(length, alike.size, length))


def _horizon(passing: Floats, hits: Integers) -> Integers:
    """Return for each block after how many relevant items hardly any reader goes on.

    The mean product over choices of t items is at most the mean to the power t (Maclaurin).
    """
    surplus = passing.shape[1] - hits
    mean = np.maximum((_row_sums(passing) - surplus) / hits, _NEGLIGIBLE)
    goes_on = mean >= 1
    needed = np.log(_NEGLIGIBLE) / np.log(np.where(goes_on, 0.5, mean)) + 1
    return np.asarray(np.where(goes_on, hits, np.minimum(hits, needed)), dtype=np.int64)


def _mean_products(passing: Floats, hits: Integers, horizon: Integers) -> Floats:
    """Return, for t = 0, 1, ..., the mean product over all choices of t of a block's items.

    It is taken as 0 beyond the block's horizon.
    """
    means = np.zeros((passing.shape[0], int(horizon.max()) + 1))
    means[:, 0] = 1.0
    t = np.arange(1, means.shape[1])
    for i in range(1, passing.shape[1] + 1):
        share = np.clip(t / i, 0, 1)
        grown = (1 - share) * means[:, 1:] + share * passing[:, i - 1, None] * means[:, :-1]
        means[:, 1:] = np.where((hits >= i)[:, None], grown, means[:, 1:])
    means[:, 1:][t > horizon[:, None]] = 0.0
    return means


def _row_sums(table: Floats) -> Floats:
    """Add up rows from left to right: zeros at their ends do not change a bit of the sums."""
    return np.asarray(np.cumsum(table, axis=1)[:, -1])


def _walk(  # noqa: PLR0913, PLR0917
    start: Integers,
    size: Integers,
    hits: Integers,
    depth: Integers,
    passed: Floats,
    horizon: Integers,
) -> Floats:
    """Return the mean of 1/rank of the stop, by a walk down the positions of each block.

    The state of the walk is the number of relevant items that have been passed.
    """
    total = np.zeros(start.size)
    state = np.zeros_like(passed)
    state[:, 0] = 1.0
    t = np.arange(passed.shape[1])
    stopping = np.zeros_like(passed)
    stopping[:, :-1] = passed[:, :-1] - passed[:, 1:]
    stopping[t >= horizon[:, None]] = 0.0
    alive = np.flatnonzero(depth > 0)
    for j in range(1, int(depth.max(initial=0)) + 1):
        hit = state[alive] * np.clip((hits[alive, None] - t) / (size[alive, None] - j + 1), 0, 1)
        total[alive] += _row_sums(hit * stopping[alive]) / (start[alive] + j)
        state[alive] -= hit
        state[alive, 1:] += hit[:, :-1]
        reading = _row_sums(state[alive] * passed[alive]) > _NEGLIGIBLE
        alive = alive[reading & (depth[alive] > j)]
        if not alive.size:
            break
    return total
