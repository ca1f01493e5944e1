"""Linear rank statistics of arrays: standard errors, intervals and differences."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats import paired_rank_test, parse_phi, rank_covariance, rank_statistic
from prframe.stats.intervals.ends import Confidence
from prframe.stats.score_functions import SCORE_GENERATING

RNG = np.random.default_rng(6)
PROJECTED = sorted(set(SCORE_GENERATING) - {"dcg"})


def sample(n_pos, n_neg, shift=1.0, rng=RNG):
    label = np.repeat([True, False], [n_pos, n_neg])
    return rng.normal(size=label.size) + shift * label, label


def naive_effects(score, label, phi):
    """Each item's value in the projection, one by one: ties count half."""
    u = stats.rankdata(score) / (score.size + 1)
    slope = phi.derivative(u) / (score.size + 1)
    effects = []
    for i in range(score.size):
        moved = sum(
            slope[j] * ((score[j] > score[i]) + (score[j] == score[i]) / 2)
            for j in range(score.size)
            if label[j] and j != i
        )
        effects.append(moved + (phi(u[i]) if label[i] else 0.0))
    return np.array(effects)


def range_of_samples(phi, n_pos, n):
    values = phi(np.arange(1, n + 1) / (n + 1))
    return values[:n_pos].mean(), values[n - n_pos :].mean()


def range_of_population(phi, p):
    low, middle, high = phi.integral([p, 1 - p, 1.0])
    return low / p, (high - middle) / p


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", sorted(set(PROJECTED) - {"local-auc", "median"}))
def test_standard_errors_follow_the_projection(name, tied):
    score, label = sample(9, 14)
    score = score.round() if tied else score
    phi = parse_phi(name).of_size(23)
    effects = naive_effects(score, label, phi)
    variance = sum(one.sum() * effects[one].var(ddof=1) for one in (label, ~label))
    (worst, best), (least, most) = range_of_samples(phi, 9, 23), range_of_population(phi, 9 / 23)
    found = rank_statistic(score, label, name)
    stretch = (most - least) / (best - worst)
    assert found.std_error == pytest.approx(variance**0.5 / 9 * stretch, rel=1e-12)
    mean = phi(stats.rankdata(score) / 24)[label].mean()
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.estimate == pytest.approx(least + (mean - worst) * stretch, rel=1e-12)


def delong(scores, label):
    """AUC of several scores and their covariance, pair by pair."""
    of_pos, of_neg = [], []
    for score in scores:
        x, y = score[label], score[~label]
        right = (x[:, None] > y) + (x[:, None] == y) / 2
        of_pos.append(right.mean(1))
        of_neg.append(right.mean(0))
    auc = np.mean(of_pos, axis=1)
    return auc, np.cov(of_pos) / label.sum() + np.cov(of_neg) / (~label).sum()


@pytest.mark.parametrize("digits", [8, 0])
def test_rank_sums_are_compared_as_delong_does(digits):
    label = np.arange(60) < 25
    base = RNG.normal(size=60) + label
    scores = np.round([base, base + RNG.normal(size=60), RNG.normal(size=60)], digits)
    auc, covariance = delong(scores, label)
    found = rank_covariance(scores, label)
    q = 35 / 60
    np.testing.assert_allclose(found.estimates, (1 - q) / 2 + q * auc, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, q**2 * covariance, rtol=1e-11, atol=1e-16)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    test = paired_rank_test(scores[0], scores[1], label)
    z = (auc[0] - auc[1]) / variance**0.5
    assert test.z == pytest.approx(z, rel=1e-10)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-10)
    assert test.conf_high == pytest.approx(
        q * (auc[0] - auc[1] + stats.norm.isf(0.025) * variance**0.5), rel=1e-10
    )


def test_intervals_hold_the_estimate_and_stay_within_the_range():
    rng = np.random.default_rng(3)
    for name in PROJECTED:
        score, label = sample(30, 40, 2.0, rng)
        found = rank_statistic(score, label, name)
        least, most = range_of_population(found.phi, 3 / 7)
        interval = found.interval()
        assert least - 1e-9 <= interval.low < interval.estimate <= interval.high <= most + 1e-9
        wider = found.interval(Confidence(0.99))
        assert wider.low <= interval.low


@pytest.mark.parametrize("name", ["mww", "logistic", "logrank", "p-norm-push", "rtb"])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(50, 50), (500, 20), (3, 4)])
def test_perfect_and_worst_rankings_have_intervals_of_no_errors(name, n_pos, n_neg):
    """They are Jeffreys' interval of all or none, for mww, whatever the statistic is rounded to."""
    label, score = np.arange(n_pos + n_neg) < n_pos, -np.arange(n_pos + n_neg)
    end = stats.beta.ppf(0.025, min(n_pos, n_neg) + 0.5, 0.5)
    for sign, share, bounds in ((1, 1.0, (end, 1)), (-1, 0.0, (0, 1 - end))):
        found = rank_statistic(sign * score, label, name)
        assert found.share == share
        interval, scale = found.interval(), found._scale
        ends = (np.array([interval.low, interval.high]) - scale.least) / scale.width
        assert ends[int(sign > 0)] == pytest.approx(share, abs=1e-9)
        if name == "mww":
            assert ends == pytest.approx(bounds, abs=1e-9)


def test_whole_numbers_beyond_floats_keep_their_order():
    score, label = [2**62, 2**62 + 1, 2**62 + 2, 2**62 + 3], [0, 0, 1, 1]
    assert rank_statistic(score, label).statistic == pytest.approx(7 / 5)
    assert rank_covariance([score, score[::-1]], label).estimates == pytest.approx([0.75, 0.25])
    assert paired_rank_test(score, score, label).p_value == 1
