"""Partial areas and the area under the precision-recall-gain curve."""

from collections.abc import Sequence

import polars as pl

from prframe.metrics.metric import REL, Metric, Parameter, Term, number, word
from prframe.metrics.quantities import Quantities
from prframe.metrics.shared import of_blocks, over
from prframe.stats import rankings
from prframe.stats.tie_expectations import gain_area, mean_shortfall
from prframe.tie_policies import NO_MEAN


def _share(q: Quantities) -> pl.Expr:
    """Return each hit's share of the weight of the positives of its block."""
    return pl.when(q.weight > 0).then(q.weight / (q.tp_end - q.tp_start)).otherwise(0.0)


def _reach(q: Quantities, m: Metric) -> pl.Expr:
    return m.number("max_recall") * q.n_pos


def _partial_ap_credit(q: Quantities, m: Metric) -> pl.Expr:
    ends = [pl.min_horizontal(tp.cast(pl.Float64), _reach(q, m)) for tp in (q.tp_start, q.tp_end)]
    value = (ends[1] - ends[0]) * _share(q) * q.precision(q.tp_end, q.fp_end)
    return pl.when(q.weight > 0).then(value).otherwise(0.0)


def _partial_auc_credit(q: Quantities, m: Metric) -> pl.Expr:
    reach = m.number("max_fpr") * q.n_neg
    return q.weight * of_blocks(mean_shortfall, q.fp_start, q.fp_end, reach)


def _partial_auc_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    shown = q.n - q.n_hits
    rest = of_blocks(mean_shortfall, shown, q.n_neg, m.number("max_fpr") * q.n_neg)
    area = terms[0] + (q.n_pos - q.n_hits) * rest
    area /= q.n_pos.cast(pl.Float64) * q.n_neg
    if m["scale"] == "area":
        return area
    most = m.number("max_fpr")
    least = most**2 / 2
    return (1 + (area - least) / (most - least)) / 2


def _gain_credit(q: Quantities, _: Metric) -> pl.Expr:
    fp_start, fp_end, n_neg = (q.weighed(of) for of in (q.fp_start, q.fp_end, q.n_neg))
    block = q.tp_start, q.tp_end, fp_start, fp_end, q.n_pos, n_neg
    return _share(q) * of_blocks(gain_area, *block)


def _gain_finish(q: Quantities, _: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    fp, n_neg = q.weighed(q.n - q.n_hits), q.weighed(q.n_neg)
    return terms[0] + of_blocks(gain_area, q.n_hits, q.n_pos, fp, n_neg, q.n_pos, n_neg)


pAP = Metric(
    "pAP",
    "Partial AP: the mean precision at the ranks of the positives up to a level of recall; the "
    "tie block that reaches it counts in part.",
    "TREC; McClish 1989 for ROC curves",
    (Term(_partial_ap_credit),),
    over(_reach),
    parameters=(
        Parameter(
            "max_recall", 0.5, "The level of recall, in (0, 1].", number(above=0, at_most=1)
        ),
        REL,
    ),
    ties=frozenset(NO_MEAN),
    options=frozenset({"weight", "prior"}),
    cells=lambda m: rankings.PartialAveragePrecision(m.number("max_recall")),
)
pAUC = Metric(
    "pAUC",
    "Partial AUC: the area A under the ROC curve up to a false positive rate; with "
    'scale="mcclish" (1 + (A - m) / (max_fpr - m)) / 2 for m = max_fpr^2 / 2.',
    "McClish 1989",
    (Term(_partial_auc_credit),),
    _partial_auc_finish,
    parameters=(
        Parameter(
            "max_fpr", 0.1, "The false positive rate, in (0, 1].", number(above=0, at_most=1)
        ),
        Parameter("scale", "area", '"area" or "mcclish".', word("area", "mcclish")),
        REL,
    ),
    ties=frozenset(NO_MEAN),
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight", "prior"}),
    cells=lambda m: rankings.PartialRocArea(m.number("max_fpr"), str(m["scale"])),
)
AUPRG = Metric(
    "AUPRG",
    "Area under the precision-recall-gain curve from recall gain 0 to 1: the gain of a precision "
    "or a recall x is (x - pi) / ((1 - pi) x), pi being the share of positives.",
    "Flach & Kull 2015",
    (Term(_gain_credit),),
    _gain_finish,
    ties=frozenset(NO_MEAN),
    needs=("n_pos", "n_neg"),
    options=frozenset({"weight", "prior"}),
    range=(-float("inf"), 1.0),
    cells=lambda _: rankings.GainArea(),
)
