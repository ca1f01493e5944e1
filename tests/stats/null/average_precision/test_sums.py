"""Sums of the AP of independent rankings: walks through every number of hits."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.stats import APNull, ap_minimum
from prframe.stats.null.average_precision.generating_function.full_walks import WholeWalk
from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Points,
    refined_tails,
)
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.walk import (
    DENSE,
    GROWTH,
    Course,
    Group,
)
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.sums.full_walks import WholeSum
from prframe.stats.null.average_precision.sums.path_walks import PathSum
from prframe.stats.null.average_precision.sums.tail import inverted_tails, sum_tails
from prframe.stats.null.average_precision.sums.terms import Term, centres, clustered


def queries(count, *, seed=0, tied=True, n=400):
    """Return terms with 2 to 40 positives."""
    rng = np.random.default_rng(seed)
    terms = []
    for _ in range(count):
        ends = None
        if tied:
            blocks = np.unique(np.round(rng.normal(size=n), 1), return_counts=True)[1]
            ends = np.cumsum(blocks)
        n_pos = int(rng.integers(2, 41))
        null = APNull(n, n_pos, ties=None if ends is None else np.diff(ends, prepend=0).tolist())
        terms.append(Term(Items(n, n, ends), n_pos, 1, null.mean(), null.var()))
    return terms


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("depth", [400, 130])
def test_generating_functions_are_those_of_the_course(tied, depth):
    rng = np.random.default_rng(4)
    blocks = np.sort(rng.choice(np.arange(1, depth), 30, replace=False))
    ends = np.append(blocks, depth) if tied else None
    n_pos = [1, 3, 17, 30]
    items = Items(400, depth, ends)
    lanes = Lanes.of([items.table(DENSE, GROWTH)] * 4, n_pos)
    slopes = np.linspace(-6, 8, 9) * np.ones((4, 1))
    found = WholeWalk(lanes).mgf(slopes)
    short = None if depth == 400 else depth
    for lane, positives in enumerate(n_pos):
        course = Course.shared([Group(400, positives)], short, ends)
        assert np.log(found[lane]) == pytest.approx(course.log_mgf(slopes[[lane]])[0], abs=1e-11)


def test_complex_slopes_give_characteristic_functions():
    n, n_pos = 9, 3
    lanes = Lanes.of([Items(n, n).table(DENSE, GROWTH)], [n_pos])
    frequency = np.array([0.0, 0.7, 3.0])
    found = WholeWalk(lanes).mgf(1j * frequency[None])[0]
    draws = np.array(
        [np.sort(np.random.default_rng(k).permutation(n)[:n_pos]) for k in range(9999)]
    )
    total = ((np.arange(n_pos) + 1) / (draws + 1)).sum(axis=1)
    assert found == pytest.approx(np.exp(1j * np.outer(frequency, total)).mean(axis=1), abs=0.05)


@pytest.mark.parametrize("shape", [10.0, 40.0])
def test_refined_tails_of_gamma_distributions(shape):
    x = shape * np.array([0.3, 0.9, 1.01, 1.5, 2.5, 5])
    slope = 1 - shape / x
    derivatives = [shape * np.prod(np.arange(1, k)) / (1 - slope) ** k for k in range(2, 7)]
    found = refined_tails(Points(slope, -shape * np.log1p(-slope), *derivatives), x)
    law = stats.gamma(shape)
    expected = np.where(slope > 0, law.logsf(x), law.logcdf(x))
    assert found.log_tail == pytest.approx(expected, abs=3e-5)
    assert (found.doubt < 0.002).all()


@pytest.mark.slow
@pytest.mark.parametrize("z", [-2.5, 1.0, 4.0, 12.0])
def test_both_ways_to_walk_and_the_saddlepoint_agree(z):
    terms = queries(12)
    tails = []
    for sums in (WholeSum(terms), PathSum(terms)):
        target = sums.mean + z * sums.deviation
        points = sums.saddlepoints(np.array([target]))
        assert not np.isnan(points.slope[0])
        deviation = points.second**0.5
        tail = inverted_tails(sums, np.array([target]), points.slope, deviation)[0]
        assert tail is not None
        tails.append(tail)
    assert tails[0].log_reached == pytest.approx(tails[1].log_reached, rel=5e-6)
    best = sum_tails(terms, np.array([target]))[0]
    assert best is not None
    assert best.log_reached == pytest.approx(tails[0].log_reached, rel=1e-3, abs=0.01)
    assert best.log_missed == pytest.approx(tails[0].log_missed, rel=1e-2, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("tied", [True, False])
def test_sums_are_what_simulation_says(tied):
    terms = queries(25, tied=tied, n=120, seed=2)
    draws = 40_000
    total = np.zeros(draws)
    rng = np.random.default_rng(1)
    for term in terms:
        ends = np.arange(1, 121) if term.items.ends is None else term.items.ends
        end = np.repeat(ends, np.diff(ends, prepend=0))
        hits = np.argsort(rng.random((draws, 120)), axis=1) < term.n_pos
        at_end = np.cumsum(hits, axis=1)[:, end - 1]
        total += (hits * at_end / end).sum(axis=1) / term.n_pos
    for share in (0.02, 0.3, 0.9, 0.999):
        value = float(np.quantile(total, share))
        tail = sum_tails(terms, np.array([value]))[0]
        assert tail is not None
        assert tail.method in {"saddlepoint", "transform"}
        reached = np.mean(total >= value)
        error = np.sqrt(reached * (1 - reached) / draws)
        assert np.exp(tail.log_reached) == pytest.approx(reached, abs=4 * error + 0.01 * reached)


SHARED = [
    ([Case(197, 5, 197)] * 6, 0.02),
    ([Case(45, 5, 45)] * 2 + [Case(60, 9, 30)] * 3, 0.02),
    ([Case(100, 40, 100)] * 3, 0.002),
]


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "off"), SHARED)
def test_values_that_share_walks_have_the_tails_of_each(cases, off):
    together = Cases(cases)
    values = np.linspace(0.5 * together.mean.mean(), 0.6, 12)
    tails = together.mean_tails(values)
    for value, tail in zip(values.tolist(), tails, strict=True):
        alone = Cases(cases[::-1]).mean_tail(value)
        assert tail is not None
        assert alone is not None
        assert tail.log_reached == pytest.approx(alone.log_reached, abs=off)
        assert tail.log_missed == pytest.approx(alone.log_missed, abs=off)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(197, 5), (1_000, 3), (5_000, 12)])
def test_no_strong_mean_is_left_to_sampling(shape):
    n, n_pos = shape
    values = np.append(np.linspace(0.4, 0.98, 15), 0.999)
    tails = Cases([Case(n, n_pos, n)] * 6).mean_tails(values)
    logs = np.array([tail.log_reached for tail in tails if tail is not None])
    assert logs.size == values.size
    assert logs.max() < np.log(1e-4)
    assert (np.diff(logs) < 0).all()


@pytest.mark.slow
def test_many_groups_of_one_shape_are_tested_as_one():
    rng = np.random.default_rng(3)
    shapes = [{"n": 60, "n_pos": 4}, {"n": 80, "n_pos": 6}, {"n": 60, "n_pos": 4}]
    rows = pl.DataFrame(
        [
            {"group": group, "query": query, "ap": rng.beta(1, 5 - group % 4), **shape}
            for group in range(6)
            for query, shape in enumerate(shapes)
        ]
    )
    options = {"ap": "ap", "n": "n", "n_pos": "n_pos", "by": "group", "over": "query"}
    for alternative in ("greater", "two-sided"):
        tests = prframe.ap_test(rows, alternative=alternative, **options)
        each = pl.concat(
            prframe.ap_test(part, alternative=alternative, **options)
            for part in rows.sample(fraction=1, shuffle=True, seed=1).partition_by("group")
        ).sort("group")
        for name in ("map", "null_mean", "null_std"):
            assert tests[name].to_list() == pytest.approx(each[name].to_list(), rel=1e-12)
        log_p = each["p_value"].log().to_list()
        assert tests["p_value"].log().to_list() == pytest.approx(log_p, abs=0.02)


def test_slopes_of_a_cluster_are_close():
    slopes, widths = np.array([3.0, 0.0, 1.0, 0.4, 3.2]), np.array([1.0, 1.0, 0.5, 0.5, 0.1])
    numbers = clustered(slopes, widths)
    assert numbers.tolist() == [2, 0, 1, 0, 3]
    assert centres(slopes, numbers) == pytest.approx([0.2, 1.0, 3.0, 3.2])


def test_only_the_least_sum_has_the_tail_of_the_worst_rankings():
    cut = Cases([Case(10_000, 3, 50)] * 4)
    # Where the worst rankings have no hit there is no least sum above 0.
    assert cut._least_tail(1e-3) is None
    whole = Cases([Case(12, 2, 12)] * 2)
    least = 2 * float(ap_minimum(12, 2))
    tail = whole._least_tail(least * (1 + 3e-12))
    assert tail.log_missed == pytest.approx(-2 * np.log(66))
    assert whole._least_tail(least * 1.001) is None
