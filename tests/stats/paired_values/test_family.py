"""Many pairs at once: the same draws for all, maxima, replicates."""

import numpy as np
import pytest
import scipy.stats
from scipy.stats import binom

from prframe.stats import (
    PairedFamily,
    adjust_p_values,
    paired_randomization,
    paired_sample,
)
from prframe.stats.intervals.confidence import Confidence
from prframe.stats.intervals.ends import acceleration
from prframe.stats.intervals.replicates import bca_interval
from prframe.stats.null.sign_flips.signs import all_signs, random_signs
from tests.compared_runs import scipy_seed

ALTERNATIVES = ["two-sided", "less", "greater"]


def family(differences):
    """Return the family of pairs whose differences are the columns."""
    return PairedFamily(np.asarray(differences), np.ones_like(differences))


def folded(x, alternative):
    """Return what is large where it is extreme."""
    return {"two-sided": np.abs(x), "less": -x, "greater": x}[alternative]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(("n", "how"), [(8, "exact"), (30, "sampled")])
def test_max_t_is_the_step_down_of_its_definition(alternative, n, how):
    rng = np.random.default_rng(2)
    differences = rng.normal(size=(n, 6)) + np.linspace(-1, 1, 6)
    signs = list(
        all_signs(n) if how == "exact" else random_signs(n, 500, np.random.default_rng(1))
    )
    signs = np.concatenate(signs)

    def t_statistics(d):
        return d.mean(axis=0) / (d.std(axis=0, ddof=1) / np.sqrt(n))

    observed = folded(t_statistics(differences), alternative)
    drawn = np.array(
        [folded(t_statistics(row[:, None] * differences), alternative) for row in signs]
    )
    expected, smallest = np.empty(6), 0.0
    for place, pair in enumerate(np.argsort(-observed)):
        rest = np.argsort(-observed)[place:]
        count = (drawn[:, rest].max(axis=1) >= observed[pair] - 1e-9).sum()
        share = count / len(signs) if how == "exact" else (count + 1) / (len(signs) + 1)
        smallest = expected[pair] = max(smallest, share)
    found = family(differences).max_t(500, np.random.default_rng(1), alternative)
    assert found.method == how
    assert found.p_values == pytest.approx(expected, abs=1e-12)


def test_max_t_of_one_pair_is_its_randomization_test():
    differences = np.random.default_rng(1).normal(0.3, 1, (10, 1))
    found = family(differences).max_t(2000, np.random.default_rng(1), "two-sided")
    assert found.p_values[0] == pytest.approx(paired_randomization(differences[:, 0]).p_value)


def test_max_t_lies_between_the_plain_p_value_and_bonferroni():
    differences = np.random.default_rng(3).normal(0.3, 1, (40, 5))
    differences[:, 4] = differences[:, 3] + 1e-3
    one = family(differences)
    plain = one.sign_flips(20_000, np.random.default_rng(1), "two-sided").p_values
    adjusted = one.max_t(20_000, np.random.default_rng(1), "two-sided").p_values
    assert (adjusted >= plain - 1e-12).all()
    assert (adjusted <= adjust_p_values(plain, "holm") + 3 / 20_000).all()


def test_a_pair_does_not_depend_on_the_others():
    differences = np.random.default_rng(3).normal(0.3, 1, (50, 4))
    together = family(differences)
    for pair in range(4):
        alone = family(differences[:, [pair]])
        for name in ("sign_flips", "bootstrap"):
            both = [
                getattr(one, name)(3000, np.random.default_rng(1), "two-sided").p_values
                for one in (together, alone)
            ]
            assert both[0][pair] == both[1][0]


def test_missing_queries_do_not_count():
    rng = np.random.default_rng(5)
    differences, sizes = rng.normal(0.2, 1, (30, 2)), np.ones((30, 2))
    differences[20:, 1] = sizes[20:, 1] = 0.0
    found = PairedFamily(differences, sizes)
    assert found.means[1] == pytest.approx(differences[:20, 1].mean())
    p_values = found.sign_flips(200_000, np.random.default_rng(1), "two-sided").p_values
    assert p_values[1] == pytest.approx(
        paired_randomization(differences[:20, 1]).p_value, abs=0.005
    )
    nothing = PairedFamily(np.zeros((3, 1)), np.zeros((3, 1)))
    for name in ("sign_flips", "max_t", "bootstrap"):
        tested = getattr(nothing, name)(100, np.random.default_rng(1), "two-sided")
        assert np.isnan(tested.p_values).all()


def test_pairs_in_which_nothing_varies_leave_the_others_alone():
    differences = np.random.default_rng(3).normal(0.3, 1, (20, 3))
    differences[:, 1] = 0.5
    differences[:, 2] = -0.5
    found = family(differences).bootstrap(500, np.random.default_rng(1), "two-sided").p_values
    alone = family(differences[:, :1]).bootstrap(500, np.random.default_rng(1), "two-sided")
    assert found[0] == alone.p_values[0]


def test_replicates_are_scipys_bootstrap():
    differences = np.random.default_rng(4).exponential(size=40)
    expected = scipy.stats.bootstrap(
        (differences,), np.mean, n_resamples=50_000, method="BCa", **scipy_seed(2)
    )
    (means,) = family(differences[:, None]).replicates(50_000, np.random.default_rng(1))
    sample = paired_sample(differences)
    bend = acceleration(sample.influence, np.ones(40))
    low, high = bca_interval(sample.mean, means, bend, Confidence(0.95))
    assert low == pytest.approx(expected.confidence_interval.low, abs=0.01)
    assert high == pytest.approx(expected.confidence_interval.high, abs=0.02)
    assert means.std(ddof=1) == pytest.approx(expected.standard_error, rel=0.02)


def test_replicates_do_not_depend_on_how_pairs_are_cut(monkeypatch):
    differences = np.random.default_rng(4).normal(size=(20, 5))
    whole = list(family(differences).replicates(100, np.random.default_rng(1)))
    monkeypatch.setattr("prframe.stats.paired_values.family._HELD", 200)
    parts = list(family(differences).replicates(100, np.random.default_rng(1)))
    assert np.allclose(whole, parts, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["all alike", "one differs"])
def test_family_wise_error(kind):
    """Any false rejection among all pairs of six systems: at most five in a hundred."""
    rng, repeats, wrong = np.random.default_rng(8), 500, 0
    first, second = np.triu_indices(6, 1)
    true_null = (first > 0) | (kind == "all alike")
    for _ in range(repeats):
        values = rng.beta(1.2, 2, 30) + rng.normal(0, 0.12, (6, 30))
        if kind == "one differs":
            values[0] += 0.3
        one = family((values[first] - values[second]).T)
        p_values = one.max_t(300, np.random.default_rng(1), "two-sided").p_values
        wrong += (p_values[true_null] <= 0.05).any()
    assert wrong <= binom.ppf(0.9995, repeats, 0.05)
    if kind == "all alike":
        assert wrong >= binom.ppf(0.0005, repeats, 0.04)


def test_standard_errors_are_those_of_the_samples():
    rng = np.random.default_rng(11)
    sizes = rng.integers(0, 3, (12, 40)).astype(float)
    sizes[:, 0], sizes[1:, 1] = 0, 0
    sums = rng.normal(size=sizes.shape) * sizes * 10.0 ** rng.integers(-200, 200, 40)
    sums[:, 2] = 0
    family = PairedFamily(sums, sizes)
    expected = [sample.std_error for sample in family.samples]
    np.testing.assert_allclose(family.std_errors, expected, rtol=1e-12)
