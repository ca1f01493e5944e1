"""Runs: rows that are counted where parts of them lie have the hits of the rows themselves."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

from prframe._engine.arguments import Arguments
from prframe._engine.frames import Source
from prframe._engine.pieces import Piece, Ranking, items_above
from prframe._engine.ranks import hits, tie_sizes
from prframe._engine.runs import Counting, counted

COLUMNS = {"nothing": (), "gains": ("gain",), "judgments": ("gain", "judged")}


def rows_of(seed: int, size: int, decimals: int, n_groups: int) -> pl.DataFrame:
    """Return rows with ties, items that are not retrieved, grades and judgments."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=size).round(decimals)
    score[rng.random(size) < 0.1] = -np.inf
    label = rng.integers(-4, 3, size).clip(-1)
    return pl.DataFrame(
        {
            "group": rng.integers(0, n_groups, size),
            "score": score,
            "label": label,
            "judged": (rng.random(size) < 0.3) | (label > 0),
        }
    )


def hits_of_groups(source: Source, args: Arguments, extra: tuple[str, ...]) -> list[pl.DataFrame]:
    """Return the hits, the totals and what else is known of each group."""
    tables = []

    def keep(piece: Piece) -> pl.DataFrame:
        found = hits(piece)
        order = found.totals.select("by0").to_series().arg_sort()
        number = np.empty(order.len(), np.int64)
        number[order.to_numpy()] = np.arange(order.len())
        table = found.table.with_columns(group=pl.Series(number).gather(found.table["group"]))
        sizes = tie_sizes(piece, found)
        known = found.totals.with_columns(above=pl.Series(items_above(piece, 0.25)), sizes=sizes)
        tables.extend([table.sort(pl.all()), known.sort("by0")])
        return found.totals

    Ranking(Source(source.whole(), runs=source.runs), args, extra=extra).over_groups(keep)
    return tables


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("ties", ["group", "best", "worst"])
@given(seed=st.integers(0, 99), size=st.integers(1, 120), decimals=st.sampled_from([0, 1, 9]))
def test_hits_of_stretches_are_those_of_the_rows(columns, ties, seed, size, decimals) -> None:
    rows = rows_of(seed, size, decimals, 2).sort("group", "score")
    judged = "judged" if "judged" in columns else None
    args = Arguments(by="group", ties=ties, judged=judged)
    counting = Counting(lambda _: columns, [0.25], blocks=True)
    cuts = sorted(np.random.default_rng(seed).integers(0, size, 3).tolist())
    bounds = zip([0, *cuts], [*cuts, size], strict=True)
    parts = [rows[low:high] for low, high in bounds if high > low]
    runs = pl.concat(counting.runs(Source(part), args) for part in parts)
    here = hits_of_groups(counted(runs, Source(rows.head(0))), args, columns)
    there = hits_of_groups(Source(rows), args, columns)
    # Sizes are null where it is known that there are no ties, which need not be known.
    ones = pl.col("sizes").list.eval(pl.element().filter(pl.element() > 1))
    for one, other in zip(here, there, strict=True):
        if "sizes" in one.columns:
            sizes = [
                table.select(ones.fill_null([])).to_series().to_list() for table in (one, other)
            ]
            assert sizes[0] == sizes[1]
        assert_frame_equal(one.drop("sizes", strict=False), other.drop("sizes", strict=False))


def test_runs_are_few() -> None:
    rows = rows_of(1, 4000, 9, 1).with_columns(label=pl.Series([1] * 10 + [0] * 3990))
    args = Arguments()
    runs = Counting().runs(Source(rows), args)
    # A run for each positive, each gap between them, the two edges, and what is not retrieved.
    assert runs.height <= 10 + 11 + 2 + 1
    assert runs["count"].sum() == 4000
    assert Counting(blocks=True).runs(Source(rows), args).height == runs.height
