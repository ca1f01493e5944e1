"""Parts that metrics of thresholds, of positions and of all retrieved items share."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from prframe.metrics.metric import THRESHOLD, Finish, Metric, Parameter, Term, number
from prframe.metrics.quantities import Quantities
from prframe.stats import rankings
from prframe.typing import Floats


def set_statistic(kind: str, m: Metric, empty: float = 0.0) -> "rankings.SetStatistic":
    """Return a metric of all retrieved items as a function of four counts."""
    return rankings.SetStatistic(kind, m.number("beta") if m.takes("beta") else 1.0, empty)


def of_retrieved(kind: str, q: Quantities, m: Metric, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
    """Return a metric of the retrieved items, of which tp are positive and fp negative."""
    statistic, negatives = set_statistic(kind, m), (fp, q.n_neg)
    if not statistic.of_classes:
        negatives = q.weighed(fp), q.weighed(q.n_neg)
    return of_blocks(statistic.of_counts, tp, negatives[0], q.n_pos, negatives[1])


def at_threshold(metric: Metric, kind: str) -> Metric:
    """Return the metric that a threshold makes of a metric with a cut-off.

    An item at the threshold is above it, so that no tie block straddles a threshold. A precision
    is undefined if no item is above it.
    """

    def finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
        tp, fp = terms[0], q.negatives_above(m.number("threshold"), terms[0])
        value = of_retrieved(kind, q, m, tp, fp)
        return pl.when(tp + fp > 0).then(value) if kind == "precision" else value

    return replace(
        metric,
        terms=(Term(_hits_above, "max"),),
        finish=finish,
        cutoff="threshold",
        options=frozenset({"weight", "prior"}),
        cells=lambda m: set_statistic(kind, m, empty=float("nan")),
        instead=(),
    )


def or_above(metric: Metric, kind: str) -> Metric:
    """Return the metric, with a threshold as another place where it may be taken."""
    known = replace(metric, parameters=(*metric.parameters, THRESHOLD))
    return replace(known, instead=(("threshold", at_threshold(known, kind)), *metric.instead))


def _hits_above(q: Quantities, m: Metric) -> pl.Expr:
    """Return the positives up to the end of a hit's block that is above the threshold."""
    return pl.when(q.end <= q.above(m.number("threshold"))).then(q.tp_end).otherwise(0)


def over(denominator: Callable[[Quantities, Metric], pl.Expr]) -> Finish:
    """Return a finish that divides the only term by a denominator."""
    return lambda q, m, terms: terms[0] / denominator(q, m)


def of_blocks(function: Callable[..., Floats], *columns: pl.Expr) -> pl.Expr:
    """Return a function of numbers of tie blocks; what is null counts 0."""

    def apply(series: Sequence[pl.Series]) -> pl.Series:
        numbers = (one.cast(pl.Float64).fill_null(0.0).to_numpy() for one in series)
        return pl.Series(function(*numbers))

    return pl.map_batches(list(columns), apply, return_dtype=pl.Float64, is_elementwise=True)


def per_block(
    statistic: Callable[..., Floats], q: Quantities, m: Metric, *more: pl.Expr
) -> pl.Expr:
    """Return a statistic of each hit's block, a function of (start, size, hits, depth, ...)."""

    def of_counts(*columns: Floats) -> Floats:
        start, end, hits, *others = (column.astype(np.int64) for column in columns)
        filled = end > start
        size = (end - start)[filled]
        depth = size if m.k is None else np.clip(m.rank() - start[filled], 0, size)
        values = np.zeros(start.size)
        values[filled] = statistic(
            start[filled], size, hits[filled], depth, *(other[filled] for other in others)
        )
        return values

    return of_blocks(of_counts, q.start, q.end, q.tp_end - q.tp_start, *more)


BETA = Parameter(
    "beta", 1.0, "Weight of recall against precision, in (0, 1e6].", number(above=0, at_most=1e6)
)
