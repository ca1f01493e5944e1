"""Parts that metrics of thresholds and metrics of positions share."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import polars as pl

from prframe.metrics.metric import THRESHOLD, Cells, Finish, Metric, Term
from prframe.metrics.quantities import Quantities
from prframe.typing import Floats

# A function of the true positives and of the items above a threshold.
Formula: TypeAlias = Callable[[Quantities, Metric, pl.Expr, pl.Expr], pl.Expr]


def at_threshold(metric: Metric, formula: Formula, cells: Cells) -> Metric:
    """Return the metric that a threshold makes of a metric with a cut-off.

    An item at the threshold is above it, so that no tie block straddles a threshold.
    """

    def finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
        return formula(q, m, terms[0], _above(q, m))

    return replace(
        metric,
        terms=(Term(_credit_above),),
        finish=finish,
        cutoff="threshold",
        cells=cells,
        instead=(),
    )


def or_above(
    metric: Metric, formula: Formula, cells: Cells, options: frozenset[str] = frozenset()
) -> Metric:
    """Return the metric, with a threshold as another place where it may be taken.

    `options` are those of the metric at a threshold.
    """
    known = replace(metric, parameters=(*metric.parameters, THRESHOLD))
    place = replace(at_threshold(known, formula, cells), options=options)
    return replace(known, instead=(("threshold", place), *metric.instead))


def _above(q: Quantities, m: Metric) -> pl.Expr:
    """Return the number of items above the threshold, one per group."""
    return q.above(m.number("threshold"))


def _credit_above(q: Quantities, m: Metric) -> pl.Expr:
    return q.weight * q.share_in_top(_above(q, m))


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
