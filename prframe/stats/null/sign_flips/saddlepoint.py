"""Tails of many sums of numbers with random signs at once, by saddlepoints."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from prframe.stats._batches import batches
from prframe.stats.null.sign_flips.lobes import clustered
from prframe.stats.null.sign_flips.signs import NEGLIGIBLE, chance_of_signs
from prframe.stats.null.sign_flips.tilt import log_cosh, tilts
from prframe.stats.null.sign_flips.units import lack_unit
from prframe.typing import Flags, Floats

# A tail is taken if the sum is nearly normal, by its excess kurtosis, and the second term of the
# expansion changes it by no more than this share. What is left out is less than a tenth of that.
_LARGEST_KURTOSIS, _LARGEST_CHANGE = 0.05, 1e-3
# Nearer to the mean than so many standard deviations, terms of the expansion cancel, and that of
# Edgeworth is used.
_NEAR = 0.1
# So many numbers are taken together.
_AT_A_TIME = 1 << 18


class SaddlepointTails(NamedTuple):
    """Tails and whether they are accurate.

    Attributes
    ----------
    chance : ndarray, shape (n_sums,)
        P(S >= s), at least so if `accurate`; else no number is promised.
    accurate : ndarray of bool, shape (n_sums,)
        Whether the expansion has converged, and the sum itself has a negligible probability.
    without_unit : ndarray of bool, shape (n_sums,)
        Whether, of sums with an accurate tail, the numbers certainly have no common unit, along
        which the signs could be counted.
    """

    chance: Floats
    accurate: Flags
    without_unit: Flags


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
    parts = [
        _tails(numbers[:, part])
        for part in batches(numbers.shape[1], max(len(numbers), 1), _AT_A_TIME)
    ]
    if not parts:
        nothing = np.zeros(0, np.bool_)
        return SaddlepointTails(np.zeros(0), nothing, nothing)
    return SaddlepointTails(*map(np.concatenate, zip(*parts, strict=True)))


def _tails(numbers: Floats) -> SaddlepointTails:
    """Return the tails of some sums."""
    largest = np.abs(numbers).max(axis=0, initial=0.0)
    sizes = np.abs(numbers) / np.where(largest > 0, largest, 1.0)
    norm = np.sqrt((sizes**2).sum(axis=0))
    sizes /= np.where(norm > 0, norm, 1.0)
    kurtosis = -2 * ((sizes**2) ** 2).sum(axis=0)
    nearly_normal = np.flatnonzero((norm > 0) & (-kurtosis <= _LARGEST_KURTOSIS))
    tails = [np.zeros(norm.size), *(np.zeros(norm.size, np.bool_) for _ in range(2))]
    if nearly_normal.size:
        columns = (x[..., nearly_normal] for x in (numbers, sizes, kurtosis))
        for whole, part in zip(tails, _of_nearly_normal(*columns), strict=True):
            whole[nearly_normal] = part
    return SaddlepointTails(*tails)


def _of_nearly_normal(numbers: Floats, sizes: Floats, kurtosis: Floats) -> SaddlepointTails:
    """Return the tails of sums of small excess kurtosis, whose sizes have the norm 1."""
    total = np.abs((np.sign(numbers) * sizes).sum(axis=0))
    near = total < _NEAR
    with np.errstate(all="ignore"):
        tilt, converged = tilts(sizes, total)
        first, second = _expansions(sizes, total, tilt)
        accurate = near | (converged & (np.abs(second / first - 1) <= _LARGEST_CHANGE))
    chance = np.where(near, _edgeworth(total, kurtosis), second)
    places = np.flatnonzero(accurate)
    rising = np.sort(sizes[:, places].T, axis=1)
    # Of the probability of the sum itself, a continuous distribution counts a part.
    rare = _largest_chances(rising) < NEGLIGIBLE * chance[places]
    for place in np.flatnonzero(~rare):
        column = numbers[:, places[place]]
        rare[place] = chance_of_signs(column[column != 0]) < NEGLIGIBLE * chance[places[place]]
    rare[rare] = ~clustered(rising[rare, ::-1], tilt[places[rare]])
    accurate[places] = rare
    without_unit = np.zeros_like(accurate)
    without_unit[places[rare]] = lack_unit(rising[rare])
    return SaddlepointTails(chance, accurate, without_unit)


def _largest_chances(rising: Floats) -> Floats:
    """Return bounds of the probabilities of single sums, a row of sizes each.

    The bound is that of sizes which have as many plus signs as minus signs.
    """
    n = rising.shape[1]
    number = np.arange(n + 1)
    log_ways = gammaln(number + 1) - 2 * gammaln(number / 2 + 1) - number * np.log(2)
    alike = np.round(rising / rising[:, -1:], 12)
    opens = np.diff(alike, axis=1, prepend=-1.0) != 0
    starts = np.flatnonzero(opens)
    lengths = np.diff(starts, append=rising.size)
    # Numbers that are 0 have no sign.
    logs = np.where(rising.ravel()[starts] > 0, log_ways[lengths], 0.0)
    return np.exp(np.bincount(starts // n, logs, minlength=len(rising)))


def _expansions(sizes: Floats, total: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Return the tails by Lugannani and Rice, to the first term and to the second."""
    tilted = slope * sizes
    tanh = np.tanh(tilted)
    square = 1 - tanh**2
    generating = log_cosh(tilted).sum(axis=0)
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
