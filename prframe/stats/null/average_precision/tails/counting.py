"""Tails of T = n_pos AP where at most three items are positive, or at most three are negative.

With positives at the ranks r_1 < r_2 < ..., or with negatives at q_1 < q_2 < ..., of which those
down to a depth d count,

    T  =  sum over k of  k / r_k  =  d - sum over k of  (1 + H_d - H_{q_k} - (k - 1) / q_k),

H_t being the sum of 1/1, 1/2, ..., 1/t. Each term is monotone in its rank, so that for every
choice of the ranks above the last one a search tells how many last ones are good enough.
"""

from math import comb, log

import numpy as np

from prframe.typing import Floats, Integers

# The most positives, or negatives, whose ranks are chosen besides the last one. With more of them
# rankings are not counted in this way.
_MOST_OTHERS = 2
# The ranks of positives other than the last one are chosen in at most this many ways. Where there
# are more ways, or more items, rankings are not counted.
_MOST_WAYS = 1 << 22
# The ranks of negatives may be chosen in this many ways, as no other method is good for few
# negatives.
_MOST_WAYS_OF_NEGATIVES = 1 << 26
# The number of choices that are treated at a time, which bounds the memory.
_AT_ONCE = 1 << 21


def sparse_log_tails(n: int, n_pos: int, depth: int, target: float) -> tuple[float, float] | None:
    """Return the logarithms of P(T >= target) and P(T < target); None if they would take long.

    Positives below `depth` earn nothing.
    """
    few = min(n_pos, n - n_pos)
    is_positive = few == n_pos
    ways = comb(n, few - 1)
    most = _MOST_WAYS if is_positive else _MOST_WAYS_OF_NEGATIVES
    if not 1 <= few <= _MOST_OTHERS + 1 or max(ways, n) > most:
        return None
    if n_pos == 1:
        return _log_shares(_first_good(depth, target) if target > 0 else n, n)
    rank = np.arange(1, n + 1, dtype=np.float64)
    counts = rank <= depth
    if is_positive:
        terms = [np.where(counts, k / rank, 0.0) for k in range(1, few + 1)]
        good = _good(terms, target, falls=True)
    else:
        harmonic = np.cumsum(1 / rank)
        rise = harmonic - 1 - float(harmonic[depth - 1])
        terms = [np.where(counts, rise + (k - 1) / rank, 0.0) for k in range(1, few + 1)]
        good = _good(terms, target - depth, falls=False)
    return _log_shares(good, comb(n, few))


def _log_shares(good: int, total: int) -> tuple[float, float]:
    """Return the logarithms of the share of good rankings, and of that of others."""
    logs = [log(count / total) if count else -np.inf for count in (good, total - good)]
    return logs[0], logs[1]


def _first_good(depth: int, target: float) -> int:
    """Return how many of the first ranks are good enough for the only positive."""
    # The last of them is next to 1 over the target, whose division may round.
    last = max(0, int(min(1 / target, depth)) - 1)
    while last < depth and 1 / (last + 1) >= target:
        last += 1
    return last


def _good(terms: list[Floats], lack: float, *, falls: bool) -> int:
    """Count choices of ranks, one after the other, whose terms sum up to at least a number."""
    n, last = terms[0].size, terms[-1]
    if len(terms) == 1:
        return int(np.count_nonzero(last >= lack))
    if len(terms) <= _MOST_OTHERS:
        return _good_last(last, np.arange(n), lack - terms[0], falls=falls)
    good = 0
    at_once = max(1, _AT_ONCE // n)
    for begin in range(0, n, at_once):
        first = np.arange(begin, min(begin + at_once, n))
        place, above = np.nonzero(np.arange(n) > first[:, None])
        sums = terms[0][first[place]] + terms[1][above]
        good += _good_last(last, above, lack - sums, falls=falls)
    return good


def _good_last(last: Floats, above: Integers, lack: Floats, *, falls: bool) -> int:
    """Count the last ranks, below others, whose terms are at least so large."""
    if falls:
        ends = np.searchsorted(-last, -lack, side="right")
        return int(np.maximum(ends - above - 1, 0).sum())
    # The first terms need not rise, but they do not matter: other ranks are above the last one.
    least = int(above.min()) + 1
    begins = least + np.searchsorted(last[least:], lack, side="left")
    return int(np.maximum(last.size - np.maximum(begins, above + 1), 0).sum())
