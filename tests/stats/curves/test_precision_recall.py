"""The curve at levels of recall: a naive definition, the curve's own points, sums over all scores."""

from fractions import Fraction
from math import ceil, inf, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr
from sklearn.metrics import precision_recall_curve

import prframe
from prframe.stats import pr_curve

SCORES = st.lists(st.sampled_from([-inf, -1.0, -0.0, 0.0, 0.5, 2.0, inf]), max_size=12)


def by_definition(positives, negatives, level: Fraction, n_pos: int) -> Fraction:
    """Eq. (3) without ties; within them the block's false positives in proportion."""
    wanted = level * n_pos
    ranked = sorted((score for score in positives if score > -inf), reverse=True)
    if wanted > len(ranked):
        return Fraction(0)
    threshold = ranked[ceil(wanted) - 1]
    better = sum(score > threshold for score in positives)
    tied = sum(score == threshold for score in positives)
    false = Fraction(sum(score > threshold for score in negatives))
    false += (wanted - better) / tied * sum(score == threshold for score in negatives)
    return wanted / (wanted + false)


@pytest.mark.slow
@given(SCORES, SCORES, st.integers(0, 3), st.lists(st.integers(1, 20), min_size=1))
def test_eq_3_by_its_definition(positives, negatives, more: int, twentieths: list[int]) -> None:
    n_pos = len(positives) + more
    if not n_pos:
        return
    levels = [Fraction(i, 20) for i in twentieths]
    expected = [float(by_definition(positives, negatives, level, n_pos)) for level in levels]
    found = pr_curve(positives, negatives, [float(level) for level in levels], n_pos=n_pos)
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_false_positives_are_those_above_the_positive_of_the_rank() -> None:
    # G^-1(1 - b) and 1 - H spelled out, without ties.
    rng = np.random.default_rng(2)
    positives, negatives = rng.normal(1, 1, 37), rng.normal(0, 1, 80)
    for level in rng.random(50):
        cdf = np.arange(1, 38) / 37
        threshold = np.sort(positives)[np.argmax(cdf >= 1 - level)]
        alpha = (negatives > threshold).mean()
        expected = 37 * level / (37 * level + 80 * alpha)
        assert pr_curve(positives, negatives, level) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_points_of_the_curve_are_met_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    positives, negatives = rng.integers(0, 12, 45), rng.integers(-3, 9, 70)
    labels = np.repeat([1, 0], [45, 70])
    precision, recall, _ = precision_recall_curve(labels, np.append(positives, negatives))
    # The first point at a recall: later ones only add negatives.
    last = np.flatnonzero(np.diff(recall[::-1]) > 0) + 1
    assert (pr_curve(positives, negatives, recall[::-1][last]) == precision[::-1][last]).all()


@pytest.mark.parametrize("bandwidth", [None, "scott", "robust"])
def test_a_constant_scorer(bandwidth) -> None:
    found = pr_curve([2.0] * 3, [2.0] * 9, [0.01, 0.4, 0.5, 1], bandwidth=bandwidth)
    assert found == pytest.approx([0.25] * 4, rel=1e-12)


def test_totals_and_shapes() -> None:
    found = pr_curve([3, 1], [2, 0], [[0.25, 0.5], [0.75, 1.0]], n_pos=4, n_neg=100)
    assert found.tolist() == [[1, 2 / 3], [0, 0]]
    assert pr_curve([3, 1, -inf, -inf], [2, 0, -inf], 0.5) == 2 / 3
    assert pr_curve([], [1.0], [0.5, 1], n_pos=2).tolist() == [0, 0]
    assert pr_curve([1.0], [], 1) == 1


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


def test_the_smoothed_curve_ends_with_the_retrieved() -> None:
    found = pr_curve([3, 1, -inf], [2, 0, -inf, -inf], [0.6, 2 / 3, 0.7, 1], bandwidth=0.5)
    assert 0.5 < found[0] < 2 / 3
    assert found[1:].tolist() == pytest.approx([0.5, 0, 0])
    assert pr_curve([3, 1], [2, 0, 0], 1, bandwidth=0.5) == pytest.approx(0.4)
    # Items at +inf come first, smoothed or not.
    found = pr_curve([inf, 1.0], [inf, inf, 0.0], [0.25, 0.5], bandwidth=0.5)
    assert found == pytest.approx([0.5 / 2.5, 1 / 3])


def test_the_smoothed_curve_nears_the_true_one() -> None:
    rng = np.random.default_rng(8)
    levels = np.array([0.1, 0.5, 0.9])
    found = pr_curve(
        rng.normal(1, 1, 2 * 10**5), rng.normal(0, 1, 10**6), levels, bandwidth="scott"
    )
    true = 1 / (1 + 5 * ndtr(stats.norm.ppf(levels) - 1) / levels)
    assert found == pytest.approx(true, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([], [1.0], 0.5), {}, "`positives` must hold at least one score, or `n_pos` exceed 0; got none."),
        (([1.0, nan], [1.0], 0.5), {}, "`positives` must not contain NaN: 1 of 2 scores."),
        (([1.0], [[1.0]], 0.5), {}, "`negatives` must be one-dimensional; got shape (1, 1)."),
        (([1.0], ["a"], 0.5), {}, "`negatives` must be numbers; got ['a']."),
        (([1.0], [1.0], 0), {}, "`recall` must be > 0 and <= 1; got 0.0."),
        (([1.0], [1.0], [0.5, nan]), {}, "`recall` must be > 0 and <= 1; got nan."),
        (([1.0], [1.0], 1.5), {}, "`recall` must lie between 0 and 1; got 1.5."),
        (([1.0, 2.0], [1.0], 0.5), {"n_pos": 1}, "`n_pos` must be at least the number of positives; got n_pos = 1 with 2 positives."),
        (([1.0], [1.0], 0.5), {"n_neg": 1.5}, "`n_neg` must be a whole number >= 0; got 1.5."),
    ],
)  # fmt: skip
def test_refusals(arguments, options, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        pr_curve(*arguments, **options)
    assert str(caught.value) == message
