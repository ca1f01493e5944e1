"""The values that AP can take, where they are few."""

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.typing import Floats, Integers

# The values of AP are listed if the positives can be spread over the tie blocks, or ranks, in at
# most this many ways.
_MOST_WAYS = 1 << 16
# They are not listed if there are more tie blocks, or ranks, than this.
_MOST_BLOCKS = 1 << 10
# They are not listed for more positives than this: `evaluate` adds up at most this many precisions
# one after the other, and more in an order that rounds in another way.
_MOST_POSITIVES = 1 << 7


def ap_atoms(items: Items, n_pos: int) -> Floats | None:
    """Return the values of AP over all rankings, rising; None where there are many.

    The precisions are added up from the top down, one for each positive, as `evaluate` adds them.
    Values that are equal in exact arithmetic may come as several that differ by rounding.
    """
    blocks = items.depth if items.ends is None else items.ends.size
    if blocks > _MOST_BLOCKS or n_pos > _MOST_POSITIVES:
        return None
    ends = np.arange(1, items.depth + 1) if items.ends is None else items.ends
    sizes = np.minimum(np.diff(ends, prepend=0), n_pos)
    hits, total = np.zeros(1, dtype=np.int64), np.zeros(1)
    for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
        continued = [_with_block(hits, total, more, end) for more in range(size + 1)]
        hits, total = (
            np.concatenate([met for met, _ in continued]),
            np.concatenate([t for _, t in continued]),
        )
        # The other positives must find room below this block.
        possible = (hits <= n_pos) & (hits + items.n - end >= n_pos)
        hits, total = hits[possible], total[possible]
        if hits.size > _MOST_WAYS:
            return None
    return np.unique(total / n_pos)


def _with_block(hits: Integers, total: Floats, more: int, end: int) -> tuple[Integers, Floats]:
    """Return positives met, and sums of precisions, after a block with `more` positives."""
    met = hits + more
    total = total.copy()
    for _ in range(more):
        total += met / end
    return met, total
