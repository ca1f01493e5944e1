"""How metrics of both families are put together."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from prframe.metrics.metric import Finish, Metric
from prframe.metrics.quantities import Quantities
from prframe.typing import Floats


def over(denominator: Callable[[Quantities, Metric], pl.Expr | int]) -> Finish:
    """Finish by dividing the one term."""
    return lambda q, m, terms: terms[0] / denominator(q, m)


def per_block(
    statistic: Callable[..., Floats], q: Quantities, m: Metric, *more: pl.Expr
) -> pl.Expr:
    """Apply a function of (start, size, hits, depth, ...) to each hit's block."""

    def apply(columns: Sequence[pl.Series]) -> pl.Series:
        start, end, hits, *others = (
            column.fill_null(0).to_numpy().astype(np.int64) for column in columns
        )
        some = end > start
        size = (end - start)[some]
        depth = size if m.k is None else np.clip(m.rank() - start[some], 0, size)
        values = np.zeros(start.size)
        values[some] = statistic(
            start[some], size, hits[some], depth, *(other[some] for other in others)
        )
        return pl.Series(values)

    block = [q.start, q.end, q.tp_end - q.tp_start, *more]
    return pl.map_batches(block, apply, return_dtype=pl.Float64, is_elementwise=True)
