"""How far two judges agree, and whether humans have judged a random sample of the queries."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from scipy.special import stdtr

from prframe import hints
from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.measure import values_of_groups
from prframe._engine.pieces import Ranking
from prframe._engine.rows import considered, in_groups, is_missing, key_names, problems
from prframe.metrics import Metric
from prframe.typing import Floats

# The kinds of rows from which findings follow.
_QUERIES, _LABELS = "judged queries", "judged labels"
_HUMAN = "human "
# With fewer queries the interval hangs on a few of them.
LEAST_QUERIES = 20
# So rarely does a random sample look like none.
_ALPHA = 0.001


def filled(source: Source, args: Arguments) -> Source:
    """Return the rows with the machine's labels where humans have given none."""
    rows, label = source.whole(), pl.col(args.label)
    if rows.schema[args.label].is_float():
        label = label.fill_nan(None)
    return source.holding(
        rows.with_columns(pl.coalesce(label, str(args.predicted)).alias(args.label))
    )


def agreement(
    source: Source, args: Arguments, metrics: Mapping[str, Metric]
) -> list[pl.DataFrame]:
    """Return the counts of labels of both judges, and the values of queries by both."""
    rows, machine = source.whole(), replace(args, label=str(args.predicted), predicted=None)
    rows = rows.filter(True, *considered(replace(args, ignore=None), rows.schema))  # noqa: FBT003
    of_human, of_machine = (
        ~is_missing(pl.col(name), rows.schema[name]) for name in (args.label, machine.label)
    )
    both = rows.filter(of_human, of_machine)
    pairs = both.group_by(_plain(both, args.label, "h"), _plain(both, machine.label, "m")).len()
    parts = [pairs.with_columns(part=pl.lit(_LABELS))]
    if not args.keys or rows.is_empty():
        return parts
    keys = [pl.col(key).alias(name) for key, name in zip(args.keys, key_names(args), strict=True)]
    queries = rows.group_by(keys).agg(
        n=pl.len(), n_human=of_human.sum(), n_machine=of_machine.sum()
    )
    of_both = of_human & of_machine
    for prefix, judge, is_judged in (("", machine, of_machine), (_HUMAN, args, of_both)):
        judge = replace(judge, predicted=None, n_pos=None, n_neg=None)  # noqa: PLW2901
        faults = [f.bad for f in problems(judge, rows.schema) if f.kind != "missing_score"]
        kept = rows.filter(is_judged.all().over(args.keys), ~pl.any_horizontal(faults))
        if kept.height:
            values = values_of_groups(Ranking(Source(kept), judge), metrics)
            values = values.select(*key_names(args), pl.col(list(metrics)).name.prefix(prefix))
            queries = queries.join(values, on=key_names(args), how="left", nulls_equal=True)
    return [*parts, queries.with_columns(part=pl.lit(_QUERIES))]


def _plain(rows: pl.DataFrame, label: str, name: str) -> pl.Expr:
    """Return labels as text, equal numbers alike."""
    dtype = rows.schema[label]
    number = dtype.is_numeric() or dtype == pl.Boolean
    return (
        (pl.col(label).cast(pl.Float64) if number else pl.col(label)).cast(pl.String).alias(name)
    )


def findings(
    rows: pl.DataFrame, args: Arguments, metrics: Mapping[str, Metric]
) -> Iterator[tuple[str, str, int, str]]:
    """Yield kind, severity, count and example of what the judgments show."""
    labels, queries = rows.filter(part=_LABELS), rows.filter(part=_QUERIES)
    keys = key_names(args)
    if queries.height:
        half = queries.filter(pl.col("n_human").is_between(1, pl.col("n") - 1)).sort(keys)
        yield "half_judged", "error", half.height, _named(half, keys)
        gaps = queries.filter(pl.col("n_machine") < pl.col("n")).sort(keys)
        lacking = int((gaps["n"] - gaps["n_machine"]).sum())
        yield "missing_prediction", "error", lacking, _named(gaps, keys)
        names = dict(zip(keys, args.keys, strict=True))
        # Systems that answer the same query are no further queries.
        of_query = [key for key, name in names.items() if name.lower() not in hints.MODELS] or keys
        judged = pl.col("n_human") == pl.col("n")
        of_queries = queries.group_by(of_query).agg(
            judged.all().alias("judged"),
            pl.col([m for m in metrics if m in queries.columns]).mean(),
        )
        n = int(of_queries["judged"].sum())
        if n < LEAST_QUERIES:
            example = (
                f"humans have judged {n} of {of_queries.height} queries; judge {LEAST_QUERIES}"
            )
            yield "few_judged", "warning", max(n, 1), example
        for metric in (m for m in metrics if _HUMAN + m in queries.columns):
            yield from _of_metric(metric, queries, of_queries)
    if labels.height:
        yield "judge_agreement", "info", int(labels["len"].sum()), _kappa(labels)


def _of_metric(
    metric: str, queries: pl.DataFrame, of_queries: pl.DataFrame
) -> Iterator[tuple[str, str, int, str]]:
    """Yield what the values of a metric show."""
    groups = of_queries.drop_nulls(metric).partition_by("judged", as_dict=True)
    sample, rest = (
        groups[key,][metric].to_numpy() if (key,) in groups else np.zeros(0)
        for key in (True, False)
    )
    p = _welch(sample, rest)
    if p < _ALPHA:
        example = (
            f"{metric} by the machine: {sample.mean():.3f} where humans have judged, "
            f"{rest.mean():.3f} elsewhere, p = {p:.2g}"
        )
        yield "judged_not_random", "warning", sample.size, example
    both = queries.select(h=_HUMAN + metric, m=metric).drop_nulls()
    if both.height:
        bias = float((both["h"] - both["m"]).to_numpy().mean())
        yield "judge_bias", "info", both.height, f"{metric}: human minus machine {bias:+.3f}"


def _welch(a: Floats, b: Floats) -> float:
    """Return the p-value of Welch's test that two samples have one mean; 1 if it says nothing."""
    if min(a.size, b.size) < 2:  # noqa: PLR2004
        return 1.0
    parts = np.array([a.var(ddof=1) / a.size, b.var(ddof=1) / b.size])
    if not parts.sum() > 0:
        return float(a.mean() == b.mean())
    df = parts.sum() ** 2 / (parts**2 / [a.size - 1, b.size - 1]).sum()
    return float(2 * stdtr(df, -abs(a.mean() - b.mean()) / np.sqrt(parts.sum())))


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


def _named(bad: pl.DataFrame, keys: list[str]) -> str:
    """Name the first groups."""
    return in_groups(bad.select(keys).rows()).removeprefix(", ")
