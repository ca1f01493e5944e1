"""The variance of means over queries that comes from items which several queries rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from prframe.errors import PrframeError
from prframe.stats._arrays import reals
from prframe.stats._units import Units
from prframe.stats.rankings import CellStatistic, Influence, RankedCells
from prframe.typing import Floats

# Rankings of at most so many cells are evaluated again without each item.
_FEW = 256


def shared_item_variance(query: ArrayLike, item: ArrayLike, influence: ArrayLike) -> Floats:
    """Return the part of the variance of a mean over queries that shared items have.

    Items that several queries rank change their values together, which the variance between
    queries does not show. Rows have a query and an item, and the derivative u of the query's value
    with respect to the item's weight, shape (n_rows,) or (n_rows, n_values). With m items and n
    queries the mean covariance of two queries is
    ``m / (m - 1) sum_i ((sum_q u_qi)^2 - sum_q u_qi^2) / (n (n - 1))``; chance may make it
    negative, which counts as 0 (Cameron, Gelbach & Miller, *Robust inference with multiway
    clustering*, JBES 2011; Owen, *The pigeonhole bootstrap*, AOAS 2007).

    Two queries rank the same two items and agree, or rank two items each:

    >>> shared_item_variance([0, 0, 1, 1], [0, 1, 0, 1], [0.1, -0.1, 0.1, -0.1]).round(3).item()
    0.04
    >>> shared_item_variance([0, 0, 1, 1], [0, 1, 2, 3], [0.1, -0.1, 0.1, -0.1]).item()
    0.0
    """
    values = reals("influence", influence)
    names = [np.asarray(query), np.asarray(item)]
    if any(name.shape != values.shape[:1] for name in names):
        raise PrframeError(
            "`query` and `item` must have an entry per row of `influence`; got shapes "
            f"{names[0].shape}, {names[1].shape} and {values.shape}."
        )
    queries, items = map(Units.of, names)
    n, m = queries.number, items.number
    if min(n, m) < 2:  # noqa: PLR2004 - covariances need two queries, variances two items
        return np.zeros(values.shape[1:])
    squares = items.sums(values.T) ** 2 - items.sums((values**2).T)
    return np.asarray(np.maximum(squares.sum(axis=-1), 0.0) * (m / (m - 1) / (n * (n - 1))))


def influence_of_few(cells: RankedCells, statistic: CellStatistic) -> Influence:
    """Return the influence of items, which for few items and AP is that of leaving each out.

    A metric with a known bias, AP, bends where few positives are moved: its derivatives with
    respect to the weights of items give a variance that is too small. In rankings of at most 256
    cells the influence of an item is therefore ``(m - 1) / m`` times what the metric loses
    without it, less the mean of that over all m items, so that the variance is the jackknife's,
    which is too large on average, if anything (Efron & Stein 1981).

    >>> from prframe.stats import AveragePrecision, cells_from_scores
    >>> cells, _ = cells_from_scores([4, 3, 2, 1], [1, 0, 1, 0])
    >>> influence_of_few(cells, AveragePrecision()).pos[[0, 2]].round(3)
    array([ 0.25 , -0.125])
    """
    pos, neg = cells.pos, cells.neg
    if not statistic.has_bias or pos.size > _FEW or cells.n_pos == 1:
        return statistic.influence(cells)
    one = np.eye(pos.size, dtype=np.int64)
    positives = np.concatenate([np.maximum(pos - one, 0), np.broadcast_to(pos, one.shape)])
    negatives = np.concatenate([np.broadcast_to(neg, one.shape), np.maximum(neg - one, 0)])
    left = statistic.values(positives, negatives)
    mean = float(np.concatenate([pos, neg]) @ left) / cells.n
    changes = (mean - left) * (cells.n - 1) / cells.n
    return Influence(changes[: pos.size], changes[pos.size :])
