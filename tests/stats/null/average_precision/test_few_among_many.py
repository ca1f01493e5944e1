"""Tails of AP with few negatives among very many items."""

from itertools import combinations

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items, log_binomial
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.counted.few_among_many import few_among_many_tail


def tail_of(n: int, n_neg: int, lack: float, method: str | None = None):
    tail = few_among_many_tail(Items(n, n), n - n_neg, n - n_neg - lack, 0.0)
    assert tail is not None
    assert method is None or tail.method == method
    return tail


@pytest.mark.parametrize(("n", "n_neg"), [(60_000, 2), (11_000, 3)])
@pytest.mark.parametrize("lack", [0.15, 0.3, 0.5, 1.0, 2.0])
def test_counting_of_two_and_three_negatives(n: int, n_neg: int, lack: float) -> None:
    n_pos = n - n_neg
    counted = sparse_log_tails(Items(n, n), n_pos, n_pos - lack)
    assert counted is not None
    assert tail_of(n, n_neg, lack).log_reached == pytest.approx(counted[0], abs=1.5e-3)


@pytest.mark.parametrize("pairs", [3, 10, 20])
def test_rankings_next_to_the_best_are_counted(pairs: int) -> None:
    # Three negatives among a million items, of which each pair in the wrong order costs 1e-6.
    n, n_neg = 10**6, 3
    last = range(n - pairs - 2, n + 1)
    log_all = float(log_binomial(n, n_neg))
    # The sum of the ranks is at least that of the last three less the number of pairs.
    good = sum(sum(ranks) >= 3 * n - 3 - pairs for ranks in combinations(last, n_neg))
    found = tail_of(n, n_neg, (pairs + 0.5) / n, "lattice").log_reached
    assert found == pytest.approx(np.log(good) - log_all, abs=1e-9)


@pytest.mark.parametrize(("n", "n_neg"), [(1000, 1), (4000, 2), (16_000, 4), (100_000, 5)])
def test_the_best_rankings_have_their_own_tails(n: int, n_neg: int) -> None:
    # The p-value is the place of a ranking, of which the first ones have all negatives at the end.
    last = range(n - 8 - n_neg, n + 1)
    lacks = []
    for ranks in combinations(last, n_neg):
        above = np.cumsum(np.isin(last, ranks))
        lacks.append(np.sum((above / np.array(last))[~np.isin(last, ranks)]))
    lack, n_pos = np.sort(lacks), n - n_neg
    for place in (0, 1, 2, 4, 7):
        # AP that differ by less than 1e-12 of themselves are equal.
        good = np.count_nonzero(lack <= lack[place] + 1e-12 * n_pos)
        tails = APNull(n, n_pos).tails(1 - lack[place] / n_pos)
        assert tails.method == "exact"
        assert tails.log_sf == pytest.approx(np.log(good) - log_binomial(n, n_neg), abs=1e-9)


@pytest.mark.parametrize(("n", "n_neg"), [(10**6, 4), (10**6, 12), (10**7, 30), (10**7, 40)])
def test_both_ways_meet(n: int, n_neg: int) -> None:
    # The closed form is taken beyond so many pairs.
    pairs = max(500 * n_neg, (n_neg**5 / 0.016) ** 0.5)
    below = tail_of(n, n_neg, 0.998 * pairs / n, "lattice").log_reached
    above = tail_of(n, n_neg, 1.002 * pairs / n, "gamma").log_reached
    assert above - below == pytest.approx(n_neg * 0.004, abs=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_neg"), [(10**5, 6), (10**6, 20), (10**7, 60)])
@pytest.mark.parametrize("level", [0.3, 1e-3, 1e-8])
def test_inversion(n: int, n_neg: int, level: float) -> None:
    null = APNull(n, n - n_neg)
    x = null.isf(level)
    assert null.tails(x).method == "gamma"
    assert null.using("transform").logsf(x) == pytest.approx(np.log(level), abs=1e-3)


@pytest.mark.parametrize("n_neg", [4, 5, 10, 30])
def test_tails_fall_up_to_the_best_ranking(n_neg: int) -> None:
    # Five of ten million had the tail of the best ranking alone, e^-76 for e^-47.
    n = 10**7
    null = APNull(n, n - n_neg)
    lack = np.geomspace(0.9, 2e-12 / (1 - null.mean()), 400) * (1 - null.mean())
    logs = np.asarray(null.logsf(1 - lack))
    assert (np.diff(logs) <= 1e-9).all()
    assert (np.diff(logs) >= -n_neg * np.log(lack[0] / lack[1]) - 1.5).all()


@pytest.mark.parametrize("q", [1e-3, 1e-12, 1e-25])
def test_critical_values(q: float) -> None:
    null = APNull(10**7, 10**7 - 8)
    assert null.logsf(null.isf(q)) == pytest.approx(np.log(q), abs=1e-2)


def test_other_groups_are_left_to_other_ways() -> None:
    n, n_neg = 10**5, 8
    n_pos = n - n_neg
    assert few_among_many_tail(Items(n, n), n_pos, n_pos - 1.0, n_pos - 0.5) is None
    assert few_among_many_tail(Items(n, n - 1), n_pos, n_pos - 1.0, 0.0) is None
    assert few_among_many_tail(Items(n, n), n - 20, n - 21.0, 0.0) is None
    tied = Items(n, n, np.array([10, n]))
    assert few_among_many_tail(tied, n_pos, n_pos - 1.0, 0.0) is None
