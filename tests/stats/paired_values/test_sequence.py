"""Confidence sequences against their definition, and what they promise by simulation."""

import numpy as np
import pytest

from prframe.errors import PrframeError
from prframe.stats import paired_confidence_sequence


def by_definition(x, alpha, sides):
    """Return both ends after each of some numbers in [0, 1], step by step."""
    total, squares, staked, sum_staked, penalty = 0.0, 0.0, 0.0, 0.0, 0.0
    mean, variance, low, high, ends = 0.5, 0.25, 0.0, 1.0, []
    level = np.log(sides / alpha)
    for t, value in enumerate(x, 1):
        stake = min(np.sqrt(2 * level / (variance * t * np.log(t + 1))), 0.5)
        staked += stake
        sum_staked += stake * value
        penalty += (value - mean) ** 2 * (-np.log(1 - stake) - stake)
        reach = (level + penalty) / staked
        low = max(low, sum_staked / staked - reach)
        high = min(high, sum_staked / staked + reach)
        total += value
        mean = (0.5 + total) / (t + 1)
        squares += (value - mean) ** 2
        variance = (0.25 + squares) / (t + 1)
        ends.append((low, high))
    return np.array(ends)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("limits", [(-1.0, 1.0), (-2.0, 5.0)])
def test_the_ends_are_the_definition(alternative, limits):
    least, most = limits
    x = np.random.default_rng(1).beta(2, 3, 60)
    sequence = paired_confidence_sequence(
        least + (most - least) * x, limits=limits, alternative=alternative, confidence_level=0.9
    )
    ends = least + (most - least) * by_definition(x, 0.1, 2 if alternative == "two-sided" else 1)
    low, high = ends.T
    if alternative != "less":
        np.testing.assert_allclose(sequence.low, low, rtol=1e-10, atol=1e-12)
    if alternative != "greater":
        np.testing.assert_allclose(sequence.high, high, rtol=1e-10, atol=1e-12)
    assert (sequence.high == most).all() or alternative != "greater"
    assert (sequence.low == least).all() or alternative != "less"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"a": [0.1, 1.5]}, "within `limits`"),
        ({"a": [0.1], "limits": (1, -1)}, "`limits` must be two finite numbers that rise"),
        ({"a": [0.1], "limits": (0,)}, "`limits` must be"),
        ({"a": [0.1], "limits": "ab"}, "`limits` must be two finite numbers that rise; got 'ab'"),
    ],
)
def test_wrong_input_is_refused(options, message):
    with pytest.raises(PrframeError, match=message):
        paired_confidence_sequence(**options)
