"""Sums of polynomial kernels over many points, at many points.

The kernels are ``c (1 - x^2 / r^2)^s`` for ``|x| < r``, with ``r^2 = 2 s + 3``, which makes their
standard deviation 1. A polynomial p of the difference of a point v and a source u is ``sum_k
p^(k)(v) (-u)^k / k!``, so that sums over the sources within reach of a point follow from prefix
sums of the powers of sources. The cost grows with the number of points, not of pairs.
"""

from itertools import pairwise
from math import factorial

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from prframe.learn.kernel_sums import KernelSums
from prframe.typing import Floats


def polynomial_sums(points: Floats, sources: Floats, weights: Floats, power: int) -> KernelSums:
    """Add up kernels with exponent s = power around weighted sources at points; both ascend."""
    reach = (2 * power + 3) ** 0.5
    kernel = Polynomial([1, 0, -1]) ** power
    kernel /= kernel.integ(lbnd=-1)(1)
    first = np.searchsorted(sources, points - reach)
    last = np.searchsorted(sources, points + reach)
    # Sources that are out of reach below a point count fully.
    below = np.concatenate([[0.0], np.cumsum(weights)])[first]
    cdf, density = np.empty_like(points), np.empty_like(points)
    cells = np.floor((points - points[:1]) / reach)
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    for start, stop in pairwise([*starts, points.size]):
        panel, near = slice(start, stop), slice(first[start], last[stop - 1])
        # Positions are taken from within the panel, as powers are exact only for small arguments.
        v, u = ((values - points[start]) / reach for values in (points[panel], sources[near]))
        window = first[panel] - first[start], last[panel] - first[start]
        moments = _moments(u - 0.5, weights[near], window, 2 * power + 2)
        cdf[panel] = _sum(kernel.integ(lbnd=-1), v - 0.5, moments)
        density[panel] = _sum(kernel, v - 0.5, moments)
    return KernelSums(cdf + below, density / reach)


def _moments(
    u: Floats, weights: Floats, window: tuple[NDArray[np.intp], NDArray[np.intp]], number: int
) -> Floats:
    """Return the sums of ``a (-u)^k`` over each window of sources, for k from 0."""
    terms = weights * (-u) ** np.arange(number)[:, None]
    sums = np.concatenate([np.zeros((number, 1)), np.cumsum(terms, axis=1)], axis=1)
    first, last = window
    return np.asarray(sums[:, last] - sums[:, first])


def _sum(polynomial: Polynomial, v: Floats, moments: Floats) -> Floats:
    """Return the sums of ``a p(v - u)`` over the window of each point v."""
    orders = range(polynomial.degree() + 1)
    return np.asarray(sum(polynomial.deriv(k)(v) / factorial(k) * moments[k] for k in orders))
