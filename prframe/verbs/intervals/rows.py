"""Intervals as rows of a frame, and the warnings about null ones."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.arguments import Arguments
from prframe.stats.intervals import IntervalEstimate
from prframe.verbs._verb import warn_null, warn_undefined


def interval_rows(
    heads: pl.DataFrame,
    metrics: Sequence[str],
    intervals: Sequence[IntervalEstimate],
    confidence_level: float,
) -> pl.DataFrame:
    """Return a row per interval, with the keys of its group, its metric and its level."""
    methods = [None if np.isnan(interval.estimate) else interval.method for interval in intervals]
    columns = {
        "estimate": [interval.estimate for interval in intervals],
        "std_error": [interval.std_error for interval in intervals],
        "conf_low": [interval.low for interval in intervals],
        "conf_high": [interval.high for interval in intervals],
    }
    values = pl.DataFrame(
        {"metric": pl.Series(metrics, dtype=pl.String)}
        | {name: pl.Series(column, dtype=pl.Float64) for name, column in columns.items()}
        | {"method": pl.Series(methods, dtype=pl.String)}
    ).with_columns(pl.col(list(columns)).fill_nan(None), confidence_level=confidence_level)
    return pl.concat([heads, values], how="horizontal") if heads.width else values


def warned(
    rows: pl.DataFrame, names: Sequence[str], keys: list[str], args: Arguments, lack: Sequence[str]
) -> pl.DataFrame:
    """Warn once of undefined metrics and once of groups without an interval."""
    without = pl.col("estimate").is_null()
    undefined = [name for name in names if rows.filter(without, metric=name).height]
    warn_undefined(undefined, _lacking(rows, without, keys), args, lack)
    return warned_of_narrow(rows, keys, args)


def warned_of_narrow(rows: pl.DataFrame, keys: list[str], args: Arguments) -> pl.DataFrame:
    """Warn once of groups that hold too little, or nothing that varies."""
    narrow = pl.col("conf_low").is_null() & pl.col("estimate").is_not_null()
    metrics = rows.filter(narrow)["metric"].unique(maintain_order=True)
    names = checks.listed(metrics, in_order=True)
    single = "" if args.cluster is None else ", or lie in a single cluster"
    if single and any("threshold=" in metric for metric in metrics):
        single += ", or do so at or above the threshold"
    why = f"which hold too little for an interval of {names}, or nothing that varies{single}"
    warn_null(["conf_low", "conf_high"], _lacking(rows, narrow, keys), args, why)
    return rows


def _lacking(rows: pl.DataFrame, mask: pl.Expr, keys: list[str]) -> pl.DataFrame:
    """Return a row per group, and whether any of its metrics lacks something."""
    return rows.group_by(keys or pl.lit(0), maintain_order=True).agg(lacking=mask.any())
