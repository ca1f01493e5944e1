"""Probabilities from their logarithms."""

import numpy as np
import pytest

from prframe.stats._p_values import probability


@pytest.mark.parametrize("level", [0.1, 0.05, 0.025, 0.01, 0.001, 1e-6, 1.5e-9, 1e-20, 1e-100])
def test_a_number_of_few_digits_survives_its_logarithm(level: float) -> None:
    logs = np.log(level) * (1 + np.arange(-2, 3) * 2.0**-53)
    assert probability(logs).tolist() == [level] * 5


def test_other_numbers_are_exponentials() -> None:
    logs = -np.random.default_rng(1).exponential(50, 100_000)
    found = probability(logs)
    np.testing.assert_allclose(found, np.exp(logs), rtol=4e-13)
    assert (found == np.exp(logs)).mean() > 0.95
    assert (
        probability(np.log([1 / 3, 7 / 120])).tolist() == np.exp(np.log([1 / 3, 7 / 120])).tolist()
    )


def test_probabilities_rise_with_their_logarithms() -> None:
    logs = np.sort(np.log(0.05) + np.arange(-2_000, 2_000) * 2.0**-53)
    assert (np.diff(probability(logs)) >= 0).all()


def test_only_what_is_impossible_has_the_probability_0() -> None:
    found = probability(np.array([-np.inf, -800.0, -745.0, 0.0, np.nan]))
    assert found[:4].tolist() == [0.0, 5e-324, 5e-324, 1.0]
    assert np.isnan(found[4])
