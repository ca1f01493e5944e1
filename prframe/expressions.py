"""Metrics as polars expressions: ``pl.col("score").pr.ap("label")``.

They work in `select`, `agg` and `over`, eagerly, lazily and streaming: polars hands over the
scores and labels of all groups as lists, which are ranked and measured as `evaluate` does it. The
value is null, without a warning, for a group with a null or NaN score or label, and for one
without positives. `evaluate` is faster for more than one metric, as each expression sorts anew.

Parameters
----------
score : Expr
    Scores; a larger one ranks higher, ``-inf`` = not retrieved.
name : str or Metric
    The metric, for example ``"nDCG@10"``.
label : str or Expr
    Column of boolean or numeric labels, or a condition.
k : int, optional
    Cut-off, >= 1.
positive : float, optional
    Labels >= this are positive. By default `True` is, and any number above 0.
ties : {policies}
    As in `prframe.evaluate`, whose ``"trec"`` needs the names of items and is not offered here.
weight : str or Expr, optional
    Weights >= 0, for the metrics that take them in `evaluate`.
n_pos, n_neg : int, str or Expr, optional
    Totals that include items which are not listed: a number, or a column that is constant within
    each group.

Returns
-------
Expr
    One value per group, named as the score; null where the group lacks the positives (or
    negatives) it needs, or has a null or NaN score or label.

Raises
------
PrframeError
    A cut-off below 1, an unknown option, or columns that `evaluate` would refuse.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, get_args

import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Seen
from prframe._engine.keys import as_thresholds
from prframe._engine.lists import check_dtype, values_of_lists
from prframe._engine.noticed import warn_of_grades
from prframe._engine.rows import positive as is_positive
from prframe.errors import (
    ArgumentError,
    NoNegativesWarning,
    PrframeError,
    UnknownMetricError,
    in_name_of_caller,
    warn,
)
from prframe.metrics import AP, AUC, RR, Metric, P, R, nDCG, parse_metric
from prframe.metrics.quantities import precision as precision_of
from prframe.tie_policies import POLICIES, TiePolicy, listed_in_braces

# An order by name needs a second column; `evaluate` has it.
ExpressionTies: TypeAlias = Literal["group", "order", "expected", "best", "worst"]
# A curve is of one ranking, which does not depend on labels.
CurveTies: TypeAlias = Literal["group", "order"]

_UNRETRIEVED = -float("inf")
_TIES: tuple[ExpressionTies, ...] = get_args(ExpressionTies)
_CURVE_TIES: tuple[CurveTies, ...] = get_args(CurveTies)
__doc__ = (__doc__ or "").replace("{policies}", listed_in_braces(_TIES))
P_ = ParamSpec("P_")
T = TypeVar("T")


def _described(function: Callable[P_, T]) -> Callable[P_, T]:
    """Insert the sections of the module's docstring that all functions share into theirs."""
    shared = "Parameters\n" + (__doc__ or "").partition("Parameters\n")[2].strip()
    names = inspect.signature(function).parameters
    for name in ("name", "k", "positive", "weight", "n_pos"):
        if name not in names:
            shared = re.sub(rf"\n{name}\b.* : .*(\n    .*)+", "", shared)
    if "k" in names and names["k"].default is inspect.Parameter.empty:
        shared = shared.replace("\nk : int, optional\n", "\nk : int\n")
    accepted = listed_in_braces(get_args(names["ties"].annotation))
    shared = shared.replace(listed_in_braces(_TIES), accepted)
    text = shared.replace("\n", "\n    ").replace("    \n", "\n")
    function.__doc__ = (function.__doc__ or "").replace("{shared}", text)
    return function


@_described
def metric(  # noqa: PLR0913
    score: pl.Expr,
    name: "str | Metric",
    label: str | pl.Expr = "label",
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
    weight: str | pl.Expr | None = None,
    n_pos: int | str | pl.Expr | None = None,
    n_neg: int | str | pl.Expr | None = None,
) -> pl.Expr:
    """Compute a metric of the catalogue by its name, for example ``"RR@10"``.

    Metrics that need to know which items were judged (Bpref, infAP, Judged) are left to
    `evaluate`.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> frame.select(pl.col("score").pr.metric("R@2", "label", n_pos=4)).item()
    0.25
    """
    wanted = _named(name, label)
    if wanted.judged:
        raise ArgumentError(f"{wanted} needs the column of judgments; use evaluate.")
    if ties in _TIES and ties not in wanted.ties:
        raise ArgumentError(f"{wanted} takes ties={checks.listed(wanted.ties)}; got {ties!r}.")
    if wanted.rel is not None and n_pos is not None:
        raise ArgumentError(
            f"`n_pos` counts the positives of `positive`, not those of {wanted}; list the items "
            "with a score of -inf instead."
        )
    if weight is not None and ("weight" not in wanted.options or wanted.rel is not None):
        raise ArgumentError(f"{wanted} takes no `weight`; leave it out.")
    totals = {"weight": weight, "n_pos": n_pos, "n_neg": n_neg}
    columns = {
        name: pl.col(total) if isinstance(total, str) else total
        for name, total in totals.items()
        if isinstance(total, (str, pl.Expr))
    }
    given: dict[str, Any] = {
        name: name if name in columns else total for name, total in totals.items()
    }
    args = replace(_arguments(positive, ties), **given)
    return _metric(score, label, wanted, args, columns)


def _named(name: "str | Metric", label: str | pl.Expr) -> Metric:
    """Return the metric, and say so if the name and the label are exchanged."""
    try:
        return parse_metric(name)
    except UnknownMetricError as error:
        try:
            parse_metric(label)  # type: ignore[arg-type]
        except PrframeError:
            raise error from None
        raise ArgumentError(
            f"`metric` takes the name of the metric before the label: metric({label!r}, {name!r})."
        ) from None


@_described
def ap(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
) -> pl.Expr:
    """Compute average precision, or AP@k.

    AP is the sum over positives of the precision at their rank, divided by `n_pos`.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.ap("label")).item(), 6)
    0.833333
    """
    return _metric(score, label, _cut(AP, k), _arguments(positive, ties))


@_described
def auc(
    score: pl.Expr,
    label: str | pl.Expr,
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
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
    return _metric(score, label, AUC, _arguments(positive, ties))


@_described
def precision(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
) -> pl.Expr:
    """Compute the precision at k.

    P@k is the number of positives among the first k, divided by k.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.precision("label", 2)).item(), 6)
    0.5
    """
    return _metric(score, label, _cut(P, k), _arguments(positive, ties))


@_described
def recall(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int,
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
) -> pl.Expr:
    """Compute the recall at k.

    R@k is the number of positives among the first k, divided by `n_pos`.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.recall("label", 2)).item(), 6)
    0.5
    """
    return _metric(score, label, _cut(R, k), _arguments(positive, ties))


@_described
def rr(
    score: pl.Expr,
    label: str | pl.Expr,
    k: int | None = None,
    *,
    positive: float | None = None,
    ties: ExpressionTies = "group",
) -> pl.Expr:
    """Compute the reciprocal rank of the first positive.

    RR is ``1 / rank``, or 0 if no positive ranks up to k.

    {shared}

    Examples
    --------
    >>> import polars as pl, prframe
    >>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
    >>> round(frame.select(pl.col("score").pr.rr("label")).item(), 6)
    1.0
    """
    return _metric(score, label, _cut(RR, k), _arguments(positive, ties))


@_described
def ndcg(
    score: pl.Expr, label: str | pl.Expr, k: int | None = None, *, ties: ExpressionTies = "group"
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
    return _metric(score, label, _cut(nDCG, k), _arguments(None, ties))


@_described
def curve(
    score: pl.Expr,
    label: str | pl.Expr,
    *,
    positive: float | None = None,
    anchor: bool = True,
    ties: CurveTies = "group",
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
    checks.one_of("ties", ties, _CURVE_TIES)
    checks.flag("anchor", anchor)
    args = _arguments(positive, ties)
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
        raise ArgumentError("a curve is drawn of one score at a time; name the column.")
    return _unless_missing(score, label, rows.implode(), args).alias(name)


def _are_fit(score: pl.Expr, label: pl.Expr, args: Arguments) -> pl.Expr:
    """Return True for each row; columns of dtypes that verbs do not take are refused."""
    warn_of = in_name_of_caller(partial(_warn, AP))

    def checked(columns: Sequence[pl.Series]) -> pl.Series:
        for role, values in zip(("score", "label"), columns, strict=True):
            check_dtype(role, values.name, values.dtype, args)
        values = columns[1]
        rows = values.to_frame().select(
            is_positive(replace(args, label=values.name), values.dtype)
        )
        seen = Seen(rows=bool(values.len()), negatives=not rows.to_series().all())
        warn_of(replace(args, label=values.name), seen)
        return pl.repeat(value=True, n=columns[0].len(), dtype=pl.Boolean, eager=True)

    return pl.map_batches([score, label], checked, pl.Boolean, is_elementwise=True)


def _counts(score: pl.Expr, relevant: pl.Expr, policy: TiePolicy) -> dict[str, pl.Expr]:
    """Return threshold, k and tp along the curve."""
    shown = score.cast(pl.Float64, strict=False) > _UNRETRIEVED
    ranked, hit = (
        column.filter(shown).sort_by(score.filter(shown), descending=True, maintain_order=True)
        for column in (score, relevant)
    )
    k, tp = pl.int_range(1, shown.sum() + 1, dtype=pl.Int64), hit.cast(pl.Int64).cum_sum()
    columns: dict[str, pl.Expr] = {
        "threshold": ranked.map_batches(_as_thresholds, pl.Float64, is_elementwise=True),
        "k": k,
        "tp": tp,
    }
    if policy.ordered:
        return columns
    last = (ranked != ranked.shift(-1)).fill_null(value=True)
    return {name: column.filter(last) for name, column in columns.items()}


def _as_thresholds(score: pl.Series) -> pl.Series:
    """Return scores as thresholds; those that are no numbers are refused elsewhere."""
    is_number = score.dtype.is_numeric() and not score.dtype.is_nested()
    return as_thresholds(score) if is_number else score.cast(pl.Float64, strict=False)


def _cut(metric: Metric, k: int | None) -> Metric:
    """Return the metric, cut off at k if k is given or required."""
    if k is None and metric.cutoff == "optional":
        return metric
    return metric @ checks.whole_number("k", k, at_least=1)


def _arguments(positive: float | None, ties: ExpressionTies) -> Arguments:
    """Check the options and return them as the engine takes them."""
    checks.one_of("ties", ties, _TIES)
    return Arguments(positive=_threshold(positive), ties=ties)


def _metric(
    score: pl.Expr,
    label: str | pl.Expr,
    metric: Metric,
    args: Arguments,
    more: Mapping[str, pl.Expr] = MappingProxyType({}),
) -> pl.Expr:
    """Compute a catalogue metric within a group; the result has the score's name.

    `more` are the weights and totals, if there are any.
    """
    columns = {"score": score, "label": _column(label)} | dict(more)
    warn_of = in_name_of_caller(partial(_warn, metric))

    def values(lists: Sequence[pl.Series]) -> pl.Series:
        found, seen = values_of_lists(dict(zip(columns, lists, strict=True)), metric, args)
        warn_of(replace(args, score=lists[0].name, label=lists[1].name), seen)
        return found

    # As lists, all groups are handed over at once.
    return pl.map_batches(
        [column.implode() for column in columns.values()],
        values,
        return_dtype=pl.Float64,
        is_elementwise=True,
    )


def _warn(metric: Metric, args: Arguments, seen: Seen) -> None:
    """Warn of what was noticed of the rows of all groups."""
    uses_grades = metric.graded or metric.rel is not None
    if seen.rows and not seen.negatives and args.n_neg is None and not uses_grades:
        warn(
            f"every {args.label!r} is positive, so that every ranking is perfect. Say which "
            "labels are positive with positive=, or pass a condition such as "
            f"pl.col({args.label!r}) == 0; if there are no negatives, ignore NoNegativesWarning.",
            NoNegativesWarning,
        )
    if not uses_grades:
        warn_of_grades(seen, args)


def _column(label: str | pl.Expr) -> pl.Expr:
    """Return the label as an expression."""
    if isinstance(label, str):
        return pl.col(label)
    if isinstance(label, pl.Expr):
        return label
    raise ArgumentError(
        f"`label` must be the name of a column or an expression; got {checks.brief(label)}."
    )


def _threshold(positive: float | None) -> float:
    """Return the least positive label; True stands for any label above 0."""
    if positive is not None and not isinstance(positive, (int, float)):
        raise ArgumentError(
            f"`positive` must be a number; got {positive!r}. For string labels pass a condition: "
            "pl.col('score').pr.ap(pl.col('label') == 'yes')."
        )
    return True if positive is None else positive


def _relevant(score: pl.Expr, label: str | pl.Expr, positive: float | None) -> pl.Expr:
    """Return whether each row is positive; the label may be boolean or numeric."""
    threshold = _threshold(positive)
    value = _column(label).cast(pl.Float64, strict=False)
    relevant = value > 0 if threshold is True else value >= threshold
    # The condition on the score also gives a label that is a single value the score's length.
    return score.is_not_null() & relevant


def _unless_missing(
    score: pl.Expr, label: str | pl.Expr, value: pl.Expr, args: Arguments
) -> pl.Expr:
    """Return the value, or null if a score or label of the group is missing."""
    columns = score, _column(label)
    missing = [c.cast(pl.Float64, strict=False).fill_nan(None).has_nulls() for c in columns]
    return pl.when(~(missing[0] | missing[1]) & _are_fit(*columns, args).all()).then(value)
