"""Sums of the AP of rankings in which positives are rare: listed, on a lattice, or bounded."""

from math import comb, log

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.sums.counting import (
    LATE,
    SOON,
    ap_values,
    counted_sum_tails,
)
from prframe.stats.null.average_precision.sums.full_walks import WholeSum
from prframe.stats.null.average_precision.sums.lattice import is_rare, lattice_sum_tails
from prframe.stats.null.average_precision.sums.terms import bounds

FEW_HITS = {
    "untied": [Case(5_000, n_pos, 40) for n_pos in (1, 2, 3)],
    "one positive": [Case(100_000, 1, 200)] * 3,
    "tied": [Case(3_000, n_pos, 30, (5,) * 6) for n_pos in (1, 7, 20)],
    "some tied": [Case(5_000, 1, 40), Case(5_000, 9, 40, (8,) * 5), Case(900, 2, 20, (20,))],
    "depths": [Case(5_000, 3, 40), Case(5_000, 3, 10), Case(7_000, 30, 4)],
}


@pytest.mark.slow
@pytest.mark.parametrize("cases", FEW_HITS.values(), ids=FEW_HITS)
@pytest.mark.parametrize("share", [0.013, 0.1, 0.3, 0.52])
def test_a_lattice_agrees_with_counting(cases, share):
    terms = Cases(cases)._terms()
    target = share * len(cases)
    exact = counted_sum_tails(terms, np.array([target]), LATE)[0]
    found = lattice_sum_tails(terms, np.array([target]), np.array([exact.log_reached]))[0]
    assert is_rare(terms)
    if found.method == "lattice":
        # Far out, where few values are left, a lattice is a little less sure.
        off = 0.02 if exact.log_reached > -40 else 0.1
        assert found.log_reached == pytest.approx(exact.log_reached, abs=off)
    else:
        assert found.method == "estimate"
        assert found.log_reached == pytest.approx(exact.log_reached, abs=0.3)


@pytest.mark.slow
def test_most_values_are_settled_on_a_lattice():
    cases = FEW_HITS["untied"]
    terms = Cases(cases)._terms()
    found = [
        lattice_sum_tails(terms, np.array([total]), np.array([-50.0]))[0]
        for total in np.linspace(0.05, 1.5, 12)
    ]
    assert [tail.method for tail in found].count("lattice") >= 10


def test_attained_values_count_as_reached():
    # The sum is 1 where one of the two positives is at rank 1 and the other is not retrieved, or
    # both are at rank 2: half of P(S >= 1) is at 1 itself.
    cases = Cases([Case(1_000, 1, 50)] * 2)
    first, second, missed = 1 / 1000, 1 / 1000, 950 / 1000
    tail = cases.mean_tail(0.5)
    at = 2 * first * missed + second**2
    beyond = first**2 + 2 * first * (50 - 1) / 1000
    assert tail.method == "exact"
    assert np.exp(tail.log_reached) == pytest.approx(at + beyond, rel=1e-9)
    on_lattice = lattice_sum_tails(cases._terms(), np.array([1 - 1e-12]), np.array([-10.0]))[0]
    assert np.exp(on_lattice.log_reached) == pytest.approx(at + beyond, rel=0.02)


def test_values_of_one_ranking():
    values = ap_values(Cases([Case(6, 2, 6)])._terms()[0].items, 2, most=100)
    assert values.chance.sum() == pytest.approx(1, rel=1e-12)
    assert values.value[-1] == pytest.approx(1)
    assert values.chance[-1] == pytest.approx(1 / comb(6, 2))
    assert ap_values(Cases([Case(60, 20, 60)])._terms()[0].items, 20, most=1000) is None


def test_much_is_not_counted():
    terms = Cases([Case(400, 5, 400)] * 3)._terms()
    assert counted_sum_tails(terms, np.ones(1), SOON) == [None]
    assert counted_sum_tails(terms, np.ones(1), LATE) == [None]


def test_the_bound_is_one():
    terms = Cases([Case(2_000, 2, 50), Case(1_500, 3, 50)])._terms()
    targets = np.array([0.6, 1.1, 1.6])
    points = WholeSum(terms).saddlepoints(targets)
    together = zip(
        counted_sum_tails(terms, targets, LATE),
        bounds(points.slope, points.log_mgf, targets),
        strict=True,
    )
    for exact, bound in together:
        assert bound.method == "bound"
        assert exact.log_reached < bound.log_reached < exact.log_reached + 6
    # Below the mean it bounds the other tail.
    below = np.array([1.2])
    points = WholeSum(Cases([Case(30, 9, 30)] * 5)._terms()).saddlepoints(below)
    assert points.slope[0] < 0
    assert bounds(points.slope, points.log_mgf, below)[0].log_missed < 0


def run(n_queries, depth, n, first):
    """Return a run in which each query has few positives, some of them at the top."""
    rng = np.random.default_rng(1)
    parts = []
    for query in range(n_queries):
        n_pos = int(rng.integers(1, 200))
        label = np.zeros(depth, dtype=bool)
        label[rng.choice(first, size=min(n_pos, 3), replace=False)] = True
        parts.append(
            pl.DataFrame(
                {"query": query, "score": np.arange(depth, 0, -1), "label": label}
            ).with_columns(n_pos=pl.lit(n_pos), n_neg=pl.lit(n - n_pos))
        )
    return pl.concat(parts)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [1, 7])
def test_runs_over_a_large_collection_are_told_apart(tied):
    options = {"over": "query", "n_pos": "n_pos", "n_neg": "n_neg"}
    good, better = (
        prframe.ap_test(
            run(12, 300, 200_000, first).with_columns(pl.col("score") // tied), **options
        )
        for first in (60, 10)
    )
    assert good["method"].item() in {"lattice", "estimate"}
    assert better["log10_p_value"].item() < good["log10_p_value"].item() - 3 < -7


def test_few_queries_of_few_items_are_counted():
    # Of 20 queries of 5 items with one positive 17 have it first, and 3 have it second.
    label = [1, 0, 0, 0, 0] * 17 + [0, 1, 0, 0, 0] * 3
    frame = pl.DataFrame({"query": np.repeat(np.arange(20), 5), "label": label}).with_columns(
        score=-pl.int_range(pl.len()).over("query")
    )
    found = frame.pr.ap_test(over="query")
    # Sums of 18.5 and more: k queries are not perfect, and what they lack is at most 1.5.
    lacks = {30: 1, 40: 1, 45: 1, 48: 1, 0: 1}
    ways = {0: 1}
    for _ in range(20):
        after = {}
        for lack, count in ways.items():
            for more in lacks:
                after[lack + more] = after.get(lack + more, 0) + count
        ways = after
    good = sum(count for lack, count in ways.items() if lack <= 90)
    assert found["method"].item() == "exact"
    assert found["log10_p_value"].item() == pytest.approx(log(good / 5**20) / log(10), rel=1e-9)
    # The value itself counts on the other side too.
    better = sum(count for lack, count in ways.items() if lack < 90)
    less = frame.pr.ap_test(over="query", alternative="less")["log10_p_value"].item()
    assert -less * log(10) == pytest.approx(better / 5**20, rel=1e-3)
    two_sided = frame.pr.ap_test(over="query", alternative="two-sided")["p_value"].item()
    assert two_sided == pytest.approx(2 * good / 5**20, rel=1e-9)


def test_worse_than_chance_counts_the_value_too():
    label = [0, 0, 1] * 3 + [0, 1, 0]
    frame = pl.DataFrame({"query": np.repeat(np.arange(4), 3), "label": label}).with_columns(
        score=-pl.int_range(pl.len()).over("query")
    )
    # 1/3 in each, or 1/2 in one.
    assert frame.pr.ap_test(over="query", alternative="less")["p_value"].item() == pytest.approx(
        (1 + 4) / 3**4, rel=1e-9
    )


@pytest.mark.slow
def test_the_method_that_is_asked_for_is_taken():
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(30), 60),
            "score": np.tile(np.arange(60), 30),
            "label": np.random.default_rng(4).random(1800) < 0.3,
        }
    )
    auto, transform = (
        frame.pr.ap_test(over="query", method=method) for method in ("auto", "transform")
    )
    assert auto["method"].item() == "saddlepoint"
    assert transform["method"].item() == "transform"
    expected = pytest.approx(auto["log10_p_value"].item(), abs=2e-3)
    assert transform["log10_p_value"].item() == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
def test_the_best_mean_and_constant_ones():
    perfect = pl.DataFrame({"query": [0, 0, 1, 1], "score": [2, 1, 2, 1], "label": [1, 0, 1, 0]})
    constant = perfect.with_columns(label=1)
    tied = perfect.with_columns(score=1)
    for alternative, expected in (("greater", 0.25), ("less", 1.0), ("two-sided", 0.5)):
        found = perfect.pr.ap_test(over="query", alternative=alternative)
        assert found["p_value"].item() == pytest.approx(expected)
        assert found["method"].item() == "exact"
        for frame in (constant, tied):
            found = frame.pr.ap_test(over="query", alternative=alternative)
            assert found["p_value"].item() == 1
            assert found["method"].item() == "exact"


@pytest.mark.slow
@pytest.mark.parametrize(("queries", "n"), [(2, 20), (40, 100), (300, 500_000)])
def test_a_mean_of_nothing_retrieved(queries, n):
    frame = pl.DataFrame(
        {"query": np.repeat(np.arange(queries), 10), "score": 1.0, "label": 0}
    ).with_columns(score=-pl.int_range(pl.len()).over("query"), n_pos=2, n_neg=n - 2)
    options = {"over": "query", "n_pos": "n_pos", "n_neg": "n_neg"}
    assert frame.pr.ap_test(**options)["p_value"].item() == 1
    # No query retrieves one of its two positives.
    nothing = queries * (log(comb(n - 10, 2)) - log(comb(n, 2)))
    less = frame.pr.ap_test(**options, alternative="less")["log10_p_value"].item()
    assert less * log(10) == pytest.approx(nothing, rel=1e-6, abs=1e-9)
