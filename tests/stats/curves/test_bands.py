"""Tests of simultaneous bands from draws of a curve."""

import numpy as np
import pytest
from scipy.stats import norm, t

from prframe.stats.curves.bands import Deviations, of_few_units


def test_a_band_has_ends_where_only_some_curves_go_on():
    draws = np.random.default_rng(4).standard_normal((1000, 4))
    # Of 1000 curves 1000, 700, 300 and none go on.
    for level, end in enumerate([1000, 700, 300, 0]):
        draws[end:, level] = -np.inf
    low, high = Deviations(draws, draws).band(0.9)
    assert np.isfinite(low[0])
    np.testing.assert_array_equal(low[1:], -np.inf)
    assert np.isfinite(high[:3]).all()
    assert high[2] in draws[:, 2]
    assert high[3] == -np.inf
    assert ((draws >= low) & (draws <= high)).all(axis=1).mean() >= 0.9


@pytest.mark.parametrize("n", [19, 60])
@pytest.mark.parametrize("level", [0.3, 0.9])
def test_an_interval_holds_another_draw_as_often_as_asked_for(n, level):
    # Each of n + 1 exchangeable draws in turn is the one that the others' interval should hold.
    draws = np.random.default_rng(5).standard_normal((n + 1, 1))
    held = 0
    for i, draw in enumerate(draws):
        others = np.delete(draws, i, axis=0)
        low, high = Deviations(others, others).pointwise_band(level)
        held += bool(low <= draw <= high)
    assert level * (n + 1) - 1e-9 <= held < level * (n + 1) + 2


@pytest.mark.parametrize("m", [9, 10])
@pytest.mark.parametrize("n", [1, 2, 8])
def test_draws_of_few_units_are_moved_out_one_by_one(n, m):
    draws = np.random.default_rng(5).standard_normal((m, 3))
    # Some curves have ended, or all; the latter have no median from which to move.
    draws[:3, 1], draws[:, 2] = -np.inf, -np.inf
    expected = draws.copy()
    units = max(n, 2)
    for level in (0, 1):
        median = np.median(draws[:, level])
        for i in range(m):
            a = ((draws[:, level] < draws[i, level]).sum() + 1) / (m + 1)
            if a != 0.5 and np.isfinite(draws[i, level]):
                times = (units / (units - 1)) ** 0.5 * t.ppf(a, units - 1) / norm.ppf(a)
                expected[i, level] = median + times * (draws[i, level] - median)
    found = of_few_units(draws, n)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    np.testing.assert_array_equal(found[:, 0].argsort(), draws[:, 0].argsort())
