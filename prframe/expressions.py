"""Metrics as polars expressions: ``pl.col("score").pr.ap("label")``.

They are the catalogue's formulas over hits that are expressions themselves, so they work in
`select`, `agg` and `over`, eagerly, lazily and streaming. An expression sees no schema and can
give no warning: a group with a null or NaN score or a null label is null, and so is a metric
without positives. `evaluate` is faster for more than one metric: each expression sorts anew.
"""

from dataclasses import replace
from typing import Literal, get_args

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.metrics import AP, AUC, P, R, RR, Metric, nDCG
from prframe.quantities import Quantities
from prframe.quantities import precision as precision_of
from prframe.stats import discount_sums
from prframe.typing import Ties

_UNRETRIEVED = -float("inf")


def ap(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Average precision, or AP@k."""
    return _metric(score, label, AP, k, positive, ties)


def auc(
    score: pl.Expr, label: str | pl.Expr, *, positive: float | None = None, ties: Ties = "group"
) -> pl.Expr:
    """Area under the ROC curve."""
    return _metric(score, label, AUC, None, positive, ties)


def precision(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Precision at k."""
    return _metric(score, label, P, k, positive, ties)


def recall(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Recall at k."""
    return _metric(score, label, R, k, positive, ties)


def rr(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Reciprocal rank of the first positive, 0 if there is none up to k."""
    return _metric(score, label, RR, k, positive, ties)


def ndcg(
    score: pl.Expr, label: str | pl.Expr, k: int | None = None, *, ties: Ties = "group"
) -> pl.Expr:
    """Normalised discounted cumulative gain; the gain is the label where it is above 0."""
    return _metric(score, label, nDCG, k, None, ties)


def curve(
    score: pl.Expr,
    label: str | pl.Expr,
    *,
    positive: float | None = None,
    anchor: bool = True,
    ties: Ties = "group",
) -> pl.Expr:
    """Precision-recall curve: a list of structs with the columns of `prframe.curve`."""
    checks.one_of("ties", ties, get_args(Ties))
    checks.flag("anchor", anchor)
    relevant = _relevant(label, positive)
    shown = score > _UNRETRIEVED
    ranked = score.filter(shown).sort_by(score.filter(shown), descending=True, maintain_order=True)
    hit = relevant.filter(shown).sort_by(score.filter(shown), descending=True, maintain_order=True)
    k, tp = pl.int_range(1, shown.sum() + 1, dtype=pl.Int64), hit.cast(pl.Int64).cum_sum()
    last = (ranked != ranked.shift(-1)).fill_null(value=True)
    columns = {"threshold": ranked.cast(pl.Float64), "k": k, "tp": tp}
    if ties == "group":
        columns = {name: column.filter(last) for name, column in columns.items()}
    if anchor:
        opening = {"threshold": float("inf"), "k": 0, "tp": 0}
        columns = {
            name: pl.lit(opening[name], dtype=dtype).append(columns[name])
            for name, dtype in (("threshold", pl.Float64), ("k", pl.Int64), ("tp", pl.Int64))
        }
    k, tp = columns["k"], columns["tp"]
    n_pos = relevant.sum()
    value = precision_of(tp, k - tp, None, n_pos, n_pos)
    rows = pl.struct(
        **columns,
        fp=k - tp,
        recall=pl.when(n_pos > 0).then(tp / n_pos),
        precision=pl.when(k == 0).then(1.0).otherwise(value),
    )
    return _unless_missing(score, label, rows.implode()).name.keep()


def _metric(
    score: pl.Expr,
    label: str | pl.Expr,
    metric: Metric,
    k: int | None,
    positive: float | None,
    ties: str,
) -> pl.Expr:
    """Compute a catalogue metric within the group at hand; it keeps the score's name."""
    checks.one_of("ties", ties, get_args(Ties))
    if k is not None or metric.cutoff == "required":
        metric = metric @ k  # type: ignore[operator]
    q = _quantities(score, label, positive, ties, graded=metric.graded)
    terms = [
        term.credit(q, metric.k).sum()
        if term.combine == "sum"
        else term.credit(_first(q), metric.k)
        for term in metric.terms
    ]
    value = metric.finish(q, metric.k, terms)
    for name in metric.needs:
        value = pl.when(getattr(q, name) > 0).then(value)
    # Opening with the score gives the result the score's name: two scores in one `agg` differ.
    return _unless_missing(score, label, score.null_count() * 0 + value)


def _column(label: str | pl.Expr) -> pl.Expr:
    """Return the label as an expression."""
    return pl.col(label) if isinstance(label, str) else label


def _relevant(label: str | pl.Expr, positive: float | None) -> pl.Expr:
    """Return which rows are positive; the label may be boolean or numeric."""
    if positive is not None and not isinstance(positive, (int, float)):
        raise PrframeError(
            f"`positive` must be a number; got {positive!r}. For string labels pass a condition: "
            "pl.col('score').pr.ap(pl.col('label') == 'yes')."
        )
    value = _column(label).cast(pl.Float64)
    return value > 0 if positive is None else value >= positive


def _unless_missing(score: pl.Expr, label: str | pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the value, null where the group has a score or label that is missing."""
    missing = score.cast(pl.Float64).fill_nan(None).has_nulls()
    missing |= _column(label).cast(pl.Float64).fill_nan(None).has_nulls()
    return pl.when(~missing).then(value)


def _quantities(
    score: pl.Expr, label: str | pl.Expr, positive: float | None, ties: str, *, graded: bool
) -> Quantities:
    """Return the quantities of the group at hand; hits in order of rank."""
    relevant, retrieved = _relevant(label, positive), score > _UNRETRIEVED
    listed = relevant & retrieved
    hit_scores = score.filter(listed).sort(descending=True)
    if ties == "order":
        ranked = listed.sort_by(score, descending=True, maintain_order=True)
        start, tp_start = ranked.arg_true().cast(pl.Int64), pl.int_range(listed.sum())
        end, tp_end = start + 1, tp_start + 1
    else:
        start, end = (_above(score, hit_scores, side) for side in ("right", "left"))
        tp_start, tp_end = (_above(hit_scores, hit_scores, side) for side in ("right", "left"))
    gain = pl.lit(1.0)
    if graded:
        value = _column(label).cast(pl.Float64)
        gain = value.filter(listed).sort_by(
            score.filter(listed), descending=True, maintain_order=True
        )
    n_pos = relevant.sum().cast(pl.Int64)
    return Quantities(
        start=start,
        end=end,
        tp_start=tp_start,
        tp_end=tp_end,
        weight=pl.lit(1.0),
        gain=gain,
        n=retrieved.sum().cast(pl.Int64),
        n_pos=n_pos,
        n_neg=pl.len().cast(pl.Int64) - n_pos,
        n_hits=listed.sum().cast(pl.Int64),
        running_discounts=_running_discounts,
        ideal_dcg=lambda k: _ideal_dcg(_column(label).cast(pl.Float64), k),
    )


def _above(scores: pl.Expr, wanted: pl.Expr, side: Literal["left", "right"]) -> pl.Expr:
    """Count the scores above each wanted one; with "left", those equal to it as well."""
    below = scores.sort().search_sorted(wanted, side=side)
    return scores.len().cast(pl.Int64) - below.cast(pl.Int64)


def _running_discounts(k: int | None) -> pl.Expr:
    """Return D(0), D(1), ... as far as they may be needed."""
    if k is not None:
        return pl.lit(pl.Series(discount_sums(k)))
    discounts = 1 / (pl.int_range(2, pl.len() + 2)).log(2)
    return pl.lit(0.0).append(discounts.cum_sum())


def _ideal_dcg(gain: pl.Expr, k: int | None) -> pl.Expr:
    """Return the DCG of the labels, best first."""
    best = gain.filter(gain > 0).sort(descending=True)
    if k is not None:
        best = best.head(k)
    return (best / (pl.int_range(best.len()) + 2).log(2)).sum()


def _first(q: Quantities) -> Quantities:
    """Return the quantities of the hit ranked first."""
    per_hit = ("start", "end", "tp_start", "tp_end", "weight", "gain")
    return replace(q, **{name: getattr(q, name).first() for name in per_hit})
