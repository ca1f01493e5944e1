"""Sorting integers: the order is the same whichever library sorts."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import prframe
from prframe._engine import integer_sort
from prframe._engine.integer_sort import sort_by_polars, sort_integers

EXTREMES = {np.uint64: [0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.int64: [-(2**63), -1, 0, 2**63 - 1]}


@pytest.mark.parametrize("sort", [sort_integers, sort_by_polars])
@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
@pytest.mark.parametrize("size", [0, 1, 16_384, 16_385, 200_000])
def test_integers_ascend(sort: Callable[..., None], dtype: type, size: int) -> None:
    rng = np.random.default_rng(size)
    bounds = np.iinfo(dtype)
    numbers = rng.integers(bounds.min, bounds.max, size=size, dtype=dtype, endpoint=True)
    numbers[: len(EXTREMES[dtype])] = EXTREMES[dtype][:size]
    rng.shuffle(numbers)
    expected = sorted(numbers.tolist())
    sort(numbers)
    assert numbers.tolist() == expected


def test_equal_integers_stay_as_many() -> None:
    numbers = np.random.default_rng(1).integers(3, size=50_000)
    count = np.bincount(numbers)
    sort_by_polars(numbers)
    assert (np.bincount(numbers) == count).all()
    assert (np.diff(numbers) >= 0).all()


@pytest.mark.parametrize("ties", ["group", "expected", "trec"])
def test_values_do_not_depend_on_which_library_is_faster(
    ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    rows = 30_000
    frame = pl.DataFrame(
        {
            "query_id": np.repeat(np.arange(3), rows // 3),
            "doc_id": np.arange(rows).astype(str),
            "score": rng.integers(2_000, size=rows) / 16,
            "label": rng.random(rows) < 0.3,
        }
    )
    values = []
    for numpy_is_fast in (True, False):
        monkeypatch.setattr(integer_sort, "_numpy_is_fast", lambda fast=numpy_is_fast: fast)
        metrics = ["AP", "P@10", "AUC"]
        table = prframe.evaluate(frame, metrics, by="query_id", ties=ties, item="doc_id")
        values.append(table.rows())
    assert values[0] == values[1]
