"""Values of AP that are far below the mean, so that positives which miss them crowd at the end."""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import log_binomial
from prframe.typing import Floats

# A value is low if it is less than this share of the way from the least to the mean.
_LOW = 0.5
# Walks with steps that are fine at the end are for lower tails whose logarithms are below this.
SUNK = -10.0
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
    """Return lower bounds of log P(T < total).

    They are the chances that all positives are below the rank from which on no ranking of them
    reaches the value.
    """
    first = np.minimum(np.floor(n_pos * (n_pos + 1) / 2 / np.maximum(total, _TINY)), n)
    return log_binomial(n - first, n_pos) - log_binomial(n, n_pos)
