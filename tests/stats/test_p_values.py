"""Probabilities from their logarithms."""

import numpy as np
import pytest

from prframe.stats._p_values import probability


@pytest.mark.parametrize("level", [0.1, 0.05, 0.025, 0.01, 0.001, 1e-6, 1.5e-9, 1e-20, 1e-100])
def test_a_number_of_few_digits_survives_its_logarithm(level: float) -> None:
    logs = np.log(level) * (1 + np.arange(-2, 3) * 2.0**-53)
    assert probability(logs).tolist() == [level] * 5
