"""Sums of numbers that nearly have a common unit, which lie in clusters, moved apart on a grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from prframe.stats.null.sign_flips.grid import SignFlipGrid, reach
from prframe.stats.null.sign_flips.units import (
    common_unit,
    in_single_precision,
    near_unit,
    root_of_squares,
)
from prframe.typing import Flags, Floats, Integers

# The remainders of the numbers in a cluster are 0 if they are below this share of its unit.
_ROUNDING = 1e-9
# Sums reach as far as all numbers together, or so many standard deviations. Within the gap of two
# clusters, the remainders may reach over this share; there must be room for so many places.
_REACH, _FILLED, _ROOM = 8.0, 0.9, 2
# Clusters are looked for if remainders reach over less than this share of the gap.
_NARROW = 0.5
# A number is odd if the unit would shrink below this share for its sake; so many may be odd.
_SHRUNK, _ODD = 0.3, 8
# It is odd, too, if its remainder is so many times larger than those of all others but so many.
_FAR = 16.0
# So many places make up a standard deviation of the sum; all steps along them, number by number,
# may take so many cells.
_FINE, _STEPS = 1 << 14, 1 << 30


@dataclass(frozen=True, eq=False)
class Places:
    """Whole places of numbers, the sums of which are in the same order as those of the numbers.

    If the numbers cluster, ``d_i = u k_i + r_i`` with whole k_i and remainders r_i so small that
    clusters of sums do not overlap, at least not with a probability that matters, the places are
    ``m k_i`` and those of the remainders, which together are less than m. So the distance of
    clusters shrinks, while the remainders, which may themselves cluster, get more places. Numbers
    that do not cluster are multiplied by m / u and rounded.

    Examples
    --------
    >>> Places.of(np.array([1.0, 1.0, 2.001, 2.003]), 600.0).numbers
    array([ 74,  74, 172, 220])
    """

    numbers: Integers
    unit: float
    cells: float
    total: int = 0
    finer: Places | None = None
    is_lattice: bool = False

    @classmethod
    def of(cls, numbers: Floats, room: float) -> Places:
        """Return places of numbers, the sums of which reach as far as there is room."""
        clusters = _clusters(numbers)
        if clusters is not None:
            unit, whole, rest = clusters
            is_lattice = bool(np.abs(rest).max() <= _ROUNDING * unit)
            # Remainders reach beyond the outermost clusters.
            cells = int(room / (_spread(whole) + (0.0 if is_lattice else _FILLED)))
            if is_lattice and cells:
                places = cells * whole.astype(np.int64)
                return cls(places, unit, cells, int(whole.sum()), is_lattice=True)
            if cells >= _ROOM:
                finer = cls.of(rest, _FILLED * cells)
                places = cells * whole.astype(np.int64) + finer.numbers
                return cls(places, unit, cells, int(whole.sum()), finer, finer.is_lattice)
        unit = _spread(numbers) / room
        return cls(np.rint(numbers / unit).astype(np.int64), unit, 1.0)

    def of_sums(self, x: Floats) -> Floats:
        """Return the places of sums; a number between clusters gets a place between them."""
        if self.finer is None and not self.is_lattice:
            return x / self.unit
        # Sums of whole numbers with random signs stand two apart.
        whole = self.total - 2 * np.rint((self.total - x / self.unit) / 2)
        rest = x - self.unit * whole
        if self.finer is None:
            within = np.sign(rest) * (np.abs(rest) > _ROUNDING * self.unit)
        else:
            within = np.clip(self.finer.of_sums(rest), -self.cells, self.cells)
        return np.asarray(self.cells * whole + within)


@dataclass(frozen=True, eq=False)
class ClusteredGrid:
    """Probabilities of sums in clusters, on a grid of places.

    The methods are those of `SignFlipGrid`.
    """

    places: Places
    grid: SignFlipGrid
    coarse: bool = field(default=False, init=False)

    @property
    def is_lattice(self) -> bool:
        """Whether sums at one place are equal."""
        return self.places.is_lattice

    def at_least(self, x: Floats) -> Floats:
        """Return P(S >= x), each atom spread evenly to both sides unless sums there are equal."""
        at = self.places.of_sums(x)
        if self.is_lattice:
            return np.array([self.grid.from_place(place) for place in at.tolist()])
        return self.grid.at_least(at)

    def at_least_sum(self, numbers: Floats, own: float) -> float:
        """Return P(S >= sum of the numbers), in which the sum's own atom counts in full.

        The numbers are in the order of the places.
        """
        return self.grid.at_least_place(float(np.sign(numbers) @ self.places.numbers), own)


def grid_of_sums(sizes: Floats, about: float | None = None) -> SignFlipGrid | ClusteredGrid:
    """Return the distribution of the sum of rising, positive numbers with random signs.

    If a sum is given, the grid may hold only what is about it and above.
    """
    if _clusters(sizes) is None:
        return SignFlipGrid.rounded(sizes, about)
    places = Places.of(sizes, _FINE * _spread(sizes) / root_of_squares(sizes))
    rising = np.sort(np.abs(places.numbers[places.numbers != 0]))
    if about is None:
        if 2 * reach(rising) * rising.size > _STEPS:
            return SignFlipGrid.rounded(sizes)
        return ClusteredGrid(places, SignFlipGrid.of_places(rising, 1.0, 1.0))
    at = float(places.of_sums(np.array([about]))[0])
    return ClusteredGrid(places, SignFlipGrid.about(rising, 1.0, 1.0, at))


def odd_ones(sizes: Floats) -> Flags:
    """Tell which few of rising, positive numbers are no multiples where the others nearly are.

    There are none if the others have no unit either.
    """
    odd = np.zeros(sizes.size, np.bool_)
    nothing = odd.copy()
    unit = 0.0
    # The others are found from the middle outwards.
    for place in np.argsort(np.abs(sizes - np.median(sizes)), kind="stable") if sizes.size else ():
        shrunk = common_unit(unit, float(sizes[place]))
        if shrunk < _SHRUNK * unit:
            odd[place] = True
            if odd.sum() > _ODD:
                return nothing
        else:
            unit = shrunk
    clusters = _clusters(sizes[~odd])
    if clusters is None:
        return nothing
    rest = np.abs(clusters[2])
    usual = np.partition(rest, -_ODD - 1)[-_ODD - 1] if rest.size > _ODD else np.inf
    odd[~odd] = rest > max(_FAR * usual, _ROUNDING * clusters[0])
    return odd if odd.sum() <= _ODD else nothing


def stored_in_single_precision(numbers: Floats) -> Floats:
    """Return multiples of a common unit that were rounded to single precision without rounding.

    Other numbers are returned as they are.
    """
    clusters = _clusters(numbers)
    if clusters is None:
        return numbers
    multiples = clusters[0] * clusters[1]
    return multiples if in_single_precision(numbers, multiples) else numbers


def _clusters(numbers: Floats) -> tuple[float, Floats, Floats] | None:
    """Return the unit, the multiples and the remainders of numbers, the sums of which cluster."""
    sizes = np.sort(np.abs(numbers))
    unit = near_unit(sizes)
    if unit is None:
        return None
    whole = np.rint(numbers / unit)
    rest = numbers - unit * whole
    return (unit, whole, rest) if _spread(rest) <= _NARROW * unit else None


def _spread(numbers: Floats) -> float:
    """Return how far sums of numbers with random signs reach."""
    sizes = np.sort(np.abs(numbers))
    return min(float(sizes.sum()), _REACH * root_of_squares(sizes))
