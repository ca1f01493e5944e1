"""The smoothed rank statistic, whose ranks are kernel estimates of the scores' cdf."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats import (
    DCG,
    CustomFunction,
    LocalAUC,
    Median,
    ScoreGeneratingFunction,
    parse_phi,
)
from prframe.stats._arrays import positive_labels, reals
from prframe.stats._batches import batches
from prframe.stats.score_functions import Phi
from prframe.typing import Floats

# For this n, derivatives are differences over n^(-2/5), about 2e-5, which is as exact as
# differences of doubles get.
_CLOSE = 10**12
_STAND_INS = {DCG: "'logrank' or 'p-norm-push'", LocalAUC: "'rtb(u0={u0})'", Median: "'mww'"}
# Beyond this distance the kernel is below 1e-14; so is its spectrum, exp(-w^2 / 2), in frequency.
_REACH = 8.0
# The width of a panel, and its fewest points.
_WIDTH = 64.0
_FEWEST = 64
# Arrays of pairs, and arrays of points and frequencies, have at most so many entries.
_PAIRS, _POWERS = 2**19, 2**16
# The measured time for a point and a frequency, relative to that for a pair.
_POWER_COST = 0.2


class SmoothedCriterion(NamedTuple):
    """The criterion, and its derivatives with respect to the scores."""

    value: float
    gradient: Floats


def smoothed_criterion(
    scores: ArrayLike,
    label: ArrayLike,
    bandwidth: float,
    phi: Phi = "mww",
) -> SmoothedCriterion:
    """Return the smoothed rank statistic of scores, and its gradient.

    The statistic W is the sum over positives of ``phi(F(s_i))``, where
    ``F(t) = 1/N sum_j kappa((t - s_j) / h)``, kappa being the normal cdf and j running over all N
    items. The gradient is ``dW/ds_j = 1{j positive} w_j f(s_j) - g(s_j)`` with
    ``g(t) = 1/(N h) sum over positives of w_i K((t - s_i) / h)`` and ``w_i = phi'(F(s_i))``, where
    f is the derivative of F and K that of kappa.

    Parameters
    ----------
    scores : array_like of float, shape (N,)
        Finite.
    label : array_like of bool or number, shape (N,)
        Positive where True or above 0; at least one is.
    bandwidth : float > 0
        h, in the unit of the scores.
    phi : str, ScoreGeneratingFunction or callable
        As for `prframe.stats.parse_phi`, and smooth.

    Returns
    -------
    SmoothedCriterion
        ``value`` and ``gradient``, shape (N,).

    Raises
    ------
    PrframeError
        Scores, labels or a bandwidth that are not as above, or a phi that is not smooth.

    Notes
    -----
    The gradient of a linear rule by theta is ``Z' gradient``. As every item counts half in F at
    its own score, phi may be infinite at 0 or 1.

    Fourier series replace sums over pairs where these cost more, with an error of about 1e-13.
    For a given bandwidth relative to the spread the time is ``O(N log N)``, the memory ``O(N)``.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, eqs (4.8), (4.10), (5.1) and (5.2).

    Examples
    --------
    >>> criterion = smoothed_criterion([0.0, 1.0, 2.0], [False, False, True], bandwidth=0.5)
    >>> round(criterion.value, 4)
    0.8257
    >>> criterion.gradient.round(4).tolist()
    [-0.0001, -0.036, 0.0361]
    """
    values, positive = reals("scores", scores), positive_labels(label)
    if values.ndim != 1 or values.shape != positive.shape:
        raise PrframeError(
            f"`scores` and `label` must be one-dimensional and of one length; "
            f"got shapes {values.shape} and {positive.shape}."
        )
    if not positive.any():
        raise PrframeError(f"`label` must have a positive; got none of {positive.size}.")
    if not np.isfinite(values).all():
        raise PrframeError(f"`scores` must be finite; {(~np.isfinite(values)).sum()} are not.")
    h = checks.number("bandwidth", bandwidth, above=0)
    return value_and_gradient(values, positive, h, smooth_phi(phi))


def value_and_gradient(
    scores: Floats, positive: NDArray[np.bool_], h: float, phi: ScoreGeneratingFunction
) -> SmoothedCriterion:
    """Compute the criterion and its gradient from checked arguments."""
    n = scores.size
    order = np.argsort(scores)
    ascending, chosen = scores[order] / h, positive[order]
    sums = kernel_sums(ascending[chosen], ascending, np.ones(n))
    ranks = np.clip(sums.cdf / n, 0.5 / n, 1 - 0.5 / n)
    weights = phi.derivative(ranks)
    sorted_gradient = -kernel_sums(ascending, ascending[chosen], weights).density
    sorted_gradient[chosen] += weights * sums.density
    gradient = np.empty(n)
    gradient[order] = sorted_gradient / (n * h)
    return SmoothedCriterion(float(phi(ranks).sum()), gradient)


def smooth_phi(phi: Phi) -> ScoreGeneratingFunction:
    """Return the score-generating function, which must be smooth."""
    function = parse_phi(phi)
    if isinstance(function, CustomFunction) and function.slope is None:
        return replace(function, n=_CLOSE)
    if not function.smooth:
        stand_in = _STAND_INS.get(type(function), "")
        hint = f" Use {stand_in} in its place." if stand_in else ""
        raise PrframeError(
            f"`phi` must be smooth for its statistic to have a gradient; {function.name} is not."
            + hint.format(u0=getattr(function, "u0", None))
        )
    return function


class KernelSums(NamedTuple):
    """Sums of ``a_j kappa(t - x_j)`` and of ``a_j K(t - x_j)``, for each t."""

    cdf: Floats
    density: Floats


def kernel_sums(points: Floats, sources: Floats, weights: Floats) -> KernelSums:
    """Add up kernels around weighted sources at points; both ascend, in units of the bandwidth.

    Points next to each other form a panel. Sources beyond its reach count fully or not at all;
    for those within reach, all pairs are added up, or a Fourier series where that costs less.
    """
    cdf, density = np.empty_like(points), np.empty_like(points)
    below = np.concatenate([[0.0], np.cumsum(weights)])
    for panel, near in _panels(points, sources):
        t, x, a = points[panel], sources[near], weights[near]
        n_terms = _n_terms(t, x)
        fast = _POWER_COST * n_terms * (t.size + x.size) < t.size * x.size
        sums = fourier_sums(t, x, a) if fast else direct_sums(t, x, a)
        cdf[panel] = sums.cdf + below[near.start]
        density[panel] = sums.density
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
    """Add up kernels as Fourier series of period P; the sources are few bandwidths apart.

    ``K(x) = 1/P + 2/P sum_k exp(-w_k^2 / 2) cos(w_k x)`` with ``w_k = 2 pi k / P``.
    """
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


def _panels(points: Floats, sources: Floats) -> Iterator[tuple[slice, slice]]:
    """Cut points into panels that are not wide, or have few points; yield the sources in reach."""
    start = 0
    while start < points.size:
        near = int(np.searchsorted(points, points[start] + _WIDTH, side="right"))
        stop = min(points.size, max(near, start + _FEWEST))
        reach = points[start] - _REACH, points[stop - 1] + _REACH
        # From the right, as adding the reach does not change very large points.
        first = int(np.searchsorted(sources, reach[0], side="left"))
        last = int(np.searchsorted(sources, reach[1], side="right"))
        yield slice(start, stop), slice(first, last)
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
