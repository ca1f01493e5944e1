"""Upper tails of T = n_pos AP next to its largest value, by listing the rankings there.

If m_i negatives stand above the i-th positive, T falls short of n_pos by the sum of m_i/(i + m_i).
From the last positive upwards, the m_i are the parts of a partition of the number of pairs in the
wrong order. No pair costs less than 1/n, nor less than 1/(n_pos + m), m being the largest m_i; and
m/(n_pos + m) is what the last positive costs alone. So what T falls short by bounds the number of
pairs. Where they are too many for lists, the number of such partitions is an upper bound.
"""

from functools import cache, lru_cache
from math import log

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats, Integers

# Rankings are listed with up to this many pairs in the wrong order: some 30,000.
_MOST_PAIRS = 30
# Partitions are counted for up to this many pairs.
_COUNTED_PAIRS = 2000


def near_best_log_tail(n: int, n_pos: int, target: float) -> float | None:
    """Return log P(T >= target); None if rankings with too many wrong pairs may be as good."""
    if _most_pairs(n, n_pos, target) > _MOST_PAIRS:
        return None
    good = int(np.count_nonzero(_lacks(n, n_pos) <= n_pos - target))
    return log(good) - float(log_binomial(n, n_pos)) if good else -np.inf


def near_best_bound(n: int, n_pos: int, target: float) -> float:
    """Return an upper bound of log P(T >= target), which is 0 further away from the best."""
    pairs = _most_pairs(n, n_pos, target)
    if pairs > _COUNTED_PAIRS:
        return 0.0
    # No part of a partition is larger than the number of pairs.
    largest = n - n_pos if n - n_pos < pairs else _COUNTED_PAIRS
    log_rankings = float(log_binomial(n, n_pos))
    # Tables up to powers of two are shared. If such a partition count says nothing, a larger one
    # says nothing either.
    shared = 1 << max(largest.bit_length() - 1, 0)
    if _log_counts(shared)[int(pairs)] >= log_rankings:
        return 0.0
    return min(float(_log_counts(largest)[int(pairs)] - log_rankings), 0.0)


def _most_pairs(n: int, n_pos: int, target: float) -> float:
    """Return how many pairs may be in the wrong order where T reaches a target."""
    lack = max(n_pos - target, 0.0)
    per_lack = min(n, n_pos / (1 - lack)) if lack < 1 else n
    # The number must not be rounded down below a whole one.
    return lack * per_lack * (1 + 1e-9)


@lru_cache(maxsize=256)
def _log_counts(largest: int) -> Floats:
    """Return the logarithms of the numbers of partitions of at most 0, 1, ... pairs.

    Their parts are at most `largest`.
    """
    counts = np.zeros(_COUNTED_PAIRS + 1)
    counts[0] = 1.0
    for part in range(1, largest + 1):
        # Each row holds numbers that are a part larger than those of the row above.
        rows = np.pad(counts, (0, -counts.size % part)).reshape(-1, part)
        counts = rows.cumsum(axis=0).ravel()[: counts.size]
    return np.asarray(np.log(counts.cumsum()))


def _lacks(n: int, n_pos: int) -> Floats:
    """Return by how much T falls short of n_pos, for each ranking of few wrong pairs."""
    parts = _partitions()
    possible = (parts[:, 0] <= n - n_pos) & ((parts > 0).sum(axis=1) <= n_pos)
    parts = parts[possible, : min(n_pos, _MOST_PAIRS)]
    place = n_pos - np.arange(parts.shape[1])
    return np.asarray((parts / (place + parts)).sum(axis=1))


@cache
def _partitions() -> Integers:
    """Return the partitions of all numbers of pairs, a row each, with falling parts."""
    partitions: list[list[int]] = [[]]
    open_: list[tuple[int, ...]] = [(part,) for part in range(1, _MOST_PAIRS + 1)]
    while open_:
        partitions += [list(parts) for parts in open_]
        open_ = [
            (*parts, part)
            for parts in open_
            for part in range(1, min(parts[-1], _MOST_PAIRS - sum(parts)) + 1)
        ]
    rows = np.zeros((len(partitions), _MOST_PAIRS), np.int64)
    for row, parts in zip(rows, partitions, strict=True):
        row[: len(parts)] = parts
    return rows
