"""Parts that metrics of thresholds and metrics of positions share."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from prframe.metrics.metric import Finish, Metric
from prframe.metrics.quantities import Quantities
from prframe.typing import Floats


def over(denominator: Callable[[Quantities, Metric], pl.Expr]) -> Finish:
    """Return a finish that divides the only term by a denominator."""
    return lambda q, m, terms: terms[0] / denominator(q, m)


def per_block(
    statistic: Callable[..., Floats], q: Quantities, m: Metric, *more: pl.Expr
) -> pl.Expr:
    """Return a statistic of each hit's block, a function of (start, size, hits, depth, ...)."""

    def apply(columns: Sequence[pl.Series]) -> pl.Series:
        start, end, hits, *others = (
            column.fill_null(0).to_numpy().astype(np.int64) for column in columns
        )
        filled = end > start
        size = (end - start)[filled]
        depth = size if m.k is None else np.clip(m.rank() - start[filled], 0, size)
        values = np.zeros(start.size)
        values[filled] = statistic(
            start[filled], size, hits[filled], depth, *(other[filled] for other in others)
        )
        return pl.Series(values)

    block = [q.start, q.end, q.tp_end - q.tp_start, *more]
    return pl.map_batches(block, apply, return_dtype=pl.Float64, is_elementwise=True)
