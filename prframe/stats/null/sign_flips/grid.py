"""Sums of numbers with random signs, convolved on a grid."""

from dataclasses import dataclass, replace

import numpy as np

from prframe.stats.null.sign_flips.tilt import log_cosh, tilts
from prframe.stats.null.sign_flips.units import root_of_squares
from prframe.typing import Floats, Integers

# The grid for rounded numbers has at most the first number of cells and at least the second; in
# between all steps on it together take the third number.
_CELLS, _COARSE, _STEPS = 1 << 16, 1 << 14, 1 << 29
# The grid reaches so many standard deviations, beyond which every probability is 0 as a float.
_REACH = 40.0
# About one sum, the tilted distribution is computed over so many standard deviations, beyond half
# of which its mass is below 1e-10 of its digits; and below that sum, over so many.
_WINDOW, _BELOW = 20, 0.5
# Fewer numbers than this are convolved one by one, which takes less time.
_FEW = 600
# After so many numbers, counts of sums are divided by their total, so that they do not overflow.
_HALVED = 512
# Values of a characteristic function do not matter if their logarithm is below the first number;
# so many numbers are multiplied at a time.
_NOTHING, _FACTORS = -44.0, 4


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
        low, atoms = _convolved(places, min(int(places.sum()), reach(places)))
        return cls(low, np.cumsum(atoms[::-1])[::-1], unit, step)

    @classmethod
    def about(cls, places: Integers, unit: float, step: float, place: float) -> "SignFlipGrid":
        """Convolve as `of_places` does, but only for sums about one place and above it.

        The distribution is tilted so that its mean is at that place, and convolved by Fourier
        transforms. There the tilted probabilities are large, so that the tail keeps its digits,
        however small it is.
        """
        values, number = np.unique(places.astype(np.float64), return_counts=True)
        norm, total = float(np.sqrt((number * values**2).sum())), int(places.sum())
        relative = np.repeat(values, number)[:, None] / norm
        with np.errstate(all="ignore"):
            tilt = float(tilts(relative, np.array([max(place, 0.0) / norm]))[0][0]) / norm
        middle = float((values * np.tanh(tilt * values)) @ number)
        width = 1024 * int(np.ceil(_WINDOW / 2 * norm / 1024))
        chance = _tilted_chances(values.astype(np.int64), number, tilt, width)
        # The sums are twice the sum of the numbers with a plus sign, less the total.
        low = max(int((min(place, middle) - _BELOW * norm + total) / 2), 0)
        high = min(int((middle + total) / 2) + width // 2, total)
        low = max(low, high - width + 1)
        plus = np.arange(low, high + 1)
        sums = 2 * plus - total
        weight = np.exp(log_cosh(tilt * values) @ number - tilt * sums)
        atoms = chance[plus % width] * weight
        return cls(int(sums[0]), np.cumsum(atoms[::-1])[::-1], unit, step)

    @classmethod
    def rounded(cls, sizes: Floats, about: float | None = None) -> "SignFlipGrid":
        """Round numbers to a fine grid, which is scaled so that the variance stays the same.

        If a sum is given, the grid may hold only what is about it and above.
        """
        spread = root_of_squares(sizes)
        cells = grid_cells(sizes.size)
        step = 2 * min(float(sizes.sum()), _REACH * spread) / cells
        coarse = cells < _CELLS
        rounded = _rounded_squares(sizes / step) if coarse else np.rint(sizes / step)
        places = rounded[rounded > 0].astype(np.int64)
        norm = float(np.sqrt((rounded**2).sum()))
        unit = spread / norm
        if about is None or places.size < _FEW:
            return replace(cls.of_places(places, unit, step), coarse=coarse)
        return replace(cls.about(places, unit, step, about / unit), coarse=coarse)

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

        Sums of the same parts are always rounded to the same place.
        """
        return self.at_least_place(float(np.rint(numbers / self.step).sum()), own)

    def at_least_place(self, place: float, own: float) -> float:
        """Return the probability of a sum that was rounded to a place, or more.

        Of the other sums that were rounded to the same place half count.
        """
        here, beyond = self.from_place(place), self.from_place(place + 1)
        return here - max(here - beyond - own, 0.0) / 2


def grid_cells(n: int) -> int:
    """Return the size of the grid for so many numbers."""
    return min(_CELLS, max(_COARSE, _STEPS // n))


def reach(places: Integers) -> int:
    """Return the distance from 0 beyond which sums of whole, rising numbers do not matter."""
    return int(_REACH * np.sqrt((places.astype(float) ** 2).sum())) + int(places[-1]) + 1


def _convolved(places: Integers, half: int) -> tuple[int, Floats]:
    """Return the least sum of rising numbers with random signs, and the chances of all sums.

    Sums beyond `half` are dropped. As chances of opposite sums are equal, those up to 0 are added
    up alone.
    """
    # On a coarse grid the last number need not be the largest.
    margin = int(places.max())
    # Two rows, each of which is made from the other. From the margin on stands how often each sum
    # occurs, the least one first. No sum is in the margin.
    rows = np.empty((2, 2 * margin + half // 2 + 2))
    rows[:, :margin] = 0.0
    rows[0, margin] = 1.0
    low, total, exponent = 0, 0, 0
    for at, place in enumerate(places.tolist()):
        number, added = rows[at % 2], rows[1 - at % 2]
        total += place
        least = max(-total, (total + half) % 2 - half)
        size = (2 - least) // 2
        above, dropped = (low + place - least) // 2, (least - low + place) // 2
        # Sums above 0 occur as often as those below.
        end, known, known_end = size + dropped, (2 - low) // 2, 1 - low
        if end > known:
            mirrored = min(end, known_end)
            number[margin + known : margin + mirrored] = number[
                margin + known_end - mirrored : margin + known_end - known
            ][::-1]
            number[margin + mirrored : margin + end] = 0.0
        minus, plus = number[margin + dropped : margin + end], number[margin - above :][:size]
        np.add(minus, plus, out=added[margin : margin + size])
        low, exponent = least, exponent - 1
        if not at % _HALVED:
            added[margin : margin + size] *= 2.0**exponent
            exponent = 0
    number = rows[places.size % 2, margin:]
    lower = number[: (2 - low) // 2]
    return low, np.append(lower, lower[: 1 - low - lower.size][::-1]) * 2.0**exponent


def _rounded_squares(ratios: Floats) -> Floats:
    """Round rising numbers up or down so that the sum of squares changes as little as possible."""
    low = np.floor(ratios)
    share = (ratios**2 - low**2) / (2 * low + 1)
    return np.asarray(low + np.diff(np.rint(np.cumsum(share)), prepend=0.0))


def _tilted_chances(values: Integers, number: Integers, tilt: float, width: int) -> Floats:
    """Return the distribution of the sum of numbers with a plus sign, on a circle of places.

    Each value comes up so many times. Under the tilt t, it has a plus sign with the probability
    ``1 / (1 + exp(-2 t v))``.
    """
    chance = 1 / (1 + np.exp(-2 * tilt * values))
    angle = 2 * np.pi / width * np.arange(width)
    versine, sine = 1 - np.cos(angle), np.sin(angle)
    left, size = np.arange(width // 2 + 1), np.zeros(width // 2 + 1)
    # Each part has values of all sizes, so that most of the transform vanishes after few parts.
    n_parts = min(values.size, -(-int(number.sum()) // _FACTORS))
    for part in (slice(start, None, n_parts) for start in range(n_parts)):
        turns = np.outer(values[part], left) % width
        spread = 2 * chance[part] * (1 - chance[part])
        with np.errstate(divide="ignore"):
            size += number[part] / 2 @ np.log1p(-spread[:, None] * versine[turns])
        matters = size > _NOTHING
        left, size = left[matters], size[matters]
    turns = np.outer(values, left) % width
    phase = np.arctan2(chance[:, None] * sine[turns], 1 - chance[:, None] * versine[turns])
    transform = np.zeros(width // 2 + 1, dtype=np.complex128)
    transform[left] = np.exp(size - 1j * (number @ phase))
    return np.maximum(np.fft.irfft(transform, width), 0.0)
