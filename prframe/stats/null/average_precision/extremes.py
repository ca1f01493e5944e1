"""The least and the largest AP of random rankings."""

import numpy as np

from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.typing import Integers


def ap_extremes(items: Items, n_pos: int) -> tuple[float, float]:
    """Return the least and the largest AP of rankings of items, of which `n_pos` are positive."""
    fewest, most = max(0, n_pos - (items.n - items.depth)), min(n_pos, items.depth)
    if items.ends is not None:
        sizes = np.diff(items.ends, prepend=0)
        return tied_least(sizes, n_pos, (fewest, most)) / n_pos, tied_most(sizes, most) / n_pos
    least = fewest * float(ap_minimum(items.depth, fewest)) if fewest else 0.0
    return least / n_pos, most / n_pos


def tied_most(sizes: Integers, hits: int) -> float:
    """Return the largest T of so many hits in tie blocks, which fill them from the top.

    Where a block has room and all above it are full, no positive from the last block with any
    that fills it lowers T: what stands in between gains, and a precision of at most 1 is given up
    for one of at least 1.
    """
    ends = np.cumsum(sizes)
    inside = np.clip(hits - (ends - sizes), 0, sizes)
    return float((inside * np.cumsum(inside) / ends).sum())


def tied_least(sizes: Integers, n_pos: int, n_hits: tuple[int, int]) -> float:
    """Return the least T of so many hits, from the fewest to the most, in tie blocks.

    With H hits down to the end e of each block, j of them inside, twice T is the sum of
    ``(H^2 - (H - j)^2 + j^2) / e``. So the least T of a number of hits, less ``H^2 / 2e``, is
    convex, and those of successive blocks are put together by merging their increments.
    """
    fewest, most = n_hits
    odd = 2.0 * np.arange(n_pos) + 1
    increments, previous = np.zeros(0), 1.0
    for size, end in zip(sizes.tolist(), np.cumsum(sizes).tolist(), strict=True):
        above = increments + odd[: increments.size] * (0.5 / previous - 0.5 / end)
        merged = np.concatenate([above, odd[:size] * (0.5 / end)])
        increments, previous = np.sort(merged, kind="stable")[:n_pos], end
    least = np.cumsum(np.append(0.0, increments + odd[: increments.size] * (0.5 / previous)))
    return float(least[fewest : most + 1].min())
