"""Metrics of a block of tied items, averaged over all orders of the block.

A block holds the positions ``start + 1 .. start + size``, `hits` of its items are relevant, and
`above` relevant ones rank above it. Given that a relevant item is at the block's j-th position,
the mean precision there is ``(above + 1 + (j - 1)(hits - 1)/(size - 1)) / (start + j)`` (McSherry
& Najork, ECIR 2008, section 3). Its sum over j is elementary except for harmonic numbers. The
position J of the first relevant item has ``P(J > j) = C(size - j, hits) / C(size, hits)``.

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


# The number of terms that are summed at a time, which bounds the memory for any block sizes.
_CHUNK = 1 << 20
# A tail whose probability is below this cannot move a float64 result.
_NEGLIGIBLE = 1e-18


def hit_probability(size: ArrayLike, hits: ArrayLike, depth: ArrayLike) -> Floats:
    """Return ``1 - C(size - depth, hits) / C(size, hits)``: that `depth` items hold a hit.

    In large blocks depth and hits may be exchanged: the sum then has as many terms as the smaller.
    """
    size, hits, depth = _integers(size, hits, depth)
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
    start, size, hits, depth = _integers(start, size, hits, depth)
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
    start, size, hits, depth = _integers(start, size, hits, depth)
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
    start, size, depth, block = _integers(start, size, depth, block)
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
