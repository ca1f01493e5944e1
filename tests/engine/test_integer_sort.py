"""Sorting integers: the order is the same whichever library sorts."""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import prframe
from prframe._engine import packing
from prframe._engine.packing import sort_by_polars, sort_integers

EXTREMES = {np.uint64: [0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.int64: [-(2**63), -1, 0, 2**63 - 1]}


@pytest.mark.parametrize("sort", [sort_integers, sort_by_polars])
@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
@pytest.mark.parametrize("size", [0, 1, 16_385])
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
        monkeypatch.setattr(packing, "_numpy_is_fast", lambda fast=numpy_is_fast: fast)
        metrics = ["AP", "P@10", "AUC"]
        table = prframe.evaluate(frame, metrics, by="query_id", ties=ties, item="doc_id")
        values.append(table.rows())
    assert values[0] == values[1]


INSIDE = """
import threading
import numpy as np
import polars as pl
from prframe._engine.packing import sort_by_polars

def ascends(columns):
    numbers = np.random.default_rng(1).integers(1 << 62, size=300_000, dtype=np.uint64)
    # The one thread of polars waits here for a thread that sorts.
    thread = threading.Thread(target=sort_by_polars, args=[numbers])
    thread.start()
    thread.join()
    return bool((numbers[1:] >= numbers[:-1]).all())

value = pl.map_batches(["a"], ascends, return_dtype=pl.Boolean, returns_scalar=True)
values = [value.alias(str(number)) for number in range(3)]
rows = pl.DataFrame({"a": [1, 2, 3, 4], "g": [1, 1, 2, 2]})
assert rows.select(values).row(0) == (True,) * 3
for engine in ("in-memory", "streaming"):
    table = rows.lazy().group_by("g").agg(values).collect(engine=engine)
    assert table.drop("g").to_series().all() and table.height == 2
"""


@pytest.mark.slow
def test_a_sort_by_polars_waits_for_none_of_its_threads() -> None:
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    subprocess.run([sys.executable, "-c", INSIDE], check=True, timeout=60, env=environment)
