"""Metrics as polars expressions: ``pl.col("score").pr.ap("label")``.

They are the catalogue's formulas over hits that are expressions themselves, so they work in
`select`, `agg` and `over`, eagerly, lazily and streaming. An expression sees no schema and can
give no warning: the value is null for a group with a null or NaN score or label, and for one
without positives. `evaluate` is faster for more than one metric, as each expression sorts anew.

Parameters
----------
score : Expr
    Scores; a larger one ranks higher, ``-inf`` = not retrieved.
label : str or Expr
    Column of boolean or numeric labels, or a condition.
k : int, optional
    Cut-off, >= 1.
positive : float, optional
    Labels >= this are positive. By default `True` is, and any number above 0.
ties : {policies}
    As in `prframe.evaluate`, which also has those that need the names of items.

Returns
-------
Expr
    One value per group, named as the score; null where the group lacks the positives (or
    negatives) it needs, or has a null or NaN score or label.

Raises
------
PrframeError
    A cut-off below 1 or an unknown option.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, ParamSpec, TypeVar

import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.metrics import AP, AUC, RR, Metric, P, R, nDCG
from prframe.metrics.quantities import Quantities, gain_of, precision as precision_of
from prframe.stats import discount_sums
from prframe.tie_policies import POLICIES, WITHOUT_LABELS, TiePolicy, Ties, listed_in_braces

_UNRETRIEVED = -float("inf")
# An order by name needs a second column; `evaluate` has it.
_TIES: list[Ties] = [ties for ties, policy in POLICIES.items() if not policy.then]
__doc__ = (__doc__ or "").replace("{policies}", listed_in_braces(_TIES))
# Running discounts up to this cut-off are a constant; for larger ones each group computes its own.
_TABLE = 1000
P_ = ParamSpec("P_")
T = TypeVar("T")


def _described(function: Callable[P_, T]) -> Callable[P_, T]:
    """Insert the sections of the module's docstring that all functions share into theirs."""
    shared = "Parameters\n" + (__doc__ or "").partition("Parameters\n")[2].strip()
    names = inspect.signature(function).parameters
    for name in ("k", "positive"):
        if name not in names:
            shared = re.sub(rf"\n{name} : .*\n    .*", "", shared)
    text = shared.replace("\n", "\n    ").replace("    \n", "\n")
    function.__doc__ = (function.__doc__ or "").replace("{shared}", text)
    return function


@_described
def ap(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Compute average precision, or AP@k.

    ``AP = sum over positives of the precision at their rank / n_pos``.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.ap("label")).item(), 6)
    0.833333
    """
    return _metric(score, label, _cut(AP, k), positive, ties)


@_described
def auc(
    score: pl.Expr, label: str | pl.Expr, *, positive: float | None = None, ties: Ties = "group"
) -> pl.Expr:
    """Compute the area under the ROC curve.

    AUC is the probability that a positive ranks above a negative, where ties count half.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.auc("label")).item(), 6)
    0.5
    """
    return _metric(score, label, AUC, positive, ties)


@_described
def precision(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Compute the precision at k.

    ``P@k = positives among the first k / k``.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.precision("label", 2)).item(), 6)
    0.5
    """
    return _metric(score, label, _cut(P, k), positive, ties)


@_described
def recall(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Compute the recall at k.

    ``R@k = positives among the first k / n_pos``.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.recall("label", 2)).item(), 6)
    0.5
    """
    return _metric(score, label, _cut(R, k), positive, ties)


@_described
def rr(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: Ties = "group",
) -> pl.Expr:
    """Compute the reciprocal rank of the first positive.

    ``RR = 1 / rank``, 0 if no positive ranks up to k.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.rr("label")).item(), 6)
    1.0
    """
    return _metric(score, label, _cut(RR, k), positive, ties)


@_described
def ndcg(
    score: pl.Expr, label: str | pl.Expr, k: int | None = None, *, ties: Ties = "group"
) -> pl.Expr:
    """Compute the normalised discounted cumulative gain, or nDCG@k.

    nDCG is the ``sum of gain / log2(rank + 1)``, divided by that of the best ranking; the gain is
    the label where it is above 0.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.ndcg("label")).item(), 6)
    0.919721
    """
    return _metric(score, label, _cut(nDCG, k), None, ties)


@_described
def curve(
    score: pl.Expr,
    label: str | pl.Expr,
    *,
    positive: float | None = None,
    anchor: bool = True,
    ties: Ties = "group",
) -> pl.Expr:
    """Compute the precision-recall curve; it takes the tie policies that do not look at labels.

    {shared}

    Notes
    -----
    The value is a list of structs with the fields of `prframe.curve`'s columns, best score first;
    with `anchor` it opens with the row k = 0 (threshold +inf, recall 0, precision 1).

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> curve = frame.select(pl.col("score").pr.curve("label"))
    >>> curve.explode("score").unnest("score")["precision"].round(4).to_list()
    [1.0, 1.0, 0.5, 0.6667]
    """
    checks.one_of("ties", ties, [one for one in _TIES if one in WITHOUT_LABELS])
    checks.flag("anchor", anchor)
    relevant = _relevant(score, label, positive)
    columns = _counts(score, relevant, POLICIES[ties])
    if anchor:
        opening = {"threshold": pl.lit(float("inf")), "k": pl.lit(0), "tp": pl.lit(0)}
        columns = {name: opening[name].append(column) for name, column in columns.items()}
    k, tp = columns["k"], columns["tp"]
    n_pos = relevant.sum()
    value = precision_of(tp, k - tp, None, n_pos, n_pos)
    rates = {
        "fp": k - tp,
        "recall": pl.when(n_pos > 0).then(tp / n_pos),
        "precision": pl.when(k == 0).then(1.0).otherwise(value),
    }
    rows = pl.struct(value.alias(name) for name, value in (columns | rates).items())
    name = score.meta.output_name(raise_if_undetermined=False)
    if name is None:
        raise PrframeError("a curve is drawn of one score at a time; name the column.")
    return _unless_missing(score, label, rows.implode()).alias(name)


def _counts(score: pl.Expr, relevant: pl.Expr, policy: TiePolicy) -> dict[str, pl.Expr]:
    """Return threshold, k and tp along the curve."""
    shown = score > _UNRETRIEVED
    ranked, hit = (
        column.filter(shown).sort_by(score.filter(shown), descending=True, maintain_order=True)
        for column in (score, relevant)
    )
    k, tp = pl.int_range(1, shown.sum() + 1, dtype=pl.Int64), hit.cast(pl.Int64).cum_sum()
    columns: dict[str, pl.Expr] = {"threshold": ranked.cast(pl.Float64), "k": k, "tp": tp}
    if policy.ordered:
        return columns
    last = (ranked != ranked.shift(-1)).fill_null(value=True)
    return {name: column.filter(last) for name, column in columns.items()}


def _cut(metric: Metric, k: int | None) -> Metric:
    """Return the metric, cut off at k if k is given or required."""
    if k is None and metric.cutoff == "optional":
        return metric
    return metric @ checks.whole_number("k", k, at_least=1)


def _metric(
    score: pl.Expr,
    label: str | pl.Expr,
    metric: Metric,
    positive: float | None,
    ties: Ties,
) -> pl.Expr:
    """Compute a catalogue metric within a group; the result has the score's name."""
    checks.one_of("ties", ties, _TIES)
    q = _quantities(score, label, positive, POLICIES[ties], graded=metric.graded)
    terms = [
        term.credit(q, metric).sum() if term.combine == "sum" else term.credit(_first(q), metric)
        for term in metric.terms_under(ties)
    ]
    value = metric.finish_under(ties)(q, metric, terms)
    for name in metric.needs:
        value = pl.when(getattr(q, name) > 0).then(value)
    # An expression that begins with the score has its name, so that two scores fit into one `agg`.
    return _unless_missing(score, label, score.null_count() * 0 + value)


def _column(label: str | pl.Expr) -> pl.Expr:
    """Return the label as an expression."""
    if isinstance(label, str):
        return pl.col(label)
    if isinstance(label, pl.Expr):
        return label
    raise PrframeError(
        f"`label` must be the name of a column or an expression; got {checks.brief(label)}."
    )


def _relevant(score: pl.Expr, label: str | pl.Expr, positive: float | None) -> pl.Expr:
    """Return whether each row is positive; the label may be boolean or numeric."""
    if positive is not None and not isinstance(positive, (int, float)):
        raise PrframeError(
            f"`positive` must be a number; got {positive!r}. For string labels pass a condition: "
            "pl.col('score').pr.ap(pl.col('label') == 'yes')."
        )
    value = _column(label).cast(pl.Float64)
    relevant = value > 0 if positive is None or positive is True else value >= positive
    # The condition on the score also gives a label that is a single value the score's length.
    return score.is_not_null() & relevant


def _unless_missing(score: pl.Expr, label: str | pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the value, or null if a score or label of the group is missing."""
    missing = score.cast(pl.Float64).fill_nan(None).has_nulls()
    missing |= _column(label).cast(pl.Float64).fill_nan(None).has_nulls()
    return pl.when(~missing).then(value)


def _quantities(
    score: pl.Expr,
    label: str | pl.Expr,
    positive: float | None,
    policy: TiePolicy,
    *,
    graded: bool,
) -> Quantities:
    """Return the quantities of a group, with its hits in order of rank."""
    relevant, retrieved = _relevant(score, label, positive), score > _UNRETRIEVED
    listed = relevant & retrieved
    hit_scores = score.filter(listed).sort(descending=True)
    if policy.ordered:
        ranked = listed.sort_by(score, descending=True, maintain_order=True)
        start, tp_start = ranked.arg_true().cast(pl.Int64), pl.int_range(listed.sum())
        end, tp_end = start + 1, tp_start + 1
    else:
        start, end = (_above(score, hit_scores, side) for side in ("right", "left"))
        tp_start, tp_end = (_above(hit_scores, hit_scores, side) for side in ("right", "left"))
    if policy.merit:
        start, end, tp_start, tp_end = _spread(start, end, tp_start, tp_end, policy)
    gain = pl.lit(1.0)
    value = _column(label).cast(pl.Float64) + 0 * score.is_null()
    if graded:
        keys = [column.filter(listed) for column in (score, value)]
        by = keys if policy.merit else keys[:1]
        descending = [True, policy.merit > 0][: len(by)]
        gain = keys[1].sort_by(*by, descending=descending, maintain_order=True)
    n_pos = relevant.sum().cast(pl.Int64)
    return Quantities(
        start=start,
        end=end,
        tp_start=tp_start,
        tp_end=tp_end,
        fp_start=start - tp_start,
        fp_end=end - tp_end,
        weight=pl.lit(1.0),
        gain=gain,
        n=retrieved.sum().cast(pl.Int64),
        n_pos=n_pos,
        n_neg=relevant.len().cast(pl.Int64) - n_pos,
        n_hits=listed.sum().cast(pl.Int64),
        running_discounts=lambda k: _running_discounts(score, k),
        ideal_dcg=lambda k, kind: _ideal_dcg(gain_of(value, kind), k),
    )


def _spread(
    start: pl.Expr, end: pl.Expr, tp_start: pl.Expr, tp_end: pl.Expr, policy: TiePolicy
) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Give each hit of a tie block a rank of its own, the best or the worst ranks of the block."""
    above = pl.int_range(start.len())
    rank = start + above - tp_start if policy.merit > 0 else end - tp_end + above
    return rank, rank + 1, above, above + 1


def _above(scores: pl.Expr, hit_scores: pl.Expr, side: Literal["left", "right"]) -> pl.Expr:
    """Count the scores above each hit's score; with "left", those equal to it as well."""
    below = scores.sort().search_sorted(hit_scores, side=side)
    return scores.len().cast(pl.Int64) - below.cast(pl.Int64)


def _running_discounts(score: pl.Expr, k: int | None) -> pl.Expr:
    """Return the running sums of discounts D(0), D(1), ... as far as they may be needed."""
    if k is not None and k <= _TABLE:
        return pl.lit(pl.Series(discount_sums(k)))
    discounts = 1 / (pl.int_range(2, score.len() + 2)).log(2)
    if k is not None:
        discounts = discounts.head(k)
    return pl.lit(0.0).append(discounts.cum_sum())


def _ideal_dcg(gain: pl.Expr, k: int | None) -> pl.Expr:
    """Return the DCG of the labels, best first."""
    best = gain.filter(gain > 0).sort(descending=True)
    if k is not None:
        best = best.head(k)
    return (best / (pl.int_range(best.len()) + 2).log(2)).sum()


def _first(q: Quantities) -> Quantities:
    """Return the quantities of the hit ranked first."""
    per_hit = ("start", "end", "tp_start", "tp_end", "fp_start", "fp_end", "weight", "gain")
    return replace(q, **{name: getattr(q, name).first() for name in per_hit})
