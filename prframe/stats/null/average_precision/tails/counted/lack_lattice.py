"""Upper tails of T = n_pos AP near its largest value, by counting rankings by what they lack.

If m_i negatives stand above the i-th positive, T falls short of n_pos by the sum of m_i/(i + m_i)
(`near_best`). From the last positive upwards the m_i fall, so that rankings are counted by the
part of the positive at hand and by what is lacking so far, as partitions are: with c(m, y) of them
whose last part is m, the next positive has

    c'(m, y + m/(i + m)) = sum over m' >= m of c(m', y).

What is lacking is on a lattice, and shares of a number go to both neighbours of a place, so that
its mean stays. Parts are no larger than what may be lacking allows, which leaves few of them.
"""

from math import log

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats, Integers

# The number of cells up to what T falls short by; logarithms are off by less than .005.
_CELLS = 1000
# So many pairs of a positive and a part are gone through at the most, some hundredths of a second.
_MOST_PARTS = 3000
# Longer rankings are left to other ways, as a list of all positives would take long.
_LONGEST = 100_000
# Parts that follow each other are at least this share of a cell apart.
_APART = 0.5
# Numbers of rankings are floats if the logarithm of all of them is below this.
_LARGEST = 650.0
# A lack that equals what is allowed is not to be lost by rounding.
_HAIR = 1e-9


def log_tail_by_lack(n: int, n_pos: int, target: float) -> float | None:
    """Return log P(T >= target); None where there would be too many parts."""
    lack = (n_pos - target) * (1 + _HAIR)
    log_rankings = float(log_binomial(n, n_pos))
    if lack <= 0 or n > _LONGEST or log_rankings > _LARGEST:
        return None
    largest = _largest_parts(n, n_pos, lack)
    cell = (n_pos - target) / _CELLS
    if largest.sum() > _MOST_PARTS or _is_crowded(n_pos, int(largest.max(initial=0)), cell):
        return None
    # A ranking is complete once a part is 0, as all further ones are.
    complete = np.zeros(_CELLS + 1)
    complete[0] = 1.0
    so_far = np.zeros((int(largest.max(initial=0)), _CELLS + 1))
    so_far[:, 0] = 1.0
    for place, most in zip(range(n_pos, 0, -1), largest.tolist(), strict=False):
        part = np.arange(1, most + 1)
        ending = _moved(so_far[:most], part / (place + part) / cell)
        complete += ending.sum(axis=0)
        so_far = ending[::-1].cumsum(axis=0)[::-1]
    # The last cell holds as much beyond what is allowed as up to it.
    good = float(complete[:-1].sum() + complete[-1] / 2)
    return min(log(good) - log_rankings, 0.0)


def _is_crowded(n_pos: int, largest: int, cell: float) -> bool:
    """Whether many parts of the last positive lack nearly the same.

    Its parts m and m - 1 lack ``n_pos/((n_pos + m)(n_pos + m - 1))`` more and less.
    """
    return n_pos / (n_pos + largest) ** 2 < _APART * cell


def _largest_parts(n: int, n_pos: int, lack: float) -> Integers:
    """Return the largest part of each positive from the last one up, until no part is left.

    The part of the k-th positive from the end is at most that of each after it, of which none
    costs less than m/(n_pos + m).
    """
    behind = np.arange(1, n_pos + 1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(behind > lack, n_pos * lack / (behind - lack), np.inf)
    parts = np.minimum(np.floor(most), n - n_pos).astype(np.int64)
    return parts[: int(np.count_nonzero(parts))]


def _moved(counts: Floats, cells: Floats) -> Floats:
    """Move each row by a number of cells, between two of which it is divided."""
    moved = np.zeros_like(counts)
    whole = np.floor(cells)
    later = cells - whole
    width = counts.shape[1]
    for row, (by, share) in enumerate(
        zip(whole.astype(int).tolist(), later.tolist(), strict=True)
    ):
        if by < width:
            moved[row, by:] = (1 - share) * counts[row, : width - by]
        if by + 1 < width:
            moved[row, by + 1 :] += share * counts[row, : width - by - 1]
    return moved
