"""Metrics of all retrieved items, whatever their order."""

from prframe import stats
from prframe.metrics.metric import REL, Metric
from prframe.metrics.shared import BETA, f_above, precision_above, recall_above

# The reason why neither resamples nor drawn curves say how a metric varies.
_COUNT = "it is a count, which grows with the sample"

SetP = Metric(
    "SetP",
    "Precision of all retrieved items, 0 if there are none.",
    "TREC",
    (),
    lambda q, m, _: precision_above(q, m, q.n_hits, q.n),
    needs=(),
    options=frozenset({"prior"}),
    cells=lambda _: stats.SetPrecision(),
)
SetR = Metric(
    "SetR",
    "Recall of all retrieved items.",
    "TREC",
    (),
    lambda q, m, _: recall_above(q, m, q.n_hits, q.n),
    options=frozenset({"prior"}),
    cells=lambda _: stats.SetRecall(),
)
SetF = Metric(
    "SetF",
    "F measure of all retrieved items: (1 + beta^2) P R / (beta^2 P + R).",
    "van Rijsbergen 1979",
    (),
    lambda q, m, _: f_above(q, m, q.n_hits, q.n),
    parameters=(BETA, REL),
    options=frozenset({"prior"}),
    cells=lambda m: stats.SetFMeasure(m.number("beta")),
)
SetAP = Metric(
    "SetAP",
    "Precision times recall of all retrieved items.",
    "TREC",
    (),
    lambda q, m, _: precision_above(q, m, q.n_hits, q.n) * q.n_hits / q.n_pos,
    options=frozenset({"prior"}),
    cells=lambda _: stats.SetAveragePrecision(),
)
NumRel = Metric(
    "NumRel",
    "The number of positives, n_pos.",
    "TREC",
    (),
    lambda q, _m, _t: q.n_pos,
    needs=(),
    range=(0.0, float("inf")),
    greater_is_better=False,
    cells=_COUNT,
)
NumRet = Metric(
    "NumRet",
    "The number of retrieved items.",
    "TREC",
    (),
    lambda q, _m, _t: q.n,
    parameters=(),
    needs=(),
    range=(0.0, float("inf")),
    greater_is_better=False,
    cells=_COUNT,
)
NumRelRet = Metric(
    "NumRelRet",
    "The number of retrieved positives.",
    "TREC",
    (),
    lambda q, _m, _t: q.n_hits,
    needs=(),
    range=(0.0, float("inf")),
    cells=_COUNT,
)
