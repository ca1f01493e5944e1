"""Tails of one sum of numbers with random signs, by inversion of its characteristic function.

With ``K(t) = sum_i log cosh(t d_i)``, for any t > 0,

    P(S >= s) = exp(K(t) - t s) (1/2 pi) int phi(w) exp(-iws) / (t + iw) dw,

where ``log phi(w) = sum_i log cosh((t + iw) d_i) - K(t)`` belongs to the sum under the tilt t. The
tilt that moves its mean to s makes the factor before the integral as small as the tail, which so
keeps its digits. Frequencies 2 pi / L apart repeat the sum with the period L; they end where phi
has died away. Where it does not, or comes back, sums cluster or single sums matter, and there is
no answer.
"""

from math import factorial

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.sign_flips.lobes import has_lobes
from prframe.stats.null.sign_flips.tilt import log_cosh, tilts
from prframe.typing import Floats

# The least tilt, in units of 1 over the standard deviation of the sum. Near the mean any will do.
_FLATTEST = 0.3
# The period is so many tilted standard deviations, or longer, so that the logarithm of what is
# repeated is below the second number, relative to the tail.
_PERIOD, _REPEATED = 24.0, -23.0
# The tail is guessed first, with this factor in units of the tilt times the standard deviation.
_GUESSED = 2.5
# So many frequencies are added at a time, until the last ones are no larger than this share of the
# integral; and so many at most.
_CHUNK, _GONE, _MOST = 64, 1e-10, 2048
# Of numbers that turn by less than this angle a series of so many terms is taken.
_SMALL, _TERMS = 0.1, 10
# So many factors are multiplied at a time.
_FACTORS = 2048


def _derivatives() -> list[np.polynomial.Polynomial]:
    """Return the derivatives of log cosh as polynomials in tanh."""
    tanh = np.polynomial.Polynomial([0.0, 1.0])
    each = [tanh]
    for _ in range(_TERMS - 1):
        each.append(each[-1].deriv() * (1 - tanh**2))
    return each


_DERIVATIVES = _derivatives()


def inverted_log_tail(rising: Floats, total: float) -> float | None:
    """Return log P(S >= total); None where single sums, or clusters of sums, matter.

    Parameters
    ----------
    rising : ndarray, shape (n,)
        The sizes of the numbers, rising and positive; the sum of their squares is 1.
    total : float
        At least 0.

    Returns
    -------
    float or None
        Accurate to about 1e-4, and 1e-8 where the numbers are many.
    """
    tilt, deviation, log_factor, converged = _tilted(rising, total)
    if not converged:
        return None
    guess = log_factor - np.log1p(_GUESSED * tilt * deviation)
    period = max(_PERIOD * deviation, (guess + _REPEATED) / -tilt)
    integral, last = _integrated(rising, tilt, total, period)
    if last is None or integral <= 0 or has_lobes(rising, tilt, last):
        return None
    return min(log_factor + float(np.log(integral)), 0.0)


def rough_log_tail(rising: Floats, total: float) -> float:
    """Return roughly log P(S >= total), which is the logarithm of the factor of the integral.

    Less that of the integral of a normal distribution; the factor alone is a bound at any tilt.
    """
    tilt, deviation, log_factor, _ = _tilted(rising, total)
    return log_factor - float(np.log1p(_GUESSED * tilt * deviation))


def _tilted(rising: Floats, total: float) -> tuple[float, float, float, bool]:
    """Return tilt, tilted standard deviation, log factor, and whether the tilt was found."""
    with np.errstate(all="ignore"):
        at, converged = tilts(rising[:, None], np.array([total]))
    # Next to the largest sum the search may overflow; a steep tilt serves there.
    tilt = max(float(at[0]), _FLATTEST) if np.isfinite(at[0]) else 1 / float(rising[0])
    tilted = tilt * rising
    log_factor = float(log_cosh(tilted).sum()) - tilt * total
    deviation = float(np.sqrt((rising**2 * (1 - np.tanh(tilted) ** 2)).sum()))
    return tilt, deviation, log_factor, bool(converged[0])


def _integrated(
    rising: Floats, tilt: float, total: float, period: float
) -> tuple[float, float | None]:
    """Return the integral, and where phi has died away; None where it does not."""
    waves = _Waves(rising, tilt)
    integral = 1 / (tilt * period)
    for begin in range(1, _MOST, _CHUNK):
        frequency = 2 * np.pi / period * np.arange(begin, begin + _CHUNK, dtype=np.float64)
        phi = waves.at(frequency)
        terms = phi * np.exp(-1j * frequency * total) / (tilt + 1j * frequency)
        integral += 2 / period * float(terms.real.sum())
        size = np.abs(terms[-_CHUNK // 4 :]).max() * 2 / period
        if size < _GONE * abs(integral):
            return integral, float(frequency[-1])
    return integral, None


class _Waves:
    """The characteristic function under a tilt."""

    def __init__(self, rising: Floats, tilt: float) -> None:
        self._rising = rising
        self._tanh = np.tanh(tilt * rising)
        self._terms = np.array(
            [
                rising**power * polynomial(self._tanh) / factorial(power)
                for power, polynomial in enumerate(_DERIVATIVES, start=1)
            ]
        )

    def at(self, frequency: Floats) -> NDArray[np.complex128]:
        """Return the function at rising frequencies."""
        n_small = int(np.searchsorted(self._rising, _SMALL / frequency[-1]))
        series = self._terms[:, :n_small].sum(axis=1)
        powers = (1j * frequency)[:, None] ** np.arange(1, _TERMS + 1)
        phi = np.exp(powers @ series)
        for begin in range(n_small, self._rising.size, _FACTORS):
            part = slice(begin, begin + _FACTORS)
            angle = np.outer(frequency, self._rising[part])
            phi *= np.prod(np.cos(angle) + 1j * self._tanh[part] * np.sin(angle), axis=1)
        return np.asarray(phi)
