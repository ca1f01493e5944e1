"""Tails of rare positives from lists of the first hits."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.first_ranks.lower_ranks import (
    added_by_many,
    first_of_many,
)
from prframe.stats.null.average_precision.tails.first_ranks.others import (
    parabola,
    sums_beyond,
)
from prframe.stats.null.average_precision.tails.first_ranks.tails import FirstRanks
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "depth"), [(2000, 3, 2000), (2000, 2, 2000), (900, 3, 200), (900, 2, 10)]
)
def test_lists_against_counting(n: int, n_pos: int, depth: int) -> None:
    case = Retrieved(n, n_pos, depth)
    tails, compared = FirstRanks(case), 0
    for x in (0.01, 0.05, 0.2, 0.3, 0.5, 0.9, 1.0, 1.003, 1.02, 1.3, 2.0, 2.01, 2.4):
        found = tails.log_tail(x * (1 - 1e-12))
        items = Items(case.n, case.depth)
        counted, _ = sparse_log_tails(items, case.n_pos, x * (1 - 1e-12)) or (np.nan, np.nan)
        if found is not None:
            compared += 1
            # Single hits of two or three positives make steps that a lattice smooths.
            assert found == pytest.approx(counted, abs=4e-3)
    assert compared >= 8


def test_there_is_no_answer_where_it_would_lose_digits() -> None:
    assert FirstRanks(Retrieved(100_000, 30, 100_000)).log_tail(1e-4) is None


@pytest.mark.slow
def test_the_steep_front_of_a_cluster() -> None:
    # With a positive at the top AP is at least .01, and what the other 99 add decides.
    n, n_pos, draws = 10**6, 100, 20_000
    rng = np.random.default_rng(3)
    gaps = rng.standard_exponential((draws, n_pos)).cumsum(axis=1)
    ranks = 1 + np.ceil(gaps[:, :-1] / gaps[:, -1:] * (n - 1))
    others = (np.arange(2, n_pos + 1) / ranks).sum(axis=1)
    ap = np.linspace(0.01007, 0.0102, 14)
    null = APNull(n, n_pos)
    found = np.array([null.logsf(x) for x in ap])
    assert (np.diff(found) < 0).all()
    assert null.logsf(ap) == pytest.approx(found, abs=1e-3)
    share = np.array([np.mean(others >= x * n_pos - 1) for x in ap])
    # Without a positive at the top so large an AP is less likely by far.
    error = np.sqrt(share * (1 - share) / draws) + 1e-5
    assert np.exp(found) * n / n_pos == pytest.approx(share, abs=4 * error.max())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "q"),
    [(10**6, 100, 1e-4), (10**5, 10, 1e-4), (10**6, 100, 1e-20), (10**7, 100, 1e-20)],
)
def test_critical_values_on_a_steep_front_keep_their_level(n: int, n_pos: int, q: float) -> None:
    null = APNull(n, n_pos)
    critical = null.isf(q)
    assert q * (1 - 2e-5) <= null.sf(critical) <= q


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "x"),
    [(2000, 20, x) for x in (6.02, 8.01, 10.5, 13.01)]
    + [(4000, 60, x) for x in (1.95, 3.02, 5.3, 8.8)],
)
def test_many_hits_at_the_top_are_within_certified_bounds(n: int, n_pos: int, x: float) -> None:
    found = FirstRanks(Retrieved(n, n_pos, n)).log_tail(x)
    low, high = np.log(APNull(n, n_pos).sf_bounds(x / n_pos, cell=0.05))
    assert low <= found <= high


def test_sums_beyond_columns_are_those_of_values_with_places_beyond():
    rng = np.random.default_rng(3)
    row, place, value = rng.integers(0, 4, 40), rng.integers(0, 12, 40), rng.random(40)
    row[row == 2] = 1
    for columns in (11, 15):
        sums = sums_beyond(row, place, value, (5, columns))
        for r, c in np.ndindex(5, columns):
            expected = value[(row == r) & (place > c)].sum()
            assert sums[r, c] == pytest.approx(expected)


def drawn_rest_log_tail(n: int, n_pos: int, x: float, first: int = 60) -> float:
    """Return log P(T >= x) from all lists of up to four hits among the first ranks.

    What the other positives add is drawn; with h hits above them it is ``h A + B``.
    """
    rng = np.random.default_rng(1)
    rank = np.sort(rng.integers(first + 1, n + 1, (4_000, n_pos)), axis=1)
    ones, places = (1 / rank).sum(axis=1), (np.arange(1, n_pos + 1) / rank).sum(axis=1)
    total = 0.0
    for hits in range(5):
        added = np.sort(hits * ones + places)
        lists = np.array(list(combinations(range(1, first + 1), hits)), np.float64)
        lists = lists.reshape(comb(first, hits), hits)
        lack = x - (np.arange(1, hits + 1) / lists).sum(axis=1)
        reached = 1 - np.searchsorted(added, lack) / added.size
        ways = log_binomial(n - first, n_pos - hits) - log_binomial(n, n_pos)
        total += float(np.exp(ways) * reached.sum())
    return float(np.log(total))


@pytest.mark.slow
@pytest.mark.parametrize("n_pos", [600, 1000, 3000])
def test_values_that_no_path_leads_to(n_pos: int) -> None:
    # Tilted rankings are far below such values, or far beyond; these were bounds of e^-10 for
    # tails of e^-25, and took up to half a minute.
    null = APNull(10**7, n_pos)
    for total in (2.16, 2.2, 2.3, 2.4):
        x = (total + n_pos**2 / 10**7) / n_pos
        tails = null.tails(x)
        assert tails.method in {"lattice", "transform"}
        assert tails.log_sf == pytest.approx(
            drawn_rest_log_tail(10**7, n_pos, x * n_pos), abs=0.03
        )


@pytest.mark.slow
def test_quantile_that_no_path_leads_to() -> None:
    # It was .00247, whose tail is e^-25.7.
    null = APNull(10**7, 1000)
    x = null.isf(1e-10)
    assert x == pytest.approx(0.0021355, rel=1e-4)
    assert null.logsf(x) == pytest.approx(np.log(1e-10), abs=1e-3)


@pytest.mark.parametrize(("depth", "hits"), [(20_000, 5), (20_000, 0), (8_000, 12)])
def test_what_many_positives_below_a_rank_add(depth: int, hits: int) -> None:
    case, rank, draws = Retrieved(20_000, 300, depth), 1_000, 20_000
    rng = np.random.default_rng(1)
    added = np.empty(draws)
    for place in range(draws):
        ranks = rng.choice(np.arange(rank + 1, case.n + 1), case.n_pos - hits, replace=False)
        kept = np.sort(ranks[ranks <= depth])
        added[place] = ((hits + np.arange(1, kept.size + 1)) / kept).sum()
    lack = np.quantile(added, [0.001, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 0.999])
    share = (added[:, None] >= lack).mean(axis=0)
    error = np.sqrt(share * (1 - share) / draws)
    found = added_by_many(case, rank, np.array([hits]), lack)[0]
    assert (np.abs(found - share) <= 4 * error + 2e-4).all()


def test_where_many_positives_stand_below_a_rank() -> None:
    ranks = np.array([10, 100, 1_000, 3_000, 10_000])
    case = Retrieved(10_000, 400, 10_000)
    place = first_of_many(case, ranks)
    assert place == 3
    assert first_of_many(case._replace(n_pos=100), ranks) is None
    assert first_of_many(case._replace(depth=3_500), ranks) is None


def test_parabolas_keep_mean_and_variance() -> None:
    place, variance = np.array([0.0, 0.2, 0.5, 1.3, 7.9]), np.array([0.0, 0.1, 0.3, 0.0, 0.5])
    base, weights = parabola(place, variance)
    at = base + np.arange(3)[:, None]
    assert (base >= 0).all()
    assert np.sum(weights, axis=0) == pytest.approx(1)
    assert (np.array(weights) * at).sum(axis=0) == pytest.approx(place)
    spread = (np.array(weights) * (at - place) ** 2).sum(axis=0)
    assert spread == pytest.approx(variance)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "n_pos", "total"),
    [
        (257_463, 842, 2.895),
        (10**6, 1000, 4.09),
        (10**6, 3000, 11.4),
        (10**7, 1000, 1.99),
        (10**7, 3000, 3.4),
        (10**7, 10_000, 13.3),
    ],
)
def test_lists_agree_with_inversion(n: int, n_pos: int, total: float) -> None:
    x = total / n_pos
    lists, inversion = APNull(n, n_pos), APNull(n, n_pos).using("transform")
    assert lists.tails(x).method == "lattice"
    assert inversion.tails(x).method == "transform"
    assert lists.logsf(x) == pytest.approx(inversion.logsf(x), abs=2e-3)
