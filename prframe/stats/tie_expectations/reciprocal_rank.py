"""Reciprocal ranks of a block of tied items, averaged over all orders of the block.

A block holds the positions ``start + 1 .. start + size`` and `hits` relevant items. The position J
of its first relevant item has ``P(J > j) = C(size - j, hits) / C(size, hits)``.

For the expected reciprocal rank of graded items (Chapelle et al., CIKM 2009, eq. 4) let
``passed[t]`` be the mean of the product of ``1 - stop`` over all choices of t relevant items; the
probability to stop at the t-th one is ``passed[t - 1] - passed[t]``, whatever its position.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import row_sums
from prframe.typing import Floats, Integers

# The number of terms that are summed at a time, which bounds the memory for any block sizes.
_CHUNK = 1 << 20
# A tail whose probability is below this cannot move a float64 result.
_NEGLIGIBLE = 1e-18


def hit_probability(size: ArrayLike, hits: ArrayLike, depth: ArrayLike) -> Floats:
    """Return ``1 - C(size - depth, hits) / C(size, hits)``: that `depth` items hold a hit.

    In large blocks depth and hits may be exchanged: the sum then has as many terms as the smaller.
    """
    size, hits, depth = (np.asarray(value, dtype=np.int64) for value in (size, hits, depth))
    exchanged = (size >= _CHUNK) & (depth > hits)
    hits, depth = np.where(exchanged, depth, hits), np.where(exchanged, hits, depth)
    return _first_hit_sum(np.zeros_like(size), size, hits, depth, power=0)


def expected_reciprocal_rank(
    start: ArrayLike, size: ArrayLike, hits: ArrayLike, depth: ArrayLike
) -> Floats:
    """Return ``sum over j <= depth of P(J = j) / (start + j)`` for each block.

    For all terms of a block at the top, with ``size - hits > hits``, this is ``hits / (size - hits
    + 1) (1 / hits + ... + 1 / size)``, which is taken for large blocks.
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
    # P(J > j) is at most exp(-j hits / size), which is soon negligible.
    needed = np.ceil(-np.log(_NEGLIGIBLE) * size / hits).astype(np.int64) + 1
    last = np.minimum(np.minimum(depth, size - hits + 1), needed)
    for rows in _batches(np.flatnonzero(~certain & (last > 0)), last):
        total[rows] = _sum_terms(start[rows], size[rows], hits[rows], last[rows], power)
    return total


def _batches(rows: Integers, lengths: Integers) -> Iterator[Integers]:
    """Split rows into batches of similar lengths, so that padding wastes less than half."""
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(np.frexp(lengths[rows])[1])) + 1
    for alike in np.split(rows, cuts):
        if alike.size:
            most = max(1, _CHUNK // int(lengths[alike].max()))
            yield from np.split(alike, np.arange(most, alike.size, most))


def _sum_terms(
    start: Integers, size: Integers, hits: Integers, last: Integers, power: int
) -> Floats:
    """Sum P(J = j) / (start + j)^power for j = 1..last, some positions at a time.

    Terms are added one after the other, so that other blocks do not change a bit of the result.
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


def expected_cascade(
    start: ArrayLike, size: ArrayLike, depth: ArrayLike, block: ArrayLike, stop: ArrayLike
) -> Floats:
    """Return the mean of 1/rank at which a reader stops within each block; no stop counts 0.

    `depth` positions of a block count; `block` (ascending) and `stop` have an entry per relevant
    item: its block, and the probability to stop at it.
    """
    start, size, depth, block = (
        np.asarray(value, dtype=np.int64) for value in (start, size, depth, block)
    )
    hits = np.bincount(block, minlength=start.size)
    first = np.cumsum(hits) - hits
    passing = 1 - np.asarray(stop, dtype=np.float64)
    total = np.zeros(start.size)
    for batch in _batches(np.arange(hits.size), hits):
        column = np.arange(int(hits[batch].max()))
        inside = column < hits[batch, None]
        items = np.where(inside, first[batch, None] + column, 0)
        products = np.where(inside, passing[items], 1.0)
        horizon = _horizon(products, hits[batch])
        passed = _mean_products(products, hits[batch], horizon)
        total[batch] = _walk(start[batch], size[batch], hits[batch], depth[batch], passed, horizon)
    return total


def _horizon(passing: Floats, hits: Integers) -> Integers:
    """Return after how many relevant items of each block hardly any reader goes on.

    The mean product over choices of t items is at most the mean to the power t (Maclaurin).
    """
    surplus = passing.shape[1] - hits
    mean = np.maximum((row_sums(passing) - surplus) / hits, _NEGLIGIBLE)
    goes_on = mean >= 1
    needed = np.log(_NEGLIGIBLE) / np.log(np.where(goes_on, 0.5, mean)) + 1
    return np.asarray(np.where(goes_on, hits, np.minimum(hits, needed)), dtype=np.int64)


def _mean_products(passing: Floats, hits: Integers, horizon: Integers) -> Floats:
    """Return the mean product over all choices of t = 0, 1, ... items; 0 beyond the horizon."""
    means = np.zeros((passing.shape[0], int(horizon.max()) + 1))
    means[:, 0] = 1.0
    t = np.arange(1, means.shape[1])
    for i in range(1, passing.shape[1] + 1):
        share = np.clip(t / i, 0, 1)
        grown = (1 - share) * means[:, 1:] + share * passing[:, i - 1, None] * means[:, :-1]
        means[:, 1:] = np.where((hits >= i)[:, None], grown, means[:, 1:])
    means[:, 1:][t > horizon[:, None]] = 0.0
    return means


def _walk(  # noqa: PLR0913, PLR0917
    start: Integers,
    size: Integers,
    hits: Integers,
    depth: Integers,
    passed: Floats,
    horizon: Integers,
) -> Floats:
    """Return the mean of 1/rank of the stop, position by position.

    The state is the number of relevant items that have been passed.
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
        total[alive] += row_sums(hit * stopping[alive]) / (start[alive] + j)
        state[alive] -= hit
        state[alive, 1:] += hit[:, :-1]
        reading = row_sums(state[alive] * passed[alive]) > _NEGLIGIBLE
        alive = alive[reading & (depth[alive] > j)]
        if not alive.size:
            break
    return total
