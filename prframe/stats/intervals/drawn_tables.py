"""Draws of the four counts of a classifier: positives and negatives, retrieved and not.

What is retrieved depends on each item alone, so that the counts are a multinomial variate, and the
shares behind them need no curve. With Jeffreys' prior their posterior distribution is Dirichlet's:
shares are proportional to gamma variates whose shape is the count and a half. So recall, precision
and specificity have the beta distributions of Jeffreys' intervals.
"""

from collections.abc import Sequence

import numpy as np

from prframe.stats.curves import Weights
from prframe.stats.rankings import RankedCells, weight_of_negatives
from prframe.typing import Floats

# The shapes of counts of 0 and 1 where draws of them are to be small, and where they are not.
_FEW_AT_LEAST, _FEW_AT_MOST = (0.0, 1.0), (1.0, 1.5)
# The streams of the draws of a group, apart from those of other shares.
_LEAST, _MORE = 3, 4
# The cells that are retrieved, and the last one.
_PARTS = slice(-1), slice(-1, None)
# Positives that are retrieved and negatives that are not are right decisions.
_RIGHT = np.array([True, False, False, True])


def drawn_tables(
    cells: RankedCells, blocks: Sequence[Weights], prior: float | None = None
) -> tuple[Floats, Floats]:
    """Return draws of the four counts, up to a factor, for the low and the high end of metrics.

    They are retrieved positives and negatives, then positives and negatives that are not, which
    the last cell holds; `prior` is the share of positives if it is not that of the sample.

    Both are the same if all counts exceed 1. With counts of 0 and 1 Jeffreys' intervals cover in
    down to 88 and 90 % of samples. A share of 0 or 1 in the sample therefore has that end, and the
    other one is that of Clopper & Pearson, but for half a count (Brown, Cai & DasGupta 2001,
    section 4.1.2). So is the nearer end of a share that is one count away from 0 or 1.
    """
    retrieved, missed = ([int(c[part].sum()) for c in (cells.pos, cells.neg)] for part in _PARTS)
    counts = np.array([*retrieved, *missed])
    least, most = counts + 0.5, counts + 0.5
    for shape, of_few in ((least, _FEW_AT_LEAST), (most, _FEW_AT_MOST)):
        few = counts < len(of_few)
        shape[few] = np.array(of_few)[counts[few]]
    small = _drawn(blocks, _LEAST, least)
    large = small if (least == most).all() else small + _drawn(blocks, _MORE, most - least)
    right = _RIGHT[:, None]
    tables = np.where(right, small, large), np.where(right, large, small)
    low, high = tables if prior is None else (_at_prior(table, prior) for table in tables)
    return low, high


def _drawn(blocks: Sequence[Weights], stream: int, shape: Floats) -> Floats:
    """Draw gamma variates, shape (4, n_draws); those of shape 0 are 0."""

    def draw(rng: np.random.Generator, size: int) -> Floats:
        return rng.standard_gamma(shape[:, None], (shape.size, size))

    return np.concatenate([block.of_group(stream, draw) for block in blocks], axis=1)


def _at_prior(table: Floats, prior: float) -> Floats:
    """Return counts whose negatives are weighed so that a share is positive."""
    tp, fp, fn, tn = table
    weight = weight_of_negatives(tp + fn, fp + tn, prior)
    return np.stack([tp, fp * weight, fn, tn * weight])
