"""The levels of recall of a band."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import ArgumentError
from prframe.stats.rankings import recall_levels
from prframe.typing import Floats

_LEVELS = 181
# More levels than this lie closer than a curve can be read or drawn.
_MOST_LEVELS = 1_000_000
LEVELS_TWICE = "`recall` and `recall_range` both name levels; give one of them."


def spaced_levels(recall: object) -> Floats | None:
    """Return evenly spaced levels from 0 to 1 if a whole number of them is given, else None."""
    if not isinstance(recall, Integral) or isinstance(recall, bool):
        return None
    number = int(recall)
    if number < 2:  # noqa: PLR2004 - the two ends
        raise ArgumentError(
            "`recall` as a whole number is that of evenly spaced levels from 0 to 1, at least 2; "
            f"got {number}. A single level is a float, for example 1.0."
        )
    if number > _MOST_LEVELS:
        raise ArgumentError(
            "`recall` as a whole number is that of evenly spaced levels, at most "
            f"{_MOST_LEVELS:,}; got {number:,}. For a row at each threshold leave it out."
        )
    return even_levels(number)


def band_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None
) -> Floats:
    """Return the levels that a caller names, or evenly spaced ones.

    Of a whole number of levels, 0 and 1 are left out: there is no band.
    """
    if recall is not None:
        if recall_range is not None:
            raise ArgumentError(LEVELS_TWICE)
        if (spaced := spaced_levels(recall)) is not None:
            if spaced.size == 2:  # noqa: PLR2004 - the two ends
                raise ArgumentError(
                    "`recall` as a whole number is at least 3 for a band, which has no level at "
                    "0 and 1; got 2."
                )
            return rising_levels(spaced[1:-1])
        return rising_levels([recall] if isinstance(recall, Real) else recall)
    low, high = range_ends((0.05, 0.95) if recall_range is None else recall_range)
    return np.linspace(low, high, _LEVELS)


def range_ends(recall_range: tuple[float, float], *, closed: bool = False) -> tuple[float, float]:
    """Require the first and the last level, both within (0, 1), or [0, 1] if that is closed."""
    if not (isinstance(recall_range, (tuple, list)) and len(recall_range) == 2):  # noqa: PLR2004
        raise ArgumentError(
            "`recall_range` must be the first and the last level; got "
            f"{checks.brief(recall_range)}."
        )
    if closed:
        low, high = (checks.fraction("recall_range", end) for end in recall_range)
    else:
        low, high = (checks.number("recall_range", e, above=0, below=1) for e in recall_range)
    if low >= high:
        raise ArgumentError(f"`recall_range` must rise; got {checks.brief(recall_range)}.")
    return low, high


def even_levels(number: int) -> Floats:
    """Return equally spaced levels from 0 to 1, each as exact as its quotient."""
    return np.arange(number) / (number - 1)


def rising_levels(recall: ArrayLike) -> Floats:
    """Require at least one level of recall, and levels that rise within (0, 1)."""
    levels = recall_levels(recall, below_one=True)
    if levels.ndim != 1 or not levels.size or (np.diff(levels) <= 0).any():
        raise ArgumentError(
            f"`recall` must be a list of rising levels, each once; got {checks.brief(recall)}."
        )
    return levels
