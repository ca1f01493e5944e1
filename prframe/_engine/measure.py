"""From hits to the values of metrics, group by group."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import get_args

import numpy as np
import polars as pl

from prframe._engine.hits import Hits, at_grade, together
from prframe._engine.pieces import Piece, Ranking, Task, results
from prframe._engine.ranks import task_of_hits
from prframe._engine.rows import computed, key_names
from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.metrics.metric import Combine, Term
from prframe.metrics.quantities import Quantities, gain_of, is_above_name
from prframe.stats.tie_expectations import discount_sum, discount_sums
from prframe.tie_policies import Ties

_TOTALS = ("n", "n_pos", "n_neg", "n_hits", "n_nonrel")


def values_of_groups(
    ranking: Ranking,
    metrics: Mapping[str, Metric],
    *,
    prior: float | None = None,
    interpolate: bool = False,
    begin: Callable[[Piece], Task[Hits]] = task_of_hits,
) -> pl.DataFrame:
    """Return a row per group: its keys and metrics; `begin` makes the task that finds its hits."""
    keys, wanted = key_names(ranking.args), list(metrics.values())
    ranking = replace(ranking, thresholds=thresholds_of(wanted))

    def values(pieces: Iterable[Piece]) -> pl.DataFrame:
        rows, ties = [], ranking.args.ties
        for found in together(results(map(begin, pieces))):
            values = measure(found, wanted, ties=ties, prior=prior, interpolate=interpolate)
            rows.append(pl.concat([found.totals.select(keys), values], how="horizontal"))
        return pl.concat(rows)

    table = ranking.of_pieces(values)
    table.columns = [*keys, *metrics]
    return table


def thresholds_of(metrics: Iterable[Metric]) -> tuple[float, ...]:
    """Return the thresholds of the scores that metrics are taken at."""
    given = (metric.threshold for metric in metrics)
    return tuple(sorted({threshold for threshold in given if threshold is not None}))


def measure(
    found: Hits,
    metrics: Sequence[Metric],
    *,
    ties: Ties = "group",
    prior: float | None = None,
    interpolate: bool = False,
) -> pl.DataFrame:
    """Return a row per group, a column per metric, named by its position; null if undefined."""
    _check_grades(found, metrics)
    numbered = sorted(enumerate(metrics), key=lambda pair: pair[1].rel or 0.0)
    frames = []
    for rel, pairs in groupby(numbered, key=lambda pair: pair[1].rel):
        some = dict(pairs)
        graded = found if rel is None else at_grade(found, rel)
        frames.append(_Measurement(graded, ties, prior, interpolate=interpolate).values(some))
    return pl.concat(frames, how="horizontal").select(str(i) for i in range(len(metrics)))


def _check_grades(found: Hits, metrics: Sequence[Metric]) -> None:
    """Require grades within what a metric takes, of retrieved items and others."""
    for metric in metrics:
        highest = metric.highest_grade
        if highest is None:
            continue
        items = found.table if found.marks is None else found.marks
        largest = float(items["gain"].to_numpy().max(initial=0))
        if largest > highest:
            remedy = "2^label is too large a number beyond"
            if metric.takes("top"):
                grade = f"{metric.name}(top={largest:g})"
                remedy = f"name the highest grade of the judgments: {grade!r}"
            raise PrframeError(
                f"{metric} takes labels up to {highest:g}; got {largest:g}; {remedy}."
            )


class _Measurement:
    """Metrics of one set of hits."""

    def __init__(self, found: Hits, ties: Ties, prior: float | None, *, interpolate: bool) -> None:
        self._hits = found
        self._ties: Ties = ties
        self._prior = prior
        self._interpolate = interpolate
        # The best DCGs that were asked for: name of the column -> cut-off and kind of gain.
        self._ideals: dict[str, tuple[int | None, str]] = {}

    def values(self, metrics: dict[int, Metric]) -> pl.DataFrame:
        """Return the values, a column per number."""
        q = self._quantities(interpolated=False)
        values = [_value(metric, i, q, self._ties).alias(str(i)) for i, metric in metrics.items()]
        totals = self._hits.totals.with_row_index("group")
        totals = totals.with_columns(pl.col("group").cast(pl.Int64))
        totals = _with_ideals(totals, self._hits.marks, self._ideals)
        for combine in get_args(Combine):
            combined = self._combined(metrics, combine)
            if combined is not None:
                totals = totals.join(combined, on="group", how="left", maintain_order="left")
        return computed(totals, *values)

    def _combined(self, metrics: dict[int, Metric], combine: Combine) -> pl.DataFrame | None:
        """Return the sums, or the largest, of the credits of hits, one row per group with hits."""
        terms = {
            f"{i}.{j}": (metric, term)
            for i, metric in metrics.items()
            for j, term in enumerate(metric.terms_under(self._ties))
            if term.combine == combine
        }
        if not terms:
            return None
        whole_groups = any(
            self._interpolated(metric) or not term.per_hit for metric, term in terms.values()
        )
        hits = self._hits.parts(whole_groups=whole_groups)
        parts = [self._credited(rows, terms, combine) for rows in hits]
        return parts[0] if len(parts) == 1 else _per_group(pl.concat(parts), combine)

    def _credited(
        self, rows: pl.LazyFrame, terms: Mapping[str, tuple[Metric, Term]], combine: Combine
    ) -> pl.DataFrame:
        """Combine what some of the hits earn into one row per group."""
        per_hit: dict[str, pl.Expr] = {}
        per_group: dict[str, pl.Expr] = {}
        for name, (metric, term) in terms.items():
            quantities = self._quantities(interpolated=self._interpolated(metric))
            (per_hit if term.per_hit else per_group)[name] = term.credit(quantities, metric)
        table = self._with_counts(rows, [*per_hit.values(), *per_group.values()])
        if any(self._interpolated(metric) for metric, _ in terms.values()):
            table = computed(table, pl.all(), interpolated=self._running_best())
        if combine == "first":
            table = table.filter(pl.col("weight") > 0)
            table = table.filter(pl.col("group") != pl.col("group").shift(fill_value=-1))
        credited = computed(table, "group", **per_hit).hstack(table.select(**per_group))
        return credited if combine == "first" else _per_group(credited, combine)

    def _interpolated(self, metric: Metric) -> bool:
        """Return whether a metric is to use interpolated precision."""
        asked = self._interpolate and "interpolate" in metric.options
        return metric.interpolated or asked

    def _with_counts(self, rows: pl.LazyFrame, credits_: Iterable[pl.Expr]) -> pl.DataFrame:
        """Give each hit the totals of its group, those that a credit asks for."""
        asked = {name for credit in credits_ for name in credit.meta.root_names()} | {"weight"}
        if "interpolated" in asked:
            asked.update(self._running_best().meta.root_names())
        of_hits = asked.intersection(rows.collect_schema()) - {"group"}
        table = rows.select("group", *sorted(of_hits)).collect(engine="in-memory")
        of_groups = [*_TOTALS, *filter(is_above_name, self._hits.totals.columns)]
        counts = self._hits.totals.select([name for name in of_groups if name in asked])
        if not counts.width:
            return table
        return pl.concat([table, counts[table["group"]]], how="horizontal")

    def _running_best(self) -> pl.Expr:
        """Return the largest precision at each hit's recall or beyond."""
        q = self._quantities(interpolated=False)
        value = q.precision(q.tp_end, q.fp_end)
        return value.cum_max(reverse=True).over("group")

    def _quantities(self, *, interpolated: bool) -> Quantities:
        """Return the quantities, with interpolated precision or without."""
        return Quantities(
            self._running_discounts,
            self._ideal_dcg,
            self._prior,
            interpolated=pl.col("interpolated") if interpolated else None,
            weighted=self._hits.totals.schema["n_hits"].is_float(),
        )

    def _ideal_dcg(self, k: int | None, kind: str) -> pl.Expr:
        name = f"ideal {kind}@{k}"
        self._ideals[name] = k, kind
        return pl.col(name)

    def _running_discounts(self, k: int | None) -> Callable[[pl.Expr], pl.Expr]:
        # Only as far as a hit reaches.
        ends = self._hits.columns.select("end").collect(engine="in-memory")["end"]
        reach = int(ends.to_numpy().max(initial=0))
        table = pl.lit(pl.Series(discount_sums(reach if k is None else min(k, reach))))
        return table.gather


def _per_group(credited: pl.DataFrame, combine: Combine) -> pl.DataFrame:
    """Combine the rows of each group, which stand in order of their groups."""
    each = {"sum": pl.all().sum(), "max": pl.all().max(), "first": pl.all().first()}
    grouped = credited.with_columns(pl.col("group").set_sorted())
    return grouped.group_by("group", maintain_order=True).agg(each[combine])


def _value(metric: Metric, i: int, q: Quantities, ties: Ties) -> pl.Expr:
    """Finish a metric; null where it is undefined."""
    n_terms = len(metric.terms_under(ties))
    terms = [pl.col(f"{i}.{j}").fill_null(0.0) for j in range(n_terms)]
    value = metric.finish_under(ties)(q, metric, terms).cast(pl.Float64)
    defined = pl.all_horizontal(pl.lit(value=True), *(pl.col(name) > 0 for name in metric.needs))
    return pl.when(defined).then(value)


def _with_ideals(
    totals: pl.DataFrame,
    marks: pl.DataFrame | None,
    ideals: Mapping[str, tuple[int | None, str]],
) -> pl.DataFrame:
    """Add the DCG of the best ranking, one column per cut-off and kind of gain."""
    if not ideals:
        return totals
    depth = totals["n_pos"].to_numpy()
    # A positive without a grade has a gain of 1, of either kind.
    totals = totals.with_columns(
        pl.Series(name, discount_sum(depth if k is None else np.minimum(depth, k)))
        for name, (k, _) in ideals.items()
    )
    return totals if marks is None else _with_graded_ideals(totals, marks, ideals)


def _with_graded_ideals(
    totals: pl.DataFrame, marks: pl.DataFrame, ideals: Mapping[str, tuple[int | None, str]]
) -> pl.DataFrame:
    """Replace the DCG of the best ranking where a group's items are graded."""
    grade, is_graded = pl.col("gain"), (pl.col("gain") != pl.col("weight")).any()
    rank = pl.int_range(1, pl.len() + 1)
    graded = (
        marks.filter(grade > 0)
        .sort("group", "gain", descending=[False, True])
        .group_by("group")
        .agg(
            is_graded.alias("graded"),
            *(
                (gain_of(grade, kind) / (rank + 1).log(2))
                .head(pl.len() if k is None else k)
                .sum()
                .alias(f"graded {name}")
                for name, (k, kind) in ideals.items()
            ),
        )
        .filter("graded")
    )
    totals = totals.join(graded, on="group", how="left", maintain_order="left")
    unlisted = totals.filter("graded", pl.col("n_pos") > pl.col("present_pos"))
    if unlisted.height:
        raise PrframeError(
            "nDCG with graded labels needs the label of every positive, but `n_pos` counts "
            f"unlisted ones in {unlisted.height} groups; list them with a score of -inf."
        )
    return totals.with_columns(pl.coalesce(f"graded {name}", name).alias(name) for name in ideals)
