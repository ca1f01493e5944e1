"""Saddlepoints of AP: the generating function, the formula, and what is done where they fail."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb, log

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import prframe
from prframe.stats import APNull, ap_null_moments
from prframe.stats.null.average_precision.generating_function import step_terms as ap_tables
from prframe.stats.null.average_precision.generating_function.lanes import Lanes
from prframe.stats.null.average_precision.generating_function.likely_path import most_likely
from prframe.stats.null.average_precision.generating_function.path_search import along_paths
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Points,
    moved,
    tails,
)
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.generating_function.walk import (
    DENSE,
    GROWTH,
    Course,
    Group,
)
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.tails.planned import Problem, planned_tails


def log_mgf(n, n_pos, slope, blocks=None, depth=None):
    """Return log E[exp(slope T)], block by block, for every number of hits."""
    blocks = [1] * (depth or n) if blocks is None else blocks
    values = np.full(n_pos + 1, -np.inf)
    values[0] = 0.0
    end = 0
    for size in [*blocks, n - sum(blocks)]:
        end += size
        gain = 0.0 if end > sum(blocks) else slope / end
        after = np.full(n_pos + 1, -np.inf)
        for j in range(min(size, n_pos) + 1):
            h = np.arange(j, n_pos + 1)
            step = log(comb(size, j)) + gain * j * h + values[: n_pos + 1 - j]
            after[j:] = np.logaddexp(after[j:], step)
        values = after
    return values[n_pos] - log(comb(n, n_pos))


def lanes_of(n, n_pos, blocks=None, depth=None):
    ends = None if blocks is None else np.cumsum(blocks)
    items = Items(n, n if depth is None else depth, ends)
    return Lanes.of([items.table(DENSE, GROWTH)], [n_pos])


SHAPES = [
    (200, 30, None, None),
    (200, 170, None, None),
    (400, 60, None, 150),
    (150, 40, [3] * 50, None),
    (300, 50, [10] * 12, 120),
    (120, 30, [40, 1, 1, 38, 40], None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "blocks", "depth"), SHAPES)
@pytest.mark.parametrize("slope", [-3.0, -0.2, 0.0, 0.3, 2.0, 5.0])
def test_generating_function(n, n_pos, blocks, depth, slope):
    expected = log_mgf(n, n_pos, slope, blocks, depth)
    ends = None if blocks is None else np.cumsum(blocks)
    shared = Course.shared([Group(n, n_pos)], depth, ends)
    # Steps over several ranks know the mean and the variance of what T grows by, no more.
    within = 1e-3 * slope**2 + 1e-9
    assert shared.log_mgf(np.array([[slope]]))[0, 0] == pytest.approx(expected, abs=within)
    lanes = lanes_of(n, n_pos, blocks, depth)
    tilted = shared.tilt(slope)
    if abs(slope) < 1:
        path = most_likely(lanes, tilted.mean)
        planned = Course.planned(lanes, path)
        assert planned.log_mgf(np.array([[slope]]))[0, 0] == pytest.approx(expected, abs=within)


def test_a_shared_walk_leads_to_every_group():
    groups = [Group(90, 10), Group(70, 30), Group(90, 1), Group(64, 64)]
    found = Course.shared(groups).log_mgf(np.array([[0.5, -1.0]]))
    for group, row in zip(groups, found, strict=True):
        for slope, value in zip((0.5, -1.0), row, strict=True):
            assert value == pytest.approx(log_mgf(*group, slope), abs=1e-3)


@pytest.mark.parametrize("slope", [-1.0, 0.7])
def test_tilted_moments_are_derivatives(slope):
    course = Course.shared([Group(300, 40)])
    tilt, h = course.tilt(slope), 1e-3
    low, middle, high = course.log_mgf(np.array([[slope - h, slope, slope + h]]))[0]
    assert tilt.log_mgf[0] == pytest.approx(middle, abs=1e-12)
    assert tilt.mean[0] == pytest.approx((high - low) / (2 * h), rel=1e-5)
    assert tilt.variance[0] == pytest.approx((high - 2 * middle + low) / h**2, rel=1e-4)


@pytest.mark.parametrize("x", [20.0, 30.0, 41.0, 42.0, 60.0, 200.0])
def test_the_formula_on_a_gamma_distribution(x):
    # K(s) = -a log(1 - s), of which everything is known.
    a = 40.0
    s = 1 - a / x
    derivatives = [a * np.prod(np.arange(1, k)) / (1 - s) ** k for k in range(2, 7)]
    points = Points(*(np.array([one]) for one in (s, -a * np.log1p(-s), *derivatives)))
    found = tails(points, np.array([x]))
    true = scipy_stats.gamma(a).logsf(x) if s >= 0 else scipy_stats.gamma(a).logcdf(x)
    assert found.log_tail[0] == pytest.approx(true, abs=1e-3)
    assert found.doubt[0] < 0.02


def problem(n, n_pos, z, ends=None):
    mean, variance = (float(one) for one in ap_null_moments(n, n_pos))
    deviation = n_pos * variance**0.5
    target = n_pos * mean + z * deviation
    return Problem(Items(n, n, ends), n_pos, target, n_pos * mean, deviation)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(2_000, 1_000), (100_000, 50_000), (10**6, 10**5)])
@pytest.mark.parametrize("z", [-2.0, 0.0, 1.0, 4.0, 12.0])
def test_saddlepoint_and_inversion_agree(n, n_pos, z):
    one, other = (
        planned_tails([problem(n, n_pos, z)], only_inversion=inverted)[0]
        for inverted in (False, True)
    )
    assert (one.method, other.method) == ("saddlepoint", "transform")
    assert one.log_reached == pytest.approx(other.log_reached, abs=2e-3)
    assert one.log_missed == pytest.approx(other.log_missed, abs=2e-3)


@pytest.mark.slow
def test_many_problems_are_each_their_own():
    each = [problem(2_000, 600, 1.0), problem(900, 300, 3.0), problem(3_000, 900, -1.0)]
    together = planned_tails(each)
    for one, alone in zip(together, each, strict=True):
        assert one.log_reached == pytest.approx(planned_tails([alone])[0].log_reached, abs=1e-9)


def test_walks_find_their_rows_again(monkeypatch):
    # Rows that are far too few at first are laid anew.
    expected = planned_tails([problem(50_000, 25_000, 2.0)])[0]
    monkeypatch.setattr(ap_tables, "_WIDE", 2.0)
    monkeypatch.setattr(ap_tables, "_MORE", 0.0)
    found = planned_tails([problem(50_000, 25_000, 2.0)])[0]
    assert found.log_reached == pytest.approx(expected.log_reached, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("z", [0.5, 2.0, 8.0])
def test_a_wrong_walk_is_noticed(monkeypatch, z):
    # Rows further apart than hits scatter make every sum wrong.
    expected = planned_tails([problem(50_000, 25_000, z)])[0]
    monkeypatch.setattr(ap_tables, "_STRIDE", 3.0)
    found = planned_tails([problem(50_000, 25_000, z)])[0]
    wrong = abs(found.log_reached - expected.log_reached) > 0.05
    assert not (wrong and found.method == "saddlepoint")


@pytest.mark.parametrize("slope", [-0.8, 0.6])
def test_the_skewness_of_a_walk_is_from_the_third_derivative(slope):
    lanes = lanes_of(300, 40)
    tilt, h = Course.shared([Group(300, 40)]).tilt(slope), 0.02
    path = most_likely(lanes, tilt.mean)
    course, slopes = Course.planned(lanes, path), np.array([slope])
    seen = course.whereabouts(lanes, slopes)
    k = course.log_mgf(slopes[:, None] + h * np.array([[-2.0, -1.0, 1.0, 2.0]]))[0]
    third = (k[3] - 2 * k[2] + 2 * k[1] - k[0]) / (2 * h**3)
    assert seen.skewness[0] == pytest.approx(third / seen.variance[0] ** 1.5, abs=2e-3)


@pytest.mark.parametrize(
    ("n", "n_pos", "target"), [(10**6, 1000, 2.07), (10**6, 1000, 7.6), (10**7, 10**4, 11.16)]
)
def test_paths_that_few_steps_lead_to_are_about_the_value(n, n_pos, target):
    # One hit at the very top makes T this large, or many good ones: the tilted T has two humps.
    lanes, few = lanes_of(n, n_pos), Lanes.of([Items(n, n).table(24, 0.3)], [n_pos])
    points, path = along_paths(lanes, np.array([target]), coarse=lambda _: few)
    seen = Course.planned(lanes, path).whereabouts(lanes, path.slope)
    assert abs(seen.total[0] - target) < 0.35 * seen.variance[0] ** 0.5
    assert seen.outside.max() < 1e-4
    assert np.isnan(points.slope[0])
    plain = along_paths(lanes, np.array([target]))[1]
    assert path.slope == pytest.approx(plain.slope, abs=0.3 / seen.variance[0] ** 0.5)


def test_where_the_mean_is_the_value():
    points, path = along_paths(
        lanes_of(5_000, 2_500), np.array([problem(5_000, 2_500, 0.0).target])
    )
    assert abs(points.slope[0]) < 1e-3
    assert path.hits[0, -1] == 2_500


@pytest.mark.slow
@pytest.mark.parametrize("n_pos", [10, 900, 50_000])
def test_tails_fall_with_ap(n_pos):
    null = APNull(100_000, n_pos)
    x = null.mean() + null.std() * np.linspace(-2, 5, 12)
    assert (np.diff(null.logsf(x)) <= 0).all()
    alone = np.array([null.logsf(value) for value in x])
    # Where one method gives way to another they differ by less than what is promised.
    assert (np.diff(alone) <= 0.01).all()


METHODS = ["auto", "exact", "lattice", "saddlepoint", "transform", "normal", "monte-carlo"]


@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("scores", "labels"),
    [([1.0] * 40, [1, 0] * 20), (range(30), [1] * 30), ([3.0], [1]), ([2.0, 2.0], [0, 1])],
    ids=["all tied", "all positive", "one item", "a pair"],
)
def test_where_ap_is_certain(method, scores, labels):
    frame = pl.DataFrame({"score": list(scores), "label": labels}).cast({"score": pl.Float64})
    for alternative in ("greater", "less", "two-sided"):
        row = prframe.ap_test(frame, method=method, alternative=alternative).row(0, named=True)
        assert (row["p_value"], row["log10_p_value"]) == (1.0, 0.0)


@pytest.mark.parametrize("method", ["auto", "saddlepoint", "transform"])
def test_depth_of_one_and_none(method):
    null = APNull(1_000, 400, depth=1, method=method)
    assert null.sf(1 / 400) == pytest.approx(0.4)
    assert null.sf(0.5) == 0
    assert APNull(1_000, 400, depth=0, method=method).sf(0.0) == 1


@pytest.mark.slow
def test_beyond_floats():
    n = 20_000
    label = np.arange(n) < n // 2
    frame = pl.concat(
        pl.DataFrame(
            {"q": q, "score": np.random.default_rng(q).normal(size=n) + q * label, "label": label}
        )
        for q in (1, 2, 3)
    )
    rows = prframe.ap_test(frame, by="q")
    assert (rows["p_value"] == np.finfo(float).tiny).all()
    assert (rows["log10_p_value"].diff().drop_nulls() < 0).all()
    mean = prframe.ap_test(frame, over="q")
    assert mean["log10_p_value"].item() < -1000
    assert mean["method"].item() == "saddlepoint"


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("z", [-1.0, 0.3, 4.0])
def test_sums_of_large_groups_are_nearly_normal(count, z):
    cases = Cases([Case(40_000 + 10 * k, 15_000, 40_000 + 10 * k) for k in range(count)])
    mean, deviation = cases.mean.mean(), np.sqrt(cases.variance.sum()) / count
    tail = cases.mean_tail(mean + z * deviation)
    assert tail.method == "saddlepoint"
    assert tail.log_reached == pytest.approx(scipy_stats.norm.logsf(z), abs=0.02 + 0.02 * z * z)


def test_a_sum_is_the_convolution():
    # Twice the same small group, all of whose rankings are counted.
    n, n_pos = 12, 5
    null = APNull(n, n_pos)
    masks = np.arange(1 << n)
    bits = (masks[:, None] >> np.arange(n)) & 1
    bits = bits[bits.sum(axis=1) == n_pos]
    ap = ((bits * np.cumsum(bits, axis=1)) / np.arange(1, n + 1)).sum(axis=1) / n_pos
    sums = ap[:, None] + ap
    value = float(np.quantile(sums, 0.99)) / 2
    expected = (sums >= 2 * value - 1e-9).mean()
    tail = Cases([Case(n, n_pos, n)] * 2).mean_tail(value)
    assert null.mean() == pytest.approx(ap.mean())
    if tail is not None:
        assert np.exp(tail.log_reached) == pytest.approx(expected, rel=0.05)


CLUSTERED = [
    (300, 100, [285] + [1] * 15, 0.326544, 0.9011),
    (300, 100, [285] + [1] * 15, 0.333402, 0.4985),
    (300, 60, [280] + [1] * 8 + [12], 0.207058, 0.0994),
]


@pytest.mark.parametrize(("n", "n_pos", "blocks", "x", "expected"), CLUSTERED)
def test_huge_blocks(n, n_pos, blocks, x, expected):
    # AP clusters by how many positives the huge block holds, so that these are counted. The
    # values are those of 400,000 random rankings.
    found = APNull(n, n_pos, ties=blocks).tails(x)
    assert found.method == "exact"
    assert np.exp(found.log_sf) == pytest.approx(expected, abs=2e-3)


@pytest.mark.slow
def test_clusters_too_many_to_count():
    null = APNull(1_000, 100, ties=[900] + [1] * 100)
    found = null.tails(0.104236)
    assert found.method in {"lattice", "monte-carlo"}
    drawn = null.rvs(20_000, rng=1)
    assert np.exp(found.log_sf) == pytest.approx((drawn >= 0.104236).mean(), abs=0.01)


SUMS_OF_FEW_VALUES = [
    (Case(3, 1, 3), 10, 0.58333),
    (Case(3, 1, 3), 300, 0.67944),
    (Case(6, 5, 6), 5, 0.8247),
    (Case(14, 7, 14, (1, 13)), 30, 0.54),
    (Case(15, 5, 15, (8, 7)), 10, 0.435),
]


def distribution(case):
    """Return the chances of the values of AP, as fractions."""
    blocks = np.repeat(np.arange(len(case.ties)), case.ties) if case.ties else np.arange(case.n)
    ends = np.searchsorted(blocks, blocks, side="right").tolist()
    chances = Counter()
    for positives in combinations(range(case.n), case.n_pos):
        earned = [Fraction(sum(p < ends[q] for p in positives), ends[q]) for q in positives]
        chances[sum(earned) / case.n_pos] += Fraction(1, comb(case.n, case.n_pos))
    return chances


@pytest.mark.slow
@pytest.mark.parametrize(("case", "count", "value"), SUMS_OF_FEW_VALUES)
def test_sums_of_few_values_are_counted(case, count, value):
    one, total = distribution(case), {Fraction(0): Fraction(1)}
    for _ in range(count):
        after = Counter()
        for (old, chance), (more, likely) in product(total.items(), one.items()):
            after[old + more] += chance * likely
        total = after
    tail = Cases([case] * count).mean_tail(value)
    assert tail.method == "exact"
    least = Fraction(value * count * (1 - 1e-12))
    reached = sum(chance for attained, chance in total.items() if attained >= least)
    assert tail.log_reached == pytest.approx(log(reached), rel=1e-9)
    assert tail.log_missed == pytest.approx(log(1 - reached), rel=1e-9)


def test_a_sum_of_the_best_rankings_is_counted():
    tail = Cases([Case(50, 5, 50)] * 3).mean_tail(1.0)
    assert tail.method == "exact"
    assert tail.log_reached == pytest.approx(-3 * log(comb(50, 5)))


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_one_query_over_queries_is_the_query(alternative):
    for labels in ([0] * 17 + [1] * 3, [0, 1, 0, 1, 0, 0]):
        frame = pl.DataFrame({"q": 0, "score": -np.arange(float(len(labels))), "label": labels})
        both = [
            prframe.ap_test(frame, alternative=alternative, **{how: "q"})["p_value"].item()
            for how in ("by", "over")
        ]
        assert both[0] == both[1] > 1e-6


def test_saddlepoints_move_to_values_nearby() -> None:
    cumulants = np.polynomial.Polynomial([0.0, 3.0, 2.0, 0.3, 0.2, 0.05, 0.02])

    def at(slope: float) -> Points:
        further = [cumulants.deriv(order)(slope) for order in range(2, 7)]
        return Points(*(np.array([value]) for value in (slope, cumulants(slope), *further)))

    x, other = (np.array([cumulants.deriv()(slope)]) for slope in (0.4, 0.55))
    for found, expected in zip(moved(at(0.4), x, other), at(0.55), strict=True):
        assert found == pytest.approx(expected, rel=1e-12)
