"""Critical values against what `evaluate` computes: never above the value that is attained."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import prframe
from prframe.stats import APNull, LinearRankNull, SignFlipNull
from prframe.stats.null.average_precision.generating_function.upward_waves import UpwardWaves
from prframe.stats.null.average_precision.tails import neighbours, planned, routes
from prframe.stats.null.base import NullDistribution

Floats = NDArray[np.float64]
SHAPES: list[tuple[int, int, list[int] | None, int | None]] = [
    *[(n, n_pos, None, None) for n in range(2, 7) for n_pos in range(1, n + 1)],
    (10, 2, None, None),
    (8, 5, None, None),
    (11, 6, None, None),
    *[(9, n_pos, None, depth) for n_pos in (4, 8) for depth in (1, 7)],
    *[(8, n_pos, [3, 1, 4], None) for n_pos in (1, 3, 6)],
    *[(9, n_pos, [2, 1, 3], 6) for n_pos in (2, 5, 8)],
    (7, 3, [7], None),
    (30, 28, None, None),
    (40, 39, [3, 1, 30, 6], None),
]


def evaluated(n: int, n_pos: int, ties: list[int] | None, depth: int | None) -> Floats:
    """Return AP of every ranking, as `evaluate` computes it, rising."""
    chosen = np.array(list(combinations(range(n), n_pos)))
    labels = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(labels, chosen, values=True, axis=1)
    sizes = [1] * (n if depth is None else depth) if ties is None else ties
    score = -np.repeat(np.arange(len(sizes), dtype=float), sizes)
    score = np.append(score, np.full(n - score.size, -np.inf))
    frame = pl.DataFrame(
        {
            "ranking": np.repeat(np.arange(len(chosen)), n),
            "score": np.tile(score, len(chosen)),
            "label": labels.ravel(),
        }
    )
    return np.sort(prframe.evaluate(frame, "AP", by="ranking")["AP"].to_numpy())


def check_quantiles(
    null: NullDistribution, values: Floats, within: float = 1e-11, absolute: float = 1e-300
) -> None:
    """Compare the quantiles at and between all attained levels with all values, which rise."""
    gap = np.maximum(1e-11 * np.abs(values), absolute)
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > gap)
    starts = starts[np.unique(np.linspace(0, starts.size - 1, 6).astype(int))]
    ends = np.searchsorted(values, values[starts] + gap[starts], side="right")
    least, largest = values[starts], values[ends - 1]
    above, below = (values.size - starts) / values.size, ends / values.size
    for share in (1.0, 1 + 1e-7):
        q = np.minimum(above * share, 1.0)
        critical = np.asarray(null.isf(q))
        # An observed value of this size is significant, and no smaller one is.
        assert (critical <= least).all()
        assert critical == pytest.approx(least, rel=within, abs=absolute)
        assert [(values >= x).mean() for x in critical] == pytest.approx(above)
        assert (np.asarray(null.sf(critical)) <= q * (1 + 1e-12)).all()
        q = below / share
        quantile = np.asarray(null.ppf(q))
        assert (quantile >= largest).all()
        assert quantile == pytest.approx(largest, rel=within, abs=absolute)
        assert [(values <= x).mean() for x in quantile] == pytest.approx(below)
        assert (np.asarray(null.cdf(quantile)) >= q * (1 - 1e-12)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
@pytest.mark.parametrize(("n", "n_pos", "ties", "depth"), SHAPES)
def test_quantiles_of_small_groups_are_values_that_evaluate_computes(
    n: int, n_pos: int, ties: list[int] | None, depth: int | None
) -> None:
    null, values = APNull(n, n_pos, ties, depth=depth), evaluated(n, n_pos, ties, depth)
    check_quantiles(null, values, within=1e-14)
    levels = np.array([0.8, 0.5, 0.3, 0.1, 0.05])
    critical = np.asarray(null.isf(levels))
    attained = ~np.isnan(critical)
    assert np.isin(critical[attained], values).all()
    assert np.isin(null.ppf(levels), values).all()


def test_an_ap_at_the_critical_value_is_significant() -> None:
    null = APNull(10, 2)
    assert null.isf(0.05) == (1 / 1 + 2 / 3) / 2
    assert null.ppf(1) == 1
    assert null.sf(null.isf(0.05)) == pytest.approx(2 / 45)


@pytest.mark.parametrize(
    "null",
    [
        APNull(10, 3),
        APNull(1000, 100),
        APNull(10**6, 1000),
        APNull(1000, 990),
        APNull(1000, 50, depth=100),
        APNull(1000, 100, [10] * 100),
        APNull(20_000, 300, [20] * 1000),
        APNull(300, 20, [30, 20, 50], depth=100),
    ],
    ids=repr,
)
def test_quantiles_at_level_one_are_the_ends(null: APNull) -> None:
    low, high = null.support()
    ends = np.array([null.isf(1.0), null.ppf(1.0)])
    assert ends == pytest.approx([low, high], rel=1e-13)
    assert [null.sf(ends[0]), null.cdf(ends[1])] == [1, 1]
    middle = np.asarray(null.isf([1.0, 0.5, 1.0]))
    assert middle[0] == middle[2] == ends[0] < middle[1]


def all_ap(n: int, n_pos: int) -> Floats:
    """Return AP of all rankings, precisions added up from the top, rising."""
    ranks = np.array(list(combinations(range(1, n + 1), n_pos)))
    total = np.zeros(len(ranks))
    for hits, rank in enumerate(ranks.T, start=1):
        total += hits / rank
    return np.sort(total / n_pos)


def test_the_tails_of_zero_are_those_of_no_positive_retrieved() -> None:
    null = APNull(9, 8, depth=1)
    assert null.cdf([0.0, 0.05, 1 / 8]) == pytest.approx([1 / 9, 1 / 9, 1])
    assert null.sf([0.0, 1e-300, 1 / 8]) == pytest.approx([1, 8 / 9, 8 / 9])
    assert null.isf(1.0) == null.ppf(1 / 9) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), [(1200, 1), (500, 2), (100, 3), (20, 9)])
def test_quantiles_of_groups_too_large_to_list_are_not_beyond_what_is_attained(
    n: int, n_pos: int
) -> None:
    check_quantiles(APNull(n, n_pos, method="exact"), all_ap(n, n_pos))


@pytest.mark.slow
def test_quantiles_of_many_rankings_keep_their_level() -> None:
    for n, n_pos in ((200, 20), (2000, 300)):
        null = APNull(n, n_pos)
        # A tail that is computed by inversion repeats itself to some 2e-10, not to the last digit.
        assert null.sf(null.isf(0.05)) <= 0.05 * (1 + 1e-9)
        assert null.cdf(null.ppf(0.05)) >= 0.05 * (1 - 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("q", [0.3, 1e-4, 1e-20])
def test_quantiles_of_large_groups_take_one_walk_or_two(
    q: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    null, values = APNull(20_000, 600), []
    exact = planned.planned_tails

    def counted(problems: Sequence[planned.Problem], **options: bool) -> object:
        values.extend(problem for problem in problems if not problem.is_rough)
        return exact(problems, **options)

    monkeypatch.setattr(routes, "planned_tails", counted)
    x = null.isf(q)
    quantile = null.ppf(q)
    assert len(values) <= 6
    monkeypatch.undo()
    assert q * (1 - 2e-5) <= null.sf(x) <= q
    assert q <= null.cdf(quantile) <= q * (1 + 2e-5)


@pytest.mark.parametrize(
    ("n", "n_pos", "q"),
    [
        (100, 1, 0.05),
        (10, 3, 0.025),
        (1_000, 2, 1e-3),
        (1_000, 998, 1e-3),
        (10_000, 2, 1e-6),
        (10_000_000, 1, 1e-6),
    ],
)
def test_levels_of_few_digits_are_not_exceeded_by_rounding(n: int, n_pos: int, q: float) -> None:
    null = APNull(n, n_pos)
    critical = null.isf(q)
    assert null.sf(critical) <= q
    tested = prframe.ap_test(
        pl.DataFrame({"ap": [critical], "n_pos": [n_pos], "n": [n]}), ap="ap", n_pos="n_pos", n="n"
    )
    assert tested["p_value"].item() <= q


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "q"), [(294_546, 351, 0.0086), (604_715, 546, 0.0657)])
def test_quantiles_of_rare_positives_are_at_the_level(n: int, n_pos: int, q: float) -> None:
    null = APNull(n, n_pos)
    # Tails depend on the path that is walked, by up to 3e-4 of themselves here.
    assert null.sf(null.isf(q)) == pytest.approx(q, rel=1e-5)


@pytest.mark.slow
def test_values_nearby_share_an_inversion() -> None:
    null = APNull(20_000, 600)
    shares = neighbours.Sharing()
    sharing = null._sharing(shares)
    x = null.mean() + null.std() * np.array([3.0, 3.02, 2.98])
    for value in x:
        assert sharing.logsf(value) == pytest.approx(null.logsf(value), abs=1e-4)
    inversions = shares.of(0).inversions
    assert len(inversions) == 1
    # Far from its value an inversion serves nobody.
    assert inversions[0].near(600 * (null.mean() + 5 * null.std())) is None


def test_values_nearby_share_a_saddlepoint() -> None:
    null = APNull(20_000, 10_000)
    shares = neighbours.Sharing()
    sharing = null._sharing(shares)
    for away in (8.0, 8.0003, 7.9997):
        value = null.mean() + away * null.std()
        assert sharing.logsf(value) == pytest.approx(null.logsf(value), abs=1e-5)
    saddlepoints = shares.of(0).saddlepoints
    assert len(saddlepoints) == 1
    assert saddlepoints[0].near(10_000 * (null.mean() + 8.1 * null.std())) is None


@pytest.mark.slow
def test_frequencies_that_are_expected_are_taken_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    null, sizes = APNull(1_000_000, 1_000).using("transform"), []
    waves = UpwardWaves.at

    def counted(self: UpwardWaves, frequencies: Floats) -> NDArray[np.complex128]:
        sizes.append(frequencies.size)
        return waves(self, frequencies)

    monkeypatch.setattr(UpwardWaves, "at", counted)
    x = 0.0076
    first = neighbours.Sharing()
    step_by_step = null._sharing(first).logsf(x)
    assert len(sizes) > 1
    at_most = sum(sizes)
    sizes.clear()
    assert null._sharing(first.followed()).logsf(x) == pytest.approx(step_by_step, abs=1e-6)
    assert len(sizes) == 1
    # Chunks that were taken before they were needed are not.
    assert sizes[0] <= at_most


@pytest.mark.parametrize(
    "scores",
    [np.sqrt(np.arange(1.0, 10)), np.arange(1.0, 10) / 10, np.arange(1.0, 10)],
    ids=["no lattice", "a lattice of tenths", "whole numbers"],
)
def test_quantiles_of_sums_are_not_beyond_what_is_attained(scores: Floats) -> None:
    sums = np.sort([sum(chosen) for chosen in combinations(scores.tolist(), 4)])
    signs = 1 - 2 * ((np.arange(1 << 9)[:, None] >> np.arange(9)) & 1)
    flipped = np.sort(signs @ scores)
    # Sums that are equal differ by rounding, next to 0 by more than a share of themselves.
    for null, values in ((LinearRankNull(scores, 4), sums), (SignFlipNull(scores), flipped)):
        check_quantiles(null, values, absolute=1e-10)


def test_quantiles_of_whole_numbers_are_whole() -> None:
    assert LinearRankNull(range(1, 9), 3).isf([0.3, 0.05]).tolist() == [16, 20]
    assert SignFlipNull(range(1, 9)).ppf([0.3, 0.05]).tolist() == [-8, -24]


@pytest.mark.parametrize(("n_pos", "q"), [(200, 0.5), (200, 1e-3), (15_000, 1e-20)])
def test_many_tied_items_keep_their_level(n_pos: int, q: float) -> None:
    ends = np.sort(np.random.default_rng(5).choice(np.arange(1, 30_000), 60, replace=False))
    null = APNull(30_000, n_pos, np.diff(ends, prepend=0, append=30_000).tolist())
    assert q * (1 - 1e-5) <= null.sf(null.isf(q)) <= q


def test_a_quantile_at_a_leap_is_right_beyond_it() -> None:
    # Six hits at the top and no others are what makes an AP of .12, and most of larger ones.
    null = APNull(100_000, 50, depth=1000)
    critical = null.isf(1e-20)
    assert critical == pytest.approx(0.12, rel=1e-8)
    assert null.sf(critical) <= 1e-20 < null.sf(0.12)


def test_the_largest_ap_with_ties_is_that_of_all_ways_to_fill_the_blocks() -> None:
    rng = np.random.default_rng(6)
    for _ in range(40):
        sizes = rng.integers(1, 6, rng.integers(1, 5))
        n = int(sizes.sum() + rng.integers(0, 4))
        n_pos, ends = int(rng.integers(1, n + 1)), np.cumsum(sizes)
        fill = np.stack(np.meshgrid(*(np.arange(size + 1) for size in sizes)), axis=-1)
        fill = fill.reshape(-1, sizes.size)
        rest = n_pos - fill.sum(axis=1)
        fill = fill[(rest >= 0) & (rest <= n - ends[-1])]
        ap = (fill * fill.cumsum(axis=1) / ends).sum(axis=1) / n_pos
        null = APNull(n, n_pos, sizes.tolist(), depth=int(ends[-1]))
        assert null.support() == pytest.approx((ap.min(), ap.max()), rel=1e-12)


@pytest.mark.parametrize("n_pos", [2, 3])
def test_a_leap_at_nothing_is_found_in_few_steps(n_pos: int, monkeypatch) -> None:
    """Rankings without a hit are more likely than the level, so that the least hit is critical."""
    null, calls = APNull(100_000, n_pos, depth=50_000), []
    reached = APNull._reached
    monkeypatch.setattr(APNull, "_reached", lambda *given: calls.append(1) or reached(*given))
    found = null.isf(0.99)
    assert found == pytest.approx(1 / (50_000 * n_pos), rel=1e-9)
    assert null.sf(found) < 0.99 < null.sf(0.0) == 1.0
    assert len(calls) < 80


@pytest.mark.parametrize("depth", [None, 20])
def test_levels_below_the_smallest_normal_float_have_no_value(depth: int | None) -> None:
    assert np.isnan(APNull(1000, 5, depth=depth).isf(1e-320))


def test_any_hit_is_rarer_than_the_level(monkeypatch) -> None:
    """A search is not needed where the least positive AP is rarer than the level."""
    null = APNull(31_182, 4, depth=125)
    monkeypatch.setattr(APNull, "_bracket", None)
    found = null.isf([0.1, 0.02])
    assert found == pytest.approx(1 / (125 * 4), rel=1e-9)
    assert null.sf(found[0]) == pytest.approx(null.sf(1e-12), rel=1e-9)
    assert null.sf(found[0]) < 0.02
