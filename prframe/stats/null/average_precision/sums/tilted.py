"""Tails of a sum of independent numbers on a lattice, by Fourier transforms under a slope.

The weight of each point j is multiplied by exp(s j - K), K being the logarithm of the sum of all
these products, where the slope s makes the value in question the mean of the sum. Under such
weights the value is likely, so that what transforms round, some 1e-16 of the largest weight, does
not matter. Sums of equal numbers are found by doubling; what falls off the lattice is kept apart.
"""

from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import logsumexp, softmax

from prframe.stats.null.average_precision.sums.ladder import OnLattice
from prframe.typing import Floats

# Slopes times the number of points of the lattice are at most this.
_STEEPEST = 5000.0
# The slope need not be exact; it may be off by this over the number of points.
_ROUGH = 1e-2
# Weights are raised to this before their logarithm is taken.
_LEAST = float(np.finfo(np.float64).tiny)


class Tilted(NamedTuple):
    """Weights under a slope.

    Attributes
    ----------
    inside : ndarray of float
        The weight of each point j times ``exp(slope j - log_mgf)``.
    beyond : float
        The weight beyond the N points times ``exp(slope N - log_mgf)``; 0 for a negative slope.
    log_mgf : float
    """

    inside: Floats
    beyond: float
    log_mgf: float

    @classmethod
    def of(cls, weights: OnLattice, slope: float) -> "Tilted":
        """Put weights under a slope."""
        place = np.flatnonzero(weights.inside)
        log_weight = np.log(weights.inside[place]) + slope * place
        log_mgf = float(logsumexp(log_weight)) if place.size else 0.0
        inside = np.zeros(weights.inside.size)
        inside[place] = np.exp(log_weight - log_mgf)
        beyond = 0.0
        if slope >= 0 and weights.beyond:
            beyond = exp(log(weights.beyond) + slope * inside.size - log_mgf)
        return cls(inside, beyond, log_mgf)

    def above(self, slope: float) -> Floats:
        """Return, for each point i, the weight from i on times ``exp(slope i - log_mgf)``."""
        each = np.append(self.inside, self.beyond)[::-1]
        return _running(each, float(np.exp(-slope)))[::-1]

    def added(self, other: "Tilted", slope: float) -> "Tilted":
        """Return the weights of the sum of two independent numbers."""
        size = self.inside.size
        length = next_fast_len(2 * size - 1, real=True)
        product = rfft(self.inside, length) * rfft(other.inside, length)
        inside = np.maximum(irfft(product, length)[:size], 0.0)
        beyond = 0.0
        if slope >= 0:
            # Either the first is beyond the points, or the second lifts it there.
            rest = other.above(slope)[:0:-1]
            beyond = self.beyond * float(np.exp(-other.log_mgf)) + float(self.inside @ rest)
        return Tilted(inside, beyond, self.log_mgf + other.log_mgf)

    def times(self, often: int, slope: float) -> "Tilted":
        """Return the weights of the sum of equal independent numbers."""
        if often == 1:
            return self
        half = self.times(often // 2, slope)
        total = half.added(half, slope)
        return total.added(self, slope) if often % 2 else total

    def log_tails(self, slope: float, at: Floats) -> Floats:
        """Return the logarithms of both tails of values, as numbers of points, shape (2, n).

        A point stands for all values that are nearer to it than to its neighbours.
        """
        upper = slope >= 0
        side = self.above(slope)[:-1] if upper else _running(self.inside, float(np.exp(slope)))
        tail = side - self.inside / 2
        place, share = np.divmod(at, 1.0)
        low = place.astype(np.int64)
        value = (1 - share) * tail[low] + share * tail[low + 1] * np.exp(-slope)
        own = np.log(np.maximum(value, _LEAST)) - slope * low + self.log_mgf
        other = np.log(-np.expm1(np.minimum(own, -_LEAST)))
        return np.array([own, other] if upper else [other, own])


def _running(each: Floats, factor: float) -> Floats:
    """Return running sums, in which each step multiplies what came before by a factor."""
    from scipy.signal import lfilter  # noqa: PLC0415 - slow to import

    return np.asarray(lfilter([1.0], [1.0, -factor], each))


class Rough(NamedTuple):
    """The weights of cells of a lattice, and the mean number of points in each cell.

    The last ones are for what lies beyond the lattice, which would outweigh everything else under
    a slope that leaves it out.
    """

    weight: Floats
    place: Floats

    @classmethod
    def of(cls, weights: OnLattice, fine: int) -> "Rough":
        """Add up the weights of cells of so many points."""
        inside = weights.inside[:-1].reshape(-1, fine)
        weight, within = inside.sum(axis=1), inside @ np.arange(fine)
        share = np.divide(within, weight, np.zeros_like(weight), where=weight > 0)
        place = fine * np.arange(weight.size) + share
        return cls(np.append(weight, weights.beyond), np.append(place, float(inside.size + 1)))


class RoughSum:
    """Terms that are added up so many times each, of which moments suffice roughly."""

    def __init__(self, terms: Sequence[tuple[Rough, int]]) -> None:
        weight, self._place = (np.stack([rough[i] for rough, _ in terms]) for i in (0, 1))
        self._often = np.array([often for _, often in terms])
        self._is_inside = bool(weight[:, :-1].any(axis=1).all())
        with np.errstate(divide="ignore"):
            self._log_weight = np.log(weight)

    def moments(self, slope: float) -> tuple[float, float]:
        """Return the mean and the variance of the sum under a slope."""
        tilted = softmax(self._log_weight + slope * self._place, axis=1)
        mean = (tilted * self._place).sum(axis=1)
        variance = (tilted * self._place**2).sum(axis=1) - mean**2
        return float(self._often @ mean), float(self._often @ variance)

    def slope(self, target: float, beside: tuple[float, float] = (0.0, 0.0)) -> float:
        """Return the slope under which the mean is a target.

        A normal number `beside` the terms, with a mean and a variance, is a part of the sum. Where
        there is no such slope, one tail is all weight on the lattice, and hardly any is needed;
        with a number beside the terms, it is NaN.
        """
        from scipy.optimize import brentq  # noqa: PLC0415 - slow to import

        is_alone, size = not beside[1], float(self._place.max())
        if not self._is_inside:
            return 0.0 if is_alone else np.nan

        def excess(slope: float) -> float:
            """Return how far the mean under a slope is above the target."""
            return self.moments(slope)[0] + beside[0] + slope * beside[1] - target

        sign, end = (-1.0 if excess(0.0) > 0 else 1.0), 1 / size
        while sign * excess(sign * end) < 0:
            end *= 2
            if end * size > _STEEPEST:
                return -sign * _LEAST if is_alone else np.nan
        return float(brentq(excess, 0.0, sign * end, xtol=_ROUGH / size))
