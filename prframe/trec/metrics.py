"""Metrics that trec_eval has and the catalogue lacks: sums over the relevant documents."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from prframe.metrics import Metric
from prframe.metrics.metric import Term
from prframe.metrics.quantities import Quantities

_ONLY_BY_TREC_EVAL = "it is a measure of trec_eval alone"


def _first_documents(q: Quantities, m: Metric) -> pl.Expr:
    """Return how many documents a multiple of the relevant ones are, as trec_eval rounds it."""
    return (q.n_pos * m.level() + 0.9).floor()


def _multiple_credit(q: Quantities, m: Metric) -> pl.Expr:
    return q.weight * q.share_in_top(_first_documents(q, m))


def _multiple_finish(q: Quantities, m: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    return terms[0] / _first_documents(q, m)


def _binary_gain_credit(q: Quantities, _: Metric) -> pl.Expr:
    return q.weight / (q.fp_start + 2).log(2)


def _binary_gain_finish(q: Quantities, _: Metric, terms: Sequence[pl.Expr]) -> pl.Expr:
    return terms[0] / q.n_pos


_rprec_mult = Metric(
    "Rprec_mult",
    "The precision at a multiple of n_pos.",
    "trec_eval",
    (Term(_multiple_credit),),
    _multiple_finish,
    cutoff="recall",
    cells=_ONLY_BY_TREC_EVAL,
)
binary_gain = Metric(
    "binG",
    "The mean of 1 / log2(2 + negatives above) over positives, 0 for those not retrieved.",
    "trec_eval",
    (Term(_binary_gain_credit),),
    _binary_gain_finish,
    ties=frozenset({"trec"}),
    cells=_ONLY_BY_TREC_EVAL,
)


def precision_at_multiple(multiple: float) -> Metric:
    """Return the precision at a multiple of the number of relevant documents."""
    return replace(_rprec_mult, k=multiple)
