"""Tests and intervals at a cut-off, against enumeration in rational arithmetic and closed forms."""

from fractions import Fraction
from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from scipy import stats

from prframe.stats import (
    hypergeometric_topk,
    paired_posterior_comparison,
    posterior_comparison,
    proportion_interval,
)
from tests.refusals import refusals


def law(n: int, n_pos: int, k: int) -> dict[int, Fraction]:
    """The probability of each possible number of hits, by counting selections."""
    possible = range(max(0, k - (n - n_pos)), min(k, n_pos) + 1)
    return {x: Fraction(comb(n_pos, x) * comb(n - n_pos, k - x), comb(n, k)) for x in possible}


def p_value(hits: int, outcomes: dict[int, Fraction], alternative: str) -> Fraction:
    counted = {
        "greater": lambda x: x >= hits,
        "less": lambda x: x <= hits,
        "two-sided": lambda x: outcomes[x] <= outcomes[hits],
    }[alternative]
    return sum((p for x, p in outcomes.items() if counted(x)), Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 12])
def test_every_small_selection(n: int, alternative: str) -> None:
    for n_pos, k in product(range(n + 1), range(n + 1)):
        outcomes = law(n, n_pos, k)
        hits = list(outcomes)
        found = hypergeometric_topk(hits, n, n_pos, k, alternative)
        want = [float(p_value(x, outcomes, alternative)) for x in hits]
        assert found.p_value == pytest.approx(want, rel=1e-13)
        rates = {Fraction(x, max(k, 1)): p for x, p in outcomes.items()}
        mean = sum(x * p for x, p in rates.items())
        variance = sum((x - mean) ** 2 * p for x, p in rates.items())
        assert found.null_mean == pytest.approx(float(mean), rel=1e-14)
        assert found.null_std == pytest.approx(sqrt(variance), rel=1e-13, abs=1e-16)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_p_values_are_at_most_uniform(alternative: str) -> None:
    for n, n_pos, k in [(12, 5, 4), (30, 3, 10), (40, 20, 20)]:
        outcomes = law(n, n_pos, k)
        found = hypergeometric_topk(list(outcomes), n, n_pos, k, alternative).p_value
        for level in found:
            below = sum(
                p for p, value in zip(outcomes.values(), found, strict=True) if value <= level
            )
            assert below <= Fraction(level) * (1 + Fraction(1, 10**12))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hits", "n", "n_pos", "k"),
    [
        (18, 1000, 100, 20),
        (60, 10**6, 1000, 100),
        (100, 10**6, 1000, 100),
        (250, 10**4, 500, 500),
        (3, 10**6, 1000, 100),
        (8, 10**9, 10**6, 1000),
        (2, 10**12, 10**6, 10),
        (5, 10**15, 10**14, 5),
    ],
)
def test_far_tails_and_large_populations(hits: int, n: int, n_pos: int, k: int) -> None:
    # SciPy 1.17 is off by 1e-7 at n = 1e9 and by 1e-4 at n = 1e12.
    want = p_value(hits, law(n, n_pos, k), "greater")
    found = hypergeometric_topk(hits, n, n_pos, k).p_value
    assert abs(Fraction(float(found)) / want - 1) < 1e-9


@pytest.mark.parametrize(
    ("hits", "n", "n_pos", "k", "want"),
    [
        # Computed with 60 digits. SciPy 1.17 is off by
        # 1e-10 at n = 1e6 and by up to 2e-7 at n = 1e9.
        (29, 10**6, 1000, 10**4, 6.284772106594803e-7),
        (5299, 10**6, 500_000, 10**4, 9.757507093764553e-10),
        (6493, 10**6, 500_000, 10**4, 5.069655913611513e-201),
        (10_597, 10**9, 10**6, 10**7, 1.406742144764436e-9),
        (5_009_440, 10**9, 500_000_000, 10**7, 9.857265154607313e-10),
        (5_047_197, 10**9, 500_000_000, 10**7, 4.864891847279876e-198),
    ],
)
def test_tails_of_many_drawn_items(hits: int, n: int, n_pos: int, k: int, want: float) -> None:
    found = hypergeometric_topk(hits, n, n_pos, k, "greater").p_value
    assert found == pytest.approx(want, rel=1e-9, abs=0)


def binomial(trials: int, p: float) -> np.ndarray:
    return np.array([comb(trials, x) * p**x * (1 - p) ** (trials - x) for x in range(trials + 1)])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_clopper_pearson_covers(level: float) -> None:
    for trials in (1, 2, 5, 10, 30):
        low, high = proportion_interval(np.arange(trials + 1), trials, level)
        # The ends are where coverage drops.
        ends = np.concatenate([low, high, np.linspace(0, 1, 51)])
        for p in np.concatenate([ends, np.clip(ends + 1e-9, 0, 1), np.clip(ends - 1e-9, 0, 1)]):
            covered = (low <= p) & (p <= high)
            assert binomial(trials, p)[covered].sum() >= level - 1e-8


def test_jeffreys_and_the_posterior() -> None:
    hits, trials = np.array([0, 1, 7, 20]), 20
    beta = stats.beta(hits + 0.5, trials - hits + 0.5)
    low, high = proportion_interval(hits, trials, method="jeffreys")
    assert low[1:] == pytest.approx(beta.ppf(0.025)[1:], rel=1e-9)
    assert high[:-1] == pytest.approx(beta.ppf(0.975)[:-1], rel=1e-9)
    assert (low[0], high[-1]) == (0.0, 1.0)
    uniform = stats.beta(hits + 1, trials - hits + 1)
    low, high = proportion_interval(hits, trials, 0.8, "posterior")
    assert low == pytest.approx(uniform.ppf(0.1), rel=1e-9)
    assert high == pytest.approx(uniform.ppf(0.9), rel=1e-9)
    low, _ = proportion_interval(hits, trials, method="posterior", prior=0.5)
    assert low == pytest.approx(beta.ppf(0.025), rel=1e-9)


def test_without_trials_everything_is_possible() -> None:
    for method in ("clopper-pearson", "jeffreys"):
        assert proportion_interval(0, 0, method=method) == (0.0, 1.0)
    assert proportion_interval(0, 0, method="posterior") == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize("prior", [0.1, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("count", [0, 3, 1000, 10**6])
def test_the_quadrature_against_a_closed_form(prior: float, count: int) -> None:
    # With one parameter 1, X = U^(1/a), and P(X > Y) = 1 - E(Y^a): a product for whole a.
    from prframe.stats.paired_values.counts_posterior import _first_greater

    c, d, one = np.float64(count + prior), np.float64(7 + prior), np.array(1.0)
    for a in (1, 2, 50):
        power = -np.expm1(-np.log1p(d / (c + np.arange(a))).sum())
        found = _first_greater(np.array(float(a)), one, c, d)
        assert found == pytest.approx(power, rel=1e-11)
        swapped = _first_greater(c, d, np.array(float(a)), one)
        assert swapped == pytest.approx(1 - power, rel=1e-11)


@pytest.mark.parametrize("prior", [0.5, 1.0])
def test_f1_by_quadrature_is_f1_by_simulation(prior: float) -> None:
    first, second = (20, 15, 5), (15, 4, 10)
    draws = 200_000
    rng = np.random.default_rng(3)

    def f1(counts: tuple[int, int, int]) -> np.ndarray:
        tp, fp, fn = rng.gamma(np.array(counts) + prior, size=(draws, 3)).T
        return 2 * tp / (2 * tp + fp + fn)

    share = (f1(first) > f1(second)).mean()
    found = posterior_comparison(first, second, "f1", prior=prior)
    assert abs(share - found) < 4 * sqrt(found * (1 - found) / draws)


def test_many_comparisons_at_once() -> None:
    first = np.array([[3, 1, 2], [40, 10, 3]])
    found = posterior_comparison(first, (1, 2, 5), "recall")
    single = [float(posterior_comparison(row, (1, 2, 5), "recall")) for row in first]
    assert found == pytest.approx(single, rel=1e-14)


def test_systems_on_the_same_items() -> None:
    # Beta(a, b) of whole numbers exceeds 1/2 where fewer than a of a + b - 1 coins fall heads.
    for only_first, only_second in [(0, 0), (10, 2), (3, 30), (7, 7)]:
        a, b = only_first + 1, only_second + 1
        heads = sum(comb(a + b - 1, x) for x in range(a))
        want = Fraction(heads, 2 ** (a + b - 1))
        found = paired_posterior_comparison(only_first, only_second)
        assert found == pytest.approx(float(want), rel=1e-13)
    rng = np.random.default_rng(2)
    both, first, second, none = rng.dirichlet(np.array([20, 9, 4, 7]) + 0.5, 200_000).T
    recall, other = both + first, both + second
    assert none.min() > 0
    found = paired_posterior_comparison(9, 4, prior=0.5)
    assert abs((recall > other).mean() - found) < 4 * sqrt(found * (1 - found) / 200_000)


test_refusals = refusals(
    {
        "`k - hits` must be at most n - n_pos; got k - hits = 3 with n - n_pos = 2.": lambda: (
            hypergeometric_topk(0, 5, 3, 3)
        ),
        "`alternative` must be one of 'greater', 'less', 'two-sided'; got 'more'.": lambda: (
            hypergeometric_topk(1, 5, 3, 3, "more")
        ),
        "`method` must be one of 'clopper-pearson', 'jeffreys', 'posterior'; got 'wald'.": lambda: (
            proportion_interval(1, 2, method="wald")
        ),
        "`first` must hold true positives, false positives and false negatives along its last axis; got an array of shape (2,).": lambda: (
            posterior_comparison((1, 2), (1, 2, 3))
        ),
        "`measure` must be one of 'f1', 'precision', 'recall'; got 'f'. Did you mean 'f1'?": lambda: (
            posterior_comparison((1, 2, 3), (1, 2, 3), "f")
        ),
    }
)
