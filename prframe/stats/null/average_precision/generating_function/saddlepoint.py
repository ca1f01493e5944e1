"""Tails of T from its generating function at a few real slopes.

With ``K(s) = log E[exp(sT)]`` and the slope s at which ``K'(s) = x``, let
``r^2 = 2 (s x - K(s))``, ``u = s sqrt(K''(s))``, and l3, l4 the skewness and the excess kurtosis
of T tilted by exp(sT). Then

    P(T >= x) = Q(r) + phi(r) [1/u - 1/r
                               + (l4/8 - 5 l3^2/24)/u - l3/(2 u^2) - 1/u^3 + 1/r^3 + ...]

(Lugannani & Rice 1980, with the second term of Daniels 1987). Close to the mean, where r and u are
nearly 0, the tilted density is expanded instead (Esscher, with the terms of Edgeworth). The size
of the second term tells how large the terms are that are left out.
"""

from functools import cache
from math import factorial
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx

from prframe.typing import Floats

# K is computed at this many slopes, the nodes, about the one in question.
_NODES = 7
# The tilted density is expanded where u is less than this. Elsewhere the formula of Lugannani and
# Rice is used.
_NEAR = 0.3
# u is raised to this before it divides.
_LEAST = 1e-60
# The number of points of the quadrature over the tilted density beyond the value.
_QUADRATURE = 64
# The quadrature ends this many tilted standard deviations beyond the value.
_FURTHEST = 12.0
# It ends where u z is this, if that comes first: exp(-uz) is negligible from there on.
_DECAYED = 40.0
# The number of turns of Newton's method on the polynomial through the nodes.
_TURNS = 30
# Newton's method stays within this distance of the centre of the nodes, which span -1 to 1.
_OUTSIDE = 1.5


class Points(NamedTuple):
    """The saddlepoints, one per value; NaN where there is none.

    Attributes
    ----------
    slope, log_mgf : ndarray of float
        s, and K(s).
    second, third, fourth, fifth, sixth : ndarray of float
        Derivatives of K.
    """

    slope: Floats
    log_mgf: Floats
    second: Floats
    third: Floats
    fourth: Floats
    fifth: Floats
    sixth: Floats


class Approximation(NamedTuple):
    """The logarithm of the tail on the side of the slope, and its relative error, roughly."""

    log_tail: Floats
    doubt: Floats


def tails(points: Points, x: Floats) -> Approximation:
    """Return P(T >= x) where slopes are positive, P(T <= x) where they are negative."""
    side = np.where(points.slope >= 0, 1.0, -1.0)
    s, third = np.abs(points.slope), side * points.third
    skewness = third / points.second**1.5
    kurtosis = points.fourth / points.second**2
    u = s * np.sqrt(points.second)
    log_factor = points.log_mgf - points.slope * x
    first, second = _lugannani_rice(-log_factor, u, skewness, kurtosis)
    plain, expanded = _expanded(u, skewness, kurtosis)
    near = u < _NEAR
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = np.abs(np.where(near, plain / expanded, first / second) - 1)
        log_tail = log_factor + np.log(np.where(near, expanded, second))
    doubt = np.where((doubt >= 0) & np.isfinite(log_tail), doubt, np.inf)
    return Approximation(np.minimum(log_tail, 0.0), doubt)


def moved(points: Points, x: Floats, others: Floats) -> Points:
    """Return the saddlepoints of other values than x, by the derivatives of K at those of x."""
    derivatives = [points.log_mgf, x, *points[2:]]
    series = np.array([value / factorial(order) for order, value in enumerate(derivatives)]).T
    away = np.zeros(x.size)
    for _ in range(_TURNS):
        away += (others - _derivative(series, away, 1)) / _derivative(series, away, 2)
    values = [_derivative(series, away, order) for order in (0, 2, 3, 4, 5, 6)]
    return Points(points.slope + away, *values)


def refined_tails(points: Points, x: Floats) -> Approximation:
    """Return the tails with Edgeworth's third and fourth terms too, from accurate derivatives.

    The density of the tilted T is expanded and integrated with the weight exp(-s (T - x)).
    """
    side = np.where(points.slope >= 0, 1.0, -1.0)
    deviation = np.sqrt(points.second)
    u = np.abs(points.slope) * deviation
    l3, l4, l5, l6 = (
        side**order * value / deviation**order for order, value in enumerate(points[3:], start=3)
    )
    none = np.zeros(u.size)
    plain = [none + 1, none, none, l3 / 6, l4 / 24, none, l3**2 / 72]
    further = [none, none, none, none, none, l5 / 120, l6 / 720, l3 * l4 / 144]
    further += [l4**2 / 1152 + l3 * l5 / 720, l3**3 / 1296, l3**2 * l4 / 1728, none, l3**4 / 31104]
    first = _integrated(u, np.array(plain))
    second = first + _integrated(u, np.array(further))
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = np.abs(first / second - 1)
        log_tail = points.log_mgf - points.slope * x + np.log(second)
    doubt = np.where((doubt >= 0) & np.isfinite(log_tail), doubt, np.inf)
    return Approximation(np.minimum(log_tail, 0.0), doubt)


def _integrated(u: Floats, series: Floats) -> Floats:
    """Integrate exp(-u z) over z > 0 with a series of Hermite polynomials times the density."""
    node, weight = _quadrature()
    top = np.minimum(_FURTHEST, _DECAYED / np.maximum(u, _LEAST))
    z = (node + 1) / 2 * top[:, None]
    density = np.exp(-u[:, None] * z - z**2 / 2) / np.sqrt(2 * np.pi)
    values = np.polynomial.hermite_e.hermeval(z.T, series[:, None, :], tensor=False)
    return np.asarray((density.T * values * weight[:, None]).sum(axis=0).T * top / 2)


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Return nodes and weights of the quadrature over -1 to 1, which take a while to find."""
    return np.polynomial.legendre.leggauss(_QUADRATURE)


def _lugannani_rice(
    entropy: Floats, u: Floats, skewness: Floats, kurtosis: Floats
) -> tuple[Floats, Floats]:
    """Return the formula without and with its second term, divided by exp(-entropy)."""
    r = np.sqrt(2 * np.maximum(entropy, 0.0))
    density = 1 / np.sqrt(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = _mills(r) + density * (1 / u - 1 / r)
        further = (kurtosis / 8 - 5 * skewness**2 / 24) / u - skewness / (2 * u**2)
        return first, first + density * (further - 1 / u**3 + 1 / r**3)


def _expanded(u: Floats, skewness: Floats, kurtosis: Floats) -> tuple[Floats, Floats]:
    """Return integrals of exp(-u z) times the tilted density over z > 0, in two expansions.

    The first has the skewness alone, the second all of Edgeworth's second term.
    """
    at_zero = (1, 0, -1, 0, 3, 0)
    density = 1 / np.sqrt(2 * np.pi)
    parts = [_mills(u)]
    for value in at_zero:
        parts.append(value * density - u * parts[-1])
    plain = parts[0] + skewness / 6 * parts[3]
    return plain, plain + kurtosis / 24 * parts[4] + skewness**2 / 72 * parts[6]


def _mills(r: Floats) -> Floats:
    """Return the tail of the normal distribution beyond r, divided by exp(-r^2/2)."""
    return np.asarray(0.5 * erfcx(r / np.sqrt(2)))


def from_nodes(nodes: Floats, log_mgf: Floats, x: Floats) -> tuple[Points, Floats]:
    """Return the saddlepoints from polynomials through nodes, an axis of values and one of nodes.

    With them comes their place among the nodes, which span -1 to 1.
    """
    low, high = nodes.min(axis=1), nodes.max(axis=1)
    centre, half = (low + high) / 2, (high - low) / 2
    place = (nodes - centre[:, None]) / half[:, None]
    powers = place[:, :, None] ** np.arange(nodes.shape[1])
    series = np.linalg.solve(powers, log_mgf[:, :, None])[:, :, 0]
    t = np.zeros(x.size)
    for _ in range(_TURNS):
        rise, bend = (_derivative(series, t, order) for order in (1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.where(bend > 0, (half * x - rise) / bend, np.sign(half * x - rise))
        t = np.clip(t + np.clip(change, -1.0, 1.0), -_OUTSIDE, _OUTSIDE)
    values = [_derivative(series, t, order) / half**order for order in (0, 2, 3, 4, 5, 6)]
    return Points(centre + half * t, *values), t


def _derivative(series: Floats, t: Floats, order: int) -> Floats:
    """Return a derivative of polynomials, each of which is a row of coefficients."""
    degrees = np.arange(series.shape[1])
    factor = np.ones(degrees.size)
    for less in range(order):
        factor *= degrees - less
    powers = t[:, None] ** np.maximum(degrees - order, 0)
    return np.asarray((series * factor * powers).sum(axis=1))


def nodes_about(centre: Floats, half: Floats, count: int = _NODES) -> Floats:
    """Return Chebyshev's points on intervals about centres."""
    angle = np.pi * (np.arange(count) + 0.5) / count
    return np.asarray(centre[:, None] + half[:, None] * np.cos(angle))
