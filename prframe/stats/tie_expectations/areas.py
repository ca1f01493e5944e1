"""Areas that tie blocks contribute to, whose points curves join by straight lines."""

import numpy as np

from prframe.typing import Floats


def mean_shortfall(start: Floats, end: Floats, reach: Floats) -> Floats:
    """Return the mean of ``max(0, reach - x)`` over x from start to end."""
    left, right = np.maximum(reach - start, 0.0), np.maximum(reach - end, 0.0)
    # The share of the stretch that lies below the reach is 1 without rounding if all of it does.
    width = end - start
    share = np.where(end <= reach, 1.0, _ratio(np.minimum(left, width), width))
    return np.asarray((left + right) / 2 * share)


def gain_area(  # noqa: PLR0913, PLR0917
    tp_start: Floats,
    tp_end: Floats,
    fp_start: Floats,
    fp_end: Floats,
    n_pos: Floats,
    n_neg: Floats,
) -> Floats:
    """Return the area under the precision-recall-gain curve that tie blocks contribute."""
    odds = _ratio(n_pos, n_neg)
    # Recall gain is 0 where recall is the share of positives.
    first = np.maximum(tp_start, _ratio(n_pos**2, n_pos + n_neg))
    share = _ratio(first - tp_start, tp_end - tp_start)
    fp_first = fp_start + (fp_end - fp_start) * share
    heights = 2 - odds * (_ratio(fp_first, first) + _ratio(fp_end, tp_end))
    width = odds * n_pos * (_ratio(np.asarray(1.0), first) - _ratio(np.asarray(1.0), tp_end))
    return np.where(first < tp_end, heights / 2 * width, 0.0)


def _ratio(top: Floats, bottom: Floats) -> Floats:
    """Divide, and return 0 where the divisor is 0."""
    return np.asarray(top / np.where(bottom == 0, np.inf, bottom))
