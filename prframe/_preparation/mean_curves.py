"""Means and medians of many curves in steps."""

from collections.abc import Sequence

import numpy as np

from prframe.typing import Floats

LEVELS = 201


def precision_at(recall: Floats, precision: Floats, levels: Floats) -> Floats:
    """Return the precision of a curve in steps at recall levels, 0 where the curve ends before.

    The step to a point begins behind the one before it, so that the area below the steps is AP.
    """
    places = np.searchsorted(recall, levels)
    reached = places < len(recall)
    return np.where(reached, precision[np.minimum(places, len(recall) - 1)], 0.0)


def middles(curves: Sequence[tuple[Floats, Floats]], levels: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the median precision of curves at recall levels."""
    values = np.array([precision_at(recall, precision, levels) for recall, precision in curves])
    return values.mean(axis=0), np.median(values, axis=0)
