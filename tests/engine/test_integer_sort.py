"""Sorting integers."""

import os
import subprocess
import sys

import numpy as np
import pytest

from prframe._engine.sorting import sort_by_polars, sort_integers

EXTREMES = {np.uint64: [0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.int64: [-(2**63), -1, 0, 2**63 - 1]}


@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
@pytest.mark.parametrize("size", [0, 1, 16_385])
def test_integers_ascend(dtype: type, size: int) -> None:
    rng = np.random.default_rng(size)
    bounds = np.iinfo(dtype)
    numbers = rng.integers(bounds.min, bounds.max, size=size, dtype=dtype, endpoint=True)
    numbers[: len(EXTREMES[dtype])] = EXTREMES[dtype][:size]
    rng.shuffle(numbers)
    expected = sorted(numbers.tolist())
    for sort in (sort_integers, sort_by_polars):
        found = numbers.copy()
        sort(found)
        assert found.tolist() == expected


def test_equal_integers_stay_as_many() -> None:
    numbers = np.random.default_rng(1).integers(3, size=50_000)
    count = np.bincount(numbers)
    sort_integers(numbers)
    assert (np.bincount(numbers) == count).all()
    assert (np.diff(numbers) >= 0).all()


INSIDE = """
import threading
import numpy as np
import polars as pl
from prframe._engine.sorting import sort_by_polars

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
