"""Tails of T = n_pos AP where at most three items are positive, or at most three are negative.

If b_1 < b_2 < ... are the tie blocks that hold positives, the i-th of them j_i positives and ends
at the rank e_i, then

    T  =  sum over i of  j_i (j_1 + ... + j_i) / e_i,

where a single item is a block of its own, and the items that are not retrieved are a last block
that adds nothing. With negatives at the ranks q_1 < q_2 < ..., of which those down to a depth d
count,

    T  =  d - sum over k of  (1 + H_d - H_{q_k} - (k - 1) / q_k),

H_t being the sum of 1/1, 1/2, ..., 1/t. Each term is monotone in its block or rank, so that for
every choice of those above the last one a search tells how many last ones are good enough.

If tie blocks with m_i items, ends e_i and k_i negatives above them hold j_i negatives,

    T  =  d - sum over i of  (j_i + (m_i - j_i) (k_i + j_i) / e_i).

The sum over the blocks between two with negatives is a difference of sums from the top, so that
it has a term for each block with negatives again. These are not monotone, and are sorted.
"""

from bisect import bisect_left
from itertools import accumulate
from math import comb, log

import numpy as np
from scipy.special import digamma

from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.typing import Floats, Integers

# The most positives, or negatives, whose places are chosen besides the last one. With more of them
# rankings are not counted in this way.
_MOST_OTHERS = 2
# The blocks of positives other than the last one are chosen in at most this many ways. Where there
# are more ways, or more blocks, rankings are not counted.
_MOST_WAYS = 1 << 23
# The ranks of negatives may be chosen in this many ways, as no other method is good for few
# negatives.
_MOST_WAYS_OF_NEGATIVES = 1 << 26
# Tie blocks are at most this many where two are chosen for negatives, or three.
_MOST_BLOCKS = {1: 1 << 23, 2: 1 << 12, 3: 1 << 11}
# The number of choices that are treated at a time, which bounds the memory.
_AT_ONCE = 1 << 20
# Sums that are smaller than a value by this share of it are smaller, however they are rounded.
_CERTAIN = 1e-9
# By number of positives, how these may be parted among blocks, from the top down.
_PARTED: dict[int, list[tuple[int, ...]]] = {
    1: [(1,)],
    2: [(2,), (1, 1)],
    3: [(3,), (2, 1), (1, 2), (1, 1, 1)],
}


def sparse_log_tails(items: Items, n_pos: int, target: float) -> tuple[float, float] | None:
    """Return the logarithms of P(T >= target) and P(T < target); None if they would take long."""
    if n_pos <= _MOST_OTHERS + 1:
        return _of_positives(items, n_pos, target)
    if items.n - n_pos > _MOST_OTHERS + 1:
        return None
    if items.ends is not None:
        return _of_tied_negatives(items, items.n - n_pos, target)
    return _of_negatives(items.n, n_pos, items.depth, target)


def _of_positives(items: Items, n_pos: int, target: float) -> tuple[float, float] | None:
    """Count the places of few positives."""
    n, depth = items.n, items.depth
    if n_pos == 1 and not items.is_tied:
        good = _first_good(depth, target) if target > 0 else n
        return _log_shares(good, n - good, n)
    count = (depth if items.ends is None else items.ends.size) + 1
    if n_pos == _MOST_OTHERS and not items.is_tied:
        return _of_two_ranks(n, depth, target)
    if max(comb(count, n_pos - 1), count) > _MOST_WAYS:
        return None
    ends = np.arange(1, depth + 1) if items.ends is None else items.ends
    size = np.diff(np.append(ends, n), prepend=0).astype(np.float64)
    share = np.append(1 / ends, 0.0)
    total = np.sum([_counts(size, share, p, target) for p in _PARTED[n_pos]], axis=0)
    return _log_shares(float(total[0]), float(total[1]), comb(n, n_pos))


def _of_two_ranks(n: int, depth: int, target: float) -> tuple[float, float] | None:
    """Count the ranks of two positives without ties, of which only the first ones are looked at.

    Where even the rank below the first one is too low, none is good.
    """
    if target <= 0:
        return _log_shares(n, 0, n)
    open_ = depth if target * depth <= _MOST_OTHERS + 1 else int(3 / target) + 1
    if open_ > _MOST_WAYS:
        return None
    good = 0
    for begin in range(0, open_, _AT_ONCE):
        first = np.arange(begin + 1, min(begin + _AT_ONCE, open_) + 1, dtype=np.float64)
        lack = target - 1 / first
        second = np.minimum(np.floor(2 / np.where(lack > 0, lack, np.inf)), depth)
        # The last rank that is good enough is next to a quotient, which may be rounded.
        second -= 2 / np.maximum(second, 1.0) < lack
        second += (second < depth) & (2 / (second + 1) >= lack)
        second = np.where(lack > 0, second, n)
        good += int(np.maximum(second - first, 0.0).sum())
    total = comb(n, 2)
    return _log_shares(good, total - good, total)


def _counts(size: Floats, share: Floats, parts: tuple[int, ...], target: float) -> Floats:
    """Count the rankings that reach a value, and the others, given the positives of each block.

    The blocks have these sizes, and `share` is 1 over the rank at which each ends.
    """
    gain = [number * met * share for number, met in zip(parts, accumulate(parts), strict=True)]
    ways = [_ways(size, number) for number in parts]
    so_far, last = np.append(0.0, np.cumsum(ways[-1])), -gain[-1]

    def counted(lack: Floats, below: Integers, times: Floats) -> Floats:
        """Count the last blocks among those below others, which come so many times."""
        good = so_far[np.maximum(np.searchsorted(last, -lack, side="right"), below)]
        both = good - so_far[below], so_far[-1] - good
        return np.array([(count * times).sum() for count in both])

    block = np.arange(size.size)
    if len(parts) == 1:
        total = counted(np.array([target]), np.zeros(1, np.int64), np.ones(1))
    elif len(parts) == _MOST_OTHERS:
        total = counted(target - gain[0], block + 1, ways[0])
    else:
        # Where not even the blocks right below the first one lift the sum enough, no others do.
        best = gain[0][:-2] + gain[1][1:-1] + gain[2][2:]
        open_ = int(np.count_nonzero(best >= target * (1 - _CERTAIN)))
        # So many ways there are for the other two, below each block.
        pairs = np.cumsum((ways[1][1:] * (so_far[-1] - so_far[2:]))[::-1])[::-1]
        total = np.array([0.0, float((ways[0][open_:-1] * pairs[open_:]).sum())])
        at_once = max(1, _AT_ONCE // size.size)
        for begin in range(0, open_, at_once):
            first = block[begin : min(begin + at_once, open_), None]
            second = block[None, begin + 1 :]
            lack = target - gain[0][first] - gain[1][second]
            times = np.where(first < second, ways[0][first] * ways[1][second], 0.0)
            total += counted(lack, np.broadcast_to(second + 1, lack.shape), times)
    return total


def _ways(size: Floats, number: int) -> Floats:
    """Return in how many ways a block of each size holds so many positives, up to three."""
    ways = size
    for less in range(1, number):
        ways = ways * np.maximum(size - less, 0.0) / (less + 1)
    return ways


def _of_negatives(n: int, n_pos: int, depth: int, target: float) -> tuple[float, float] | None:
    """Count the ranks of few negatives, with no ties."""
    few = n - n_pos
    if few == 1:
        good = n - bad_ranks(depth, target - depth) if target <= depth else 0
        return _log_shares(good, n - good, n)
    if few < 1 or max(comb(n, few - 1), n) > _MOST_WAYS_OF_NEGATIVES:
        return None
    rank = np.arange(1, n + 1, dtype=np.float64)
    counts = rank <= depth
    harmonic = np.cumsum(1 / rank)
    rise = harmonic - 1 - float(harmonic[depth - 1])
    terms = [np.where(counts, rise + (k - 1) / rank, 0.0) for k in range(1, few + 1)]
    total, good = comb(n, few), _good(terms, target - depth)
    return _log_shares(good, total - good, total)


def bad_ranks(depth: int, lack: float) -> int:
    """Return how many of the first ranks add less than `lack` to T - d if a negative is there."""
    level = lack + 1 + float(harmonic(depth))
    return bisect_left(range(1, depth + 1), level, key=lambda rank: float(harmonic(rank)))


def harmonic(rank: Floats | float) -> Floats:
    """Return the sum of 1/1, 1/2, ..., up to 1/rank."""
    return np.asarray(digamma(np.asarray(rank, dtype=np.float64) + 1) + np.euler_gamma)


def _of_tied_negatives(items: Items, few: int, target: float) -> tuple[float, float] | None:
    """Count the tie blocks of few negatives."""
    ends = np.asarray(items.ends, dtype=np.float64)
    if not 1 <= few <= _MOST_OTHERS + 1 or ends.size > _MOST_BLOCKS[few]:
        return None
    # What is not retrieved is a last block, in which nothing is lost.
    size = np.diff(np.append(ends, items.n), prepend=0)
    share = np.append(1 / ends, 0.0)
    rate = size * share
    between = np.append(0.0, np.cumsum(rate))
    total = np.zeros(2)
    for parts in _PARTED[few]:
        above = np.append(0, np.cumsum(parts))
        terms = [
            np.where(share > 0, j + (size - j) * (k + j) * share, 0.0)
            + k * between[:-1]
            - (k + j) * between[1:]
            for j, k in zip(parts, above[:-1], strict=True)
        ]
        room = items.depth - target - few * float(between[-1])
        total += _within(terms, [_ways(size, j) for j in parts], room)
    return _log_shares(float(total[0]), float(total[1]), comb(items.n, few))


def _within(terms: list[Floats], ways: list[Floats], room: float) -> Floats:
    """Count the choices of blocks, one below the other, whose terms sum to at most a number.

    Beside them stands the number of the other choices.
    """
    if len(terms) == 1:
        good = terms[0] <= room
        return np.array([ways[0][good].sum(), ways[0][~good].sum()])
    total = np.zeros(2)
    # The last block of all is reached with the one before it, which has others above itself.
    for last in range(1, terms[1].size):
        order = np.argsort(terms[0][:last])
        so_far = np.append(0.0, np.cumsum(ways[0][:last][order]))
        if len(terms) == _MOST_OTHERS:
            lack, times = np.array([room - terms[1][last]]), ways[1][last : last + 1]
        else:
            lack = room - terms[1][last] - terms[2][last + 1 :]
            times = ways[1][last] * ways[2][last + 1 :]
        good = so_far[np.searchsorted(terms[0][:last][order], lack, side="right")]
        total += [(good * times).sum(), ((so_far[-1] - good) * times).sum()]
    return total


def _log_shares(good: float, bad: float, total: int) -> tuple[float, float]:
    """Return the logarithms of the share of good rankings, and of that of others."""
    logs = [log(count / total) if count else -np.inf for count in (good, bad)]
    return min(logs[0], 0.0), min(logs[1], 0.0)


def _first_good(depth: int, target: float) -> int:
    """Return how many of the first ranks are good enough for the only positive."""
    # The last of them is next to 1 over the target, whose division may round.
    last = max(0, int(min(1 / target, depth)) - 1)
    while last < depth and 1 / (last + 1) >= target:
        last += 1
    return last


def _good(terms: list[Floats], lack: float) -> int:
    """Count choices of ranks, one after the other, whose terms sum up to at least a number."""
    n, last = terms[0].size, terms[-1]
    if len(terms) == _MOST_OTHERS:
        return _good_last(last, np.arange(n), lack - terms[0])
    # What the ranks below add at least and at most decides most of the first ranks.
    least, most = (
        terms[0][:-2] + _from_below(terms[1], ufunc)[1:-1] + _from_below(last, ufunc)[2:]
        for ufunc in (np.minimum, np.maximum)
    )
    rest = np.arange(n - 1, 1, -1)
    good = int((rest * (rest - 1) // 2)[least >= lack].sum())
    open_ = np.flatnonzero((least < lack) & (most >= lack))
    begin = 0
    while begin < open_.size:
        first = open_[begin : begin + max(1, _AT_ONCE // (n - int(open_[begin])))]
        second = np.arange(int(first[0]) + 1, n)
        row, column = np.nonzero(second > first[:, None])
        above = second[column]
        good += _good_last(last, above, lack - terms[0][first[row]] - terms[1][above])
        begin += first.size
    return good


def _from_below(values: Floats, ufunc: np.ufunc) -> Floats:
    """Return the least or the largest value at each place and below it."""
    return np.asarray(ufunc.accumulate(values[::-1])[::-1])


def _good_last(last: Floats, above: Integers, lack: Floats) -> int:
    """Count the last ranks, below others, whose terms are at least so large."""
    # The first terms need not rise, but they do not matter: other ranks are above the last one.
    least = int(above.min()) + 1
    begins = least + np.searchsorted(last[least:], lack, side="left")
    return int(np.maximum(last.size - np.maximum(begins, above + 1), 0).sum())
