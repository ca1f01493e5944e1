"""Many pairs at once: the same draws for all, and maxima."""

import numpy as np
import pytest

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
