"""Effect sizes: their definitions in plain Python, and SciPy."""

from math import inf, isnan, nan

import numpy as np
import pytest
from scipy import stats

from prframe.errors import PrframeError
from prframe.stats import cliff_delta, cohen_dz, probability_of_superiority
from prframe.stats.paired_values import cohen_dz_of_columns


@pytest.mark.parametrize("seed", range(4))
def test_cliff_delta_counts_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, rng.integers(1, 15)) / 5, rng.integers(0, 6, 9) / 5
    dominance = sum((x > y) - (x < y) for x in a.tolist() for y in b.tolist())
    assert cliff_delta(a, b) == dominance / (len(a) * len(b))
    assert cliff_delta(b, a) == -cliff_delta(a, b)


def test_cliff_delta_is_mann_whitney_s_statistic_rescaled() -> None:
    a, b = np.random.default_rng(2).random((2, 3000)).round(2)
    u = stats.mannwhitneyu(a, b).statistic
    assert cliff_delta(a, b) == pytest.approx(2 * u / 3000**2 - 1, abs=1e-12)
    assert cliff_delta([2, 3], [0, 1, 1]) == 1
    assert isnan(cliff_delta([], [1.0]))
    assert isnan(cliff_delta([1.0], []))


def test_probability_of_superiority_at_its_ends() -> None:
    assert probability_of_superiority([0.1, 2]) == 1
    assert probability_of_superiority([-0.1]) == 0
    assert probability_of_superiority([0, 0]) == 0.5
    assert isnan(probability_of_superiority([]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cohen_dz([0.1, nan, inf]),
            "`differences` must be finite: 2 of 3 are not, the first nan.",
        ),
        (
            lambda: probability_of_superiority([[0.1, 0.2]]),
            "`differences` must have one dimension; got shape (1, 2).",
        ),
        (lambda: cliff_delta([0.1], ["x"]), "`b` must be numbers; got ['x']."),
        (lambda: cliff_delta([inf], [1]), "`a` must be finite: 1 of 1 are not, the first inf."),
    ],
)
def test_what_is_refused(call, message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        call()
    assert str(caught.value) == message


def test_columns_have_the_effect_sizes_of_what_is_defined():
    rng = np.random.default_rng(12)
    defined = rng.random((9, 30)) < 0.6
    defined[:, 0], defined[1:, 1] = False, False
    differences = np.where(defined, rng.normal(0.2, 1, defined.shape), 0.0)
    differences[:, 2] = 0
    differences[:, 3] = 0.3 * defined[:, 3]
    found = cohen_dz_of_columns(differences, defined)
    for column, size in enumerate(found):
        values = differences[defined[:, column], column]
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = values.mean() / values.std(ddof=1) if values.size > 1 else np.nan
        expected = {2: 0.0, 3: np.nan}.get(column, expected)
        assert size == pytest.approx(expected, nan_ok=True)
