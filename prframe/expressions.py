"""Metrics as polars expressions: ``pl.col("score").pr.ap("label")``.

They work in `select`, `agg` and `over`, eagerly, lazily and streaming, and give the numbers of
`evaluate`. The value is null, without a warning, for a group with a null or NaN score or label,
and for one without positives. `evaluate` is faster for more than one metric, as each expression
sorts anew.

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

Examples
--------
>>> import polars as pl, prframe
>>> frame = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [1, 0, 1]})
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
from prframe._engine.lists import values_of_lists
from prframe._engine.rows import warn_of_grades
from prframe.errors import (
    ArgumentError,
    NoNegativesWarning,
    PrframeError,
    UnknownMetricError,
    in_name_of_caller,
    warn,
)
from prframe.metrics import Metric, parse_metric
from prframe.metrics.positions import RR, P, R, nDCG
from prframe.metrics.thresholds import AP, AUC
from prframe.tie_policies import listed_in_braces

# An order by name needs a second column; `evaluate` has it.
ExpressionTies: TypeAlias = Literal["group", "order", "expected", "best", "worst"]

_TIES: tuple[ExpressionTies, ...] = get_args(ExpressionTies)
__doc__ = (__doc__ or "").replace("{policies}", listed_in_braces(_TIES))
P_ = ParamSpec("P_")
T = TypeVar("T")


def _described(function: Callable[P_, T]) -> Callable[P_, T]:
    """Insert the shared sections of the module's docstring into that of a function."""
    shared = "Parameters\n" + (__doc__ or "").partition("Parameters\n")[2].strip()
    names = inspect.signature(function).parameters
    for name in ("name", "k", "positive", "weight", "n_pos"):
        if name not in names:
            shared = re.sub(rf"\n{name}\b.* : .*(\n    .*)+", "", shared)
    if "k" in names and names["k"].default is inspect.Parameter.empty:
        shared = shared.replace("\nk : int, optional\n", "\nk : int\n")
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

    Metrics of judged items (Bpref, infAP, Judged) need `evaluate`.

    {shared}
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
    """Return the metric; refuse a name and a label that are exchanged."""
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
    >>> round(frame.select(pl.col("score").pr.ndcg("label")).item(), 6)
    0.919721
    """
    return _metric(score, label, _cut(nDCG, k), _arguments(None, ties))


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
    """Compute a metric within a group, with `more` weights and totals, under the score's name."""
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
            f"every {args.label!r} is positive, so precision is 1 at every threshold. Say "
            "which labels are positive with positive=, or pass a condition such as "
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
