"""The levels of recall of a band."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.errors import PrframeError
from prframe.stats.rankings import recall_levels
from prframe.typing import Floats

_LEVELS = 181


def band_levels(
    recall: float | Sequence[float] | None, recall_range: tuple[float, float] | None
) -> Floats:
    """Return the levels that a caller names, or evenly spaced ones."""
    if recall is not None:
        if recall_range is not None:
            raise PrframeError("`recall` and `recall_range` both name levels; give one of them.")
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
