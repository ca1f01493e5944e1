"""Integers in ascending order, by the faster of two libraries.

Where a processor has AVX-512 instructions, NumPy sorts with them. One of these, which stores some
of the numbers of a register, takes over a hundred cycles on AMD's Zen 4, and NumPy takes three to
five times as long there as polars. Without these instructions NumPy is the faster one. Which one
it is, is measured once per process; the order is the same.
"""

from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

_Integers: TypeAlias = NDArray[np.integer[Any]]

# Up to so many numbers both libraries take about as long.
_FEW = 1 << 14
# The speed is measured so many times with so many numbers: multiples of an odd number, which fill
# 64 bits evenly and in no order.
_TRIALS, _TRIED, _ODD = 3, 1 << 15, 0x9E3779B97F4A7C15


def sort_integers(numbers: _Integers) -> None:
    """Sort integers, in place and ascending."""
    if numbers.size <= _FEW or _numpy_is_fast():
        numbers.sort()
    else:
        sort_by_polars(numbers)


def sort_by_polars(numbers: _Integers) -> None:
    """Sort integers with polars, in place and in this thread alone.

    It waits for none of polars' threads, so that a thread of our own may call it (see `tasks`).
    """
    numbers[:] = pl.Series(numbers).sort(multithreaded=False).to_numpy()


@cache
def _numpy_is_fast() -> bool:
    """Measure whether NumPy sorts integers at least as fast as polars."""
    numbers = np.arange(_TRIED, dtype=np.uint64) * np.uint64(_ODD)
    trials = [
        (_seconds(np.ndarray.sort, numbers), _seconds(sort_by_polars, numbers))
        for _ in range(_TRIALS)
    ]
    numpy_seconds, polars_seconds = map(min, zip(*trials, strict=True))
    return bool(numpy_seconds <= polars_seconds)


def _seconds(sort: Callable[[_Integers], None], numbers: _Integers) -> float:
    """Return how long it takes to sort a copy of numbers."""
    copied = numbers.copy()
    begin = perf_counter()
    sort(copied)
    return perf_counter() - begin
