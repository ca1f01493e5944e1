"""Tails of AP on a lattice, and of few positives or negatives."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.plain.lattice import DEEPER, Lattice, lattice_tails
from prframe.stats.null.average_precision.tails.plain.plans import Plans, Retrieved, Shape
from prframe.stats.null.average_precision.tails.plain.sizes import Sizes
from prframe.stats.null.average_precision.tails.plain.walk import Walk, sums_from

CASES = [(1000, 10, 1000), (300, 12, 300), (50, 8, 50), (400, 20, 90), (4000, 6, 70), (65, 30, 64)]


def test_sums_from_columns_on_are_those_of_slices():
    weight = np.random.default_rng(0).random((3, 7))
    row, begin = np.array([0, 1, 2, 2, 0]), np.array([2, 7, 3, 6, 5])
    for least in (0, 2):
        begins = np.where(begin == 2, least, begin)
        expected = [weight[r, b:].sum() for r, b in zip(row, begins, strict=True)]
        assert sums_from(weight, row, begins) == pytest.approx(expected)
    assert sums_from(weight, row[:0], begin[:0]).size == 0


def test_walks_have_the_same_digits_whatever_other_cases_the_plans_have():
    few, many = Retrieved(300, 6, 120), Retrieved(900, 80, 700)
    sizes = Sizes.around(few.n, few.n_pos)
    assert sizes == Sizes.around(many.n, many.n_pos)
    x = np.array([0.3, 1.1, 1.9])
    pairs = [
        Walk(Plans(Shape(cases, None, sizes)), 2.0, 0.01, -48.0, members).pairs([few] * 3, x)
        for cases, members in (([few], None), ([few, many], [few]), ([few, many], None))
    ]
    for other in pairs[1:]:
        assert (other == pairs[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("z", [-0.3, 0.5, 2.0, 4.0])
def test_agrees_with_the_inversion(z):
    nulls = [APNull(n, n_pos, depth=depth, method="transform") for n, n_pos, depth in CASES]
    x = np.array([null.mean() + z * null.std() for null in nulls])
    ends = [null.support() for null in nulls]
    chosen = [k for k, (low, high) in enumerate(ends) if 1.01 * low < x[k] < 0.9 * high]
    assert len(chosen) >= 3
    values = np.array([x[k] * CASES[k][1] for k in chosen])
    found = lattice_tails([Retrieved(*CASES[k]) for k in chosen], values)
    assert not found.lumpy.all()
    for k, reached, missed, _, lumpy in zip(chosen, *found, strict=True):
        if lumpy:
            continue
        assert reached == pytest.approx(nulls[k].logsf(x[k]), abs=0.01)
        assert missed == pytest.approx(nulls[k].logcdf(x[k]), abs=0.01)


def test_both_tails_add_up():
    found = lattice_tails([Retrieved(200, 9, 200)] * 20, np.linspace(0.5, 8, 20))
    assert np.exp(found.reached) + np.exp(found.missed) == pytest.approx(np.ones(20), abs=1e-9)
    assert (np.diff(found.reached) < 0).all()


def test_single_values_that_carry_weight_are_noticed():
    # The second and the third best of all rankings of four positives.
    x = np.array([3 + 4 / 5, 3 + 4 / 6])
    assert lattice_tails([Retrieved(30, 4, 30)] * 2, x * (1 - 1e-12)).lumpy.all()


@pytest.mark.slow
def test_single_values_of_one_hit_count_whole():
    # One of six positives is retrieved at most, hardly ever two: T is 1, 1/2, 1/3, ...
    x = np.array([1.0, 0.5, 0.2])
    found = lattice_tails([Retrieved(4_000, 6, 70)] * 3, x * (1 - 1e-12))
    assert not found.lumpy.any()
    first = np.array([1, 2, 5]) * 6 / 4_000
    # Two that are retrieved add a little.
    assert (np.exp(found.reached) > first * (1 - first)).all()
    assert np.exp(found.reached) == pytest.approx(APNull(4_000, 6, depth=70).sf(x / 6), rel=0.01)
    rows = pl.concat(
        pl.DataFrame(
            {"q": q, "score": -np.arange(70.0), "label": np.arange(70) == q, "n_pos": 6, "n": 3994}
        )
        for q in range(12)
    )
    tested = prframe.ap_test(rows, by="q", n_pos="n_pos", n_neg="n")
    for q in range(12):
        alone = APNull(4_000, 6, depth=70).sf(1 / (6 * (q + 1)))
        assert tested["p_value"][q] == pytest.approx(alone, rel=0.02)


@pytest.mark.slow
def test_many_groups_are_what_one_is():
    rng = np.random.default_rng(3)
    groups = pl.concat(
        pl.DataFrame(
            {
                "q": q,
                "score": rng.normal(size=60 + q) + np.repeat([1, 0], [5 + q % 4, 55 + q - q % 4]),
                "label": np.arange(60 + q) < 5 + q % 4,
            }
        )
        for q in range(12)
    )
    rows = prframe.ap_test(groups, by="q")
    assert "lattice" in rows["method"].to_list()
    for q in range(12):
        alone = prframe.ap_test(groups.filter(pl.col("q") == q)).row(0, named=True)
        expected = pytest.approx(alone["log10_p_value"], abs=0.005)
        assert rows["log10_p_value"][q] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(10**6, 100), (3 * 10**5, 30), (50_000, 5)])
def test_rare_positives_far_down(n, n_pos):
    # Spacings of exponential numbers are those of uniform ranks; a few thousand times as many.
    draws = 60_000
    rng = np.random.default_rng(8)
    gaps = rng.standard_exponential((draws, n_pos + 1)).cumsum(axis=1)
    ranks = np.ceil(gaps[:, :-1] / gaps[:, -1:] * n)
    total = (np.arange(1, n_pos + 1) / ranks).sum(axis=1)
    for share in (0.5, 0.9, 0.99, 0.999):
        x = float(np.quantile(total, share))
        found = lattice_tails([Retrieved(n, n_pos, n)], np.array([x]))
        assert not found.lumpy[0]
        reached = np.mean(total >= x)
        error = np.sqrt(reached * (1 - reached) / draws)
        assert np.exp(found.reached[0]) == pytest.approx(reached, abs=4 * error)


@pytest.mark.slow
def test_values_one_after_the_other_are_those_of_one_call():
    case = Retrieved(2_000, 14, 300)
    x = np.array([0.01, 0.3, 0.9, 1.7, 4.1, 4.3])
    together, lattice = lattice_tails([case] * x.size, x), Lattice(case)
    for place, value in enumerate(x.tolist()):
        alone = lattice.tails(np.array([value]))
        if not (alone.lumpy[0] or together.lumpy[place]):
            assert alone.reached[0] == pytest.approx(together.reached[place], rel=1e-3, abs=2e-3)
    assert not together.lumpy.all()


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "x"), [(20_000, 60, 38.4), (10**5, 50, 25.1)])
def test_the_furthest_tails_are_within_certified_bounds(n, n_pos, x):
    tails = Lattice(Retrieved(n, n_pos, n)).tails(np.array([x]), levels=DEEPER)
    low, high = np.log(APNull(n, n_pos).sf_bounds(x / n_pos, cell=0.05))
    assert not tails.lumpy[0]
    assert low <= tails.reached[0] <= high


def test_tails_that_a_lattice_does_not_reach_are_none_of_its():
    found = lattice_tails([Retrieved(100_000, 100, 100_000)], np.array([80.0]))
    assert np.isnan(found.reached[0])
    assert APNull(100_000, 100).logsf(0.8) < -500


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_few_positives_or_negatives_are_counted(n):
    for n_pos in range(1, n):
        for depth in (n, max(1, n - 2)):
            total = np.array(
                [
                    sum((k + 1) / rank for k, rank in enumerate(ranks) if rank <= depth)
                    for ranks in combinations(range(1, n + 1), n_pos)
                ]
            )
            for x in np.unique(total) * (1 - 1e-12):
                logs = sparse_log_tails(Items(n, depth), n_pos, float(x))
                few_negatives = min(n_pos, n - n_pos) < n_pos
                if logs is None:
                    assert min(n_pos, n - n_pos) > 3 or (few_negatives and depth < n)
                else:
                    assert np.exp(logs[0]) == pytest.approx(np.mean(total >= x), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_pos", [1, 3, 997, 999])
def test_quantiles_of_few_positives_or_negatives(n_pos):
    null = APNull(1_000, n_pos)
    for q in (0.5, 0.05, 1e-3):
        x = null.isf(q)
        assert null.sf(x) <= q * (1 + 1e-9) or null.sf(x * (1 + 1e-9)) <= q


def test_ties_on_a_lattice_are_what_counting_says():
    ties = (1, 4, 2, 8, 5, 10)
    null = APNull(30, 6, ties=ties)
    values = null.mean() + null.std() * np.array([-1.0, 0.5, 2.0, 4.0])
    found = lattice_tails([Retrieved(30, 6, 30)] * 4, values * 6 * (1 - 1e-12), np.cumsum(ties))
    exact = APNull(30, 6, ties=ties, method="exact")
    for place, value in enumerate(values.tolist()):
        if not found.lumpy[place]:
            assert found.reached[place] == pytest.approx(exact.logsf(value), abs=0.02)


@pytest.mark.parametrize(("n", "n_pos"), [(3_000, 1_500), (1_000, 500), (400, 30)])
def test_two_retrieved_items_have_four_patterns(n, n_pos):
    null = APNull(n, n_pos, depth=2)
    neither = (n - n_pos) * (n - n_pos - 1) / n / (n - 1)
    first = n_pos / n
    assert null.sf(0.5 / n_pos) == pytest.approx(1 - neither, rel=1e-9)
    assert null.sf(1 / n_pos) == pytest.approx(first, rel=1e-9)
    assert null.sf(2 / n_pos) == pytest.approx(first * (n_pos - 1) / (n - 1), rel=1e-9)


@pytest.mark.parametrize("depth", [200, 199, 120])
def test_two_negatives_below_a_depth_by_enumeration(depth):
    n = 200
    hits = np.ones((n * (n - 1) // 2, n))
    pairs = np.array(list(combinations(range(n), 2)))
    np.put_along_axis(hits, pairs, 0.0, axis=1)
    precision = hits.cumsum(axis=1) / np.arange(1, n + 1)
    ap = (hits * precision)[:, :depth].sum(axis=1) / (n - 2)
    null = APNull(n, n - 2, depth=depth)
    for x in np.quantile(ap, [0.05, 0.5, 0.95]):
        assert null.sf(x) == pytest.approx(np.mean(ap >= x * (1 - 1e-12)), rel=1e-9)


@pytest.mark.slow
def test_tails_next_to_a_lump():
    # Of 100 positives among a million items one is at the first rank with probability 1e-4.
    tails = APNull(10**6, 100).logsf(np.array([0.0098, 0.01005518, 0.01008237]))
    assert tails == pytest.approx(np.log(1e-4), abs=6e-3)
