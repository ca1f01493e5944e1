"""Sums of numbers with random signs by convolution on a grid.

The signs of a few numbers that would spoil the grid are counted: of those that outweigh all
others, and of those that are no multiples where the others nearly are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from prframe.stats.null.sign_flips.clusters import ClusteredGrid, grid_of_sums, odd_ones
from prframe.stats.null.sign_flips.grid import SignFlipGrid
from prframe.stats.null.sign_flips.signs import (
    NEGLIGIBLE,
    all_sums,
    chance_of_signs,
    least_chance,
)
from prframe.typing import Flags, Floats

# At most so many of the largest numbers are counted, if the least of them outweighs all smaller
# ones together.
_HEAVY = 20


@dataclass(frozen=True, eq=False)
class ConvolvedSums:
    """Sums of light numbers on a grid and of heavy ones, the signs of which are counted.

    Attributes
    ----------
    sizes : ndarray of float
        The absolute numbers, rising, without zeros.
    slack : float
        The largest difference of sums that count as equal.
    """

    sizes: Floats
    slack: float

    def at_least(self, x: float) -> float:
        """Return P(S >= x)."""
        chance = float(self._light_sf(x - self._heavy_sums).mean())
        return max(chance, least_chance(self.sizes.size))

    def at_least_sum(self, numbers: Floats) -> float:
        """Return P(S >= sum of the numbers), in which the sum's own atom counts in full."""
        total = float(numbers.sum())
        rising = numbers[np.argsort(np.abs(numbers), kind="stable")]
        light, heavy = rising[self._is_light], rising[~self._is_light]
        if not heavy.size:
            grid = grid_of_sums(self.sizes, about=total)
            before = float(self._light_sf(np.array([total]), grid)[0])
            return min(1.0, self._light_tail(light, before, grid))
        alike = np.abs(self._heavy_sums - heavy.sum()) <= self.slack
        before = float(self._light_sf(np.array([total - heavy.sum()]))[0])
        more = self._light_tail(light, before) - before
        return min(1.0, self.at_least(total) + float(alike.mean()) * more)

    @cached_property
    def _is_light(self) -> Flags:
        """Which numbers go on a grid.

        The signs of the others are counted: of the heavy ones, the least of which outweighs all
        smaller ones together, and of the few that are no multiples where the others nearly are.
        """
        squares = (self.sizes / self.sizes[-1]) ** 2
        heavy = np.flatnonzero(squares > np.cumsum(squares) - squares)
        n_light = int(min(heavy[heavy >= squares.size - _HEAVY], default=squares.size))
        is_light = np.arange(squares.size) < n_light
        odd = odd_ones(self.sizes[:n_light])
        if odd.sum() <= _HEAVY - (squares.size - n_light):
            is_light[:n_light] &= ~odd
        return is_light

    @cached_property
    def _light(self) -> Floats:
        """The numbers that go on a grid, rising."""
        return self.sizes[self._is_light]

    @cached_property
    def _heavy_sums(self) -> Floats:
        """All sums of the numbers whose signs are counted."""
        return all_sums(self.sizes[~self._is_light])

    @cached_property
    def _light_grid(self) -> SignFlipGrid | ClusteredGrid:
        """The distribution of the sum of the light numbers on a fine grid."""
        return grid_of_sums(self._light)

    def _light_sf(self, x: Floats, about: SignFlipGrid | ClusteredGrid | None = None) -> Floats:
        """Return the probability that the sum of the light numbers is at least x.

        A grid may be given that holds only what is about x.
        """
        most = float(self._light.sum())
        chances = np.asarray(x <= self.slack - most, dtype=np.float64)
        within = (chances == 0) & (x <= most + self.slack)
        if within.any():
            least = least_chance(self._light.size)
            if self._light.size:
                grid = about or self._light_grid
                chances[within] = np.maximum(grid.at_least(x[within]), least)
            else:
                chances[within] = 1.0
        return chances

    def _light_tail(
        self, numbers: Floats, tail: float, about: SignFlipGrid | ClusteredGrid | None = None
    ) -> float:
        """Return the probability of the sum of light numbers or more; `tail` is the grid's."""
        if abs(float(numbers.sum())) >= self._light.sum() - self.slack:
            return tail
        # On a grid, atoms are spread to both sides, but that of the sum itself must count in full.
        grid = about or self._light_grid
        if isinstance(grid, ClusteredGrid) and grid.is_lattice:
            return grid.at_least_sum(numbers, np.inf)
        own = chance_of_signs(numbers)
        if own < NEGLIGIBLE * tail:
            return tail
        if grid.coarse:
            return tail + own / 2
        return grid.at_least_sum(numbers, own)
