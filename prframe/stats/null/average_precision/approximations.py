"""Approximations of the distribution of AP under random ranking, for comparison.

The beta distribution is that of the R package pranker 1.0 (Lopes & Bontempi, *On the null
distribution of the precision and recall curve*, ECML PKDD 2014): its support is [least AP, 1]. The
normal ones have the exact moments, or those of Zhang & Su 2012, eqs (12) and (13), corrected. All
their upper tails are too light as a rule: good rankings get p-values that are too small.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, hyp2f1, log_ndtr, ndtr

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats._arrays import fractions, group_sizes, reals, together
from prframe.stats.null.average_precision.moments import ap_null_moments
from prframe.stats.null.random_selection import delta_moments, harmonic
from prframe.typing import Floats

# Mean and variance at hand.
GivenMoments: TypeAlias = tuple[ArrayLike, ArrayLike] | None

_MOMENTS = {"exact": ap_null_moments, "delta": delta_moments}
# From here on the expansion in 1/n is exact to rounding.
_MANY = 60
# Below this a tail probability is computed as a logarithm, by so many terms of a series at most.
_TINY, _TERMS = 1e-280, 100_000
# AP takes just two values where n * n_pos is this, which is one positive of two items.
_TWO_POINTS = 2
# The least AP may be off by rounding, and some beta distributions have most of their weight there.
_SLACK = 1 + 1e-11


class BetaParameters(NamedTuple):
    """A beta distribution moved to [low, 1], with shapes a and b; arrays of one shape."""

    low: Floats
    a: Floats
    b: Floats


def ap_minimum(n: ArrayLike, n_pos: ArrayLike) -> Floats:
    """Return the least AP a ranking can have: every positive below every negative.

    It is ``(1 / n_pos) sum over k = 1..n_pos of k / (n - n_pos + k)``, computed in constant time,
    and the lower end of pranker's beta distribution. Both n >= 1 and n_pos in 1..n are array_like
    of int, and broadcast.

    Examples
    --------
    >>> ap_minimum([4, 10], 2).round(4)
    array([0.4167, 0.1556])
    """
    return _support(*group_sizes(n, n_pos))[0]


def _support(n: Floats, n_pos: Floats) -> tuple[Floats, Floats]:
    """Return the least AP and its distance from 1, each as exact as it can be."""
    p, n_neg = n_pos / n, n - n_pos
    width = n_neg / n_pos * (harmonic(n)[0] - harmonic(n_neg)[0])
    # The sum is 1 + (1 - p) log(1 - p) / p and the terms of Euler and Maclaurin.
    smooth = p / 2 * hyp2f1(1, 1, 3, p) + p / (2 * n_pos)
    m = np.maximum(n_neg, 1)
    ends = sum((m / n**s - m / m**s) / c for s, c in ((2, 12), (4, -120), (6, 252)))
    expand = (n > _MANY) & (p < 1 / 2)
    low = np.where(expand, smooth + ends / n_pos, 1 - width)
    return low, np.where(expand, 1 - low, width)


def beta_parameters(
    n: ArrayLike, n_pos: ArrayLike, *, moments: GivenMoments = None
) -> BetaParameters:
    """Fit pranker's beta distribution to the mean and the variance of AP under random ranking.

    The shapes are ``a = s u`` and ``b = s (1 - u)``, with ``u = (mean - low) / (1 - low)``,
    ``v = variance / (1 - low)^2`` and ``s = u (1 - u) / v - 1``, as in pranker with
    ``approx = FALSE``.

    Parameters
    ----------
    n, n_pos : array_like of int
        Items, >= 1, and positives among them, 1..n.
    moments : (array_like of float, array_like of float), optional
        Mean and variance to fit, pranker's ``params``; by default the exact ones.

    Returns
    -------
    BetaParameters
        Arrays of the common shape. The shapes are NaN where all items are positive, and 0, with
        half of the weight at either end, for one positive of two items.

    Examples
    --------
    >>> low, a, b = beta_parameters(50, 5)
    >>> print(f"{low:.6f} {a:.6f} {b:.6f}")
    0.061685 1.100300 8.963710
    """
    n, n_pos = group_sizes(n, n_pos)
    low, width = _support(n, n_pos)
    if moments is not None:
        return _given(low, moments)
    mean, variance = ap_null_moments(n, n_pos)
    # 1 - mean is written out, as it is tiny where nearly all items are positive.
    above = (n - n_pos) / n * (1 - (harmonic(n)[0] - 1) / np.maximum(n - 1, 1))
    below = np.where(2 * n_pos < n, mean - low, width - above)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(n * n_pos == _TWO_POINTS, 0.0, below * above / variance - 1)
        a, b = total * (below / width), total * (above / width)
    sure = n == n_pos
    return BetaParameters(low, np.where(sure, np.nan, a), np.where(sure, np.nan, b))


def _given(low: Floats, moments: tuple[ArrayLike, ArrayLike]) -> BetaParameters:
    """Fit the beta distribution to the mean and the variance that the caller gives."""
    if np.ndim(moments) == 0 or len(moments) != 2:  # type: ignore[arg-type] # noqa: PLR2004
        got = checks.brief(moments)
        raise PrframeError(f"`moments` must be a mean and a variance; got {got}.")
    mean, variance = (reals("moments", moment) for moment in moments)
    low, mean, variance = together("`n`, `n_pos` and `moments`", low, mean, variance)
    widest = (mean - low) * (1 - mean)
    if bad := np.flatnonzero(~((variance > 0) & (variance < widest)).ravel()).tolist():
        least, got, spread = (column.ravel()[bad[0]] for column in (low, mean, variance))
        raise PrframeError(
            f"`moments` must be those of a beta distribution between the least AP, {least:.6g}, "
            f"and 1; got mean {got:.6g} and variance {spread:.6g}."
        )
    total = widest / variance - 1
    return BetaParameters(low, total * (mean - low) / (1 - low), total * (1 - mean) / (1 - low))


def ap_beta_sf(
    ap: ArrayLike, n: ArrayLike, n_pos: ArrayLike, *, moments: GivenMoments = None
) -> Floats:
    """Return pranker's p-value, P(AP >= ap) under its beta distribution.

    It is too small for good rankings: in the example the true probability is 1.1e-3. It is 0 at
    AP = 1, where the beta distribution ends. AP in [0, 1] is an array_like of float, of which NaN
    gives NaN; the other parameters are those of `beta_parameters`.

    Examples
    --------
    >>> print(f"{ap_beta_sf(0.105, 1000, 20):.2g}")
    9e-05
    """
    return np.exp(ap_beta_logsf(ap, n, n_pos, moments=moments))


def ap_beta_logsf(
    ap: ArrayLike, n: ArrayLike, n_pos: ArrayLike, *, moments: GivenMoments = None
) -> Floats:
    """Return the logarithm of `ap_beta_sf`, -inf at AP = 1 alone."""
    ap = fractions("ap", ap)
    low, a, b = beta_parameters(n, n_pos, moments=moments)
    ap, low, a, b = together("`ap`, `n` and `n_pos`", ap, low, a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        y = np.clip((1 - ap) / (1 - low), 0, 1)
    value = np.where(a == 0, np.log(0.5), _log_beta(y, b, a))
    # The probability is 1 at the least AP and below it, and where AP is always 1.
    value = np.where((ap <= low * _SLACK) | np.isnan(a), 0.0, value)
    return np.where(np.isnan(ap), np.nan, value)


def _log_beta(y: Floats, b: Floats, a: Floats) -> Floats:
    """Return the logarithm of the regularised incomplete beta function I_y(b, a)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.asarray(betainc(b, a, y))
        value = np.asarray(np.log(chance))
    far = (chance < _TINY) & (y > 0) & (a > 0)
    if far.any():
        value[far] = _log_far_beta(y[far], b[far], a[far])
    return value


def _log_far_beta(y: Floats, b: Floats, a: Floats) -> Floats:
    """Return log I_y(b, a) for y far below the mean, by a positive series (DLMF 8.17.8)."""
    term, total = np.ones_like(y), np.ones_like(y)
    for k in range(_TERMS):
        term *= (a + b + k) / (b + 1 + k) * y
        total += term
        if (term < np.finfo(np.float64).eps * total).all():
            break
    return b * np.log(y) + a * np.log1p(-y) - np.log(b) - betaln(a, b) + np.log(total)


def ap_beta_quantile(
    z: ArrayLike, n: ArrayLike, n_pos: ArrayLike, *, moments: GivenMoments = None
) -> Floats:
    """Return the AP whose quantile level under pranker's beta distribution is Phi(z).

    This is pranker's ``qAUPRC(z, n, n_pos)``; `z` are standard normal scores, and the other
    parameters and errors those of `beta_parameters`.

    Examples
    --------
    >>> ap_beta_quantile([0, 1.959964], 50, 5).round(4)
    array([0.1405, 0.3911])
    """
    z = reals("z", z)
    low, a, b = beta_parameters(n, n_pos, moments=moments)
    z, low, a, b = together("`z`, `n` and `n_pos`", z, low, a, b)
    # Either end is computed from its own tail, which keeps the digits of what is small.
    up = betaincinv(a, b, ndtr(z))
    down = betaincinv(b, a, ndtr(-z))
    share = np.where(z < 0, up, 1 - down)
    share = np.where(np.isnan(a), 0.0, np.where(a == 0, z > 0, share))
    return np.where(np.isnan(z), np.nan, low + (1 - low) * share)


def ap_normal_sf(
    ap: ArrayLike, n: ArrayLike, n_pos: ArrayLike, *, moments: Literal["exact", "delta"] = "exact"
) -> Floats:
    """Return P(AP >= ap) under a normal distribution, ``Phi((mean - ap) / sqrt(variance))``.

    AP is skewed to the right: the upper tail of the normal is far too light. Its `moments` are the
    exact ones, `ap_null_moments`, or those of Zhang & Su 2012, `delta_moments`; the other
    parameters are those of `ap_beta_sf`.

    Examples
    --------
    >>> print(f"{ap_normal_sf(0.105, 1000, 20):.1g}")
    3e-12
    """
    return np.exp(ap_normal_logsf(ap, n, n_pos, moments=moments))


def ap_normal_logsf(
    ap: ArrayLike, n: ArrayLike, n_pos: ArrayLike, *, moments: Literal["exact", "delta"] = "exact"
) -> Floats:
    """Return the logarithm of `ap_normal_sf`."""
    checks.one_of("moments", moments, tuple(_MOMENTS))
    ap = fractions("ap", ap)
    mean, variance = _MOMENTS[moments](n, n_pos)
    ap, mean, variance = together("`ap`, `n` and `n_pos`", ap, mean, variance)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = log_ndtr((mean - ap) / np.sqrt(variance))
    # Where all items are positive AP is 1.
    return np.where(np.isnan(ap), np.nan, np.where(variance == 0, 0.0, value))
