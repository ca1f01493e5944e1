"""The levels of recall of a band."""

from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats.rankings import recall_levels
from prframe.typing import Floats

_LEVELS = 181


def spaced_levels(recall: object) -> Floats | None:
    """Return evenly spaced levels from 0 to 1 if a whole number of them is given, else None."""
    if not isinstance(recall, Integral) or isinstance(recall, bool):
        return None
    number = int(recall)
    if number < 2:  # noqa: PLR2004 - the two ends
        raise PrframeError(
            "`recall` as a whole number is that of evenly spaced levels from 0 to 1, at least 2; "
            f"got {number}. A single level is a float, for example 1.0."
        )
    return np.arange(number) / (number - 1)


def band_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None
) -> Floats:
    """Return the levels that a caller names, or evenly spaced ones.

    Of a whole number of levels, 0 and 1 are left out: there is no band.
    """
    if recall is not None:
        if recall_range is not None:
            raise PrframeError("`recall` and `recall_range` both name levels; give one of them.")
        if (spaced := spaced_levels(recall)) is not None:
            return rising_levels(spaced[1:-1])
        return rising_levels([recall] if isinstance(recall, Real) else recall)
    ends = (0.05, 0.95) if recall_range is None else recall_range
    if not (isinstance(ends, (tuple, list)) and len(ends) == 2):  # noqa: PLR2004
        raise PrframeError(
            f"`recall_range` must be the first and the last level; got {checks.brief(ends)}."
        )
    low, high = (checks.number("recall_range", end, above=0, below=1) for end in ends)
    if low >= high:
        raise PrframeError(f"`recall_range` must rise; got {checks.brief(ends)}.")
    return np.linspace(low, high, _LEVELS)


def rising_levels(recall: ArrayLike) -> Floats:
    """Require at least one level of recall, and levels that rise within (0, 1)."""
    levels = recall_levels(recall, below_one=True)
    if levels.ndim != 1 or not levels.size or (np.diff(levels) <= 0).any():
        raise PrframeError(
            f"`recall` must be a list of rising levels, each once; got {checks.brief(recall)}."
        )
    return levels
