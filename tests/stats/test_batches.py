"""Rows that are held at a time."""

import pytest
from hypothesis import given, strategies as st

from prframe.stats._batches import batch_sizes, batches

COUNTS = st.integers(0, 60)


@given(COUNTS, COUNTS, COUNTS)
def test_batches_are_all_rows_in_order(total, width, held):
    rows = [row for part in batches(total, width, held) for row in range(total)[part]]
    assert rows == list(range(total))


@given(COUNTS, COUNTS, COUNTS)
def test_batches_hold_as_much_as_they_may(total, width, held):
    sizes = list(batch_sizes(total, width, held))
    assert all(size == 1 or size * width <= held for size in sizes)
    assert all((size + 1) * max(width, 1) > held for size in sizes[:-1])
    assert sizes == [len(range(total)[part]) for part in batches(total, width, held)]


@pytest.mark.parametrize(
    ("total", "width", "held", "sizes"),
    [(10, 3, 12, [4, 4, 2]), (3, 100, 12, [1, 1, 1]), (5, 0, 2, [2, 2, 1]), (0, 3, 12, [])],
)
def test_batch_sizes(total, width, held, sizes):
    assert list(batch_sizes(total, width, held)) == sizes
