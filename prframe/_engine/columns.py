"""Columns that are computed row by row, so that a row's result depends on that row alone.

polars treats a column of one row like a number, and so it does with a column that it has stored as
one repeated value. It divides by a number by multiplying with its reciprocal. Such a quotient may
differ in the last place from that of the same two numbers in other columns, and from the correct
one: 3 / 10 comes out as .30000000000000004.
"""

import polars as pl


def computed(table: pl.DataFrame, *columns: str | pl.Expr, **named: pl.Expr) -> pl.DataFrame:
    """Return columns that are computed row by row."""
    rows = pl.concat([table, table]) if table.height == 1 else table
    # Columns that are taken apart from their table hold their values one by one.
    return pl.DataFrame(rows.get_columns()).select(*columns, **named).head(table.height)
