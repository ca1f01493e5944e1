"""Tails of many sums of numbers with random signs at once, by saddlepoints."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from prframe.stats._batches import batches
from prframe.stats.null.sign_flips.distribution import NEGLIGIBLE, chance_of_signs
from prframe.typing import Flags, Floats

# A tail is taken if the sum is nearly normal, by its excess kurtosis, and the second term of the
# expansion changes it by no more than this share. What is left out is less than a tenth of that.
_LARGEST_KURTOSIS, _LARGEST_CHANGE = 0.05, 1e-3
# Nearer to the mean than so many standard deviations, terms of the expansion cancel, and that of
# Edgeworth is used.
_NEAR = 0.1
# Newton's method takes few steps, since the sum is nearly normal.
_STEPS, _CLOSE = 50, 1e-11
# Sums cluster if the characteristic function of so many of the numbers, of all sizes, is not small
# for arguments up to the second number, in standard deviations of the sum; the share of a tail
# that clusters may change is the third number.
_LOOKED_AT, _FARTHEST, _CLUSTERED = 64, 1600.0, 1e-4
# The main lobe of a characteristic function ends there, and other lobes are wider than the step.
_LOBE, _STEP = 4.5, 1.5
# So many numbers are looked at together.
_AT_A_TIME = 1 << 18


class SaddlepointTails(NamedTuple):
    """Tails and whether they are accurate.

    Attributes
    ----------
    chance : ndarray, shape (n_sums,)
        P(S >= s), at least so if `accurate`; else no number is promised.
    accurate : ndarray of bool, shape (n_sums,)
        Whether the expansion has converged, and the sum itself has a negligible probability.
    """

    chance: Floats
    accurate: Flags


def sign_flip_tails(numbers: Floats) -> SaddlepointTails:
    """Return the probability that sums with random signs are at least those observed, in size.

    With ``K(t) = sum_i log cosh(t d_i)``, ``K'(t) = s``, ``w = sqrt(2 (t s - K(t)))``,
    ``u = t sqrt(K''(t))`` and the standardised cumulants l3 and l4 of the tilted sum, ::

        P(S >= s) = Phi(-w) + phi(w) (1/u - 1/w + (l4/8 - 5 l3^2/24)/u - l3/(2 u^2)
                                      - 1/u^3 + 1/w^3)

    The sum is taken to be continuous: where sums cluster, as those of numbers near a lattice do,
    the tail is not called accurate. Clusters that are nearer to each other than 1/500 of the
    standard deviation are not looked for; they change the tail by a few parts in a thousand.

    Parameters
    ----------
    numbers : ndarray, shape (n_numbers, n_sums)
        A column per sum, its numbers with their observed signs; zeros have no effect.

    Returns
    -------
    SaddlepointTails
        Of the absolute value s of each sum.

    References
    ----------
    Lugannani & Rice, *Saddle point approximation for the distribution of the sum of independent
    random variables*, 1980; Daniels, *Tail probability approximations*, 1987, eq. (4.9);
    Robinson, *Saddlepoint approximations for permutation tests*, 1982.

    Examples
    --------
    >>> numbers = np.random.default_rng(1).normal(0.1, 1, (400, 1))
    >>> tails = sign_flip_tails(numbers)
    >>> tails.accurate, tails.chance.round(4)
    (array([ True]), array([0.3471]))
    """
    chance, accurate = np.full(numbers.shape[1], np.nan), np.zeros(numbers.shape[1], np.bool_)
    for part in batches(numbers.shape[1], max(len(numbers), 1), _AT_A_TIME):
        chance[part], accurate[part] = _tails(numbers[:, part])
    for place in np.flatnonzero(accurate):
        column = numbers[:, place]
        # Of the probability of the sum itself, a continuous distribution counts a part.
        is_rare = chance_of_signs(column[column != 0]) < NEGLIGIBLE * chance[place]
        accurate[place] = is_rare and not _clusters(column)
    return SaddlepointTails(chance, accurate)


def _clusters(numbers: Floats) -> bool:
    """Tell whether sums with random signs cluster, by their tilted characteristic function."""
    relative = numbers / np.abs(numbers).max()
    relative /= np.sqrt((relative**2).sum())
    sizes = np.sort(np.abs(relative))[::-1]
    slope, _ = _slope(sizes[:, None], np.abs(relative.sum(keepdims=True)))
    chosen = sizes[:: max(1, np.count_nonzero(sizes) // _LOOKED_AT)]
    spread = np.sqrt((chosen**2).sum())
    arguments = np.arange(_LOBE / spread, _FARTHEST, _STEP / spread)
    left = 1 / np.cosh(slope * chosen) ** 2
    size = np.sqrt(np.prod(1 - np.sin(arguments[:, None] * chosen) ** 2 * left, axis=1))
    return bool((size * max(float(slope[0]), 1.0) > _CLUSTERED * arguments).any())


def _tails(numbers: Floats) -> tuple[Floats, Flags]:
    """Return the tails of some sums."""
    largest = np.abs(numbers).max(axis=0, initial=0.0)
    sizes = np.abs(numbers) / np.where(largest > 0, largest, 1.0)
    norm = np.sqrt((sizes**2).sum(axis=0))
    sizes /= np.where(norm > 0, norm, 1.0)
    total = np.abs((np.sign(numbers) * sizes).sum(axis=0))
    near = total < _NEAR
    kurtosis = -2 * (sizes**4).sum(axis=0)
    with np.errstate(all="ignore"):
        slope, converged = _slope(sizes, total)
        first, second = _expansions(sizes, total, slope)
        accurate = near | (converged & (np.abs(second / first - 1) <= _LARGEST_CHANGE))
    accurate &= (norm > 0) & (-kurtosis <= _LARGEST_KURTOSIS)
    return np.where(near, _edgeworth(total, kurtosis), second), accurate


def _slope(sizes: Floats, total: Floats) -> tuple[Floats, Flags]:
    """Solve ``sum_i d_i tanh(t d_i) = s`` for t; the sums of squares are 1."""
    slope, converged = total.copy(), np.zeros(total.shape, np.bool_)
    for _ in range(_STEPS):
        tanh = np.tanh(slope * sizes)
        curvature = (sizes**2 * (1 - tanh**2)).sum(axis=0)
        step = (total - (sizes * tanh).sum(axis=0)) / curvature
        # The sum of tanh is concave, so that Newton's steps from below 0 overshoot nowhere.
        slope = slope + step
        converged = np.abs(step) <= _CLOSE * slope
        if converged.all():
            break
    return slope, converged


def _expansions(sizes: Floats, total: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Return the tails by Lugannani and Rice, to the first term and to the second."""
    tilted = slope * sizes
    tanh = np.tanh(tilted)
    square = 1 - tanh**2
    # log cosh x, where cosh may overflow.
    generating = (tilted + np.log1p(np.exp(-2 * tilted)) - np.log(2)).sum(axis=0)
    variance = (sizes**2 * square).sum(axis=0)
    skewness = (-2 * sizes**3 * tanh * square).sum(axis=0) / variance**1.5
    kurtosis = (sizes**4 * square * (6 * tanh**2 - 2)).sum(axis=0) / variance**2
    w = np.sqrt(2 * (slope * total - generating))
    u = slope * np.sqrt(variance)
    density = np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi)
    first = ndtr(-w) + density * (1 / u - 1 / w)
    more = (kurtosis / 8 - 5 * skewness**2 / 24) / u - skewness / (2 * u**2) - u**-3 + w**-3
    return first, first + density * more


def _edgeworth(total: Floats, kurtosis: Floats) -> Floats:
    """Return the tail near the mean, of a sum without skewness."""
    density = np.exp(-(total**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(ndtr(-total) + density * kurtosis / 24 * (total**3 - 3 * total))
