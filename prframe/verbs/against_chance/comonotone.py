"""Tails of a mean of AP that rise and fall together, where their distributions are few values."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import lgamma, log

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null import Case
from prframe.typing import Floats

# The rankings of a case are listed, those that differ within tie blocks as one, if they are this
# many at most.
_MOST_RANKINGS = 1 << 20


def log_tail(cases: Sequence[Case], value: float, *, upper: bool) -> float | None:
    """Return log P(mean >= value), or of <= below, of AP that are the same quantile of each case.

    The quantile function of the mean is then the mean of theirs. None where a case has too many
    rankings to list.
    """
    often = Counter(cases)
    law = _law_of_mean(tuple(sorted(often.items(), key=repr)), upper)
    if law is None:
        return None
    ends, mean = law
    slack = EQUAL * value
    reached = np.flatnonzero(mean >= value - slack if upper else mean <= value + slack)
    return log(min(ends[reached[-1]], 1.0)) if reached.size else -np.inf


@lru_cache(maxsize=8)
def _law_of_mean(
    often: tuple[tuple[Case, int], ...],
    upper: bool,  # noqa: FBT001
) -> tuple[Floats, Floats] | None:
    """Return the tails at which a quantile of the mean changes, and the quantiles there."""
    parts = []
    for case, count in often:
        if (law := _law(case)) is None:
            return None
        values, shares = law
        order = np.argsort(-values if upper else values, kind="stable")
        parts.append((np.cumsum(shares[order]), values[order] * count))
    ends = np.unique(np.concatenate([tails for tails, _ in parts]))
    total = np.zeros(ends.size)
    for tails, values in parts:
        # Tails that differ by rounding are one.
        total += values[np.searchsorted(tails, ends * (1 - EQUAL)).clip(max=tails.size - 1)]
    return ends, total / sum(count for _, count in often)


@lru_cache(maxsize=64)
def _law(case: Case) -> tuple[Floats, Floats] | None:
    """Return the values of AP over all rankings, and their probabilities; None if there are many.

    Block by block, a state is the positives met, the sum of precisions, and the logarithm of the
    number of ways.
    """
    sizes = case.ties or (1,) * case.depth
    hits, total, ways = np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    end = 0
    for size in sizes:
        end += size
        more = np.arange(min(size, case.n_pos) + 1)
        met = hits[:, None] + more
        possible = (met <= case.n_pos) & (met + case.n - end >= case.n_pos)
        total = (total[:, None] + more * met / end)[possible]
        ways = (ways[:, None] + [_log_choices(size, j) for j in more.tolist()])[possible]
        hits = met[possible]
        if hits.size > _MOST_RANKINGS:
            return None
    rest = [_log_choices(case.n - end, case.n_pos - met) for met in range(case.n_pos + 1)]
    ways = ways + np.array(rest)[hits] - _log_choices(case.n, case.n_pos)
    return total / case.n_pos, np.exp(ways)


def _log_choices(n: int, k: int) -> float:
    """Return the logarithm of the number of ways to choose k of n."""
    if not 0 <= k <= n:
        return -np.inf
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
