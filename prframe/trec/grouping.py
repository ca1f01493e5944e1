"""Find the rows that belong to one ranking."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe._engine.frames import run_starts

Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Groups:
    """The groups of a frame's rows, numbered in order of first appearance.

    Attributes
    ----------
    keys : DataFrame, one row per group
        The values of the key columns.
    of_row : ndarray of int, one per row
        The number of each row's group.
    together : bool
        Whether the rows of every group are consecutive.
    """

    keys: pl.DataFrame
    of_row: Integers
    together: bool


def group(keys: pl.DataFrame) -> Groups:
    """Give groups their numbers; of consecutive rows with equal keys one alone is looked up."""
    starts = run_starts(keys.get_columns())
    firsts = keys[starts]
    distinct = firsts.unique(maintain_order=True)
    together = distinct.height == firsts.height
    number = np.arange(distinct.height, dtype=np.int32) if together else codes(firsts, distinct)
    return Groups(distinct, np.repeat(number, np.diff(starts, append=keys.height)), together)


def codes(rows: pl.DataFrame, table: pl.DataFrame) -> Integers:
    """Return for each row the number of the equal row of a table; -1 where there is none."""
    joined = rows.join(
        table.with_row_index("prframe: code"),
        on=table.columns,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return joined["prframe: code"].cast(pl.Int32).fill_null(-1).to_numpy()
