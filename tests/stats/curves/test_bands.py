"""Tests of simultaneous bands from draws of a curve."""

import numpy as np
import pytest

from prframe.stats.curves.bands import pointwise_band, studentized_band


@pytest.fixture
def draws():
    """Curves of five levels, uneven in spread and skew."""
    steps = np.random.default_rng(3).standard_normal((4000, 5))
    return np.sinh(np.cumsum(steps, axis=1)) * [1, 2, 1, 3, 1]


def test_the_studentized_band_encloses_the_share_of_curves_asked_for(draws):
    low, high = studentized_band(draws, 0.9)
    inside = ((draws >= low) & (draws <= high)).all(axis=1).mean()
    # The draw that sets the width lies on the edge, on either side by rounding.
    assert inside == pytest.approx(0.9, abs=2 / 4000)


def test_the_pointwise_band_encloses_the_share_at_each_level(draws):
    low, high = pointwise_band(draws, 0.9)
    inside = ((draws >= low) & (draws <= high)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.9, atol=2 / 4000)


def test_a_band_has_ends_where_only_some_curves_go_on():
    draws = np.random.default_rng(4).standard_normal((1000, 4))
    # Of 1000 curves 1000, 700, 300 and none go on.
    for level, end in enumerate([1000, 700, 300, 0]):
        draws[end:, level] = -np.inf
    low, high = studentized_band(draws, 0.9)
    assert np.isfinite(low[0])
    np.testing.assert_array_equal(low[1:], -np.inf)
    assert np.isfinite(high[:3]).all()
    assert high[2] in draws[:, 2]
    assert high[3] == -np.inf
    assert ((draws >= low) & (draws <= high)).all(axis=1).mean() >= 0.9
