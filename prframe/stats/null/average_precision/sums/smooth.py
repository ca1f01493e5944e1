"""The sum of the AP of rankings with many hits, beside others that are on a lattice.

A lattice for thousands of hits would take too long. Where many hits are expected, AP is nearly
normal under a slope, and its generating function says how: with K(s) = log E[exp(s G)], G has
under the slope s the cumulants K'(s), K''(s), ..., and a density by Edgeworth's expansion. For a
sum of G and independent X on a lattice, with weights w under the same slope,

    P(X + G >= y) = exp(K + K_X - s y) sum over x of  w(x) times
                    the integral over v > 0 of exp(-s v) f(y - x + v),

f being that density. The integrals are known (`_integrals`). The expansion need not be good to the
last digit for G alone, as the spread of X smooths what is left out.
"""

from collections.abc import Sequence
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr

from prframe.stats.null.average_precision.sums.path_walks import PathSum
from prframe.stats.null.average_precision.sums.terms import Term
from prframe.stats.null.average_precision.sums.tilted import Tilted
from prframe.typing import Floats

# A point of the lattice stands for values up to its neighbours, of which so many are taken where
# G varies less than this many points.
_WITHIN, _NARROW = 8, 2.0
# Further than this from the mean, in tilted standard deviations, the density is 0.
_FURTHEST = 38.0
# Integrals lose digits where a standard deviation changes the weight exp(s G) by more than exp of
# this.
_STEEPEST = 20.0
# Sums are raised to this before their logarithm is taken.
_LEAST = float(np.finfo(np.float64).tiny)


class Under(NamedTuple):
    """A sum under a slope: K there, and mean, deviation, skewness and excess kurtosis."""

    slope: float
    log_mgf: float
    mean: float
    deviation: float
    skewness: float
    kurtosis: float


class Smooth:
    """The sum of rankings with many hits.

    Attributes
    ----------
    mean, deviation : float
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self._sum = PathSum(terms)
        self.mean, self.deviation = self._sum.mean, float(self._sum.deviation)
        self._known: dict[float, Under | None] = {}

    def under(self, slope: float) -> Under | None:
        """Return the sum under a slope next to the given one; None if walks fail there."""
        if slope not in self._known:
            self._known[slope] = self._under(slope)
        return self._known[slope]

    def _under(self, slope: float) -> Under | None:
        """Walk along the paths under a slope."""
        found = self._sum.under(slope)
        if found is None:
            return None
        points, mean = found
        own, log_mgf, second, third, fourth = (float(column[0]) for column in points[:5])
        deviation = sqrt(second)
        if abs(own) * deviation > _STEEPEST:
            return None
        return Under(own, log_mgf, mean, deviation, third / deviation**3, fourth / second**2)


def log_tails(lattice: Tilted, unit: float, smooth: Under, at: Floats) -> tuple[Floats, float]:
    """Return the logarithms of both tails of a sum at some values, shape (2, n), and a doubt.

    The points of the lattice, which is under the slope of `smooth`, are `unit` apart. The doubt is
    the share that the last terms of the expansion have of the tail at the first value.
    """
    upper = smooth.slope >= 0
    # An axis of both expansions, without and with the last terms, and one of values.
    sums = np.array([_tail(lattice, unit, smooth, value) for value in at.tolist()]).T
    own = np.log(np.maximum(sums, _LEAST)) + lattice.log_mgf + smooth.log_mgf - smooth.slope * at
    if upper and lattice.beyond:
        # Whatever G is, the sum is then above all values.
        end = unit * lattice.inside.size
        own = np.logaddexp(own, log(lattice.beyond) + lattice.log_mgf - smooth.slope * end)
    doubt = abs(float(np.expm1(own[0, 0] - own[1, 0])))
    own = np.minimum(own[1], 0.0)
    other = np.log(-np.expm1(np.minimum(own, -_LEAST)))
    return np.array([own, other] if upper else [other, own]), doubt


def _tail(lattice: Tilted, unit: float, smooth: Under, value: float) -> tuple[float, float]:
    """Return the sum over the lattice, by the expansion without and with its last terms."""
    side = 1.0 if smooth.slope >= 0 else -1.0
    place = np.flatnonzero(lattice.inside)
    weight, deviation = lattice.inside[place], smooth.deviation
    within = np.zeros(1)
    if deviation < _NARROW * unit:
        within = (np.arange(_WITHIN) + 0.5) / _WITHIN - 0.5
    z = side * (value - smooth.mean - unit * (place[:, None] + within)) / deviation
    near = z < _FURTHEST
    slope = abs(smooth.slope) * deviation
    plain, skewed, further, furthest = _integrals(z[near], slope)
    sums = np.zeros((2, *z.shape))
    sums[0, near] = plain + side * smooth.skewness / 6 * skewed
    last = smooth.kurtosis / 24 * further + smooth.skewness**2 / 72 * furthest
    sums[1, near] = sums[0, near] + last
    first, second = (weight @ each.mean(axis=1) for each in sums)
    return float(first), float(second)


def _integrals(z: Floats, slope: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the integrals over v > 0 of exp(-a v) He_k(z + v) phi(z + v) for k = 0, 3, 4, 6.

    As the derivative of He_{k - 1} phi is -He_k phi, that for k is He_{k - 1}(z) phi(z) less a
    times that for k - 1.
    """
    density = np.exp(-(z**2) / 2) / sqrt(2 * pi)
    beyond = z + slope
    with np.errstate(over="ignore", invalid="ignore"):
        # Either form overflows where the other is taken.
        far = density * sqrt(pi / 2) * erfcx(beyond / sqrt(2))
        close = np.exp(slope * z + slope**2 / 2) * ndtr(-beyond)
    integral = np.where(beyond > 0, far, close)
    found = [integral]
    before, hermite = np.zeros_like(z), np.ones_like(z)
    for order in range(1, 7):
        integral = hermite * density - slope * integral
        found.append(integral)
        before, hermite = hermite, z * hermite - (order - 1) * before
    return found[0], found[3], found[4], found[6]
