"""Items and clusters of them."""

import numpy as np
from hypothesis import given, strategies as st

from prframe.stats._units import Units

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
