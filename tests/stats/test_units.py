"""Items and clusters of them."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from prframe.errors import PrframeError
from prframe.stats._units import Units, units_of

LABELS = st.lists(st.sampled_from(["b", "a", "d", "c"]), max_size=8)


@given(LABELS)
def test_units_are_numbered_in_order_of_labels(labels):
    units = Units.of(labels)
    names = sorted(set(labels))
    assert units.number == len(names)
    assert [names[unit] for unit in units.of_item] == labels


@given(LABELS, st.randoms())
def test_sums_are_those_of_the_items_of_each_unit(labels, random):
    values = np.array([[random.random() for _ in labels] for _ in range(3)])
    units = Units.of(labels)
    naive = [
        [sum(v for v, name in zip(row, labels, strict=True) if name == unit) for unit in names]
        for names in [sorted(set(labels))]
        for row in values
    ]
    np.testing.assert_allclose(units.sums(values), np.reshape(naive, (3, units.number)))
    np.testing.assert_array_equal(units.sums(values)[1], units.sums(values[1]))


def test_sums_of_rows_that_are_units_of_their_own_stay_in_order():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert Units.of(["b", "c", "a"]).sums_of_rows(rows) is rows
    np.testing.assert_array_equal(Units.of(["b", "a", "b"]).sums_of_rows(rows), [[3, 4], [6, 8]])
    np.testing.assert_array_equal(Units.of(["b", "a", "b"]).sums_of_rows(rows[:, 0]), [3, 6])


def test_items_have_what_their_units_have():
    units = Units.of(["x", "z", "x", "y"])
    np.testing.assert_array_equal(
        units.spread(np.array([[1, 2, 3], [4, 5, 6]])), [[1, 3, 1, 2], [4, 6, 4, 5]]
    )


def test_how_many_units_have_some_items():
    units = Units.of(["x", "z", "x", "y"])
    assert units.number_among(np.array([True, False, True, False])) == 1
    assert units.number_among(np.array([False, True, True, False])) == 2


def test_items_without_clusters_are_units():
    units = units_of(None, 3)
    assert (units.of_item.tolist(), units.number) == ([0, 1, 2], 3)
    assert units_of([5, 5, 2], 3).of_item.tolist() == [1, 1, 0]
    message = r"^`cluster` must have one entry per item, 3; got shape \(2,\)\.$"
    with pytest.raises(PrframeError, match=message):
        units_of([1, 2], 3)
