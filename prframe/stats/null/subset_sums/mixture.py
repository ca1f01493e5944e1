"""The distribution of the sum of numbers drawn without replacement, where it is not counted.

It comes from the saddlepoint. Where a few numbers, or one tied value, lie so far from the others
that sums clump around multiples of them, the distribution is a mixture over the draws of these.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, logsumexp

from prframe.stats.null.subset_sums.contents import Points
from prframe.stats.null.subset_sums.counting import Tails, Urn
from prframe.stats.null.subset_sums.saddlepoint import approximate, complement
from prframe.typing import Floats, Integers

# Draws of at most this many numbers are counted directly.
PAIR = 2
# Numbers are set apart if their gap from the others is above this share of the standard deviation
# of the sum of the others.
_APART = 0.3
# A tied value of which many items are drawn is set apart only above this larger share: at a gap of
# one standard deviation the ripples are below 1e-8.
_APART_TIED = 1.0
# Many items of a tied value are drawn if their number has a variance above this.
_MANY = 2.0
# The most values that are set apart.
_MOST_APART = 8
# A mixture has about this many terms, those of mixtures within it included.
_MOST_TERMS = 1024
# How many items of a block are drawn is negligible beyond this many standard deviations.
_WIDE = 14
# Terms do not count if the logarithm of their share of the most likely one is below this.
_NEGLIGIBLE = -25.0


def outside(urn: Urn, x: float) -> Tails | None:
    """Return the tails of values at, beyond and next to the ends of the support, else None."""
    low, high = urn.support
    if x > high + urn.slack:
        return Tails(-np.inf, 0.0)
    if x < low - urn.slack:
        return Tails(0.0, -np.inf)
    if urn.variance == 0 or high - low <= urn.slack:
        return Tails(0.0, 0.0)
    if x > high - urn.gaps[1] + urn.slack:
        end = _extreme(urn.sizes[::-1], urn)
        return Tails(end, 0.0 if x >= high - urn.slack else complement(end))
    if x < low + urn.gaps[0] - urn.slack:
        end = _extreme(urn.sizes, urn)
        return Tails(0.0 if x <= low + urn.slack else complement(end), end)
    return None


def _extreme(sizes: Integers, urn: Urn) -> float:
    """Return the logarithm of the probability of drawing the first n numbers."""
    # The first n numbers are in at most the first n blocks.
    before = np.cumsum(sizes[: urn.n])
    at = int(np.searchsorted(before, urn.n))
    last = urn.n - (int(before[at - 1]) if at else 0)
    return float(_log_choose(int(sizes[at]), last) - _log_choose(urn.size, urn.n))


def _log_choose(n: int, k: Integers | int) -> Floats:
    """Return logarithms of binomial coefficients."""
    return np.asarray(-np.log1p(n) - betaln(n - np.asarray(k) + 1, np.asarray(k) + 1))


def few_drawn(urn: Urn, x: float) -> Tails:
    """Return the tails of one number, or of the sum of two by a search for the second one."""
    values, sizes = urn.values, urn.sizes.astype(np.float64)
    upward = np.append(np.cumsum(sizes[::-1])[::-1], 0.0)
    downward = np.insert(np.cumsum(sizes), 0, 0.0)
    if urn.n == 1:
        above = upward[np.searchsorted(values, x - urn.slack, side="left")]
        below = downward[np.searchsorted(values, x + urn.slack, side="right")]
        return Tails(float(np.log(above / urn.size)), float(np.log(below / urn.size)))
    # Ordered pairs are counted, minus those of a number with itself.
    rest = x - values
    above = sizes @ upward[np.searchsorted(values, rest - urn.slack, side="left")]
    below = sizes @ downward[np.searchsorted(values, rest + urn.slack, side="right")]
    above -= sizes @ (2 * values >= x - urn.slack)
    below -= sizes @ (2 * values <= x + urn.slack)
    pairs = float(urn.size) * (urn.size - 1)
    return Tails(float(np.log(above / pairs)), float(np.log(below / pairs)))


def approximate_tails(urn: Urn, x: float, most: float = _MOST_TERMS) -> Tails:
    """Return tails by the saddlepoint, or by a mixture of at most `most` of them if sums clump."""
    decided = outside(urn, x)
    if decided is not None:
        return decided
    tails, points, share = approximate(urn, x, urn.contents.lattice)
    apart = _set_apart(urn, points, share, most) if most > 1 else []
    if apart:
        return _mixture(urn, x, apart, share, most)
    # The tails of values within the support are no rarer than its ends.
    ends = _extreme(urn.sizes[::-1], urn), _extreme(urn.sizes, urn)
    return Tails(max(tails.above, ends[0]), max(tails.below, ends[1]))


def _set_apart(urn: Urn, points: Points, share: Floats, most: float) -> list[int]:
    """Return the blocks at the ends whose gap from the others is wide, at most eight.

    Those at the upper end are counted from there, -1 being the last one, so that points, of which
    there may be fewer than blocks, have the same places.
    """
    values, weights = points.values, points.weights
    low, high, apart = 0, values.size, list[int]()
    spread = weights * share * (1 - share)
    while high - low > PAIR and len(apart) < _MOST_APART:
        below, above = values[low + 1] - values[low], values[high - 1] - values[high - 2]
        lowest = below > above
        rest = slice(low + 1, high) if lowest else slice(low, high - 1)
        if not spread[rest].any():
            break
        mean = spread[rest] @ values[rest] / spread[rest].sum()
        scatter = (spread[rest] @ (values[rest] - mean) ** 2) ** 0.5
        block = low if lowest else high - 1 - values.size
        wide = _APART_TIED if spread[block] > _MANY else _APART
        if max(below, above) <= wide * scatter:
            break
        most /= 1 + min(weights[block], urn.n, _WIDE * spread[block] ** 0.5)
        if apart and most < 1:
            break
        apart.append(block)
        low, high = (low + 1, high) if lowest else (low, high - 1)
    return apart


class _Part(NamedTuple):
    """A draw from the blocks set apart: how many numbers, their sum, the logarithm of the ways."""

    drawn: int
    total: float
    ways: float


def _mixture(urn: Urn, x: float, apart: list[int], share: Floats, most: float) -> Tails:
    """Return tails as a mean over the draws from some blocks."""
    rest = urn.contents.without(sum(b >= 0 for b in apart), sum(b < 0 for b in apart))
    others, whole = rest.size, float(_log_choose(urn.size, urn.n))
    upper = x >= urn.mean
    terms, parts = [], list(_parts(urn, apart, share))
    for part in parts:
        left = urn.n - part.drawn
        if not 0 <= left <= others:
            continue
        weight = part.ways + float(_log_choose(others, left)) - whole
        tails = _inner(Urn(rest, left), x - part.total, urn.slack, most / len(parts))
        terms.append(weight + (tails.above if upper else tails.below))
    possible = [term for term in terms if term > -np.inf]
    near = min(float(logsumexp(possible)), 0.0) if possible else -np.inf
    return Tails(near, complement(near)) if upper else Tails(complement(near), near)


def _parts(urn: Urn, apart: list[int], share: Floats) -> Iterator[_Part]:
    """Yield the possible draws from some blocks, without those unlikely at the saddlepoint."""
    parts, logs = [_Part(0, 0.0, 0.0)], np.zeros(1)
    for block in apart:
        size, value = int(urn.sizes[block]), float(urn.values[block])
        # Each number is drawn independently with this share, as at the saddlepoint.
        odds = np.log(np.clip([share[block], 1 - share[block]], 1e-300, 1.0))
        # The numbers outside a block may be too few for all the others.
        drawn = np.arange(max(0, urn.n - (urn.size - size)), min(size, urn.n) + 1)
        ways = _log_choose(size, drawn)
        own = ways + drawn * odds[0] + (size - drawn) * odds[1]
        extended = [
            (part, int(drawn[k]), log + own[k], ways[k])
            for part, log in zip(parts, logs, strict=True)
            for k in np.flatnonzero(own > own.max() + _NEGLIGIBLE)
        ]
        logs = np.array([entry[2] for entry in extended])
        kept = np.flatnonzero(logs > logs.max() + _NEGLIGIBLE)
        logs = logs[kept]
        parts = [
            _Part(part.drawn + k, part.total + k * value, part.ways + way)
            for part, k, _, way in (extended[i] for i in kept)
        ]
    yield from parts


def _inner(urn: Urn, x: float, slack: float, most: float) -> Tails:
    """Return tails of the sum of the numbers drawn from the other blocks, if there are any."""
    if urn.n == 0:
        return Tails(0.0 if x <= slack else -np.inf, 0.0 if x >= -slack else -np.inf)
    decided = outside(urn, x)
    if decided is not None:
        return decided
    return few_drawn(urn, x) if urn.n <= PAIR else approximate_tails(urn, x, most)
