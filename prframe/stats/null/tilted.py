"""Tails of T from its generating function K(s) = log E[exp(sT)] after a tilt by exp(sT).

*Saddlepoint.* At the slope s with ``K'(s) = x``, let ``r^2 = 2 (s x - K(s))`` and ``u = s
sqrt(K''(s))``, and let l3 and l4 be skewness and excess kurtosis of the tilted T. Then

    P(T >= x) = Q(r) + phi(r) [1/u - 1/r
                               + (l4/8 - 5 l3^2/24)/u - l3/(2 u^2) - 1/u^3 + 1/r^3 + ...]

(Lugannani & Rice 1980, with the second term of Daniels 1987). Close to the mean, where r and u are
nearly 0, the tilted density is expanded instead (Esscher, with the terms of Edgeworth). The size
of the second term bounds, roughly, what is left out. T is taken to be continuous.

*Inversion.* For any real s > 0, with phi the characteristic function of the tilted T,

    P(T >= x) = exp(K(s) - s x) (1/2 pi) int phi(w) exp(-iwx) / (s + iw) dw;

for s < 0 the negative of the right side is P(T < x). The factor before the integral is about as
small as the tail if the mean is at x, so the integral needs no more digits than the answer.
Frequencies 2 pi / L apart repeat T with period L. If T lies between x - L and x + L, the sum over
them is, with q = exp(-|s| L),

    (P(T >= x) + q P(T < x)) / (1 - q)  =  P(T >= x) + q / (1 - q),

and the last term is taken off. Where x is a value that T takes, half of its probability counts.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from prframe.typing import Flags, Floats

# The tilted density is expanded where u is less than this, and Lugannani and Rice's formula is
# used elsewhere.
_NEAR = 0.3
_DENSITY = float(1 / np.sqrt(2 * np.pi))
Complexes: TypeAlias = NDArray[np.complex64 | np.complex128]

# The least number of frequencies that are added at a time; later on half as many as there were.
_CHUNK = 64
# The sum ends where this many terms in a row are small.
_QUIET = 16


class Points(NamedTuple):
    """Saddlepoints, one per value: s, K(s), its derivatives from the second on; NaN for none."""

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
    """Return P(T >= x) where slopes are positive or 0, P(T <= x) where they are negative."""
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
    # The doubt is the relative size of the second term, and infinite where there is no tail.
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
    """Integrate exp(-u z) times the tilted density, z > 0, without and with the second term."""
    parts = [_mills(u)]
    # Hermite's polynomials at 0.
    for value in (1, 0, -1, 0, 3, 0):
        parts.append(value * _DENSITY - u * parts[-1])
    plain = parts[0] + skewness / 6 * parts[3]
    return plain, plain + kurtosis / 24 * parts[4] + skewness**2 / 72 * parts[6]


def _mills(r: Floats) -> Floats:
    """Return the tail of the normal distribution beyond r, divided by exp(-r^2/2)."""
    return np.asarray(0.5 * erfcx(r / np.sqrt(2)))


class Inverted(NamedTuple):
    """The logarithms of tails, NaN where sums are not positive, and whether phi has died away."""

    log_tail: Floats
    converged: Flags
    # The largest frequency of the sum.
    last: float


def inverted(  # noqa: PLR0913 - a tilt, values, and how to add up
    phi: Callable[[Floats], Complexes],
    slope: float,
    log_mgf: float | Floats,
    x: Floats,
    spacing: float,
    *,
    span: float = 0.0,
    close: float = 1e-8,
    most: int = 4096,
) -> Inverted:
    """Return P(T >= x) of some values for a slope s > 0, P(T < x) for s < 0.

    `phi` is the characteristic function of the tilted T at rising frequencies, or a row of these
    for each value, and `log_mgf` is K(s). Frequencies, 2 pi over the period apart, are added until
    what is left is below the share `close` of the tail, at most `most` of them. If T is on a
    lattice, the period is a multiple of its `span`, x lies midway between two points, and the sum
    to pi / span is exact.
    """
    log_factor, period = log_mgf - slope * x, 2 * np.pi / spacing
    # The probability that is repeated, divided by the factor.
    with np.errstate(over="ignore"):
        total = -np.exp(-log_factor - abs(slope) * period) / -np.expm1(-abs(slope) * period)
    number = round(period / span) if span else 0
    end = number // 2 + 1 if span else np.inf
    first, count, quiet = 0, _CHUNK, np.zeros(x.size, np.bool_)
    while first < min(end, most) and not quiet.all():
        stop = int(min(first + count, end, most))
        frequency = spacing * np.arange(first, stop, dtype=np.float64)
        z = slope + 1j * frequency
        kernel = span / 2 / np.sinh(span * z / 2) if span else 1 / z
        terms = 2 / period * phi(frequency) * kernel * np.sign(slope)
        if first == 0:
            terms[..., 0] /= 2
        if stop == end and number % 2 == 0:
            terms[..., -1] /= 2
        total += (terms * np.exp(-1j * np.outer(x, frequency))).sum(axis=1).real
        quiet = np.abs(terms[..., -_QUIET:]).max(axis=-1) * np.sqrt(stop) < close * total
        first, count = stop, max(_CHUNK, stop // 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_tail = np.minimum(log_factor + np.log(total), 0.0)
    return Inverted(log_tail, (quiet | (first >= end)) & (total > 0), (first - 1) * spacing)


def complement(log_chance: float) -> float:
    """Return log(1 - p) for log(p)."""
    return float(np.log(-np.expm1(log_chance))) if log_chance < 0 else -np.inf
