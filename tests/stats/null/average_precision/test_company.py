"""The tails of a group are what they are alone, whatever other groups and values are asked for."""

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.groups import Case, Cases

# Items, positives, retrieved items, tie blocks, and standard deviations above the mean.
SHAPES = [
    (100, 50, None, None, (0.5, 2.0)),
    (103, 47, None, None, (8.0,)),
    (109, 41, None, None, (-1.0, 4.0)),
    (101, 8, None, None, (1.0, 5.0)),
    (130, 5, None, None, (2.0,)),
    (400, 12, None, None, (0.0, 9.0)),
    (900, 30, None, None, (3.0,)),
    (12, 5, None, None, (1.0,)),
    (2_000, 3, None, None, (1.0,)),
    (1_000, 998, None, None, (1.0,)),
    (60_000, 20, 1_000, None, (1.0, 6.0)),
    (90_000, 45, 1_000, None, (4.0,)),
    (2_500, 1_500, None, None, (1.0, 3.0)),
    (9_000, 700, None, None, (1.0,)),
    (300, 60, None, (3,) * 100, (2.0,)),
]


def groups(shapes):
    """Return cases and a value of AP for each."""
    cases, values = [], []
    for n, n_pos, depth, ties, deviations in shapes:
        null = APNull(n, n_pos, ties, depth=depth)
        for z in deviations:
            cases.append(Case(n, n_pos, depth or n, ties))
            values.append(min(null.mean() + z * null.std(), 0.97 * null.support()[1]))
    return cases, np.array(values)


def is_the_same(tail, other):
    """Whether two tails are the same but for rounding, by the same method."""
    assert tail.method == other.method
    expected = pytest.approx(other[:2], abs=1e-12, rel=1e-13)
    return tail[:2] == expected


@pytest.mark.slow
def test_a_group_alone_is_what_it_is_among_others():
    cases, values = groups(SHAPES)
    together = Cases(cases).tails(values)
    assert {tail.method for tail in together} == {"exact", "lattice", "saddlepoint", "transform"}
    for case, value, tail in zip(cases, values.tolist(), together, strict=True):
        (alone,) = Cases([case]).tails(np.array([value]))
        assert is_the_same(tail, alone)


def test_the_order_and_the_number_of_groups_do_not_matter():
    cases, values = groups([SHAPES[place] for place in (0, 1, 3, 4, 7)])
    together = Cases(cases).tails(values)
    fewer = [5, 1, 4]
    for place, tail in zip(
        fewer, Cases([cases[k] for k in fewer]).tails(values[fewer]), strict=True
    ):
        assert is_the_same(tail, together[place])


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "transform", "saddlepoint"])
def test_one_value_is_what_it_is_among_many(method):
    # Fifteen shapes like (100, 50) had another method in company than one of them has alone.
    cases = [Case(100 + k, 50 - k, 100 + k) for k in range(15)]
    values = np.linspace(0.4, 0.8, 15)
    together = Cases(cases).tails(values, method)
    for place in (0, 7, 14):
        (alone,) = Cases([cases[place]]).tails(values[[place]], method)
        assert is_the_same(together[place], alone)
    null = APNull(100, 50, method=method)
    assert null.logsf(values[3]) == pytest.approx(null.logsf(values)[3], abs=1e-12)
