"""Whether sums of numbers with random signs cluster, as those of numbers near a lattice do.

The characteristic function of such a sum, which dies away first, is large again further out.
"""

import numpy as np

from prframe.stats._batches import batches
from prframe.typing import Flags, Floats

# Sums cluster if the characteristic function of so many of the numbers, of all sizes, is not small
# for arguments up to the second number, in standard deviations of the sum; the share of a tail
# that clusters may change is the third number.
_LOOKED_AT, _FARTHEST, _CLUSTERED = 64, 1600.0, 1e-4
# For one sum that is inverted arguments go on to this, or to where no lobe matters.
_FARTHEST_OF_ONE = 30_000.0
# The main lobe of a characteristic function ends there, and other lobes are wider than the step.
_LOBE, _STEP = 4.5, 1.5
# So many sums are looked at together, and so many of their numbers at a time.
_ROWS, _FACTORS = 32, 8
# Before that, so many are looked at in single precision, and arguments are left out where the
# square of the function is below its bound by more than the second number.
_ROUGH, _FAR_BELOW = 16, 4.0


def clustered(falling: Floats, tilt: Floats) -> Flags:
    """Tell which sums cluster, by their tilted characteristic functions; a row of sizes each."""
    clustered = np.zeros(len(falling), np.bool_)
    for rows in batches(len(falling), _LOOKED_AT, _LOOKED_AT * _ROWS):
        chosen = _of_all_sizes(falling[rows])
        left = 1 / np.cosh(tilt[rows, None] * chosen) ** 2
        step = _STEP / np.sqrt((chosen**2).sum(axis=1, keepdims=True))
        # The arguments begin behind the main lobe.
        argument = step * (np.arange(_FARTHEST / step.min()) + _LOBE / _STEP)
        least = (_CLUSTERED * argument / np.maximum(tilt[rows, None], 1.0)) ** 2
        large = _roughly_above(least, argument, chosen, left) & (argument < _FARTHEST)
        row, place = np.nonzero(large)
        # The function is a product of numbers below 1.
        for some in batches(chosen.shape[1], 1, _FACTORS):
            angle = argument[row, place, None] * chosen[row, some]
            with np.errstate(divide="ignore"):
                least[row, place] /= np.prod(1 - np.sin(angle) ** 2 * left[row, some], axis=1)
            remain = least[row, place] < 1
            row, place = row[remain], place[remain]
        clustered[rows][row] = True
    return clustered


def _roughly_above(least: Floats, argument: Floats, chosen: Floats, left: Floats) -> Flags:
    """Tell where squares of characteristic functions may be above bounds, by their first factors.

    Single precision, which is much quicker, is enough to tell whether they are far below.
    """
    rough = argument.astype(np.float32)
    square = np.ones_like(rough)
    for part, of_part in zip(*(x.T[:_ROUGH, :, None] for x in (chosen, left)), strict=True):
        sine = np.sin(rough * part.astype(np.float32))
        square *= 1 - sine**2 * of_part.astype(np.float32)
    return np.asarray(square > least / _FAR_BELOW)


def _of_all_sizes(falling: Floats) -> Floats:
    """Choose about as many of the sizes of each row, which are of all sizes but 0."""
    number = np.count_nonzero(falling, axis=1)
    step = np.maximum(1, number // _LOOKED_AT)
    place = np.arange(2 * _LOOKED_AT) * step[:, None]
    within = place < number[:, None]
    chosen = np.take_along_axis(falling, np.where(within, place, 0), axis=1)
    return np.asarray(chosen * within)


def has_lobes(rising: Floats, tilt: float, first: float) -> bool:
    """Whether the function of one sum is large again beyond an argument, by all of its numbers."""
    # Beyond, a function that is no larger than 1 changes the tail by less than the share.
    end = min(max(tilt, 1.0) / _CLUSTERED, _FARTHEST_OF_ONE)
    argument = np.arange(first, end, _STEP)
    least = (_CLUSTERED * argument / max(tilt, 1.0)) ** 2
    # Numbers of all sizes come first, after which few arguments are left.
    for start in range(parts := max(1, rising.size // _LOOKED_AT)):
        sizes = rising[start::parts]
        left = 1 - np.tanh(tilt * sizes) ** 2
        least = least / np.prod(1 - np.sin(np.outer(argument, sizes)) ** 2 * left, axis=1)
        remain = least < 1
        if not remain.any():
            return False
        argument, least = argument[remain], least[remain]
    return bool(argument.size)
