"""How many states a walk with merged states may keep, which bounds the time that it takes."""

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Steps
from prframe.typing import Floats

# A walk over tie blocks has at most about this many terms. Where it would have more, states that
# are further apart are merged.
_MOST_TERMS = 1e7
# It has as many with cells of this width, and fewer with wider ones.
_USUAL_CELL = 0.08
# A step holds at most about as many positives as its mean and this many standard deviations.
_LIKELY = 14.0
# So many states of each number of positives may always be apart.
_APART = 4

# Where cells became wider than this share of the scale, walks of two widths may agree because all
# states are one.
WIDEST = 0.5


def most_states(steps: Steps, n_pos: int, cell: float) -> Floats:
    """Return how many states may be apart after each step of a group with tie blocks.

    A walk with cells half as wide may keep twice as many, so that two widths remain two widths.
    """
    share = np.append(steps.size[1:], 0) / steps.size.sum()
    mean = n_pos * share
    likely = mean + _LIKELY * np.sqrt(mean * (1 - share)) + 1
    terms = np.minimum(np.minimum(share * steps.size.sum(), n_pos) + 1, likely)
    most = _MOST_TERMS / steps.size.size / terms * (_USUAL_CELL / cell)
    return np.asarray(np.maximum(most, _APART * (n_pos + 1)))
