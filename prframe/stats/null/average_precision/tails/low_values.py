"""Values of AP that are far below the mean, so that positives which miss them crowd at the end."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats

# A value is low if it is less than this share of the way from the least to the mean.
_LOW = 0.5
# Walks with steps that are fine at the end are for lower tails whose logarithms are below this.
SUNK = -15.0
# Paths go through fractions of positives, which tells little of fewer than this. Of these the
# volume tells, from above, so that its logarithm has to be below the second number.
_FEW, SUNK_OF_FEW = 24, -6.0
_TINY = 1e-300


class Span(NamedTuple):
    """The least and the mean T of rankings, or of a sum of them."""

    least: float
    mean: float

    def share(self, total: float) -> float:
        """Return how far a value is on the way from the least to the mean."""
        return (total - self.least) / max(self.mean - self.least, _TINY)

    def is_low(self, total: float) -> bool:
        """Whether a value is low."""
        return self.share(total) < _LOW


def log_least_lower_tails(n: Floats, n_pos: Floats, total: Floats) -> Floats:
    """Return lower bounds of log P(T < total) without ties.

    They are the chances that all positives are below the rank from which on no ranking of them
    reaches the value. With ties T is somewhat larger, and they are rough.
    """
    first = np.minimum(np.floor(n_pos * (n_pos + 1) / 2 / np.maximum(total, _TINY)), n)
    return log_binomial(n - first, n_pos) - log_binomial(n, n_pos)


def are_sunk(n: Floats, n_pos: Floats, excess: Floats, log_tails: Floats) -> NDArray[np.bool_]:
    """Whether lower tails without ties are small, given rough tails and T above the least."""
    of_few = log_volumes(n, n_pos, excess) < SUNK_OF_FEW
    # Where no path is found, a tail may be as small as any.
    return np.where(n_pos < _FEW, of_few, ~(log_tails >= SUNK))


def log_volumes(n: Floats, n_pos: Floats, excess: Floats) -> Floats:
    """Return log P(T <= least + excess) of few positives, if ranks were as dense as at the end.

    With v = 1/R as places of the positives, the i-th gap counts i (i + 1)/2 times in T, so that
    such rankings fill a simplex, at n^2 ranks per v. Further up ranks are less dense, so that this
    is an upper bound but for the rounding to whole ranks.
    """
    log_simplex = n_pos * np.log(2 * n**2 * np.maximum(excess, _TINY))
    log_simplex -= 2 * gammaln(n_pos + 1) + gammaln(n_pos + 2)
    return np.asarray(log_simplex - log_binomial(n, n_pos))
