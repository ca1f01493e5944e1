"""Where functions of which only single values are known change their signs, all at once."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from prframe.typing import Flags, Floats

# The function takes places, and as many x, and rises with x at each place.
Rising: TypeAlias = Callable[[NDArray[np.int64], Floats], Floats]

# A bracket of floats allows fewer steps than this.
_STEPS = 200


def bracketed(  # noqa: PLR0913, PLR0917 - a function, where to look for it, and how closely
    rising: Rising,
    start: Floats,
    step: Floats,
    ends: tuple[float, float],
    width: Rising,
    secants: int = 12,
) -> tuple[Floats, Floats, Flags]:
    """Return neighbours x below and at which a function is not negative any more.

    The search goes from `start` in steps that grow until the function changes its sign, and then
    narrows the bracket to a width, by secants at first, as functions may jump by halves later on.
    It ends early where the function is 0. Both neighbours are the left end where the function is
    not negative there; the last result is whether it is not negative at the right end.
    """
    places = np.arange(start.size)
    x = np.repeat(np.array(ends)[:, None], start.size, axis=1)
    values = np.array([rising(places, end) for end in x])
    reached = values[1] >= 0
    x[1, values[0] >= 0] = ends[0]
    places = np.flatnonzero(reached & (values[0] < 0))
    inside, latest = np.zeros((2, start.size), np.bool_), np.full(start.size, -1)
    for turn in range(_STEPS):
        wide = x[1, places] - x[0, places]
        least = np.maximum(width(places, x[1, places]), 2 * np.spacing(np.abs(x[1, places])))
        places = places[(wide > least) & (values[1, places] != 0)]
        if not places.size:
            break
        (low, high), known = x[:, places], inside[:, places]
        first, far = start[places], step[places] * 2.0**turn
        tried = (low + high) / 2 if turn >= secants else _secant(x[:, places], values[:, places])
        tried = np.where(known[0] & ~known[1], np.minimum(low + far, tried), tried)
        tried = np.where(known[1] & ~known[0], np.maximum(high - far, tried), tried)
        is_new = ~known.any(axis=0) & (low < first) & (first < high)
        tried = np.where(is_new, first, tried)
        heights = rising(places, tried)
        side = (heights >= 0).astype(np.int64)
        # An end that stays twice counts less, so that the next secant goes to its side (Anderson &
        # Bjorck 1973).
        rest = 1 - heights / values[side, places]
        weight = np.where(rest > 0, rest, 0.5)
        values[1 - side, places] *= np.where(latest[places] == side, weight, 1.0)
        x[side, places], values[side, places], inside[side, places] = tried, heights, True
        latest[places] = side
    return x[0], x[1], reached


def _secant(x: Floats, values: Floats) -> Floats:
    """Return where lines through two points of functions each are 0, within their brackets."""
    share = values[0] / (values[0] - values[1])
    return np.asarray(x[0] + np.clip(share, 1e-3, 1 - 1e-3) * (x[1] - x[0]))
