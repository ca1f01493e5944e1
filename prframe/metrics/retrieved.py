"""Metrics of all retrieved items, whatever their order."""

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from prframe.metrics.metric import REL, Metric
from prframe.metrics.quantities import Quantities
from prframe.metrics.shared import BETA, f_above, precision_above, recall_above
from prframe.stats import rankings


def _number(name: str, summary: str, number: Callable[[Quantities], pl.Expr]) -> Metric:
    """Return a number of items, of which nothing drawn says how it varies."""
    return Metric(
        name,
        summary,
        "TREC",
        (),
        lambda q, _m, _t: number(q),
        needs=(),
        range=(0.0, float("inf")),
        cells="it is a count, which grows with the sample",
    )


SetP = Metric(
    "SetP",
    "Precision of all retrieved items, 0 if there are none.",
    "TREC",
    (),
    lambda q, m, _: precision_above(q, m, q.n_hits, q.n - q.n_hits),
    needs=(),
    options=frozenset({"prior"}),
    cells=lambda _: rankings.SetPrecision(),
)
SetR = Metric(
    "SetR",
    "Recall of all retrieved items.",
    "TREC",
    (),
    lambda q, m, _: recall_above(q, m, q.n_hits, q.n - q.n_hits),
    options=frozenset({"prior"}),
    cells=lambda _: rankings.SetRecall(),
)
SetF = Metric(
    "SetF",
    "F measure of all retrieved items: (1 + beta^2) P R / (beta^2 P + R).",
    "van Rijsbergen 1979",
    (),
    lambda q, m, _: f_above(q, m, q.n_hits, q.n - q.n_hits),
    parameters=(BETA, REL),
    options=frozenset({"prior"}),
    cells=lambda m: rankings.SetFMeasure(m.number("beta")),
)
SetAP = Metric(
    "SetAP",
    "Precision times recall of all retrieved items.",
    "TREC",
    (),
    lambda q, m, _: precision_above(q, m, q.n_hits, q.n - q.n_hits) * q.n_hits / q.n_pos,
    options=frozenset({"prior"}),
    cells=lambda _: rankings.SetAveragePrecision(),
)
NumRel = replace(
    _number("NumRel", "The number of positives, n_pos.", lambda q: q.n_pos),
    greater_is_better=False,
)
NumRet = replace(
    _number("NumRet", "The number of retrieved items.", lambda q: q.n),
    parameters=(),
    greater_is_better=False,
)
NumRelRet = _number("NumRelRet", "The number of retrieved positives.", lambda q: q.n_hits)
