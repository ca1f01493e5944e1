"""The hypergeometric distribution, accurate far out in its tails and for any population.

The arguments are arrays of one shape that hold whole numbers as floats: `n` items, `n_pos` of them
positive, `k` drawn at random, `hits` of these positive.

Differences of huge log-factorials would leave seven digits at n = 1e9. Instead the logarithm of a
probability is the sum of small numbers: with o the four counts of the table hit or miss by drawn
or not, and e their expectations, these are ``sum of o log(o/e)``, to which the leading terms of
Stirling's formula add up, and the formula's corrections.
"""

from math import sqrt

import numpy as np
from scipy.special import gammaln, xlogy

from prframe.typing import Floats, Integers

# From this number on the correction to Stirling's formula is a series.
_LARGE = 16
_SERIES = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188)
_NEGLIGIBLE = 1e-17
# Further from the mean than so many standard deviations and as many hits no number is likely.
_FARTHEST = 40
# Probabilities this close are equal, because rounding must not part the two sides of a symmetric
# distribution.
_EQUAL = 1e-10


def probability(hits: Floats, n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Return P(X = hits), 0 where so many hits are impossible."""
    rows, columns = (n_pos, n - n_pos), (k, n - k)
    cells = np.stack(np.broadcast_arrays(hits, n_pos - hits, k - hits, n - n_pos - (k - hits)))
    expected = np.stack([row * (column / n) for row in rows for column in columns])
    observed = np.maximum(cells, 0)
    log = sum(map(_correction, (*rows, *columns))) - _correction(n)
    log = log - (_correction(observed) + _deviance(observed, expected)).sum(axis=0)
    return np.where(cells.min(axis=0) >= 0, np.exp(log), 0.0)


def plausible_hits(n: int, n_pos: int, k: int) -> Integers:
    """Return the possible numbers of hits whose probability is not too small for any sum."""
    mean = k * n_pos / n
    deviation = sqrt(mean * (1 - n_pos / n) * (1 - k / n))
    far = int(_FARTHEST * (deviation + 1))
    low = max(0, k - (n - n_pos), int(mean) - far)
    return np.arange(low, min(k, n_pos, int(mean) + far) + 1)


def upper_tail(hits: Floats, n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Return P(X >= hits), accurate to a few units in the last digits."""
    # The smaller side is added up, away from the mode.
    lower = hits <= _mode(n, n_pos, k)
    away = _sum_upwards(
        np.where(lower, n_pos - hits + 1, hits), n, n_pos, np.where(lower, n - k, k)
    )
    return np.asarray(np.where(lower, 1 - away, away))


def lower_tail(hits: Floats, n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Return P(X <= hits): the positives that are not drawn are at least n_pos - hits."""
    return upper_tail(n_pos - hits, n, n_pos, n - k)


def both_tails(hits: Floats, n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Return the probability of all outcomes that are no more likely than `hits`."""
    below = hits < _mode(n, n_pos, k)
    hits, k = np.where(below, n_pos - hits, hits), np.where(below, n - k, k)
    # From here on hits >= mode; on the other side all hits up to `other` are no more likely.
    mode, limit = _mode(n, n_pos, k), probability(hits, n, n_pos, k) * (1 + _EQUAL)
    other, beyond = np.maximum(0, k - (n - n_pos)) - 1, mode + 1
    while ((beyond - other) > 1).any():
        middle = np.floor((other + beyond) / 2)
        counts = probability(middle, n, n_pos, k) <= limit
        other, beyond = np.where(counts, middle, other), np.where(counts, beyond, middle)
    far = upper_tail(hits, n, n_pos, k) + lower_tail(other, n, n_pos, k)
    return np.asarray(np.where(hits <= mode, 1.0, np.minimum(far, 1.0)))


def _mode(n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Return the likeliest number of hits."""
    return np.asarray(np.floor((k + 1) / (n + 2) * (n_pos + 1)))


def _correction(x: Floats) -> Floats:
    """Return log(x!) - x log(x) + x."""
    y = np.maximum(x, _LARGE)
    series = np.polynomial.polynomial.polyval(1 / y**2, _SERIES) / y
    far = np.log(2 * np.pi * y) / 2 + series
    return np.where(x < _LARGE, gammaln(x + 1) - xlogy(x, x) + x, far)


def _deviance(observed: Floats, expected: Floats) -> Floats:
    """Return o log(o/e) - o + e."""
    away = observed - expected
    is_positive = (observed > 0) & (expected > 0)
    ratio = np.where(is_positive, away, 0) / np.where(expected > 0, expected, 1)
    return np.asarray(observed * np.log1p(ratio) - away)


def _sum_upwards(hits: Floats, n: Floats, n_pos: Floats, k: Floats) -> Floats:
    """Add up P(X = j) over j >= hits, which fall with j because hits > mode."""
    total = probability(hits, n, n_pos, k)
    left = np.flatnonzero(total)
    j, n, n_pos, k = (values.ravel()[left] for values in (hits, n, n_pos, k))
    flat = total.ravel()
    term = flat[left]
    while left.size:
        term = term * (n_pos - j) / (j + 1) * (k - j) / (n - n_pos - k + j + 1)
        flat[left] += term
        on = term > _NEGLIGIBLE * flat[left]
        left, term, j = left[on], term[on], j[on] + 1
        n, n_pos, k = n[on], n_pos[on], k[on]
    return flat.reshape(total.shape)
