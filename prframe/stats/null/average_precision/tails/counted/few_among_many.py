"""Upper tails of T = n_pos AP with few negatives among very many items.

A negative at rank r costs each positive below it one over the rank of that positive: the sum of
1/t over these ranks t, which is about -log(r/n). Where r is random this is exponential with mean
1, so that what T falls short of n_pos by has a gamma distribution of shape k = n - n_pos, but for
terms in k^2/n.

Next to the best ranking each pair in the wrong order costs 1/n. The numbers of positives below
each negative are the parts of a partition of the number of pairs. There are

    (d + k(k + 1)/4)^k / (k!)^2

with up to d pairs, but for terms in k^5/d^2, and for steps of k/d where d is a whole number. So
with G_k the distribution function of the gamma distribution

    P(T >= x)  =  G_k(y + k(k + 1)/(4n)),    y = n_pos - x.

Where pairs are so few that these terms matter, partitions are counted, but only among so many
items that rankings with as many pairs are equal within the rounding of AP. Further pairs of a
negative cost more, so that d is n y (1 - y/(k + 1)). Costs of d pairs differ by up to d^2/n of a
pair; once that is more than one, numbers of pairs are no steps.
"""

from math import lgamma, log

import numpy as np
from scipy.special import hyp1f1

from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.tail import Tail, log_rest
from prframe.typing import Floats

# The terms that are left out are at most about a third of this each.
_ACCURACY = 1e-3
# With so many items the rounding of AP is one pair in the wrong order.
_PAIRS_ARE_EQUAL = 1_000_000
# Partitions are counted if the product of their numbers of pairs and parts is at most this, which
# takes some hundredths of a second.
_MOST_COUNTED = 5e6
# A number of pairs that is whole but for rounding counts as whole.
_HAIR = 1e-9


def few_among_many_tail(items: Items, n_pos: int, target: float, mean: float) -> Tail | None:
    """Return the tails of a value above the mean; None if negatives are not few enough."""
    n, k, lack = items.n, items.n - n_pos, n_pos - target
    if items.is_tied or items.depth < n or target < mean or k**2 > _ACCURACY * n:
        return None
    pairs = lack * n
    if k > 2 * _ACCURACY * pairs or k**5 > 16 * _ACCURACY * pairs**2:
        is_counted = n >= _PAIRS_ARE_EQUAL and k * pairs <= _MOST_COUNTED
        return _by_partitions(n, k, lack) if is_counted else None
    lack += k * (k + 1) / (4 * n)
    log_tail = k * log(lack) - lack - lgamma(k + 1) + log(hyp1f1(1, k + 1, lack))
    return Tail(log_tail, log_rest(log_tail), "gamma")


def _by_partitions(n: int, k: int, lack: float) -> Tail:
    """Return the tails of a value next to the best ranking."""
    most = n * lack * (1 - lack / (k + 1)) * (1 + _HAIR)
    ways = _partitions(int(most) + 1, k)
    between = float(np.interp(most - 0.5, np.arange(ways.size), ways))
    log_tail = log(ways[int(most)] if most**2 < n else between) - float(log_binomial(n, k))
    return Tail(log_tail, log_rest(log_tail), "lattice")


def _partitions(most: int, parts: int) -> Floats:
    """Return how many partitions of up to 0, 1, ..., most have at most so many parts."""
    counts: Floats = np.zeros(most + 1)
    counts[0] = 1.0
    # The largest part of the conjugate partition is the number of parts.
    for part in range(1, min(parts, most) + 1):
        # Each row holds numbers that are a part larger than those of the row above.
        rows = np.pad(counts, (0, -counts.size % part)).reshape(-1, part)
        counts = rows.cumsum(axis=0).ravel()[: most + 1]
    return counts.cumsum()
