"""Tails of T = n_pos AP from the likeliest rankings alone, within about a power of e.

The rankings near the likeliest path on which T has a value x are exp(H) in number, H being the
entropy of their steps (`likely_path`). Divided by the number near the path of random ranking, and
by what the tail falls within a standard deviation about the path, they make up P(T >= x), roughly.
The paths of many x are found side by side in some milliseconds, however far out these are.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy.special import gammaincinv, gammaln

from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.likely_path import (
    at_random,
    entropy,
    most_likely,
)
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.typing import Floats

# The numbers of steps among the first ranks, and the share of the rank that further ones take.
_DENSE, _GROWTH = 24, 0.3
# The number of values of T.
_VALUES = 48
# The values lie between these: so many standard deviations above the mean, and this share of the
# way to the largest.
_FIRST, _LAST = 0.5, 0.999
# The most hits of which it is known what they add.
_FIRST_HITS = 32
# The factor of the tail is no larger than of a normal distribution at its mean.
_HALF = 2.0
# Logarithms of levels are at least this in size before their own logarithm is taken, and ratios
# of ranks before they are divided by.
_LEAST = 1e-300


def first_hits(n: int, n_pos: int, log_levels: Floats) -> Floats:
    """Return how much the first hits among rare positives are known to add to T at levels."""
    hits = np.arange(1.0, min(n_pos, _FIRST_HITS) + 1)
    log_level = log_levels[:, None]
    # So many hits are among so many ranks with a chance of the level.
    ranks = np.exp((log_level + gammaln(hits + 1)) / hits)
    ratio = np.maximum(ranks * n / n_pos / hits, _LEAST)
    # A single hit has a rank. Between 1 over one rank and 1 over the next hardly any values lie.
    ratio[:, 0] = np.where(ratio[:, 0] >= 1, np.ceil(ratio[:, 0]), ratio[:, 0])
    total = (hits * np.minimum(ratio, 1 / ratio)).max(axis=1)
    # If all of the first ranks are hits with at least such a chance, so is the level reached.
    log_best = log_binomial(n - hits, n_pos - hits) - log_binomial(n, n_pos)
    return np.asarray(np.maximum(total, (hits * (log_best >= log_level)).max(axis=1)))


def lacks_of_negatives(n: int, n_neg: int, levels: Floats) -> tuple[Floats, Floats]:
    """Return by how much T falls short of its largest value at levels, and slopes there.

    A negative at rank q among few costs about ``log(n/q)``, which has an exponential distribution,
    so that what all cost has a gamma distribution. Slopes are those of the logarithm of the level.
    """
    lack = np.maximum(gammaincinv(n_neg, levels), n_neg / n)
    log_density = (n_neg - 1) * np.log(lack) - lack - gammaln(n_neg)
    return lack, np.exp(log_density - np.log(levels))


def likely_log_tails(
    items: Sequence[Items], n_pos: Sequence[int], total: Floats, *, is_lower: bool = False
) -> Floats:
    """Return the logarithms of the upper tails of values of T, NaN where no path is found.

    They may be those of the lower tails, of values far below the mean.
    """
    steps = [each.table(_DENSE, _GROWTH, is_fine_below=is_lower) for each in items]
    lanes = Lanes.of(steps, n_pos)
    path = most_likely(lanes, total)
    fallen = np.sqrt(2 * np.pi) * np.abs(path.slope) * path.deviation
    log_tail = entropy(lanes, path) - entropy(lanes, at_random(lanes))
    log_tail -= np.log(np.maximum(fallen, _HALF))
    # Where a path is not found, its slope is 0.
    return np.where(path.slope < 0 if is_lower else path.slope > 0, log_tail, np.nan)


class LikelyTails(NamedTuple):
    """Values of T, which rise, and the logarithms of their upper tails, which fall."""

    total: Floats
    log_tail: Floats
    mean: float

    @classmethod
    def of(cls, items: Items, n_pos: int, mean: float, deviation: float, largest: float) -> Self:
        """Return the tails between the mean and the largest value of T."""
        above = np.geomspace(_FIRST * deviation, _LAST * (largest - mean), _VALUES)
        total = mean + above
        log_tail = likely_log_tails([items] * _VALUES, [n_pos] * _VALUES, total)
        kept = np.isfinite(log_tail)
        kept[kept] &= log_tail[kept] < np.minimum.accumulate(np.append(0.0, log_tail[kept]))[:-1]
        return cls(total[kept], log_tail[kept], mean)

    def at(self, log_levels: Floats) -> tuple[Floats, Floats]:
        """Return the values of T at levels, and how steeply the logarithm falls there."""
        rarity, above = -self.log_tail, self.total - self.mean
        level = np.log(np.maximum(-log_levels, _LEAST))
        total = self.mean + np.exp(np.interp(level, np.log(rarity), np.log(above)))
        place = np.clip(np.searchsorted(self.total, total), 1, self.total.size - 1)
        slope = (np.diff(rarity) / np.diff(self.total))[place - 1]
        return total, slope
