"""Searches in many sorted stretches of one array at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def first_at_least(
    values: ArrayLike, start: ArrayLike, stop: ArrayLike, target: ArrayLike
) -> NDArray[np.int64]:
    """Return for each stretch the first position whose value is at least the target.

    Parameters
    ----------
    values : array_like, shape (n,)
        Non-decreasing within each stretch.
    start, stop : array_like of int, shape (m,)
        Stretches ``values[start:stop]``.
    target : array_like, shape (m,)
        The value that is searched for in each stretch.

    Returns
    -------
    ndarray of int, shape (m,)
        Positions in `values`; `stop` where no value is large enough.

    Examples
    --------
    >>> first_at_least([1, 2, 3, 1, 5], [0, 3], [3, 5], [2, 6])
    array([1, 5])
    """
    values = np.asarray(values)
    low, high = (np.array(bound, dtype=np.int64) for bound in (start, stop))
    target = np.asarray(target)
    while (open_ := low < high).any():
        middle = (low + high) // 2
        below = open_ & (values[np.where(open_, middle, 0)] < target)
        low = np.where(below, middle + 1, low)
        high = np.where(open_ & ~below, middle, high)
    return low
