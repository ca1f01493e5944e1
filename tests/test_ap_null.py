"""The null distribution of AP: enumeration, branch and bound, recorded tails, bounds, p-values."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prframe
from prframe.stats import APNull
from prframe.stats.ap_walk import Blocks, few

# n, n_pos, AP, P(AP >= AP): two methods of the design's author agree on these within 2 %.
TAILS = [
    (100, 5, 0.47, 1.07e-3),
    (300, 10, 0.2390, 1.019e-3),
    (1000, 20, 0.105, 1.115e-3),
    (1000, 100, 0.15, 2.13e-3),
    (5000, 50, 0.05, 1.085e-4),
]


def all_values(n: int, n_pos: int, blocks: list[int]) -> list[Fraction]:
    """Return AP of every ranking, AP counting at the ends of blocks."""
    ends = np.repeat(np.cumsum(blocks), blocks).tolist()
    values = []
    for chosen in combinations(range(n), n_pos):
        reached = [ends[rank] for rank in chosen]
        hits = [sum(other <= end for other in reached) for end in reached]
        precisions = [Fraction(h, end) for h, end in zip(hits, reached, strict=True)]
        values.append(sum(precisions, Fraction(0)) / n_pos)
    return sorted(values)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.booleans(), st.data())
def test_small_rankings_are_exact(blocks: list[int], tied: bool, data: st.DataObject) -> None:
    n = min(sum(blocks), 9)
    if not tied:
        blocks = [1] * n
    elif sum(blocks) > 9:
        blocks = blocks[:2]
    n = sum(blocks)
    n_pos = data.draw(st.integers(1, n))
    values = all_values(n, n_pos, blocks)
    null = APNull(n, n_pos, ties=blocks if tied else None)
    assert null.support() == pytest.approx((float(values[0]), float(values[-1])))
    distinct = sorted(set(values))
    for value in distinct:
        reaching = sum(other >= value for other in values) / len(values)
        up_to = sum(other <= value for other in values) / len(values)
        assert null.sf(float(value)) == pytest.approx(reaching, rel=1e-9)
        assert null.cdf(float(value)) == pytest.approx(up_to, rel=1e-9)
        assert null.isf(reaching) == pytest.approx(float(value))
        assert null.ppf(up_to) == pytest.approx(float(value))
    assert null.sf(0.0) == 1.0
    assert null.sf(1.1) == 0.0
    assert null.cdf(-0.1) == 0.0


@pytest.mark.parametrize(("n", "n_pos", "ap", "p"), TAILS)
def test_recorded_tails(n: int, n_pos: int, ap: float, p: float) -> None:
    null = APNull(n, n_pos)
    found = null.sf(ap)
    assert found == pytest.approx(p, rel=0.02)
    low, high = null.sf_bounds(ap, n_bins=512)
    assert 0 < low <= found <= high < 0.02


@pytest.mark.parametrize(
    ("n", "n_pos", "ties"),
    [(60, 6, None), (200, 4, None), (3000, 2, None), (60, 6, [3] * 20), (40, 8, [5, 1] * 6 + [4])],
)
def test_the_lattice_and_branch_and_bound_agree(
    n: int, n_pos: int, ties: list[int] | None
) -> None:
    from prframe.stats.ap_lattice import lattice

    sizes = np.array(ties or [1] * n)
    blocks = Blocks(sizes, np.cumsum(sizes), n_pos)
    null = APNull(n, n_pos, ties)
    assert null.method == ("lattice" if comb(n, n_pos) > 2**20 or n > 2000 else "enumeration")
    for z in (2.5, 3.5, 5.0):
        target = min(null.mean() + z * null.std(), 0.9) * n_pos + 1e-7
        exact = few(blocks, target, 5_000_000)
        assert exact is not None
        assert null.sf(target / n_pos) == pytest.approx(exact, rel=0.01)
        low, high = null.sf_bounds(target / n_pos)
        assert low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
        if n_pos > 4:
            # Many rankings, between whose values the target lies.
            assert lattice(blocks, target) == pytest.approx(exact, rel=0.05)


def test_one_positive_in_closed_form() -> None:
    for n in (50, 5000):
        null = APNull(n, 1)
        found = null.sf([1.0, 0.5, 1 / 3, 0.1])
        assert found == pytest.approx(np.array([1, 2, 3, 10]) / n, rel=1e-9)


def test_the_best_ranking_and_beyond() -> None:
    for n, n_pos in ((30, 3), (1000, 20), (1900, 900)):
        assert APNull(n, n_pos).sf(1.0) == 1 / comb(n, n_pos)
    # Smaller than any float, but not nothing.
    assert APNull(50_000, 300).sf(1.0) > 0
    assert APNull(50_000, 300).sf(0.9) > 0
    tied = APNull(12, 4, ties=[4, 4, 4])
    assert tied.sf(1.0) == pytest.approx(1 / comb(12, 4))
    # One positive in the second block and two in the last are worse than three in the last.
    assert APNull(12, 3, ties=[4, 4, 4]).support() == pytest.approx(((1 / 8 + 2 / 4) / 3, 3 / 4))


def test_it_falls_with_ap() -> None:
    null = APNull(300, 12)
    found = null.sf(np.linspace(0.02, 0.98, 33))
    assert (np.diff(found) <= 0).all()
    assert found[0] == pytest.approx(1, abs=0.01)
    assert (found > 0).all()


def test_critical_values_are_inverse() -> None:
    null = APNull(500, 10)
    for q in (0.2, 0.01, 1e-6):
        x = null.isf(q)
        assert null.sf(x) == pytest.approx(q, rel=0.01)
        assert null.ppf(1 - q) == pytest.approx(x, rel=0.01)
    assert null.isf(1e-300) == 1.0


@pytest.mark.parametrize("ties", [None, [3] * 40])
def test_draws(ties: list[int] | None) -> None:
    null = APNull(120, 6, ties)
    draws = null.rvs(20_000, rng=5)
    low, high = null.support()
    assert draws.min() >= low * (1 - 1e-12)
    assert draws.max() <= high * (1 + 1e-12)
    assert abs(draws.mean() - null.mean()) < 5 * null.std() / np.sqrt(draws.size)
    assert draws.var() == pytest.approx(null.var(), rel=0.06)
    assert (null.rvs(5, rng=5) == null.rvs(5, rng=5)).all()


@pytest.mark.parametrize("ties", [None, [3] * 40])
def test_p_values_are_uniform(ties: list[int] | None) -> None:
    null = APNull(120, 6, ties)
    p = np.sort(null.sf(null.rvs(250, rng=11)))
    distance = np.abs(p - (np.arange(p.size) + 0.5) / p.size).max()
    # Kolmogorov-Smirnov at a level of 1e-4.
    assert distance < 2.23 / np.sqrt(p.size)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: APNull(3, 4), "`n_pos` must be at most n = 3; got 4."),
        (lambda: APNull(0, 1), "`n` must be a whole number >= 1; got 0."),
        (
            lambda: APNull(5, 2, ties=[2, 2]),
            "`ties` must be the sizes of blocks that add up to n; they add up to 4, and n is 5.",
        ),
        (
            lambda: APNull(10**5, 2000),
            "the null distribution of AP takes up to 1000 positives of 10,000,000 items; got 2000 "
            "of 100,000; ap_null_moments has no limit.",
        ),
        (lambda: APNull(5, 2).sf(float("nan")), "probabilities and values must not be NaN."),
        (lambda: APNull(5, 2).isf(0), "`q` must be a number > 0 and <= 1; got 0.0."),
    ],
)
def test_refusals(call, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        call()
    assert str(caught.value) == message
