"""Quantiles of a distribution of which only the tails are known, from few evaluations of these.

One evaluation may take a tenth of a second. All levels are searched at once, from brackets, by
inverse quadratic interpolation with bisection where that gains little (Chandrupatla, *A new hybrid
quadratic/bisection algorithm*, Advances in Engineering Software 1997).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from prframe.typing import Floats

# The function takes places of levels and as many x, and rises with x.
Rising: TypeAlias = Callable[[NDArray[np.int64], Floats], Floats]
# The function takes the same, and tells where the condition fails that holds for smaller x.
Lost: TypeAlias = Callable[[NDArray[np.int64], Floats], NDArray[np.bool_]]

# Normal quantiles of all positive floats are smaller.
_NORMAL = 39.0
# Slopes are taken to be no less than this.
_LEAST = 1e-3
# A bracket of floats allows fewer halvings than this.
_STEPS = 200
# The expansion of quantiles is used if the skewness is at most this in size, and the excess
# kurtosis at most twice this. Otherwise the search begins at normal quantiles.
_MOST_SKEWED = 1.0
# It is used up to this many standard deviations from the mean. Normal quantiles are used beyond.
_FARTHEST = 6.0
# Slopes of quantiles are taken over this many standard deviations of the normal distribution.
_NEARBY = 0.01
# They are believed up to this factor.
_STRETCHED = 4.0
# So many evaluations after the first one go where the quantile is expected to be.
_AIMED = 4
# Later ones go this many times as far.
_BEYOND = 1.1
# The first step goes no further than this many standard deviations, if the slope is rough.
_LONGEST = 1.0
# Each further evaluation takes a step up to this many times as long, or as short, until there is a
# bracket.
_GROWTH = 4.0
_LARGEST, _LEAST_POSITIVE = float(np.finfo(np.float64).max), float(np.finfo(np.float64).tiny)


class Moments(NamedTuple):
    """Mean, standard deviation, skewness and excess kurtosis."""

    mean: float
    std: float
    skewness: float
    kurtosis: float


class Bracket(NamedTuple):
    """The last x at which a function is negative, and the first at which it is not.

    Both are a place where it is 0, if the search came to one. Where it is negative nowhere both
    are the lower end of the support, where it is negative everywhere the upper end. `reached`
    tells whether it is not negative anywhere. `slope` is how steeply it rises there, NaN where
    this is not known, as at a leap.
    """

    below: Floats
    above: Floats
    reached: NDArray[np.bool_]
    slope: Floats


@dataclass(frozen=True)
class Search:
    """A search for quantiles.

    Attributes
    ----------
    start : ndarray of float, shape (n_levels,)
        A first guess.
    slope : ndarray of float, shape (n_levels,)
        Rough change of the logarithm of the tail there per standard deviation of x.
    mean, std : float
        Mean and standard deviation. A step ends at the mean rather than on its other side, where
        the tail is nearly 1 and may take long.
    support : tuple of float
        Ends between which the quantiles lie.
    width : callable
        Width at which a bracket around x is narrow enough.
    longest : ndarray of float, shape (n_levels,)
        The first step goes no further than this many standard deviations.
    is_expanded : bool
        Whether it begins at the expansion of quantiles, and not at those of a normal distribution.
    """

    start: Floats
    slope: Floats
    mean: float
    std: float
    support: tuple[float, float]
    width: Callable[[Floats], Floats]
    longest: Floats
    is_expanded: bool

    @classmethod
    def of(
        cls,
        levels: Floats,
        sign: Literal[-1, 1],
        moments: Moments,
        support: tuple[float, float],
        width: Callable[[Floats], Floats],
    ) -> "Search":
        """Begin at the expansion of Cornish and Fisher, for upper (1) or lower (-1) tails."""
        z = np.clip(ndtri(levels), -_NORMAL, _NORMAL)
        start = moments.mean + moments.std * _expanded(-sign * z, moments)
        # The slope is the hazard of the normal distribution, per deviation that it is moved by.
        slope = np.exp(-(z**2) / 2 - np.log(levels)) / (2 * np.pi) ** 0.5
        nearby = _expanded(-sign * z + _NEARBY, moments) - _expanded(-sign * z, moments)
        slope = slope * np.clip(_NEARBY / np.maximum(nearby, 1e-9), 1 / _STRETCHED, _STRETCHED)
        start, longest = np.clip(start, *support), np.full(levels.shape, _LONGEST)
        expanded = _has_expansion(moments)
        return cls(start, slope, moments.mean, moments.std, support, width, longest, expanded)

    def begun(self, start: Floats, slope: Floats, chosen: NDArray[np.bool_]) -> "Search":
        """Return the search that begins elsewhere for some levels, with slopes that are good."""
        return replace(
            self,
            start=np.where(chosen, np.clip(start, *self.support), self.start),
            slope=np.where(chosen, slope * self.std, self.slope),
            longest=np.where(chosen, np.inf, self.longest),
        )

    def bracket(self, rising: Rising) -> Bracket:
        """Return the place where a rising function ceases to be negative."""
        x, values = self._around(rising)
        low, high = self.support
        reached, everywhere = values.max(axis=0) >= 0, values.min(axis=0) > 0
        below = np.where(reached, low, high)
        above, slope = below.copy(), np.full(below.shape, np.nan)
        inside = np.flatnonzero(reached & ~everywhere)
        if inside.size:
            ends = _narrowed(rising, inside, x[:, inside], values[:, inside], self.width)
            below[inside], above[inside], slope[inside] = ends
        return Bracket(below, above, reached, slope)

    def _around(self, rising: Rising) -> tuple[Floats, Floats]:
        """Return the last two points of a walk that ends once the root is between them."""
        places, low, high = np.arange(self.start.size), *self.support
        x = np.stack([self.start, self.start])
        values = np.tile(rising(places, self.start), (2, 1))
        negative = values[0] < 0
        with np.errstate(over="ignore"):
            step = np.abs(values[0]) / np.maximum(self.slope, _LEAST)
        least = 2 * self.width(self.start)
        step = np.maximum(np.minimum(step, self.longest) * self.std, least)
        places = places[values[0] != 0]
        for number in count(1):
            moved = np.clip(np.where(negative, x[0] + step, x[0] - step), low, high)
            passes = (x[0] - self.mean) * (moved - self.mean) < 0
            moved = np.where(passes, self.mean, moved)
            places = places[(moved != x[0])[places]]
            if not places.size:
                return x, values
            x[1, places], values[1, places] = x[0, places], values[0, places]
            x[0, places] = moved[places]
            values[0, places] = rising(places, moved[places])
            same = (values[0, places] < 0) == negative[places]
            places = places[same & (values[0, places] != 0)]
            away = _away(x, values, is_positive=low >= 0)
            if number < _AIMED:
                step = np.clip(away, least, _GROWTH * step)
            else:
                step = np.clip(_BEYOND * away, step / _GROWTH, _GROWTH * step)
        raise AssertionError


def _away(x: Floats, values: Floats, *, is_positive: bool) -> Floats:
    """Return how far the root is from the first point, as far as two points can tell.

    The logarithms of tails of positive numbers are more nearly linear in the logarithm.
    """
    at = np.log(np.maximum(x, _LEAST_POSITIVE)) if is_positive else x
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = np.abs(values[0] * (at[0] - at[1]) / (values[0] - values[1]))
        if is_positive:
            away = x[0] * np.abs(np.expm1(np.where(values[0] < 0, away, -away)))
    # The points tell nothing where the function does not rise between them.
    return np.where(away >= 0, away, np.inf)


def _has_expansion(moments: Moments) -> bool:
    """Whether the expansion of quantiles can be used."""
    s, k = moments.skewness, moments.kurtosis
    return abs(s) <= _MOST_SKEWED and abs(k) <= 2 * _MOST_SKEWED


def _expanded(z: Floats, moments: Moments) -> Floats:
    """Return standardised quantiles from normal ones, which are kept where the expansion fails."""
    if not _has_expansion(moments):
        return z
    s, k = moments.skewness, moments.kurtosis
    terms = (z**2 - 1) * s / 6 + (z**3 - 3 * z) * k / 24 - (2 * z**3 - 5 * z) * s**2 / 36
    return np.asarray(np.where(np.abs(z) <= _FARTHEST, z + terms, z))


def met(beyond: Floats, apart: NDArray[np.bool_], close: float) -> Floats:
    """Return by how much levels are met, and 0 where that is close enough.

    Where values are `apart` no level needs to be exceeded by `close`.
    """
    # What is infinite could not be interpolated.
    middle = np.clip(beyond - np.where(apart, 0.0, close), -_LARGEST, _LARGEST)
    return np.where(~apart & (np.abs(middle) <= close / 2), 0.0, middle)


def last_kept(
    is_lost: Lost, start: Floats, gap: Floats, largest: float, width: Callable[[Floats], Floats]
) -> Floats:
    """Return the largest x at which nothing is lost, to within a width; `start` is such an x.

    The first step is a gap, after which most searches end; the next ones grow fourfold.
    """
    kept, lost = start.copy(), np.minimum(start + gap, largest)
    places = np.flatnonzero(lost > kept)
    while places.size:
        places = places[~is_lost(places, lost[places])]
        kept[places] = lost[places]
        gap = 4 * gap
        lost[places] = np.minimum(start[places] + gap[places], largest)
        places = places[lost[places] > kept[places]]
    while (places := np.flatnonzero(lost - kept > 2 * width(kept))).size:
        middle = (kept[places] + lost[places]) / 2
        fails = is_lost(places, middle)
        lost[places[fails]], kept[places[~fails]] = middle[fails], middle[~fails]
    return kept


def _narrowed(
    rising: Rising,
    places: NDArray[np.int64],
    x: Floats,
    values: Floats,
    width: Callable[[Floats], Floats],
) -> tuple[Floats, Floats, Floats]:
    """Narrow brackets, whose ends are the rows of x, the newer one first.

    With the ends come the slopes, as far as the last two points can tell; NaN at leaps.
    """
    # The rows are the newest point, the end on the other side, and an older point.
    x, values = x[[0, 1, 1]], values[[0, 1, 1]]
    for _ in range(_STEPS):
        wide = np.abs(x[1] - x[0])
        least = np.maximum(width(x[0]), 2 * np.spacing(np.abs(x[0])))
        active = np.flatnonzero((wide > least) & (values[0] != 0))
        if not active.size:
            break
        share = np.clip(_share(x, values)[active], least[active] / 2 / wide[active], None)
        share = np.minimum(share, 1 - least[active] / 2 / wide[active])
        points = x[0, active] + share * (x[1, active] - x[0, active])
        heights = rising(places[active], points)
        crossed = (heights < 0) != (values[0, active] < 0)
        for rows, new in ((x, points), (values, heights)):
            newest, other = rows[0, active], rows[1, active]
            rows[2, active] = np.where(crossed, other, newest)
            rows[1, active] = np.where(crossed, newest, other)
            rows[0, active] = new
    low = np.where(values[0] <= 0, x[0], x[1])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = (values[0] - values[1]) / (x[0] - x[1])
    # A bracket that became narrow is about a leap, whose height says nothing of values around it.
    slope = np.where(values[0] == 0, slope, np.nan)
    return low, np.where(values[0] < 0, x[1], x[0]), slope


def _share(x: Floats, values: Floats) -> Floats:
    """Return the share of the bracket by which to go from the newest point."""
    (x1, x2, x3), (f1, f2, f3) = x, values
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        where, height = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        is_smooth = (height**2 < where) & ((1 - height) ** 2 < 1 - where)
        share = f1 / (f2 - f1) * f3 / (f2 - f3)
        share += (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        # As long as there are just two points, the straight line through them is taken.
        is_first = x2 == x3
        share = np.where(is_first, f1 / (f1 - f2), share)
    return np.where((is_smooth | is_first) & np.isfinite(share), share, 0.5)
