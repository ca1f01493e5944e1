"""Tails of T from its characteristic function after a tilt, which keep their digits far out.

For any real s > 0, with phi the characteristic function of T tilted by exp(sT),

    P(T >= x) = exp(K(s) - s x) (1/2 pi) int phi(w) exp(-iwx) / (s + iw) dw;

for s < 0 the negative of the right side is P(T < x). The slope that moves the mean of T to x makes
the factor before the integral about as small as the tail, so the integral needs no more digits
than the answer. Frequencies 2 pi / L apart repeat T with period L, and end where phi has died
away. If T lies between x - L and x + L, the sum over them is, with q = exp(-|s| L),

    (P(T >= x) + q P(T < x)) / (1 - q)  =  P(T >= x) + q / (1 - q),

and the last term is taken off. Where x is a value that T takes, half of its probability counts.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Flags, Floats

Complexes: TypeAlias = NDArray[np.complex128]

# The least number of frequencies that are added at a time; later on half as many as there were.
_CHUNK = 64
# The sum ends where this many terms in a row are small.
_QUIET = 16


class Inverted(NamedTuple):
    """Tails by inversion.

    Attributes
    ----------
    log_tail : ndarray of float
        Logarithms of P(T >= x) for positive slopes, of P(T < x) for negative ones; NaN where the
        sum is not positive.
    converged : ndarray of bool
        Whether phi has died away, so that what is left out is below the share that was given.
    last : float
        The largest frequency of the sum.
    """

    log_tail: Floats
    converged: Flags
    last: float


def inverted(  # noqa: PLR0913 - a tilt, values, and how to add up
    phi: Callable[[Floats], Complexes],
    slope: float,
    log_mgf: float,
    x: Floats,
    spacing: float,
    *,
    span: float = 0.0,
    close: float = 1e-8,
    most: int = 4096,
) -> Inverted:
    """Return the tails of some values, which share a tilt.

    Parameters
    ----------
    phi : callable
        The characteristic function of the tilted distribution at rising frequencies, 1 at 0.
    slope, log_mgf : float
        The slope s, not 0, and K(s).
    x : ndarray of float, shape (n_values,)
    spacing : float
        How far frequencies are apart: 2 pi over the period.
    span : float, default 0
        If T is on a lattice, its span, of which the period is a multiple; x then lies midway
        between two of its points. Frequencies end at pi / span, and the sum is exact.
    close : float, default 1e-8
        Frequencies are added until what is left is below this share of the tail.
    most : int, default 4096
        The most frequencies.
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
            terms[0] /= 2
        if stop == end and number % 2 == 0:
            terms[-1] /= 2
        total += (terms * np.exp(-1j * np.outer(x, frequency))).sum(axis=1).real
        quiet = np.abs(terms[-_QUIET:]).max() * np.sqrt(stop) < close * total
        first, count = stop, max(_CHUNK, stop // 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_tail = np.minimum(log_factor + np.log(total), 0.0)
    return Inverted(log_tail, (quiet | (first >= end)) & (total > 0), (first - 1) * spacing)
