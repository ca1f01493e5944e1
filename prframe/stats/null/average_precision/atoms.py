"""The values that AP can take and their probabilities, where they are few."""

import numpy as np

from prframe.stats.null.average_precision.steps import Items, log_binomial
from prframe.typing import Floats

# The values of AP are listed if there are at most so many, in at most so many tie blocks or ranks,
# of at most so many positives: `evaluate` adds up more precisions in an order that rounds in
# another way.
_MOST, _MOST_BLOCKS, _MOST_POSITIVES = 1 << 16, 1 << 10, 1 << 7


def ap_atoms(items: Items, n_pos: int, most: int = _MOST) -> tuple[Floats, Floats] | None:
    """Return the values of AP over all rankings, rising, and their probabilities.

    The precisions are added up from the top down, one for each positive, as `evaluate` adds them.
    Values that are equal in exact arithmetic may come as several that differ by rounding. Where
    there are many values the answer is None.
    """
    blocks = items.blocks(_MOST_BLOCKS + 1)
    if blocks.size > _MOST_BLOCKS or n_pos > _MOST_POSITIVES:
        return None
    hits, total, weight = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    above = 0
    for end in blocks.tolist():
        size, left = end - above, items.n - above
        parts = []
        for more in range(min(size, n_pos) + 1):
            met, earned = hits + more, total.copy()
            for _ in range(more if end <= items.depth else 0):
                earned += met / end
            rest = n_pos - hits
            chance = log_binomial(size, np.full(hits.size, more))
            chance = chance + log_binomial(left - size, rest - more) - log_binomial(left, rest)
            is_possible = np.isfinite(chance) & (met <= n_pos)
            parts.append([each[is_possible] for each in (met, earned, weight + chance)])
        hits, total, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((total, hits))
        hits, total, weight = hits[order], total[order], weight[order]
        first = np.flatnonzero(
            (np.diff(hits, prepend=-1) != 0) | (np.diff(total, prepend=-1) != 0)
        )
        hits, total = hits[first], total[first]
        weight = np.logaddexp.reduceat(weight, first)
        if hits.size > most:
            return None
        above = end
    values, place = np.unique(total / n_pos, return_inverse=True)
    return values, np.bincount(place, np.exp(weight), values.size).astype(np.float64)
