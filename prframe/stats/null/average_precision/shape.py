"""Skewness and kurtosis of average precision under random ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe.stats._arrays import group_sizes
from prframe.stats.null.average_precision.moments import tie_blocks
from prframe.stats.null.average_precision.steps import Items
from prframe.stats.null.average_precision.walks.path import at_random
from prframe.stats.null.average_precision.walks.rows import Lanes
from prframe.stats.null.average_precision.walks.tilts import Course
from prframe.typing import Floats

# The steps of the walk: so many single ranks, and this share of the rank further down.
_DENSE, _GROWTH = 256, 0.02
# The number of rankings that are walked side by side, which bounds the memory.
_LANES = 16


class Shape(NamedTuple):
    """Skewness and excess kurtosis; arrays of one shape."""

    skewness: Floats
    kurtosis: Floats


def ap_null_shape(n: ArrayLike, n_pos: ArrayLike, ties: Sequence[int] | None = None) -> Shape:
    """Return skewness and kurtosis of AP when every ranking is equally likely.

    The skewness is ``k3 / k2^(3/2)`` and the kurtosis ``k4 / k2^2``, with the cumulants k2, k3 and
    k4 of AP. Both are 0 for a normal distribution, as with ``scipy.stats``.

    Parameters
    ----------
    n : array_like of int
        Items, >= 1.
    n_pos : array_like of int
        Positives among them, 1..n; broadcast against `n`.
    ties : sequence of int, optional
        Sizes of the tie blocks, best first, which add up to `n` (one number then). AP counts at
        the ends of blocks, as with ``ties="group"``.

    Returns
    -------
    Shape
        ``skewness`` and ``kurtosis``, arrays of the common shape; NaN where AP is constant: all
        items are positive, or all are tied.

    Raises
    ------
    PrframeError
        Numbers that are not whole or out of range, or blocks that do not add up to n.

    See Also
    --------
    ap_null_moments : mean and variance.

    Notes
    -----
    A walk down the ranks gives the cumulants. It takes single ranks up to 256 and 2 % of the rank
    further down: skewness and kurtosis are within .001, or .1 % where they
    are larger than 1; where one block holds nearly all items they are rougher.

    Examples
    --------
    >>> shape = ap_null_shape([1000, 10**4], [100, 10])
    >>> shape.skewness.round(3).tolist()
    [0.787, 17.459]
    """
    n, n_pos = group_sizes(n, n_pos)
    ends = None if ties is None else np.cumsum(tie_blocks(ties, n)).astype(np.int64)
    pairs, place = np.unique([n.ravel(), n_pos.ravel()], axis=1, return_inverse=True)
    whole = pairs.astype(int).T.tolist()
    shapes = shapes_of([(Items(items, items, ends), hits) for items, hits in whole])
    skewness, kurtosis = np.array(shapes).T[:, place.ravel()].reshape(2, *n.shape)
    return Shape(skewness, kurtosis)


def shapes_of(rankings: Sequence[tuple[Items, int]]) -> list[tuple[float, float]]:
    """Return skewness and excess kurtosis of the AP of items, so many of them positive.

    They are NaN where AP is constant.
    """
    steps = [items.table(_DENSE, _GROWTH) for items, _ in rankings]
    found = [(np.nan, np.nan)] * len(rankings)
    varying = [
        place
        for place, (items, n_pos) in enumerate(rankings)
        if n_pos < items.n and steps[place].size.size > 1
    ]
    varying.sort(key=lambda place: steps[place].size.size)
    for begin in range(0, len(varying), _LANES):
        own = varying[begin : begin + _LANES]
        lanes = Lanes.of([steps[place] for place in own], [rankings[place][1] for place in own])
        state = Course.planned(lanes, at_random(lanes)).tilt(np.zeros(len(own))).state
        for place, second, third, fourth in zip(own, *np.array(state[2:]).tolist(), strict=True):
            if second > 0:
                found[place] = third / second**1.5, fourth / second**2
    return found
