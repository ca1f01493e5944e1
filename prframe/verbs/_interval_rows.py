"""Intervals as rows of a frame, and what is said of those that are null."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from prframe._engine.arguments import Arguments
from prframe.stats.intervals import IntervalEstimate
from prframe.verbs._verb import warn_null, warn_undefined


def interval_rows(
    heads: pl.DataFrame,
    n_groups: int,
    names: Sequence[str],
    found: Sequence[Sequence[IntervalEstimate]],
) -> pl.DataFrame:
    """Return a row per group and metric."""
    flat = [one for group in found for one in group]
    methods = [None if np.isnan(one.estimate) else one.method for one in flat]
    columns = {
        "estimate": [one.estimate for one in flat],
        "std_error": [one.std_error for one in flat],
        "conf_low": [one.low for one in flat],
        "conf_high": [one.high for one in flat],
    }
    repeated = heads[np.repeat(np.arange(n_groups), len(names))] if heads.width else heads
    values = pl.DataFrame(
        {"metric": pl.Series(list(names) * n_groups, dtype=pl.String)}
        | {name: pl.Series(column, dtype=pl.Float64) for name, column in columns.items()}
        | {"method": pl.Series(methods, dtype=pl.String)}
    ).with_columns(pl.col(list(columns)).fill_nan(None))
    return pl.concat([repeated, values], how="horizontal") if repeated.width else values


def warned(
    rows: pl.DataFrame, names: Sequence[str], keys: list[str], args: Arguments, lack: Sequence[str]
) -> pl.DataFrame:
    """Warn once of undefined metrics and once of groups that hold too little."""
    without = pl.col("estimate").is_null()
    undefined = [name for name in names if rows.filter(without, metric=name).height]
    warn_undefined(undefined, _lacking(rows, without, keys), args, lack)
    return warned_of_narrow(rows, keys, args)


def warned_of_narrow(rows: pl.DataFrame, keys: list[str], args: Arguments) -> pl.DataFrame:
    """Warn once of groups that hold too little."""
    narrow = pl.col("conf_low").is_null() & pl.col("estimate").is_not_null()
    why = "which hold too little for an interval"
    warn_null(["conf_low", "conf_high"], _lacking(rows, narrow, keys), args, why)
    return rows


def _lacking(rows: pl.DataFrame, mask: pl.Expr, keys: list[str]) -> pl.DataFrame:
    """Return a row per group, and whether any of its metrics lacks something."""
    return rows.group_by(keys or pl.lit(0), maintain_order=True).agg(lacking=mask.any())
