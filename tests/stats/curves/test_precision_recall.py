"""The smoothed curve at levels of recall, against sums over all scores."""

from math import nan

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr

from prframe.stats import pr_curve
from tests.refusals import refusals


@pytest.mark.parametrize("bandwidth", [None, "scott", "robust"])
def test_a_constant_scorer(bandwidth) -> None:
    found = pr_curve([2.0] * 3, [2.0] * 9, [0.01, 0.4, 0.5, 1], bandwidth=bandwidth)
    assert found == pytest.approx([0.25] * 4, rel=1e-12)


def smoothed(positives, negatives, level: float, h_pos: float, h_neg: float) -> float:
    """The smoothed curve of section 2.3, sums over every score."""
    excess = lambda t: ndtr((positives - t) / h_pos).mean() - level  # noqa: E731
    threshold = brentq(excess, -100, 100, xtol=1e-14)
    share = positives.size / (positives.size + negatives.size)
    alpha = ndtr((negatives - threshold) / h_neg).mean()
    return share * level / (share * level + (1 - share) * alpha)


@pytest.mark.parametrize(("size", "tolerance"), [(150, 1e-10), (4000, 1e-4)])
def test_the_smoothed_curve_by_its_definition(size: int, tolerance: float) -> None:
    rng = np.random.default_rng(size)
    positives, negatives = rng.gamma(3, size=size), rng.gamma(1, size=3 * size // 4)
    levels = [0.001, 0.1, 0.3, 0.5, 0.77, 0.95, 0.999]
    h_pos, h_neg = (
        np.sqrt(stats.gaussian_kde(scores, "silverman").covariance.item())
        for scores in (positives, negatives)
    )
    expected = [smoothed(positives, negatives, level, h_pos, h_neg) for level in levels]
    found = pr_curve(positives, negatives, levels, bandwidth="silverman")
    assert found == pytest.approx(expected, rel=tolerance)
    expected = [smoothed(positives, negatives, level, 0.5, 0.2) for level in levels]
    found = pr_curve(positives, negatives, levels, bandwidth=(0.5, 0.2))
    assert found == pytest.approx(expected, rel=tolerance)


test_refusals = refusals(
    {
        "`positives` must hold at least one score, or `n_pos` exceed 0; got none.": (
            ([], [1.0], 0.5),
            {},
        ),
        "`positives` must not be NaN: 1 of 2.": (([1.0, nan], [1.0], 0.5), {}),
        "`negatives` must be one-dimensional; got shape (1, 1).": (([1.0], [[1.0]], 0.5), {}),
        "`n_pos` must be at least the number of positives; got n_pos = 1 with 2 positives.": (
            ([1.0, 2.0], [1.0], 0.5),
            {"n_pos": 1},
        ),
    },
    lambda arguments, options: pr_curve(*arguments, **options),
)
