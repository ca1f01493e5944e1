"""Rows that are held at a time."""

from hypothesis import given, strategies as st

from prframe.stats._batches import batches

COUNTS = st.integers(0, 60)


@given(COUNTS, COUNTS, COUNTS)
def test_batches_are_all_rows_in_order(total, width, held):
    rows = [row for part in batches(total, width, held) for row in range(total)[part]]
    assert rows == list(range(total))
