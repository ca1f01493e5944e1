"""Sums of numbers with random signs, convolved on a grid."""

from dataclasses import dataclass, replace

import numpy as np

from prframe.typing import Floats, Integers

# The grid for rounded numbers has at most the first number of cells and at least the second; in
# between all steps on it together take the third number.
_CELLS, _COARSE, _STEPS = 1 << 16, 1 << 14, 1 << 29
# The grid reaches so many standard deviations, beyond which every probability is 0 as a float.
_REACH = 40.0


@dataclass(frozen=True, eq=False)
class SignFlipGrid:
    """Probabilities of the sums on a grid, which stand two places apart.

    Places are counted from the sum 0. Numbers were divided by `step` and rounded; a place stands
    for `unit`, which differs from `step` so that the variance is right. On a coarse grid numbers
    were rounded so that the sum of squares is right, for which equal numbers may be rounded
    differently.

    Examples
    --------
    >>> SignFlipGrid.of_places(np.array([1, 2, 4]), 1.0, 1.0).from_place(3)
    0.375
    """

    first: int
    upward: Floats
    unit: float
    step: float
    coarse: bool = False

    @classmethod
    def of_places(cls, places: Integers, unit: float, step: float) -> "SignFlipGrid":
        """Convolve the flips of whole, rising numbers; sums out of reach are dropped."""
        total = int(places.sum())
        half = min(total, reach(places))
        chance = np.zeros(2 * half + 1)
        chance[half] = 1.0
        extent = 0
        for place in places:
            low, high = half - extent, half + extent + 1
            moved = 0.5 * chance[low:high]
            chance[low:high] = 0.0
            left, right = max(place - low, 0), max(high + place - chance.size, 0)
            chance[low - place + left : high - place] += moved[left:]
            chance[low + place : high + place - right] += moved[: moved.size - right]
            extent = min(extent + int(place), half)
        start = (half - total) % 2
        atoms = chance[start::2]
        return cls(start - half, np.cumsum(atoms[::-1])[::-1], unit, step)

    @classmethod
    def rounded(cls, sizes: Floats) -> "SignFlipGrid":
        """Round numbers to a fine grid, which is scaled so that the variance stays the same."""
        spread = root_of_squares(sizes)
        cells = grid_cells(sizes.size)
        step = 2 * min(float(sizes.sum()), _REACH * spread) / cells
        coarse = cells < _CELLS
        rounded = _rounded_squares(sizes / step) if coarse else np.rint(sizes / step)
        places = rounded[rounded > 0].astype(np.int64)
        norm = float(np.sqrt((rounded**2).sum()))
        return replace(cls.of_places(places, spread / norm, step), coarse=coarse)

    def from_place(self, place: float) -> float:
        """Return P(S >= place), the place being counted in units."""
        at = int(np.ceil((place - self.first) / 2))
        return float(self.upward[max(at, 0)]) if at < self.upward.size else 0.0

    def at_least(self, x: Floats) -> Floats:
        """Return P(S >= x), each atom spread evenly to both sides."""
        place = (x / self.unit - self.first + 1) / 2
        below = np.clip(np.floor(place), 0, self.upward.size - 1).astype(np.int64)
        upward = np.append(self.upward, 0.0)
        here, beyond = upward[below], upward[below + 1]
        share = np.clip(place - below, 0.0, 1.0)
        # The logarithm of the tail is interpolated, except over the step of the last atom, where
        # the tail falls to 0.
        falling = here ** (1 - share) * beyond**share
        return np.asarray(np.where(beyond > 0, falling, here * (1 - share)))

    def at_least_sum(self, numbers: Floats, own: float) -> float:
        """Return P(S >= sum of the numbers), in which the sum's own atom counts in full.

        Of the other sums that were rounded to the same place half count. Sums of the same parts
        are always rounded to the same place.
        """
        place = float(np.rint(numbers / self.step).sum())
        here, beyond = self.from_place(place), self.from_place(place + 1)
        return here - max(here - beyond - own, 0.0) / 2


def root_of_squares(sizes: Floats) -> float:
    """Return the root of the sum of squares of rising numbers, even if that sum overflows."""
    return float(sizes[-1] * np.sqrt(((sizes / sizes[-1]) ** 2).sum())) if sizes.size else 0.0


def grid_cells(n: int) -> int:
    """Return the size of the grid for so many numbers."""
    return min(_CELLS, max(_COARSE, _STEPS // n))


def reach(places: Integers) -> int:
    """Return the distance from 0 beyond which sums of whole, rising numbers do not matter."""
    return int(_REACH * np.sqrt((places.astype(float) ** 2).sum())) + int(places[-1]) + 1


def _rounded_squares(ratios: Floats) -> Floats:
    """Round rising numbers up or down so that the sum of squares changes as little as possible."""
    low = np.floor(ratios)
    share = (ratios**2 - low**2) / (2 * low + 1)
    return np.asarray(low + np.diff(np.rint(np.cumsum(share)), prepend=0.0))
