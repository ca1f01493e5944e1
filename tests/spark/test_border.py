"""Batches of a partition become one frame, whatever their number."""

import polars as pl
from polars.testing import assert_frame_equal

from prframe.spark import border

LIKE = pl.DataFrame(schema={"score": pl.Float32, "query": pl.String, "total": pl.Decimal(10, 2)})


def test_blocks_hold_so_many_rows_or_some_more() -> None:
    rows = pl.DataFrame({"score": [0.5, 1.5, 2.5], "query": "a", "total": "1.00"})
    rows = rows.cast(dict(LIKE.schema))
    batches = rows.to_arrow().to_batches() * 5
    parts = list(border.blocks(iter(batches), LIKE, 4))
    assert [part.height for part in parts] == [6, 6, 3]
    assert_frame_equal(pl.concat(parts), pl.concat([rows] * 5), check_exact=True)
