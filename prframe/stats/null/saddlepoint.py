"""Tails of T from the derivatives of its cumulant function K(s) = log E[exp(sT)] at real slopes.

At the slope s with ``K'(s) = x``, let ``r^2 = 2 (s x - K(s))`` and ``u = s sqrt(K''(s))``, and let
l3 and l4 be the skewness and the excess kurtosis of T tilted by exp(sT). Then

    P(T >= x) = Q(r) + phi(r) [1/u - 1/r
                               + (l4/8 - 5 l3^2/24)/u - l3/(2 u^2) - 1/u^3 + 1/r^3 + ...]

(Lugannani & Rice 1980, with the second term of Daniels 1987). Close to the mean, where r and u are
nearly 0, the tilted density is expanded instead (Esscher, with the terms of Edgeworth). The size
of the second term bounds, roughly, what is left out.

T is taken to be continuous. If T is on a lattice of span d, add the cumulants of a uniform number
between -d/2 and d/2 to K, and ask for x - d/2.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from prframe.typing import Floats

# The tilted density is expanded where u is less than this, and Lugannani and Rice's formula is
# used elsewhere.
_NEAR = 0.3
_DENSITY = float(1 / np.sqrt(2 * np.pi))


class Points(NamedTuple):
    """The saddlepoints, one per value; NaN where there is none.

    Attributes
    ----------
    slope, log_mgf : ndarray of float
        s, and K(s).
    second, third, fourth : ndarray of float
        Derivatives of K at s.
    """

    slope: Floats
    log_mgf: Floats
    second: Floats
    third: Floats
    fourth: Floats


class Approximation(NamedTuple):
    """The logarithm of the tail on the side of the slope, and its relative error, roughly."""

    log_tail: Floats
    doubt: Floats


def tails(points: Points, x: Floats) -> Approximation:
    """Return P(T >= x) where slopes are positive or 0, P(T <= x) where they are negative.

    The doubt is the relative size of the second term, and infinite where there is no tail.
    """
    side = np.where(points.slope >= 0, 1.0, -1.0)
    with np.errstate(all="ignore"):
        u = np.abs(points.slope) * np.sqrt(points.second)
        skewness = side * points.third / points.second**1.5
        kurtosis = points.fourth / points.second**2
        log_factor = points.log_mgf - points.slope * x
        first, second = _lugannani_rice(-log_factor, u, skewness, kurtosis)
        plain, expanded = _expanded(u, skewness, kurtosis)
        near = u < _NEAR
        doubt = np.abs(np.where(near, plain / expanded, first / second) - 1)
        log_tail = log_factor + np.log(np.where(near, expanded, second))
    doubt = np.where((doubt >= 0) & np.isfinite(log_tail), doubt, np.inf)
    return Approximation(np.minimum(log_tail, 0.0), doubt)


def _lugannani_rice(
    entropy: Floats, u: Floats, skewness: Floats, kurtosis: Floats
) -> tuple[Floats, Floats]:
    """Return the formula without and with its second term, divided by exp(-entropy)."""
    r = np.sqrt(2 * np.maximum(entropy, 0.0))
    first = _mills(r) + _DENSITY * (1 / u - 1 / r)
    further = (kurtosis / 8 - 5 * skewness**2 / 24) / u - skewness / (2 * u**2)
    return first, first + _DENSITY * (further - 1 / u**3 + 1 / r**3)


def _expanded(u: Floats, skewness: Floats, kurtosis: Floats) -> tuple[Floats, Floats]:
    """Return integrals of exp(-u z) times the tilted density over z > 0, in two expansions.

    The first has the skewness alone, the second all of Edgeworth's second term.
    """
    parts = [_mills(u)]
    # Hermite's polynomials at 0.
    for value in (1, 0, -1, 0, 3, 0):
        parts.append(value * _DENSITY - u * parts[-1])
    plain = parts[0] + skewness / 6 * parts[3]
    return plain, plain + kurtosis / 24 * parts[4] + skewness**2 / 72 * parts[6]


def _mills(r: Floats) -> Floats:
    """Return the tail of the normal distribution beyond r, divided by exp(-r^2/2)."""
    return np.asarray(0.5 * erfcx(r / np.sqrt(2)))
