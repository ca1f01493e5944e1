"""The contents of an urn, and few points that stand for many numbers.

Cumulants are sums of smooth functions over all numbers. Of many numbers those in a narrow bin are
replaced by two points with weights that have their number and their first three moments (Gauss's
quadrature). For ``log(1 - p + p exp(s a + t))`` summed over all numbers, of which n are drawn, the
error is about ``2e-4 n (s h)^4`` with bins of width h, which are narrow enough to keep it small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from prframe.typing import Floats, Integers

# Sums that differ by less, times the size of the urn and its largest number, are equal.
EQUAL = 1e-14
# The unit of a lattice is the smallest gap divided by one of these.
_SHARES = (1, 2, 3, 4, 6, 12)
# The numbers may span this many units. If they span more, they are not on a lattice.
_SPAN = 1e7
# Numbers are on a lattice if their places on it are less than this from whole numbers.
ROUNDING = 1e-7
# The numbers of bins that are tried one after the other.
_BINS = (1 << 12, 1 << 16)
# Numbers are put into bins if there are more than this many for each bin.
_MANY = 8
# The number of values at each end that are points of their own, and are not put into bins.
_KEPT = 64
# If some of these are set apart, at least this many must remain at each end. If fewer remain, the
# bins are laid anew.
_FEWEST = 16
# The error of cumulants, divided by 2e-4, may be this large. Where it is larger the points of
# these bins are not used.
_ERROR = 1e-4


@dataclass(frozen=True)
class Lattice:
    """Numbers that are multiples of a unit, counted from the least one."""

    least: float
    unit: float
    places: Integers

    @classmethod
    def of(cls, values: Floats) -> "Lattice | None":
        """Return the lattice of some numbers, if they have one."""
        if values.size == 1:
            return cls(float(values[0]), 1.0, np.zeros(1, np.int64))
        distance = values - values[0]
        gap = float(np.diff(values).min())
        if gap * _SPAN < distance[-1]:
            return None
        for share in _SHARES:
            places = distance / gap * share
            if places[-1] > _SPAN:
                return None
            whole = np.round(places)
            if (np.abs(places - whole) < ROUNDING).all():
                common = int(np.gcd.reduce(whole.astype(np.int64)))
                unit = float(distance[-1]) / (int(whole[-1]) // common)
                return cls(float(values[0]), unit, whole.astype(np.int64) // common)
        return None


@dataclass(frozen=True, eq=False)
class Points:
    """Points that stand for numbers.

    Attributes
    ----------
    values, weights : ndarray of float, shape (n_points,)
        Values of the points, rising, and the number of numbers that each stands for.
    width : float
        The width of bins; 0 if every number is a point.
    kept : int
        How many numbers at each end are points of their own.
    """

    values: Floats
    weights: Floats
    width: float
    kept: int

    def suit(self, slope: float, n: int) -> bool:
        """Tell whether the points are accurate enough for a slope when n numbers are drawn."""
        return n * (slope * self.width) ** 4 <= _ERROR


@dataclass(frozen=True, eq=False)
class Contents:
    """Distinct numbers, rising, with the multiplicity of each.

    Attributes
    ----------
    values : ndarray of float, shape (n_blocks,)
    sizes : ndarray of int, shape (n_blocks,)
    """

    values: Floats
    sizes: Integers
    _known: Points | None = field(default=None, repr=False)

    @cached_property
    def size(self) -> int:
        """How many numbers there are, repeated ones included."""
        return int(self.sizes.sum())

    @cached_property
    def mean(self) -> float:
        """The mean of the numbers, without rounding if all are equal."""
        if self.values.size == 1:
            return float(self.values[0])
        points = self._known or self.all_points
        return float(points.weights @ points.values) / self.size

    @cached_property
    def squares(self) -> float:
        """The sum of squares about the mean."""
        points = self._known or self.all_points
        return float(points.weights @ (points.values - self.mean) ** 2)

    @property
    def slack(self) -> float:
        """The largest difference of sums that count as equal."""
        return EQUAL * self.size * float(max(abs(self.values[0]), abs(self.values[-1])))

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice of the numbers, if they have one."""
        return Lattice.of(self.values)

    def stand_ins(self) -> Iterator[Points]:
        """Yield points that stand for the numbers where these are many, ever closer to them."""
        if self.values.size > _MANY * _BINS[0]:
            yield self._coarse
        if self.values.size > _MANY * _BINS[1]:
            yield self._fine

    def without(self, lowest: int, highest: int) -> "Contents":
        """Return the contents without some blocks at both ends."""
        chosen = slice(lowest, self.values.size - highest)
        known = None
        if self.values.size > _MANY * _BINS[0]:
            points = self._coarse
            kept = points.kept - max(lowest, highest)
            inner = slice(lowest, points.values.size - highest)
            if kept >= _FEWEST:
                known = Points(points.values[inner], points.weights[inner], points.width, kept)
        return Contents(self.values[chosen], self.sizes[chosen], known)

    @cached_property
    def all_points(self) -> Points:
        """All numbers, each a point."""
        return Points(self.values, self.sizes.astype(np.float64), 0.0, self.values.size)

    @cached_property
    def _coarse(self) -> Points:
        """The points of the fewer bins."""
        return self._known or _binned(self.values, self.sizes, _BINS[0])

    @cached_property
    def _fine(self) -> Points:
        """The points of the more numerous bins."""
        return _binned(self.values, self.sizes, _BINS[1])


def _binned(values: Floats, sizes: Integers, bins: int) -> Points:
    """Return points for numbers: the `_KEPT` numbers at either end, and two for each bin between.

    The two points of a bin have the number, mean, variance and skewness of the numbers in it.
    """
    inner = values[_KEPT:-_KEPT]
    edges = np.linspace(inner[0], inner[-1], bins + 1)
    starts = np.unique(np.searchsorted(inner, edges[:-1]))
    number = np.diff(starts, append=inner.size)
    number_of = sizes.astype(np.float64)
    weight = number_of[_KEPT:-_KEPT]
    total = np.add.reduceat(weight, starts)
    # Moments are taken about a number of the bin, so that they lose no digits.
    away = inner - np.repeat(inner[starts], number)
    shift = np.add.reduceat(weight * away, starts) / total
    away -= np.repeat(shift, number)
    term = weight * away * away
    second = np.add.reduceat(term, starts) / total
    third = np.add.reduceat(term * away, starts) / total
    points, weights = _two_points(inner[starts] + shift, second, third, total)
    return Points(
        np.concatenate([values[:_KEPT], points, values[-_KEPT:]]),
        np.concatenate([number_of[:_KEPT], weights, number_of[-_KEPT:]]),
        float(edges[1] - edges[0]),
        _KEPT,
    )


def _two_points(
    mean: Floats, second: Floats, third: Floats, total: Floats
) -> tuple[Floats, Floats]:
    """Return two points with weights for each mean and central moments; one if the variance is 0.

    Points x1 < 0 < x2, as deviations from the mean over the standard deviation, have the product
    -1, and their sum is the skewness.
    """
    deviation = np.sqrt(second)
    varies = deviation > np.spacing(np.abs(mean))
    half = np.where(varies, third / np.where(varies, second * deviation, 1.0) / 2, 0.0)
    longer = np.abs(half) + np.sqrt(1 + half**2)
    x2 = np.where(half >= 0, longer, 1 / longer)
    values = np.stack([mean - deviation / x2, mean + deviation * x2], axis=-1)
    share = 1 / (1 + x2 * x2)
    weights = np.stack([total * share * x2 * x2, total * share], axis=-1)
    values[~varies], weights[~varies, 0] = mean[~varies, None], total[~varies]
    chosen = np.stack([np.ones_like(varies), varies], axis=-1)
    return values[chosen], weights[chosen]
