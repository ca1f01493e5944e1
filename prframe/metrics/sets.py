"""Metrics of a set of items: all retrieved ones, or those whose score reaches a threshold.

P, R, F and F1 take a threshold as well, in place of a cut-off.
"""

from collections.abc import Callable
from dataclasses import replace

import polars as pl

from prframe.metrics.metric import REL, THRESHOLD, Metric
from prframe.metrics.quantities import Quantities
from prframe.metrics.shared import BETA, at_threshold, f_above, precision_above, recall_above
from prframe.stats import rankings


def _specificity(q: Quantities, _m: Metric, _tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
    return (q.n_neg - fp) / q.n_neg


def _balanced(q: Quantities, m: Metric, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
    return (tp / q.n_pos + _specificity(q, m, tp, fp)) / 2


def _matthews(q: Quantities, _: Metric, tp: pl.Expr, fp: pl.Expr) -> pl.Expr:
    n_pos, n_neg = q.n_pos.cast(pl.Float64), q.weighed(q.n_neg)
    n, passed = n_pos + n_neg, tp + q.weighed(fp)
    spread = (n_pos * n_neg).sqrt() * (passed * (n - passed)).sqrt()
    # The root is rounded, and may be smaller than the product above it.
    value = ((n * tp - passed * n_pos) / spread).clip(-1.0, 1.0)
    return pl.when(spread > 0).then(value).otherwise(0.0)


def _of_table(
    name: str, summary: str, source: str, *, needs: tuple[str, ...] = ("n_pos", "n_neg")
) -> Metric:
    """Return a metric of the shares of both classes that pass, without its formula."""
    return Metric(
        name,
        summary,
        source,
        (),
        parameters=(THRESHOLD, REL),
        needs=needs,
    )


Specificity = at_threshold(
    _of_table(
        "Specificity",
        "Specificity at a threshold: the negatives below it, over n_neg.",
        "Yerushalmy 1947",
        needs=("n_neg",),
    ),
    _specificity,
    lambda _: rankings.SetSpecificity(),
)
BalancedAccuracy = at_threshold(
    _of_table(
        "BalancedAccuracy",
        "Balanced accuracy at a threshold: the mean of recall and specificity.",
        "Brodersen et al. 2010",
    ),
    _balanced,
    lambda _: rankings.SetBalancedAccuracy(),
)
MCC = at_threshold(
    replace(
        _of_table(
            "MCC",
            "Matthews' correlation coefficient at a threshold: "
            "(tp tn - fp fn) / sqrt((tp + fp) n_pos n_neg (tn + fn)), 0 if no item, or every "
            "one, is at or above the threshold.",
            "Matthews 1975",
        ),
        range=(-1.0, 1.0),
    ),
    _matthews,
    lambda _: rankings.SetMatthews(),
)


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
