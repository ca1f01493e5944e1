"""The most and the least by which T can still grow, and tails among up to 10^8 items."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.tails.merged.growth_bounds import (
    GrowthByLast,
    growth_at_once,
    harmonic_between,
)


@pytest.mark.parametrize("n", [7, 100, 10**4, 10**8, 10**12])
def test_positives_that_come_last_by_fractions(n: int) -> None:
    n_pos = np.array([1, 3, 6])
    last = GrowthByLast(np.full(3, n), n_pos)
    for lane, number in enumerate(n_pos.tolist()):
        for rest in range(number + 1):
            exact = sum(Fraction(number - k, n - k) for k in range(rest))
            found = last.of(np.array([lane]), np.array([rest]))[0]
            assert found == pytest.approx(float(exact), rel=1e-14)


def test_many_positives_that_come_last() -> None:
    n, n_pos = 200_000, 70_000
    last = GrowthByLast(np.array([n, 10]), np.array([n_pos, 2]))
    for rest in (1, 50, 30_000, n_pos):
        exact = ((n_pos - np.arange(rest)) / (n - np.arange(rest))).sum()
        found = last.of(np.array([0, 1]), np.array([rest, 1]))
        assert exact * (1 - 1e-9) <= found[0] <= exact * (1 + 1e-13)
        assert found[1] == pytest.approx(2 / 10)


@pytest.mark.parametrize("end", [0, 1, 50, 10**5, 10**9])
@pytest.mark.parametrize("more", [0, 1, 5, 32, 33, 500])
def test_positives_at_once_by_fractions(end: int, more: int) -> None:
    for hits in {0, min(end, 2), min(end, 40)}:
        exact = float(sum(Fraction(hits + i, end + i) for i in range(1, more + 1)))
        given = np.array([hits]), np.array([float(end)]), np.array([float(more)])
        (found,) = growth_at_once(*given)
        assert exact * (1 - 1e-14) <= found <= exact + 3e-14 * more + exact * 1e-13


def test_a_growth_does_not_depend_on_others() -> None:
    hits, end = np.array([0, 1, 2]), np.array([100.0, 5000.0, 7.0])
    more = np.array([3.0, 400.0, 32.0])
    together = growth_at_once(hits, end, more)
    alone = [growth_at_once(*(each[[i]] for each in (hits, end, more)))[0] for i in range(3)]
    assert together.tolist() == alone


@pytest.mark.parametrize("low", [0, 3, 63, 64, 1000, 10**7])
def test_sums_of_reciprocals(low: int) -> None:
    for number in (1, 10, 700):
        exact = float(sum(Fraction(1, low + i) for i in range(1, number + 1)))
        found = harmonic_between(np.array([float(low)]), np.array([number]))[0]
        assert found == pytest.approx(exact, rel=1e-13)


def test_the_least_values_keep_their_weight() -> None:
    # The worst ranking has three positives in a block of 266, and three at the end.
    null = APNull(289, 6, [1] * 20 + [266] + [1] * 3)
    least = null.support()[0]
    for method in ("auto", "exact", "lattice"):
        chance = null.using(method).cdf(least)
        assert chance == pytest.approx(comb(266, 3) / comb(289, 6), rel=1e-9)


@pytest.mark.parametrize(
    ("n_pos", "ties"), [(4, [2_000_000] * 50), (5, [4_000_000] * 25), (6, [5_000_000] * 20)]
)
def test_tails_among_a_hundred_million_tied_items(n_pos: int, ties: list[int]) -> None:
    null = APNull(10**8, n_pos, ties)
    drawn = np.sort(null.rvs(40_000, rng=1))
    for share in (0.1, 0.5, 0.9):
        x = float(drawn[int(share * drawn.size)])
        above = (drawn >= x * (1 - 1e-12)).mean()
        error = np.sqrt(above * (1 - above) / drawn.size)
        assert abs(null.sf(x) - above) < 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("n_pos", [4, 6])
def test_bounds_among_a_hundred_million_items_hold_the_tail(n_pos: int) -> None:
    null = APNull(10**8, n_pos)
    drawn = np.sort(null.rvs(40_000, rng=2))
    for share in (0.05, 0.5):
        x = float(drawn[int(share * drawn.size)])
        low, high = null.sf_bounds(x)
        error = np.sqrt(share * (1 - share) / drawn.size)
        assert low - 4 * error < 1 - share < high + 4 * error
        assert low <= null.sf(x) <= high
