"""The adjustment of the p-values of a table for their number."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

import polars as pl

from prframe import checks
from prframe.stats import adjust_p_values

Correction: TypeAlias = Literal["bonferroni", "holm", "bh", "by"]


def columns_with_p(numbers: Iterable[str], *, corrected: bool) -> dict[str, pl.DataType]:
    """Return the columns that end the rows of a test."""
    columns: dict[str, pl.DataType] = {name: pl.Float64() for name in numbers}
    columns["method"] = pl.String()
    return columns | ({"p_adjusted": pl.Float64()} if corrected else {})


def check_correction(correction: Correction | None) -> None:
    """Require a known method, or none."""
    if correction is not None:
        checks.one_of("correction", correction, get_args(Correction))


def corrected(rows: pl.DataFrame, correction: Correction | None) -> pl.DataFrame:
    """Add the adjusted p-values, if there is a correction."""
    if correction is None:
        return rows
    p_values = rows["p_value"].cast(pl.Float64).to_numpy()
    adjusted = pl.Series("p_adjusted", adjust_p_values(p_values, correction))
    return rows.with_columns(adjusted.fill_nan(None))
