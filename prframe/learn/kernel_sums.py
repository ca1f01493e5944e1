"""Sums of Gaussian kernels over many points, at many points, to about 1e-13 of the total weight.

All distances are in units of the bandwidth. Points that lie next to each other form a panel.
Sources out of reach of a panel count fully or not at all. For those within reach, either all pairs
are added up directly, or the kernel is written as a Fourier series with a period P that exceeds
all differences by the reach, ``K(x) = 1/P + 2/P sum_k exp(-w_k^2 / 2) cos(w_k x)`` with
``w_k = 2 pi k / P``. The series has some hundred terms, each of which is the product of a factor
for the source and one for the point. The cost then grows with the number of points, not of pairs,
and outliers do not add to it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from prframe.stats._batches import batches
from prframe.typing import Floats

# Beyond this distance the kernel is below 1e-14; so is its spectrum, exp(-w^2 / 2), in frequency.
_REACH = 8.0
_WIDTH = 64.0
_FEWEST = 64
# Arrays of pairs, and arrays of points and frequencies, have at most so many entries.
_PAIRS, _POWERS = 2**19, 2**16
# This is the measured time for a point and a frequency, relative to that for a pair.
_POWER_COST = 0.2


class KernelSums(NamedTuple):
    """Sums of ``a_j kappa(t - x_j)`` and of ``a_j K(t - x_j)``, for each t."""

    cdf: Floats
    density: Floats


class _Panel(NamedTuple):
    """Points, and the sources within their reach."""

    points: slice
    sources: slice


def kernel_sums(points: Floats, sources: Floats, weights: Floats) -> KernelSums:
    """Add up kernels around weighted sources at points; both ascend."""
    cdf, density = np.empty_like(points), np.empty_like(points)
    below = np.concatenate([[0.0], np.cumsum(weights)])
    for panel in _panels(points, sources):
        t, x, a = points[panel.points], sources[panel.sources], weights[panel.sources]
        n_terms = _n_terms(t, x)
        fast = _POWER_COST * n_terms * (t.size + x.size) < t.size * x.size
        sums = fourier_sums(t, x, a) if fast else direct_sums(t, x, a)
        cdf[panel.points] = sums.cdf + below[panel.sources.start]
        density[panel.points] = sums.density
    return KernelSums(cdf, density)


def direct_sums(points: Floats, sources: Floats, weights: Floats) -> KernelSums:
    """Add up the kernels of all pairs, for some points at a time."""
    cdf, density = np.empty_like(points), np.empty_like(points)
    for part in batches(points.size, sources.size, _PAIRS):
        apart = points[part, None] - sources
        cdf[part] = ndtr(apart) @ weights
        density[part] = np.exp(-(apart**2) / 2) @ weights
    return KernelSums(cdf, density / (2 * np.pi) ** 0.5)


def fourier_sums(points: Floats, sources: Floats, weights: Floats) -> KernelSums:
    """Add up kernels as Fourier series; the sources must not be many bandwidths apart."""
    total, period = weights.sum(), _period(points, sources)
    frequency = 2 * np.pi / period * np.arange(1, _n_terms(points, sources) + 1)
    # Positions are taken from the middle, as the powers are more exact for small arguments.
    origin = (points[0] + points[-1]) / 2
    t, x = points - origin, sources - origin
    spectrum = np.zeros(frequency.size, dtype=np.complex128)
    # Powers of some points at a time stay in the processor's cache.
    for part in batches(x.size, frequency.size, _POWERS):
        spectrum += _powers(x[part], -frequency[0], frequency.size) @ weights[part]
    spectrum *= 2 / period * np.exp(-(frequency**2) / 2)
    spectra = np.stack([spectrum / frequency, spectrum])
    cdf, density = np.empty_like(points), np.empty_like(points)
    for part in batches(t.size, frequency.size, _POWERS):
        integrated, plain = spectra @ _powers(t[part], frequency[0], frequency.size)
        cdf[part], density[part] = integrated.imag, plain.real
    # The constant term of the series, 1/P, has the integral x/P, which is not periodic.
    cdf += total / 2 + (total * t - weights @ x) / period
    return KernelSums(cdf, density + total / period)


def _panels(points: Floats, sources: Floats) -> Iterator[_Panel]:
    """Cut points into panels that are not wide, or have few points."""
    start = 0
    while start < points.size:
        near = int(np.searchsorted(points, points[start] + _WIDTH, side="right"))
        stop = min(points.size, max(near, start + _FEWEST))
        reach = points[start] - _REACH, points[stop - 1] + _REACH
        # The search is from the right, as very large points, to which adding the reach changes
        # nothing, are within their own reach.
        first = int(np.searchsorted(sources, reach[0], side="left"))
        last = int(np.searchsorted(sources, reach[1], side="right"))
        yield _Panel(slice(start, stop), slice(first, last))
        start = stop


def _period(points: Floats, sources: Floats) -> float:
    """Return a period so long that copies of the kernel are out of reach of all differences."""
    if not sources.size:
        return _REACH
    apart = max(points[-1] - sources[0], sources[-1] - points[0], 0.0)
    return float(apart) + _REACH


def _n_terms(points: Floats, sources: Floats) -> int:
    """Return the number of frequencies at which the spectrum is not negligible."""
    return int(np.ceil(_REACH * _period(points, sources) / (2 * np.pi)))


def _powers(x: Floats, frequency: float, n_terms: int) -> NDArray[np.complex128]:
    """Return ``exp(i k frequency x)`` for k = 1 to n_terms, in rows, by doubling."""
    powers = np.empty((n_terms, x.size), dtype=np.complex128)
    np.exp(1j * frequency * x, out=powers[0])
    n_done = 1
    while n_done < n_terms:
        n_next = min(n_done, n_terms - n_done)
        np.multiply(powers[:n_next], powers[n_done - 1], out=powers[n_done : n_done + n_next])
        n_done += n_next
    return powers
