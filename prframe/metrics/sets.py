"""Metrics of a set of items: all retrieved ones, or those whose score reaches a threshold.

P, R, F and F1 take a threshold as well, in place of a cut-off.
"""

from collections.abc import Callable

import polars as pl

from prframe.metrics.metric import REL, THRESHOLD, Metric
from prframe.metrics.quantities import Quantities
from prframe.metrics.shared import BETA, at_threshold, of_retrieved, set_statistic


def _at_threshold(  # noqa: PLR0913
    name: str,
    summary: str,
    source: str,
    kind: str,
    *,
    needs: tuple[str, ...] = ("n_pos", "n_neg"),
    range: tuple[float, float] = (0.0, 1.0),  # noqa: A002
) -> Metric:
    """Return a metric of the shares of both classes that pass a threshold."""
    parameters = THRESHOLD, REL
    metric = Metric(name, summary, source, (), parameters=parameters, needs=needs, range=range)
    return at_threshold(metric, kind)


def _of_retrieved(
    name: str, summary: str, source: str, kind: str, *, needs: tuple[str, ...] = ("n_pos",)
) -> Metric:
    """Return a metric of all retrieved items."""
    return Metric(
        name,
        summary,
        source,
        (),
        lambda q, m, _: of_retrieved(kind, q, m, q.n_hits, q.n - q.n_hits),
        parameters=(BETA, REL) if kind == "f" else (REL,),
        needs=needs,
        options=frozenset({"prior"}),
        cells=lambda m: set_statistic(kind, m),
    )


def _number(
    name: str, summary: str, number: Callable[[Quantities], pl.Expr], *, counts_hits: bool = False
) -> Metric:
    """Return a number of items, of which nothing drawn says how it varies."""
    return Metric(
        name,
        summary,
        "TREC",
        (),
        lambda q, _m, _t: number(q),
        parameters=() if name == "NumRet" else (REL,),
        needs=(),
        range=(0.0, float("inf")),
        greater_is_better=counts_hits,
        cells="it is a count, which grows with the sample",
    )


Specificity = _at_threshold(
    "Specificity",
    "Specificity at a threshold: the number of negatives below it, divided by n_neg.",
    "Yerushalmy 1947",
    "specificity",
    needs=("n_neg",),
)
BalancedAccuracy = _at_threshold(
    "BalancedAccuracy",
    "Balanced accuracy at a threshold: the mean of recall and specificity.",
    "Brodersen et al. 2010",
    "balanced accuracy",
)
MCC = _at_threshold(
    "MCC",
    "Matthews' correlation coefficient at a threshold: (tp tn - fp fn) / sqrt((tp + fp) n_pos "
    "n_neg (tn + fn)), 0 if no item, or every item, is at or above the threshold.",
    "Matthews 1975",
    "matthews",
    range=(-1.0, 1.0),
)
SetP = _of_retrieved(
    "SetP", "Precision of all retrieved items, 0 if there are none.", "TREC", "precision", needs=()
)
SetR = _of_retrieved("SetR", "Recall of all retrieved items.", "TREC", "recall")
SetF = _of_retrieved(
    "SetF",
    "F measure of all retrieved items: (1 + beta^2) P R / (beta^2 P + R).",
    "van Rijsbergen 1979",
    "f",
)
SetAP = _of_retrieved("SetAP", "Precision times recall of all retrieved items.", "TREC", "ap")
NumRel = _number("NumRel", "The number of positives, n_pos.", lambda q: q.n_pos)
NumRet = _number("NumRet", "The number of retrieved items.", lambda q: q.n)
NumRelRet = _number(
    "NumRelRet", "The number of retrieved positives.", lambda q: q.n_hits, counts_hits=True
)
