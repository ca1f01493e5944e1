"""Adjusted p-values: their definitions in plain Python."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from prframe.stats import adjust_p_values
from prframe.stats.paired_values.multiplicity import METHODS
from tests.refusals import refusals

# Ties are frequent, and so are the ends.
P_VALUES = st.lists(
    st.one_of(st.sampled_from([0.0, 0.01, 0.02, 0.5, 1.0]), st.floats(0, 1)), max_size=12
)


def by_definition(p_values: list[float], method: str) -> list[float]:
    """Take every larger or smaller p-value into account, one by one."""
    m = len(p_values)
    order = sorted(range(m), key=lambda test: p_values[test])
    rank = {test: place for place, test in enumerate(order, start=1)}
    harmonic = float(sum((Fraction(1, j) for j in range(1, m + 1)), Fraction(0)))
    factor = {
        "bonferroni": lambda _: m,
        "holm": lambda j: m - j + 1,
        "bh": lambda j: m / j,
        "by": lambda j: m / j * harmonic,
    }[method]
    adjusted = []
    for test in range(m):
        earlier = [p_values[other] * factor(rank[other]) for other in order[: rank[test]]]
        later = [p_values[other] * factor(rank[other]) for other in order[rank[test] - 1 :]]
        value = {"bonferroni": later[0], "holm": max(earlier)}.get(method, min(later))
        adjusted.append(min(value, 1.0))
    return adjusted


@pytest.mark.parametrize("method", METHODS)
@given(p_values=P_VALUES)
def test_definition(method: str, p_values: list[float]) -> None:
    found = adjust_p_values(p_values, method)
    assert found.tolist() == pytest.approx(by_definition(p_values, method), rel=1e-13, abs=0)


@pytest.mark.parametrize("method", METHODS)
@given(p_values=P_VALUES.filter(bool), data=st.data())
def test_laws(method: str, p_values: list[float], data: st.DataObject) -> None:
    given_, found = np.array(p_values), adjust_p_values(p_values, method)
    assert ((found >= given_) & (found <= 1)).all()
    order = np.argsort(given_, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    shuffled = np.array(data.draw(st.permutations(range(len(p_values)))))
    assert (adjust_p_values(given_[shuffled], method) == found[shuffled]).all()
    # A test that was not made changes nothing.
    place = data.draw(st.integers(0, len(p_values)))
    with_gap = adjust_p_values(np.insert(given_, place, np.nan), method)
    assert np.isnan(with_gap[place])
    assert (np.delete(with_gap, place) == found).all()


test_refusals = refusals(
    {
        "`p_values` must lie between 0 and 1; got 1.5.": ([0.1, 1.5], "bh"),
        "`p_values` must have one dimension; got shape (1, 1).": ([[0.1]], "bh"),
        "`method` must be one of 'bh', 'bonferroni', 'by', 'holm'; got 'bonferoni'. Did you mean 'bonferroni'?": (
            [0.1],
            "bonferoni",
        ),
    },
    adjust_p_values,
)
