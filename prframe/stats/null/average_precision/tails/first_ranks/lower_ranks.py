"""What many positives below a rank add to T, which is nearly normal.

Given h hits above rank t, the m = n_pos - h positives among the N = n - t items below are a sample
without replacement. With X_u = 1 where item u is positive, they add

    B  =  sum over u of  X_u (h + sum over s <= u of X_s) / u,

over the retrieved ranks u. Let r = m / N, and a_u = (1/N) sum over s of 1/max(s, u), which is
((u - t)/u + log(depth/u)) / N. As the sum of X_u - r is 0, B is but for a constant

    sum over u of  w_u (X_u - r)  +  sum over s < u of  c_su (X_s - r) (X_u - r),

    w_u   =  (h + 1) / u  +  (m - 1 + 2r) a_u,
    c_su  =  1/u - a_s - a_u + b,

where b is the mean of a over all N items, of which those that are not retrieved have a = w = 0.
With v the mean of w, the variance and the third cumulant are, but for terms smaller by 1 / N,

    r (1 - r) sum (w_u - v)^2  +  r^2 (1 - r)^2 sum over s < u of  c_su^2,
    r (1 - r) (1 - 2r) sum (w_u - v)^3  +  6 r^2 (1 - r)^2 sum over s < u of (w_s - v)(w_u - v)/u,

and others that are smaller by 1 / m. The sum of c_su^2 is

    sum (u - t) / u^2  -  N sum a_u^2  +  N^2 b^2 / 2.
"""

from functools import cache

import numpy as np
from scipy.special import gammaincc

from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.typing import Floats, Integers

# So many positives are many: as many are expected above a rank, and at least twice as many below.
_MANY = 64
# The gamma distribution has at least this skewness, with which it is normal. Skewness below 0,
# which is tiny, counts as this.
_LEAST_SKEWNESS = 1e-3
# Sums over ranks are integrals over the logarithm of the rank, by so many nodes.
_NODES = 48


def first_of_many(case: Retrieved, ranks: Integers) -> int | None:
    """Return the place of the first rank with many positives above and below; None without one."""
    n, n_pos, depth = case
    place = int(np.searchsorted(ranks, _MANY * n / n_pos))
    if place >= ranks.size or (depth - int(ranks[place])) * n_pos < 2 * _MANY * n:
        return None
    return place


def added_by_many(case: Retrieved, rank: int, hits: Integers, lack: Floats) -> Floats:
    """Return the chances that positives below a rank add what is lacking, by hits above and lack.

    The distribution is that of a gamma distributed number that is moved and scaled.
    """
    mean, deviation, skewness = (column[:, None] for column in _shape(case, rank, hits))
    shape = 4 / np.maximum(skewness, _LEAST_SKEWNESS) ** 2
    z = (lack - mean) / deviation
    return np.asarray(gammaincc(shape, np.maximum(shape + z * np.sqrt(shape), 0.0)))


def _shape(case: Retrieved, rank: int, hits: Integers) -> tuple[Floats, Floats, Floats]:
    """Return mean, standard deviation and skewness of what positives below a rank add."""
    n, n_pos, depth = case
    u, per_rank = _nodes(rank, depth)
    above, left, size = hits[:, None], (n_pos - hits)[:, None], n - rank
    others = (left - 1) * (u - rank - 1) / (size - 1)
    mean = (left / size * (above + 1 + others) / u) @ per_rank
    r = left / size
    share, varies, out = r[:, 0], (r * (1 - r))[:, 0], size - (depth - rank)
    a = ((u - rank) / u + np.log((depth + 0.5) / u)) / size
    each = left - 1 + 2 * r
    w = (above + 1) / u + each * a
    v = w @ per_rank / size
    away = w - v[:, None]
    single = away**2 @ per_rank + out * v**2
    pair = ((u - rank) / u**2 - size * a**2) @ per_rank + (a @ per_rank) ** 2 / 2
    variance = varies * single + varies**2 * pair
    third = varies * (1 - 2 * share) * (away**3 @ per_rank - out * v**3)
    until = _sums_until(rank, depth, above + 1, each / size, u)
    until -= v[:, None] * (u - rank - 0.5)
    third += 6 * varies**2 * ((away / u * until) @ per_rank)
    return mean, np.sqrt(variance), third / variance**1.5


def _sums_until(rank: int, depth: int, first: Integers, each: Floats, u: Floats) -> Floats:
    """Return the sums of w over the ranks until u; `each` is what multiplies N a."""
    begin, end = rank + 0.5, depth + 0.5
    logs = u * np.log(end / u) - begin * np.log(end / begin)
    rise = (first - each * rank) * np.log(u / begin) + each * (2 * (u - begin) + logs)
    return np.asarray(rise)


@cache
def _legendre() -> tuple[Floats, Floats]:
    """Return nodes and weights of an integral from -1 to 1."""
    return np.polynomial.legendre.leggauss(_NODES)


def _nodes(rank: int, depth: int) -> tuple[Floats, Floats]:
    """Return ranks below a rank, and how many each stands for."""
    x, weight = _legendre()
    first, last = np.log(rank + 0.5), np.log(depth + 0.5)
    u = np.exp((first + last) / 2 + (last - first) / 2 * x)
    return u, weight * (last - first) / 2 * u
