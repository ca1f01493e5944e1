"""The least and the largest AP of random rankings, and values beyond others."""

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.approximations import ap_minimum
from prframe.stats.null.average_precision.steps import Items
from prframe.typing import Floats, Integers

_TINY = 1e-300
# The least AP of tie blocks merges at most so many numbers; of more, that without ties is taken,
# which is no larger.
_MERGED = 1 << 22


def ap_extremes(items: Items, n_pos: int) -> tuple[float, float]:
    """Return the least and the largest AP of rankings of items, of which `n_pos` are positive."""
    fewest, most = max(0, n_pos - (items.n - items.depth)), min(n_pos, items.depth)
    if items.ends is not None and n_pos * items.ends.size <= _MERGED:
        least = _tied_least(np.diff(items.ends, prepend=0), n_pos, (fewest, most))
    else:
        least = fewest * float(ap_minimum(items.depth, fewest)) if fewest else 0.0
    return least / n_pos, ap_largest(items, n_pos)


def ap_largest(items: Items, n_pos: int) -> float:
    """Return the largest AP.

    The positives fill the first ranks, where the precision is 1, up to the last block that holds
    any. All that are not in earlier blocks have no larger precision than those.
    """
    most = min(n_pos, items.depth)
    if items.ends is None or not most:
        return most / n_pos
    block = int(np.searchsorted(items.ends, most))
    above, end = (int(rank) for rank in np.append(0, items.ends)[block : block + 2])
    return (above + (most - above) * most / end) / n_pos


def _tied_least(sizes: Integers, n_pos: int, n_hits: tuple[int, int]) -> float:
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


def beyond(x: Floats, least: Floats | float) -> Floats:
    """Return values just above all that count as equal to x.

    x is 0 or no less than the least positive value of AP.

    AP takes no value between 0 and the least, and next to 0 sums of large terms are not precise.
    """
    just_above = x * (1 + 3 * EQUAL) + _TINY
    return np.maximum(just_above, np.asarray(least) / 2)
