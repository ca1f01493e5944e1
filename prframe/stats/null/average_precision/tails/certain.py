"""Tails of values at and beyond the ends of what AP can be, which no method need be asked for."""

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.extremes import ap_extremes, ap_largest
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.tail import Tail, constant_tail, log_rest

# Among up to so many tied items the best ranking is further above all others than the rounding.
_APART_AT_THE_TOP = 100_000
# The least value is looked up where at most so many positives times tie blocks are gone through.
_MERGED = 10_000_000


def certain_tail(items: Items, n_pos: int, x: float) -> Tail | None:
    """Return the tails of a value at or beyond the best ranking; None of values below it."""
    n = items.n
    best = min(items.depth, n_pos)
    is_one_block = items.ends is not None and items.ends.size == 1 and items.depth == n
    if n_pos == n or is_one_block:
        # AP is constant, because all rankings differ in nothing but equal items.
        constant = best / n if n_pos == n else n_pos / n
        return constant_tail(is_reached=x <= constant * (1 + EQUAL))
    largest = ap_largest(items, n_pos)
    if x < largest * (1 - EQUAL):
        return None
    if x > largest * (1 + EQUAL):
        return constant_tail(is_reached=False)
    # The best ranking has all positives at the top, maybe some of them in a block that has room.
    block, inside = _last_block(items, best)
    if inside < block and n > _APART_AT_THE_TOP:
        return None
    log_ways = log_binomial(n - best, n_pos - best) + log_binomial(block, inside)
    log_best = float(log_ways - log_binomial(n, n_pos))
    return Tail(log_best, log_rest(log_best), "exact")


def reached_by_all(items: Items, n_pos: int, x: float) -> Tail | None:
    """Return the tails of a value that all tied rankings reach; None of others."""
    if items.ends is None or n_pos * items.ends.size > _MERGED:
        return None
    if x > ap_extremes(items, n_pos)[0] * (1 + EQUAL):
        return None
    return constant_tail(is_reached=True)


def _last_block(items: Items, best: int) -> tuple[int, int]:
    """Return the size of the block where the best ranking ends, and its positives there."""
    if items.ends is None:
        return 1, 1
    block = int(np.searchsorted(items.ends, best))
    above = int(items.ends[block - 1]) if block else 0
    return int(items.ends[block]) - above, best - above
