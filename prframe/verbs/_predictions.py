"""Two judges: humans, who have judged some queries, and a machine, which has judged all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import polars as pl

from prframe import checks
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics import Metric
from prframe.typing import Columns, Schema
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._values_at_hand import VALUE, MetricValues, ValuesAtHand

# The working columns of the machine's value, and of whether humans have judged the query.
MACHINE, JUDGED = f"{WORKING}machine", f"{WORKING}judged"
COUNTS: Schema = {
    "n": pl.Int64(),
    "n_predicted": pl.Int64(),
    **dict.fromkeys(("weight", "bias", "n_effective"), pl.Float64()),
}
# The arguments that name values at hand: those of humans and of the machine.
_AT_HAND = ("values", "predicted")
Measure: TypeAlias = Evaluation | ValuesAtHand
Compute: TypeAlias = Callable[[Source, Arguments, Measure], MetricValues]
_AGREES = "`predicted` combines human with machine labels"


def judged_by_both(
    args: Arguments, predicted: Columns, wanted: Mapping[str, Metric]
) -> dict[str, Any]:
    """Return the arguments that name the machine's column of labels, or of values at hand."""
    columns = checks.column_names("predicted", predicted)
    human, _ = _columns(args)
    if len(columns) != len(human) or {*columns} & {*args.columns}:
        raise ArgumentError(
            f"`predicted` must name another column for each of {checks.listed(human)}; got "
            f"{checks.listed(columns, in_order=True)}."
        )
    if args.totals:
        raise ArgumentError(
            f"{_AGREES}, and `{args.totals[0]}` counts those of one judge; list these items with "
            "a score of -inf and the labels of both."
        )
    if None in args.ignored:
        raise ArgumentError(f"{_AGREES}, where null means not judged; leave out ignore=[None].")
    if judged := [name for name, metric in wanted.items() if metric.judged]:
        raise ArgumentError(
            f"{checks.listed(judged)} is about items that are not judged, and the machine judges "
            "all; leave out `predicted`, or name other metrics."
        )
    at_hand = tuple(("predicted", column) for column in columns) if args.at_hand else ()
    return {"predicted": columns[0], "at_hand": (*args.at_hand, *at_hand)}


def refuse_options(given: Mapping[str, bool], taken: str) -> None:
    """Refuse options that the prediction-powered interval does not take."""
    if wrong := [option for option, is_wrong in given.items() if is_wrong]:
        raise ArgumentError(f"`predicted` takes {taken}; leave out {', '.join(wrong)}.")


def values_of_both(
    source: Source, args: Arguments, query: Sequence[str], measure: Measure, compute: Compute
) -> MetricValues:
    """Return the machine's value of each query and metric, with the human one or null."""
    rows, plain, schema = source.whole(), replace(args, predicted=None), source.schema
    human, machine = _columns(args)
    judged, by_human = pl.lit(value=True), rows
    if isinstance(measure, Evaluation):
        rows = rows.filter(True, *considered(replace(args, ignore=None), schema))  # noqa: FBT003
        known = ~is_missing(pl.col(args.label), schema[args.label])
        queries = rows.group_by(query, maintain_order=True).agg(any=known.any(), all=known.all())
        refuse_halves(queries.filter(pl.col("any") & ~pl.col("all")).select(query), args.label)
        whole = queries.filter("all").select(query)
        by_human = rows.join(whole, on=query, how="semi", nulls_equal=True, maintain_order="left")
    for column in machine:
        _refuse_gaps(rows, column, query)
    renamed = rows.drop(human).rename(dict(zip(machine, human, strict=True)))
    found = compute(source.holding(renamed), plain, measure)
    if isinstance(measure, ValuesAtHand):
        judged, measure = pl.col(VALUE).is_not_null(), replace(measure, sparse=True)
    values = found.rows.clear()
    if by_human.height:
        values = compute(source.holding(by_human), plain, measure).rows
    values, rows = values.with_columns(judged.alias(JUDGED)), found.rows.rename({VALUE: MACHINE})
    keys = [column for column in rows.columns if column != MACHINE]
    rows = rows.join(values, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return replace(found, rows=rows.with_columns(pl.col(JUDGED).fill_null(value=False)))


def _columns(args: Arguments) -> list[list[str]]:
    """Return the columns of labels, or values at hand, by humans and by the machine."""
    if not args.at_hand:
        return [[args.label], [str(args.predicted)]]
    return [[column for name, column in args.at_hand if name == of] for of in _AT_HAND]


def _refuse_gaps(rows: pl.DataFrame, column: str, query: Sequence[str]) -> None:
    """Require a label or value of the machine in every row."""
    lacking = rows.filter(is_missing(pl.col(column), rows.schema[column]))
    if lacking.height:
        where = in_groups(lacking.select(query).unique(maintain_order=True).rows())
        raise PrframeError(
            f"`predicted` {column!r} must not contain nulls or NaN: {lacking.height} of "
            f"{rows.height} rows{where}; have the machine judge these too, or, where a value is "
            "undefined, fill it with the same number everywhere, such as 0."
        )


def refuse_halves(queries: pl.DataFrame, column: str) -> None:
    """Refuse queries of which humans have judged a part."""
    if queries.height:
        raise PrframeError(
            f"{column!r} must have human labels for all rows of a query, or null for all: "
            f"{queries.height} queries have both{in_groups(queries.rows())}; judge their other "
            "rows, fill these with 0 if they are not relevant, or set all to null."
        )


def refuse_one_judge(rows: pl.DataFrame, args: Arguments) -> None:
    """Require that some queries have been judged by humans, and others not."""
    column = repr(_columns(args)[0][0])
    if rows.height and rows[JUDGED].all():
        raise PrframeError(
            f"{column} has no nulls, so humans have judged every query; leave out predicted=, "
            "which adds nothing, or set the queries to null that only the machine has judged."
        )
    if rows.height and not rows[JUDGED].any():
        raise PrframeError(
            f"{column} holds nulls alone, so humans have judged no query; judge a random sample "
            "of 20 or more, without which nothing tells how far the machine is off."
        )
