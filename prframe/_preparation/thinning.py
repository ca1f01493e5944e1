"""Fewer points of a curve that draw the same picture."""

from itertools import pairwise

import numpy as np

from prframe.typing import Floats, Integers


def column_edges(low: float, high: float, columns: int, *, log: bool = False) -> Floats:
    """Return the values at the edges of the pixel columns of an axis."""
    if log:
        return np.geomspace(low, high, columns + 1)
    return np.linspace(low, high, columns + 1)


def kept_points(x: Floats, y: Floats, edges: Floats) -> Integers:
    """Return which points of a curve to draw, so that no pixel is more than one pixel off.

    Those are the first, the last, the lowest and the highest point of each pixel column. `x` must
    not decrease; points beyond the outer edges belong to the outer columns. A line through the
    points, straight or in steps, covers the same pixels of each column as that through all points.
    """
    if len(x) <= 4 * len(edges):
        return np.arange(len(x))
    inner = np.searchsorted(x, edges[1:-1])
    bounds = np.unique(np.concatenate(([0], inner, [len(x)])))
    kept: set[int] = set()
    for start, stop in pairwise(bounds.tolist()):
        part = y[start:stop]
        kept.update((start, start + int(part.argmin()), start + int(part.argmax()), stop - 1))
    return np.array(sorted(kept), dtype=np.int64)
