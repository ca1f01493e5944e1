"""Many pairs at once: the same draws for all, and maxima."""

import numpy as np
import pytest
from scipy.stats import binom

from prframe.stats import PairedFamily
from prframe.stats.null import all_signs, random_signs

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
