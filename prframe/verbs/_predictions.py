"""Two judges: humans, who have judged some queries, and a machine, which has judged all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from scipy.special import stdtr

from prframe import checks, hints
from prframe._engine.arguments import WORKING, Arguments
from prframe._engine.frames import Source
from prframe._engine.measure import values_of_groups
from prframe._engine.pieces import Ranking
from prframe._engine.rows import considered, in_groups, is_missing, key_names, problems
from prframe.errors import ArgumentError, CoverageWarning, PrframeError, warn
from prframe.metrics import Metric
from prframe.typing import Columns, Schema
from prframe.verbs._evaluation import Evaluation
from prframe.verbs._precomputed_values import VALUE, MetricValues, PrecomputedValues

# The working columns of the machine's value, and of whether humans have judged the query.
MACHINE, JUDGED = f"{WORKING}machine", f"{WORKING}judged"
COUNTS: Schema = {
    "n": pl.Int64(),
    "n_predicted": pl.Int64(),
    **dict.fromkeys(("weight", "bias", "n_effective"), pl.Float64()),
}
# The arguments that name precomputed values: those of humans and of the machine.
_AT_HAND = ("values", "predicted")
Measure: TypeAlias = Evaluation | PrecomputedValues
Compute: TypeAlias = Callable[[Source, Arguments, Measure], MetricValues]
_AGREES = "`predicted` combines human with machine labels"


def judged_by_both(
    args: Arguments, predicted: Columns, wanted: Mapping[str, Metric]
) -> dict[str, Any]:
    """Return the arguments that name the machine's column of labels, or of precomputed values."""
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
    if isinstance(measure, PrecomputedValues):
        judged, measure = pl.col(VALUE).is_not_null(), replace(measure, sparse=True)
    values = found.rows.clear()
    if by_human.height:
        values = compute(source.holding(by_human), plain, measure).rows
    values, rows = values.with_columns(judged.alias(JUDGED)), found.rows.rename({VALUE: MACHINE})
    keys = [column for column in rows.columns if column != MACHINE]
    rows = rows.join(values, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return replace(found, rows=rows.with_columns(pl.col(JUDGED).fill_null(value=False)))


def _columns(args: Arguments) -> list[list[str]]:
    """Return the columns of labels, or precomputed values, by humans and by the machine."""
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


def warn_of_few_judged(n: int) -> None:
    """Warn once of means that rest on few queries with human labels."""
    if 0 < n < LEAST_QUERIES:
        warn(
            f"humans have judged {n} queries: with fewer than {LEAST_QUERIES} the interval may "
            "miss the mean too often, and `n_effective` is unreliable; judge more, or ignore "
            "CoverageWarning.",
            CoverageWarning,
        )


# The kinds of rows from which findings follow, and how columns of human values begin.
_QUERIES, _LABELS, _HUMAN = "judged queries", "judged labels", "human "
# With fewer queries the interval hangs on a few of them.
LEAST_QUERIES = 20
# So rarely does a random sample look like none.
_ALPHA = 0.001


def filled(source: Source, args: Arguments) -> Source:
    """Return the rows with the machine's labels where humans have given none."""
    rows = source.whole()
    known = ~is_missing(pl.col(args.label), rows.schema[args.label])
    label = pl.when(known).then(args.label).otherwise(str(args.predicted)).alias(args.label)
    return source.holding(rows.with_columns(label))


def agreement(
    source: Source, args: Arguments, metrics: Mapping[str, Metric]
) -> list[pl.DataFrame]:
    """Return the counts of labels of both judges, and the values of queries by both."""
    args = replace(args, n_pos=None, n_neg=None)
    human = replace(args, predicted=None)
    machine = replace(human, label=str(args.predicted))
    rows = source.whole()
    rows = rows.filter(True, *considered(replace(args, ignore=None), rows.schema))  # noqa: FBT003
    of_human, of_machine = (
        ~is_missing(pl.col(judge.label), rows.schema[judge.label]) for judge in (human, machine)
    )
    labels = [
        _words(judge.label, rows.schema).alias(name)
        for judge, name in ((human, "h"), (machine, "m"))
    ]
    pairs = rows.filter(of_human & of_machine).group_by(labels).len()
    parts = [pairs.with_columns(part=pl.lit(_LABELS))]
    if not args.keys:
        return parts
    names = dict(zip(key_names(args), args.keys, strict=True))
    counts = {"n": pl.len(), "n_human": of_human.sum(), "n_machine": of_machine.sum()}
    queries = rows.group_by(pl.col(key).alias(name) for name, key in names.items()).agg(**counts)
    for prefix, judge, known in (
        ("", machine, of_machine),
        (_HUMAN, human, of_human & of_machine),
    ):
        faults = [f.bad for f in problems(judge, rows.schema) if f.kind != "missing_score"]
        kept = rows.filter(known.all().over(args.keys), ~pl.any_horizontal(faults))
        if kept.is_empty():
            nothing = pl.lit(None, dtype=pl.Float64)
            queries = queries.with_columns(nothing.alias(prefix + metric) for metric in metrics)
            continue
        values = values_of_groups(Ranking(Source(kept), judge), metrics)
        values = values.select(*names, pl.col(list(metrics)).name.prefix(prefix))
        queries = queries.join(values, on=list(names), how="left", nulls_equal=True)
    return [*parts, queries.with_columns(part=pl.lit(_QUERIES))]


def findings(
    rows: pl.DataFrame, args: Arguments, metrics: Mapping[str, Metric]
) -> Iterator[tuple[str, str, int, str]]:
    """Yield kind, severity, count and example of what the judgments show."""
    labels, queries = rows.filter(part=_LABELS), rows.filter(part=_QUERIES)
    if queries.height:
        yield from _of_queries(queries, args, metrics)
    if labels.height:
        yield "judge_agreement", "info", int(labels["len"].sum()), _kappa(labels)


def _of_queries(
    queries: pl.DataFrame, args: Arguments, metrics: Mapping[str, Metric]
) -> Iterator[tuple[str, str, int, str]]:
    """Yield what the counts and values of queries show."""
    names = dict(zip(key_names(args), args.keys, strict=True))
    queries = queries.sort([*names])
    lacks = {"half_judged": pl.col("n_human").is_between(1, pl.col("n") - 1)}
    lacks["missing_prediction"] = pl.col("n_machine") < pl.col("n")
    for kind, condition in lacks.items():
        bad = queries.filter(condition)
        yield kind, "error", bad.height, in_groups(bad.select(*names).rows()).removeprefix(", ")
    # Systems that answer the same query are no further queries.
    of_query = [key for key, name in names.items() if name.lower() not in hints.MODELS]
    judged = (pl.col("n_human") == pl.col("n")).all().alias("judged")
    of_queries = queries.group_by(of_query or [*names]).agg(judged, pl.col(list(metrics)).mean())
    sample, rest = of_queries.filter("judged"), of_queries.filter(~pl.col("judged"))
    if sample.height < LEAST_QUERIES:
        example = f"humans have judged {sample.height} of {of_queries.height} queries"
        yield "few_judged", "warning", max(sample.height, 1), f"{example}; judge {LEAST_QUERIES}"
    for metric in metrics:
        means, p = _unlike(sample[metric].drop_nulls(), rest[metric].drop_nulls())
        if p < _ALPHA:
            example = f"{metric} by the machine: {means}, p = {p:.2g}"
            yield "judged_not_random", "warning", sample.height, example
        bias = (queries[_HUMAN + metric] - queries[metric]).drop_nulls().to_numpy()
        if bias.size:
            example = f"{metric}: human minus machine {bias.mean():+.3f}"
            yield "judge_bias", "info", bias.size, example


def _unlike(sample: pl.Series, rest: pl.Series) -> tuple[str, float]:
    """Return the means of two samples, and the p-value of Welch's test that they are one."""
    a, b = sample.to_numpy(), rest.to_numpy()
    if min(a.size, b.size) < 2 or not a.var() + b.var() > 0:  # noqa: PLR2004
        return "", 1.0
    means = f"{a.mean():.3f} where humans have judged, {b.mean():.3f} elsewhere"
    errors = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    df = errors.sum() ** 2 / (errors**2 / [a.size - 1, b.size - 1]).sum()
    return means, float(2 * stdtr(df, -abs(a.mean() - b.mean()) / errors.sum() ** 0.5))


def _kappa(labels: pl.DataFrame) -> str:
    """Return Cohen's kappa, and the share of labels that are the same."""
    labels = labels.group_by("h", "m").agg(pl.col("len").sum())
    total = int(labels["len"].sum())
    same = int(labels.filter(pl.col("h") == pl.col("m"))["len"].sum()) / total
    shares = [labels.group_by(label=side).agg(pl.col("len").sum() / total) for side in "hm"]
    pairs = shares[0].join(shares[1], on="label")
    chance = float((pairs["len"] * pairs["len_right"]).sum())
    kappa = f"{(same - chance) / (1 - chance):.3f}" if chance < 1 else "undefined"
    return f"Cohen's kappa {kappa}; {100 * same:.1f} % of labels are the same"


def _words(label: str, schema: pl.Schema) -> pl.Expr:
    """Return labels as text, in which equal numbers are equal whatever their dtypes."""
    is_number = schema[label].is_numeric() or schema[label] == pl.Boolean
    return (pl.col(label).cast(pl.Float64) if is_number else pl.col(label)).cast(pl.String)
