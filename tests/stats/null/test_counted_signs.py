"""P-values of many sums under all signs, counted together, beside those of one sum."""

import numpy as np
import pytest

from prframe.stats import SignFlipNull
from prframe.stats.null import counted_p_values
from prframe.stats.null.sign_flips.clusters import stored_in_single_precision
from prframe.stats.null.sign_flips.signs import all_signs
from prframe.stats.null.sign_flips.units import (
    lattice,
    multiples_of_units,
    near_unit,
    near_units,
    without_single_precision,
)


def few_values(rng, size):
    return rng.choice([0.1, -0.1, 0.25, -1 / 3, 0.7, 0.0], size)


def one_in_seven(rng, size):
    return rng.integers(-9, 12, size) / 7


KINDS = {
    "continuous": lambda rng, size: rng.normal(0.3, 1, size),
    "few values": few_values,
    "a common unit": one_in_seven,
    "single precision": lambda rng, size: one_in_seven(rng, size).astype(np.float32).astype(float),
    "reciprocal ranks": lambda rng, size: (
        1 / rng.geometric(0.3, size) - 1 / rng.geometric(0.3, size)
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@kinds
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_values_are_shares_of_all_signs(kind, alternative):
    numbers = kind(np.random.default_rng(1), (10, 100))
    sums = np.concatenate(list(all_signs(10))) @ numbers
    observed = {"greater": numbers, "less": -numbers, "two-sided": numbers}[alternative].sum(
        axis=0
    )
    # Multiples in single precision tie where the multiples do.
    slack = 1e-6 if kind is KINDS["single precision"] else 1e-12
    if alternative == "two-sided":
        expected = (np.abs(sums) >= np.abs(observed) - slack).mean(axis=0)
    else:
        expected = (sums >= observed - slack).mean(axis=0)
    p_values = counted_p_values(numbers, alternative)
    known = ~np.isnan(p_values)
    assert known.mean() > 0.7
    np.testing.assert_allclose(p_values[known], expected[known], rtol=1e-12)


@kinds
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_a_sum_has_the_same_bits_alone(kind, alternative):
    numbers = kind(np.random.default_rng(2), (40, 60)) * (np.arange(40) < 18)[:, None]
    p_values = counted_p_values(numbers, alternative)
    for column in np.flatnonzero(~np.isnan(p_values)):
        alone = SignFlipNull(numbers[:, column]).p_value(alternative=alternative)
        assert p_values[column] == alone


def test_what_is_not_counted_together_is_missing():
    rng = np.random.default_rng(3)
    assert np.isnan(counted_p_values(rng.normal(size=(33, 20)), "greater")).all()
    assert np.isnan(counted_p_values(rng.normal(size=(21, 20)), "greater")).all()
    assert np.isnan(counted_p_values(rng.normal(size=(5, 7)), "greater")).all()
    assert counted_p_values(np.zeros((3, 2)), "greater").tolist() == [1.0, 1.0]
    assert counted_p_values(np.zeros((3, 0)), "greater").size == 0


@kinds
def test_units_by_row_are_those_of_each_row(kind):
    sizes = np.abs(kind(np.random.default_rng(4), (300, 12)))
    rows = np.sort(sizes[(sizes > 0).all(axis=1)], axis=1)
    places, has_unit = multiples_of_units(rows)
    near, restored = near_units(rows), without_single_precision(rows)
    for row, numbers in enumerate(rows):
        whole = lattice(numbers)
        assert has_unit[row] == (whole is not None)
        if whole is not None:
            np.testing.assert_array_equal(places[row], whole)
        np.testing.assert_allclose(near[row], near_unit(numbers) or 0.0, rtol=1e-14)
        np.testing.assert_allclose(restored[row], stored_in_single_precision(numbers), rtol=1e-14)
