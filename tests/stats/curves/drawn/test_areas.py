"""Areas under drawn curves, beside the same integrals with many levels of recall."""

import numpy as np
import pytest

from prframe.stats import cells_from_scores
from prframe.stats.curves import DrawnPath, RocPath
from prframe.stats.curves.drawn.areas import area_under_precision, area_under_rates
from prframe.stats.curves.drawn.gamma_walks import drawn_weights

SAMPLES = [(300, 0.1, 1, None), (100, 0.05, 3, None), (60, 0.5, 1, 0), (200, 0.2, 1, 1)]
# Levels of recall that are dense near 0.
T = (np.arange(3000) + 0.5) / 3000
LEVELS, WEIGHTS = T**3, 3 * T**2 / 3000


@pytest.mark.parametrize(("n", "share", "shift", "digits"), SAMPLES)
def test_areas_are_integrals_of_curves(
    n: int, share: float, shift: float, digits: int | None
) -> None:
    rng = np.random.default_rng(1)
    label = rng.random(n) < share
    score = shift * label + rng.normal(size=n)
    score = score if digits is None else np.round(score, digits)
    # Some items are not retrieved.
    score[rng.random(n) < 0.05] = -np.inf
    weights = drawn_weights(300, np.random.default_rng(2))
    path = DrawnPath(RocPath.of(cells_from_scores(score, label)[0]), LEVELS, weights)
    for block_ends in (False, True):
        expected = path.curves(block_ends=block_ends, fading=True).precision @ WEIGHTS
        area = path.areas_under_precision(block_ends=block_ends)
        np.testing.assert_allclose(area, expected, atol=0.02 * expected.std())
    rates = np.exp(path.curves().log_fpr)
    expected = np.where(np.isinf(rates), 0.9, rates) @ WEIGHTS
    area = path.areas_under_rates(0.9)
    np.testing.assert_allclose(area, expected, atol=0.02 * expected.std())


def test_straight_lines() -> None:
    recall = np.array([[0.0], [0.2], [0.6], [1.0]])
    rates = np.array([[0.1], [0.1], [0.5], [0.6]])
    tied = np.array([False, False, True])
    # The mean of exp(x) between two values of it is their difference over that of the logarithms.
    expected = 0.2 * 0.1 + 0.4 * (0.5 - 0.1) / np.log(5) + 0.4 * 0.55
    assert area_under_rates(recall, rates, tied) == pytest.approx(expected)
    ends = np.array([1, 2, 3, 3])
    by_ends = area_under_precision(recall, rates, tied, ends)
    within = area_under_precision(recall, rates, tied)
    assert by_ends - 0.4 / 1.6 == pytest.approx(
        within - 0.4 * _mean(rates[2:], recall[2:]), abs=1e-4
    )


def _mean(rates: np.ndarray, recall: np.ndarray) -> float:
    """The mean precision between two knots of a tie block, by the sum of many levels."""
    share = T[:, None]
    b = recall[0] + share * (recall[1] - recall[0])
    return float((b / (b + rates[0] + share * (rates[1] - rates[0]))).mean())


def test_where_nothing_is_above() -> None:
    # Recall leaps, or rates do, or the first piece has no width.
    recall = np.array([[0.0, 0.0, 0.0], [1e-4, 0.3, 0.0], [1.0, 1.0, 1.0]])
    against = np.array([[1e-3, 1e-9, 0.5], [1e-3, 1e-9, 0.5], [2e-3, 1e-1, 0.5]])
    areas = area_under_precision(recall, against, np.zeros(2, dtype=bool))
    b = np.concatenate([[0.0], np.geomspace(1e-9, 1, 200_001)])
    for column, area in enumerate(areas):
        curve = np.exp(np.interp(b, recall[:, column], np.log(against[:, column])))
        assert area == pytest.approx(np.trapezoid(b / (b + curve), b), abs=5e-4)


def test_half_of_the_draws_for_areas_keep_the_whole_half_negative() -> None:
    # One positive stands above all negatives, the other four below many.
    cells = cells_from_scores(np.arange(60, 0, -1), np.isin(np.arange(60), [0, 20, 25, 30, 40]))[0]
    weights = drawn_weights(1200, np.random.default_rng(1))
    path = DrawnPath(RocPath.of(cells), np.array([0.02, 0.5]), weights)
    whole, mixed = (np.exp(path.curves(fading=fading).log_fpr) for fading in (False, True))
    np.testing.assert_array_equal(mixed[:600], whole[:600])
    # Less of a half that fades with recall is left at the first level than at the second one.
    less = np.median(mixed[600:] / whole[600:], axis=0)
    assert less[0] < 0.8
    assert 0.95 < less[1] <= 1
