"""Two judges: humans, who have judged some queries, and a machine, which has judged all."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl

from prframe import checks
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.rows import considered, in_groups, is_missing
from prframe.errors import ArgumentError, PrframeError
from prframe.metrics import Metric
from prframe.stats.predictions import PredictedMean
from prframe.typing import Columns, Schema
from prframe.verbs._values_at_hand import VALUE, MetricValues, ValuesAtHand

# The working columns of the machine's value, and of whether humans have judged the query.
MACHINE, JUDGED = f"{WORKING}machine", f"{WORKING}judged"
METHODS = ("auto", "t", "logit")
COUNTS: Schema = {
    "n": pl.Int64(),
    "n_predicted": pl.Int64(),
    **dict.fromkeys(("weight", "bias", "n_effective"), pl.Float64()),
}
# The arguments that name values at hand: those of humans and of the machine.
_AT_HAND = ("values", "predicted")
_AGREES = "`predicted` combines human with machine labels"


def judged_by_both(args: Arguments, predicted: Columns, wanted: Mapping[str, Metric]) -> Arguments:
    """Return the arguments with the machine's column of labels, or those of values at hand."""
    columns = checks.column_names("predicted", predicted)
    human = [column for name, column in args.at_hand if name == _AT_HAND[0]] or [args.label]
    if len(columns) != len(human) or {*columns} & {*human}:
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
    return replace(args, predicted=columns[0], at_hand=(*args.at_hand, *at_hand))


def refuse_options(given: Mapping[str, bool], taken: str) -> None:
    """Refuse options that the prediction-powered interval does not take."""
    if wrong := [option for option, is_wrong in given.items() if is_wrong]:
        raise ArgumentError(f"`predicted` takes {taken}; leave out {', '.join(wrong)}.")


def values_of_both(
    source: Source,
    args: Arguments,
    query: Sequence[str],
    measure: Callable[[Source, Arguments], MetricValues],
) -> MetricValues:
    """Return the machine's value of each query and metric, with the human one or null.

    `measure` evaluates rows by the label of the arguments; `query` are the columns of queries.
    """
    rows = source.whole()
    rows = rows.filter(True, *considered(replace(args, ignore=None), rows.schema))  # noqa: FBT003
    _refuse_gaps(rows, str(args.predicted), query)
    known = ~is_missing(pl.col(args.label), rows.schema[args.label])
    queries = rows.group_by(query, maintain_order=True).agg(any=known.any(), all=known.all())
    refuse_halves(queries.filter(pl.col("any") & ~pl.col("all")).select(query), args.label)
    machine = measure(
        source.holding(rows), replace(args, label=str(args.predicted), predicted=None)
    )
    judged = queries.filter("all").select(query)
    rows = rows.join(judged, on=query, how="semi", nulls_equal=True, maintain_order="left")
    if rows.is_empty():
        return _joined(machine, machine.rows.clear(), judged=pl.lit(value=True))
    human = measure(source.holding(rows), replace(args, predicted=None))
    return _joined(machine, human.rows, judged=pl.lit(value=True))


def at_hand_of_both(
    source: Source,
    args: Arguments,
    query: Sequence[str],
    at_hand: ValuesAtHand,
    read: Callable[[Source, ValuesAtHand], MetricValues],
) -> MetricValues:
    """Return the machine's values at hand, with the human ones or null."""
    rows = source.whole()
    human, machine = ([c for name, c in args.at_hand if name == of] for of in _AT_HAND)
    for column in machine:
        _refuse_gaps(rows, column, query)
    by_name = rows.drop(human).rename(dict(zip(machine, human, strict=True)))
    found = read(source, replace(at_hand, sparse=True)).rows
    judged = pl.col(VALUE).is_not_null()
    return _joined(read(source.holding(by_name), at_hand), found, judged=judged)


def _joined(machine: MetricValues, human: pl.DataFrame, *, judged: pl.Expr) -> MetricValues:
    """Join values; `judged` tells whether the row of a human value is one of a judged query."""
    rows = machine.rows.rename({VALUE: MACHINE})
    keys = [column for column in rows.columns if column != MACHINE]
    human = human.with_columns(judged.alias(JUDGED))
    rows = rows.join(human, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return replace(machine, rows=rows.with_columns(pl.col(JUDGED).fill_null(value=False)))


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
    column = repr(next((name for _, name in args.at_hand), args.label))
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


def with_counts(rows: pl.DataFrame, means: Sequence[PredictedMean]) -> pl.DataFrame:
    """Add the columns that say what each mean is made of."""
    columns = {name: [getattr(mean, name) for mean in means] for name in COUNTS}
    counts = pl.DataFrame(columns, schema=dict(COUNTS))
    return rows.hstack(counts.with_columns(pl.col(pl.Float64).fill_nan(None)))
