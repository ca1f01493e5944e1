"""The hypergeometric distribution, accurate far out in its tails and for any population.

The arguments are arrays of one shape that hold whole numbers as floats: `n` items, `n_pos` of them
positive, `k` drawn at random, `hits` of these positive.

Differences of huge log-factorials would leave seven digits at n = 1e9. Instead, with o the four
counts of the table hit or miss by drawn or not, and e their expectations, the logarithm of a
probability is ``-sum of o log(o/e)`` and the corrections of Stirling's formula.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from prframe.stats._arrays import at_most, counts
from prframe.stats._p_values import LEAST, check_alternative
from prframe.typing import Alternative, Floats, Integers

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
    first, drawn = np.where(lower, n_pos - hits + 1, hits), np.where(lower, n - k, k)
    away = _sum_upwards(first, n, n_pos, drawn)
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


_TAILS = {"greater": upper_tail, "less": lower_tail, "two-sided": both_tails}


class TopkTest(NamedTuple):
    """The null mean and standard deviation of precision at k, and the p-value, of one shape."""

    null_mean: Floats
    null_std: Floats
    p_value: Floats


def hypergeometric_topk(
    hits: ArrayLike,
    n: ArrayLike,
    n_pos: ArrayLike,
    k: ArrayLike,
    alternative: Alternative = "greater",
) -> TopkTest:
    """Test the hits among the first k against random selection of k items, exactly.

    Chance gives x hits with probability ``C(n_pos, x) C(n - n_pos, k - x) / C(n, k)`` (Zhang & Su
    2012, eq. (4)). The mean of precision at k is ``p = n_pos / n``, its variance
    ``p (1 - p) / k * (n - k) / (n - 1)``.

    Parameters
    ----------
    hits : array_like of int
        Positives among the first k; no more than there can be.
    n, n_pos, k : array_like of int
        All items (>= 1), the positives among them (0..n), those selected (0..n).
    alternative : {"greater", "less", "two-sided"}
        P(X >= hits); P(X <= hits); or the sum over all outcomes that are no more likely than the
        observed one, up to 1e-10 of its probability, as in Fisher's exact test (which this is).

    Returns
    -------
    TopkTest
        Arrays of the common shape. Mean and deviation are 0 for k = 0, where no item is selected;
        the p-value is accurate to 10 digits down to 2.2e-308.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or an unknown alternative.

    Examples
    --------
    >>> test = hypergeometric_topk(hits=[2, 4], n=100, n_pos=10, k=10)
    >>> test.null_mean, test.p_value.round(5)
    (array([0.1, 0.1]), array([0.26153, 0.00822]))
    """
    check_alternative(alternative)
    given = (("hits", hits, 0), ("n", n, 1), ("n_pos", n_pos, 0), ("k", k, 0))
    hits, n, n_pos, k = np.broadcast_arrays(*(counts(*each) for each in given))
    at_most(("n_pos", n_pos), ("n", n))
    at_most(("k", k), ("n", n))
    at_most(("hits", hits), ("min(k, n_pos)", np.minimum(k, n_pos)))
    at_most(("k - hits", k - hits), ("n - n_pos", n - n_pos))
    selected = np.maximum(k, 1)
    share = np.where(k > 0, n_pos / n, 0.0)
    variance = share * ((n - n_pos) / n) / selected * (n - k) / np.maximum(n - 1, 1)
    p_value = np.clip(_TAILS[alternative](hits, n, n_pos, k), LEAST, 1.0)
    return TopkTest(share, np.sqrt(variance), p_value)
