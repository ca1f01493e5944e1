"""From hits to the values of metrics, group by group."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from prframe.errors import PrframeError
from prframe.metrics import Metric
from prframe.quantities import Quantities
from prframe.ranks import Hits
from prframe.stats import discount_sum, discount_sums

_TOTALS = ("n", "n_pos", "n_neg", "n_hits")


def measure(
    hits: Hits,
    metrics: Sequence[Metric],
    *,
    prior: float | None = None,
    interpolate: bool = False,
) -> pl.DataFrame:
    """Return one row per group and one column per metric, named by its position ("0", "1", ...).

    Where a metric is undefined its value is null.
    """
    totals = hits.totals.with_row_index("group").with_columns(pl.col("group").cast(pl.Int64))
    cutoffs = {metric.k for metric in metrics if metric.graded}
    totals = totals.with_columns(_binary_ideal(totals["n_pos"], k) for k in cutoffs)
    if hits.gains is not None:
        totals = _with_graded_ideals(totals, hits.gains, cutoffs)
    columns = _Columns(hits, prior)
    for combine in ("sum", "first"):
        combined = _combined(hits, metrics, columns, combine, interpolate=interpolate)
        if combined is not None:
            totals = totals.join(combined, on="group", how="left", maintain_order="left")
    return totals.select(
        _value(metric, i, columns.quantities(interpolated=False)).alias(str(i))
        for i, metric in enumerate(metrics)
    )


def _combined(
    hits: Hits,
    metrics: Sequence[Metric],
    columns: "_Columns",
    combine: str,
    *,
    interpolate: bool,
) -> pl.DataFrame | None:
    """Combine the credits of one kind into one row per group that has hits."""
    credits_ = {
        f"{i}.{j}": term.credit(
            columns.quantities(interpolated=_interpolated(metric, interpolate)), metric.k
        )
        for i, metric in enumerate(metrics)
        for j, term in enumerate(metric.terms)
        if term.combine == combine
    }
    if not credits_:
        return None
    table = _with_counts(hits, list(credits_.values()), columns)
    if combine == "first":
        positives = table.filter(pl.col("weight") > 0)
        firsts = positives.filter(pl.col("group") != pl.col("group").shift(fill_value=-1))
        return firsts.select("group", **credits_)
    if any(_interpolated(metric, interpolate) for metric in metrics):
        table = table.with_columns(columns.running_best().alias("interpolated"))
    summed = table.select(pl.col("group").set_sorted(), **credits_)
    return summed.group_by("group", maintain_order=True).agg(pl.all().sum())


def _with_counts(hits: Hits, credits_: Sequence[pl.Expr], columns: "_Columns") -> pl.DataFrame:
    """Give each hit the totals of its group, those that a credit asks for."""
    asked = {name for credit in credits_ for name in credit.meta.root_names()}
    if "interpolated" in asked:
        asked.update(columns.running_best().meta.root_names())
    counts = hits.totals.select(name for name in _TOTALS if name in asked)
    if not counts.width:
        return hits.table
    return pl.concat([hits.table, counts[hits.table["group"]]], how="horizontal")


def _interpolated(metric: Metric, interpolate: bool) -> bool:  # noqa: FBT001
    """Tell whether a metric is to use interpolated precision."""
    return metric.name == "AP11" or (interpolate and "interpolate" in metric.options)


def _value(metric: Metric, i: int, q: Quantities) -> pl.Expr:
    """Finish a metric; null where it is undefined."""
    terms = [pl.col(f"{i}.{j}").fill_null(0.0) for j in range(len(metric.terms))]
    value = metric.finish(q, metric.k, terms).cast(pl.Float64)
    defined = pl.all_horizontal(pl.lit(value=True), *(pl.col(name) > 0 for name in metric.needs))
    return pl.when(defined).then(value)


class _Columns:
    """Quantities as columns of the tables of hits and totals."""

    def __init__(self, hits: Hits, prior: float | None) -> None:
        self._hits = hits
        self._prior = prior

    def running_best(self) -> pl.Expr:
        """Return the largest precision at each hit's recall or beyond."""
        q = self.quantities(interpolated=False)
        return q.precision(q.tp_end, q.fp_end).cum_max(reverse=True).over("group")

    def quantities(self, *, interpolated: bool) -> Quantities:
        """Return the quantities, with interpolated precision or without."""
        named = ("start", "end", "tp_start", "tp_end", "fp_start", "fp_end", "weight", "gain")
        return Quantities(
            **{name: pl.col(name) for name in named + _TOTALS},
            running_discounts=self._running_discounts,
            ideal_dcg=lambda k: pl.col(f"ideal@{k}"),
            prior=self._prior,
            interpolated=pl.col("interpolated") if interpolated else None,
        )

    def _running_discounts(self, k: int | None) -> pl.Expr:
        # Only as far as a hit reaches.
        reach = _largest(self._hits.table["end"])
        return pl.lit(pl.Series(discount_sums(reach if k is None else min(k, reach))))


def _largest(counts: pl.Series) -> int:
    """Return the largest count, 0 if there is none."""
    return int(counts.to_numpy().max(initial=0))


def _binary_ideal(n_pos: pl.Series, k: int | None) -> pl.Series:
    """Return the DCG of the best ranking of items whose gain is 1."""
    depth = n_pos.to_numpy()
    return pl.Series(f"ideal@{k}", discount_sum(depth if k is None else np.minimum(depth, k)))


def _with_graded_ideals(
    totals: pl.DataFrame, gains: pl.DataFrame, cutoffs: set[int | None]
) -> pl.DataFrame:
    """Replace the DCG of the best ranking where a group's items are graded."""
    gain, is_graded = pl.col("gain"), (pl.col("gain") != pl.col("weight")).any()
    rank = pl.int_range(1, pl.len() + 1)
    ideals = (
        gains.sort("group", "gain", descending=[False, True])
        .group_by("group")
        .agg(
            is_graded.alias("graded"),
            *(
                (gain / (rank + 1).log(2))
                .head(pl.len() if k is None else k)
                .sum()
                .alias(f"graded@{k}")
                for k in cutoffs
            ),
        )
    )
    totals = totals.join(ideals.filter("graded"), on="group", how="left", maintain_order="left")
    unlisted = totals.filter("graded", pl.col("n_pos") > pl.col("present_pos"))
    if unlisted.height:
        raise PrframeError(
            "nDCG with graded labels needs the label of every positive, but `n_pos` counts "
            f"unlisted ones in {unlisted.height} groups; list them with a score of -inf."
        )
    return totals.with_columns(
        pl.coalesce(f"graded@{k}", f"ideal@{k}").alias(f"ideal@{k}") for k in cutoffs
    )
