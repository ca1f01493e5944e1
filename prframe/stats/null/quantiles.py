"""Quantiles of distributions of which only the tails are known, all levels at once."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Flags, Floats

# The function takes places of levels and as many x, and rises with x.
Rising: TypeAlias = Callable[[NDArray[np.int64], Floats], Floats]
# The function takes the same, and tells where the condition fails that holds for smaller x.
Lost: TypeAlias = Callable[[NDArray[np.int64], Floats], Flags]
# The width at which a bracket about x is narrow enough.
Width: TypeAlias = Callable[[Floats], Floats]

# A bracket of floats allows fewer halvings than this.
_STEPS = 200
# Of three steps, one halves the bracket; the others are those of the secant (Illinois).
_HALVED = 3


def least_met(
    rising: Rising, start: Floats, step: float, ends: tuple[float, float], width: Width
) -> tuple[Floats, Flags]:
    """Return the least x at which a function is not negative, and whether there is one.

    The search goes from `start` in steps that grow until the function changes its sign, and then
    narrows the bracket. It ends early where the function is 0.
    """
    places = np.arange(start.size)
    x = np.repeat(np.array(ends)[:, None], start.size, axis=1)
    values = np.array([rising(places, end) for end in x])
    reached, found = values[1] >= 0, np.where(values[0] >= 0, *ends)
    places = np.flatnonzero(reached & (values[0] < 0))
    inside = np.zeros((2, start.size), np.bool_)
    for turn in range(_STEPS):
        wide = x[1, places] - x[0, places]
        least = np.maximum(width(x[1, places]), 2 * np.spacing(np.abs(x[1, places])))
        places = places[(wide > least) & (values[1, places] != 0)]
        if not places.size:
            break
        (low, high), (f_low, f_high) = x[:, places], values[:, places]
        middle, stride = (low + high) / 2, step * 2.0**turn
        share = f_low / (f_low - f_high)
        secant = low + np.clip(share, 1e-3, 1 - 1e-3) * (high - low)
        known_low, known_high = inside[:, places]
        moved = np.where(known_low & known_high & (turn % _HALVED > 0), secant, middle)
        moved = np.where(known_low & ~known_high, np.minimum(low + stride, moved), moved)
        moved = np.where(known_high & ~known_low, np.maximum(high - stride, moved), moved)
        is_inside = (low < start[places]) & (start[places] < high)
        moved = np.where(~(known_low | known_high) & is_inside, start[places], moved)
        heights = rising(places, moved)
        side = (heights >= 0).astype(np.int64)
        # The end that stays counts half, so that the next secant goes to its side.
        values[1 - side, places] *= np.where(inside[side, places], 0.5, 1.0)
        x[side, places], values[side, places] = moved, heights
        inside[side, places] = True
    met = reached & (found != ends[0])
    found[met] = x[1, met]
    return found, reached


def last_kept(is_lost: Lost, start: Floats, gap: Floats, largest: float, width: Width) -> Floats:
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
