"""Batches of a partition become one frame, whatever their number."""

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from prframe.spark import border

LIKE = pl.DataFrame(schema={"score": pl.Float32, "query": pl.String, "total": pl.Decimal(10, 2)})


@pytest.mark.parametrize("n_batches", [0, 1, 2, 3, 7])
def test_batches_are_read_some_at_a_time(n_batches, monkeypatch) -> None:
    monkeypatch.setattr(border, "_BATCHES", 3)
    rows = pl.DataFrame(
        {"score": [0.5, None], "query": [None, "ä"], "total": ["1.50", "-2.25"]}
    ).cast(dict(LIKE.schema))
    parts = [rows.with_columns(pl.col("score") + i) for i in range(n_batches)]
    batches = [
        part.rename({"score": "c0", "query": "c1", "total": "c2"}).to_arrow().to_batches()[0]
        for part in parts
    ]
    result = border.read(iter(batches), LIKE)
    assert_frame_equal(result, pl.concat([LIKE, *parts]), check_exact=True)
    assert result.n_chunks() == 1


def test_a_batch_without_rows() -> None:
    none = pa.RecordBatch.from_pylist([], schema=LIKE.to_arrow().schema)
    assert_frame_equal(border.read([none], LIKE), LIKE)


def test_no_batches() -> None:
    assert_frame_equal(border.read([], LIKE), LIKE)


def test_blocks_hold_so_many_rows_or_some_more() -> None:
    rows = pl.DataFrame({"score": [0.5, 1.5, 2.5], "query": "a", "total": "1.00"})
    rows = rows.cast(dict(LIKE.schema))
    batches = rows.to_arrow().to_batches() * 5
    parts = list(border.blocks(iter(batches), LIKE, 4))
    assert [part.height for part in parts] == [6, 6, 3]
    assert_frame_equal(pl.concat(parts), pl.concat([rows] * 5), check_exact=True)
