"""Tails of T = n_pos AP where up to three items are positive, or up to three are not.

With positives at the ranks r_1 < r_2 < ..., and with negatives at q_1 < q_2 < ...,

    T  =  sum over k of  k / r_k  =  n_pos - sum over k of  (H_n - H_{q_k} - (k - 1) / q_k),

H_t being the sum of 1/1, 1/2, ..., 1/t. Each term is monotone in its rank, so that for every
choice of the ranks above the last one a search tells how many last ones are good enough.
"""

from math import comb, log

import numpy as np

from prframe.stats.ap_steps import Floats

# Up to so many ranks are chosen besides the last one, in up to so many ways.
_MOST_OTHERS, _MOST_WAYS = 2, 1 << 22


def sparse_log_tails(n: int, n_pos: int, depth: int, target: float) -> tuple[float, float] | None:
    """Return the logarithms of P(T >= target) and P(T < target); None if they would take long.

    Positives below `depth` earn nothing.
    """
    few = min(n_pos, n - n_pos)
    is_positive = few == n_pos
    ways = comb(n, few - 1)
    if not 1 <= few <= _MOST_OTHERS + 1 or max(ways, n) > _MOST_WAYS:
        return None
    if not is_positive and depth < n:
        return None
    rank = np.arange(1, n + 1, dtype=np.float64)
    if is_positive:
        terms = [np.where(rank <= depth, k / rank, 0.0) for k in range(1, few + 1)]
        lack = target
    else:
        harmonic = np.cumsum(1 / rank)
        # Rising terms with the other sign fall.
        terms = [harmonic + (k - 1) / rank for k in range(1, few + 1)]
        lack = target - n_pos + few * float(harmonic[-1])
    good = _good(terms, lack, falls=is_positive)
    total = comb(n, few)
    logs = [log(count / total) if count else -np.inf for count in (good, total - good)]
    return logs[0], logs[1]


def _good(terms: list[Floats], lack: float, *, falls: bool) -> int:
    """Count choices of ranks, one after the other, whose terms sum up to at least a number."""
    n, last = terms[0].size, terms[-1]
    if len(terms) == 1:
        return int(np.count_nonzero(last >= lack))
    above, sums = np.arange(n), terms[0]
    if len(terms) > _MOST_OTHERS:
        first, above = np.triu_indices(n, 1)
        sums = terms[0][first] + terms[1][above]
    # The ranks below one are the next ones; the first terms need not be monotone there.
    if falls:
        ends = np.searchsorted(-last, sums - lack, side="right")
        return int(np.maximum(ends - above - 1, 0).sum())
    least = len(terms) - 1
    begins = least + np.searchsorted(last[least:], lack - sums, side="left")
    return int((n - np.maximum(begins, above + 1)).sum())
