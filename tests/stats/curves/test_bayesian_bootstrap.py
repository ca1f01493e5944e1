"""The Bayesian bootstrap of the curve, against a slow definition, known laws and simulation."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import asin, ceil, exp, inf, log, pi, sin, sqrt
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import expit, logit, ndtr, ndtri

import prframe
from prframe.stats import pr_curve, pr_posterior
from prframe.stats.curves.bands import Deviations
from prframe.stats.curves.bayesian_bootstrap import cells_of_classes, posterior_of
from prframe.stats.curves.drawn import gamma_walks
from prframe.stats.curves.drawn.gamma_walks import drawn_weights
from prframe.stats.curves.drawn.paths import DrawnPath
from prframe.stats.curves.drawn.roc_path import RocPath, empirical_precision
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.rankings import AveragePrecision, RocArea
from prframe.stats.rankings.cells import RankedCells, cells_from_scores
from prframe.stats.rankings.classes import two_classes
from prframe.typing import Floats
from tests.stats.curves.slow_paths import Knots, knots_of, turns_of

# A true agreement fails a test at this level once in a thousand seeds; the seeds are fixed.
CHANCE = 0.001
LEVELS = [0.05, 0.15, 0.3, 0.31, 0.5, 0.7, 0.85, 0.95]


def data(name: str) -> dict[str, object]:
    """Positives and negatives, and totals where these are more."""
    rng = np.random.default_rng(4)
    some, others = rng.normal(1, 1, 30), rng.normal(0, 1, 120)
    groups: dict[str, dict[str, object]] = {
        "untied": {"positives": some, "negatives": others},
        "few": {"positives": some[:3], "negatives": others[:5]},
        "perfect": {"positives": some[:8] + 9, "negatives": others},
        "ties": {"positives": some.round(), "negatives": others.round()},
        "some ties": {"positives": some.round(1), "negatives": others.round(1)},
        "constant": {"positives": some * 0, "negatives": others * 0},
        "unretrieved": {
            "positives": np.where(some > 0.5, some, -inf),
            "negatives": np.where(others > 0, others, -inf),
        },
        "unretrieved, ties": {
            "positives": np.where(some > 0.5, some.round(), -inf),
            "negatives": np.where(others > 0.5, others.round(), -inf),
        },
        # Two negatives above the last positive, and all others below it.
        "totals": {
            "positives": [5.0, 4, 3, 2, 1],
            "negatives": [4.5, 1.5, *np.linspace(0, 0.5, 300)],
            "n_pos": 10,
            "n_neg": 310,
        },
        "many": {"positives": rng.normal(1, 1, 3000), "negatives": rng.normal(0, 1, 4000)},
        "many, in part tied": {
            # A third of the positives in one block, the others in blocks of a few.
            "positives": np.append(rng.normal(1, 1, 4000).round(4), [0.7] * 2000),
            "negatives": np.append(rng.normal(0, 1, 3000).round(4), [0.7] * 1000),
        },
    }  # fmt: skip
    return groups[name]


NAMES = [
    "untied", "few", "perfect", "ties", "some ties", "constant", "unretrieved",
    "unretrieved, ties", "totals", "many", "many, in part tied",
]  # fmt: skip


# Draws at one level of recall.
Draw: TypeAlias = Callable[[float], Floats]


def cells_of(name: str) -> RankedCells:
    """The cells of a group."""
    options = {"n_pos": None, "n_neg": None}
    return cells_of_classes(*two_classes(**(options | data(name))))


def path_of(name: str) -> RocPath:
    """The path of a group."""
    return RocPath.of(cells_of(name))


def naive_curve(
    knots: Knots,
    levels: list[float],
    missed: int,
    totals: tuple[int, int],
    rng: np.random.Generator,
) -> list[float]:
    """One draw of precision at the levels."""
    (n_pos, n_neg), first = totals, knots[0][0]
    # Half a rank each, beyond the path too.
    halves = [0.0, *np.cumsum(rng.standard_gamma(0.5, round(2 * (knots[-1][0] - first + missed))))]
    recall = np.array([halves[round(2 * (rank - first))] for rank, _, _ in knots]) / halves[-1]
    turns, shapes, halves_above, turned = turns_of(knots), [], [], []
    for level in levels:
        piece = int((recall <= level).sum()) - 1
        if piece == len(knots) - 1:
            break
        (_, low, tied), (_, high, _) = knots[piece : piece + 2]
        share = (level - recall[piece]) / (recall[piece + 1] - recall[piece])
        if tied:
            false = low + share * (high - low)
        else:
            below, above_all = ((x + 0.5) / (n_neg - x + 0.5) for x in (low, high))
            odds = below ** (1 - share) * above_all**share
            false = (odds * (n_neg + 0.5) - 0.5) / (1 + odds)
        shapes.append(false)
        # Half a negative more than was seen; above the first positive a part of it.
        halves_above.append(0.5 * share if piece == 0 else 0.5)
        turned.append((1 - share) * turns[piece] + share * turns[piece + 1])

    def running(shapes: list[float]) -> Floats:
        return np.cumsum(rng.standard_gamma(np.maximum(np.diff([0.0, *shapes]), 1e-300)))

    *seen, all_seen = running([*shapes, n_neg])
    *part, above = running([*halves_above, 0.5])
    below = rng.standard_gamma(0.5)
    prevalence = rng.beta(n_pos + 0.5, n_neg + 0.5)
    precision = [0.0] * len(levels)
    for i, level in enumerate(levels[: len(shapes)]):
        # Less of the half above before the middle of a run, and a part of the other after it.
        unseen = part[i] + min(turned[i], 0) * above + max(turned[i], 0) * below
        rate = (seen[i] + unseen) / (all_seen + above + below)
        precision[i] = prevalence * level / (prevalence * level + (1 - prevalence) * rate)
    return precision


def naive_curves(name: str, size: int) -> Floats:
    """Draws of precision, shape (size, levels)."""
    group = data(name)
    positives, negatives = (list(group[key]) for key in ("positives", "negatives"))
    totals = group.get("n_pos", len(positives)), group.get("n_neg", len(negatives))
    missed = totals[0] - sum(score > -inf for score in positives)
    rng, knots = np.random.default_rng(11), knots_of(positives, negatives)
    return np.array([naive_curve(knots, LEVELS, missed, totals, rng) for _ in range(size)])


def same_law(first: Floats, second: Floats) -> bool:
    """Whether a Kolmogorov-Smirnov test lets two samples pass as one."""
    return stats.ks_2samp(first, second, method="asymp").pvalue > CHANCE


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_law_is_that_of_the_slow_definition(name: str) -> None:
    many = name.startswith("many")
    slow = naive_curves(name, 400 if many else 1500)
    size = 2000 if many else 6000
    weights = drawn_weights(size, np.random.default_rng(6))
    fast = DrawnPath(path_of(name), np.array(LEVELS), weights, turning=True).curves().precision
    for level in range(len(LEVELS)):
        assert same_law(fast[:, level], slow[:, level]), LEVELS[level]
    centre = np.median(fast, axis=0)
    assert same_law(*(np.abs(curves - centre).max(axis=1) for curves in (fast, slow)))
    # Levels that are not next to each other go together as they do there. Between two positives
    # draws are smoother than by the definition, and three positives are next to all levels.
    for one, two in ((1, 2), (2, 6)) if name != "few" else ():
        assert same_law(*(curves[:, two] - curves[:, one] for curves in (fast, slow)))


@pytest.mark.parametrize(("n_pos", "rank"), [(3, 1), (3, 3), (40, 1), (40, 20), (40, 40)])
def test_recall_at_a_positive_is_beta(n_pos: int, rank: int) -> None:
    rng = np.random.default_rng(1)
    cells = cells_of_classes(*two_classes(rng.normal(size=n_pos), rng.normal(size=50), None, None))
    path = RocPath.of(cells)
    sums = [block.positives.at(path.ranks - path.ranks[0]) for block in drawn_weights(4000, rng)]
    recall = np.concatenate([block[rank] / block[-1] for block in sums])
    assert stats.kstest(recall, stats.beta(rank - 0.5, n_pos - rank + 0.5).cdf).pvalue > CHANCE


@pytest.mark.parametrize(("positives", "negatives", "level"), [(30, 70, 0.1), (2, 900, 0.37)])
def test_rates_and_odds_are_beta(positives: int, negatives: int, level: float) -> None:
    # Of a constant scorer the recall is certain, and so are the negatives passed.
    cells = cells_of_classes(*two_classes([1.0] * positives, [1.0] * negatives, None, None))
    draws = DrawnPath(
        RocPath.of(cells), np.array([level]), drawn_weights(4000, np.random.default_rng(2))
    ).curves()
    passed = level * negatives
    rate = stats.beta(passed + 0.5, negatives - passed + 0.5)
    share = stats.beta(positives + 0.5, negatives + 0.5)
    assert stats.kstest(np.exp(draws.log_fpr[:, 0]), rate.cdf).pvalue > CHANCE
    assert stats.kstest(expit(draws.log_odds[:, 0]), share.cdf).pvalue > CHANCE
    assert abs(np.corrcoef(draws.log_fpr[:, 0], draws.log_odds[:, 0])[0, 1]) < 4 / np.sqrt(4000)
    assert draws.log_recall.tolist() == [[log(level)]] * 4000


def naive_means(levels: list[float], knots: Knots, n_pos: int, draw: Draw) -> Floats:
    """Draws of log odds at levels, smoothed one by one; `draw` gives them at any one level."""
    spread, means = 1 / (2 * sqrt(n_pos)), []
    number = ceil(pi / spread)
    # Nodes are rounded to multiples of 1/4096.
    nodes = [sin((i + 0.5) * pi / 2 / number) ** 2 for i in range(number)]
    angles = [asin(sqrt(round(node * 4096) / 4096)) for node in nodes]
    # The tie blocks that are wider than a standard deviation of recall.
    blocks = [
        (angle(first, n_pos), angle(last, n_pos))
        for (first, _, tied), (last, _, _) in pairwise(knots)
        if tied and angle(last, n_pos) - angle(first, n_pos) > spread
    ]

    def above(angle: float) -> float:
        recall = sin(min(max(angle, 0.0), pi / 2)) ** 2
        ranks, passed = zip(*((rank, passed) for rank, passed, _ in knots[:-1]), strict=True)
        return float(np.interp(recall * n_pos + 0.5, ranks, passed))

    # Far more negatives stand a standard deviation beyond these than before them.
    steep = [a for a in angles if above(a + spread) + 3 > exp(1.25) * (above(a - spread) + 3)]
    for level in levels:
        own, center = draw(level), asin(sqrt(level))
        at = int(center / (pi / 2 / number))
        near = angles[max(at - 6, 0) : at + 7]
        weight = {a: exp(-(((a - center) / spread) ** 2) / 2) for a in near}
        drawn = {a: draw(sin(a) ** 2) for a in near}
        going = [a for a in near if np.isfinite(drawn[a]).all()]
        if not np.isfinite(own).all() or not going:
            means.append(own)
            continue
        mean = sum(weight[a] * drawn[a] for a in going) / sum(weight[a] for a in going)
        rough = [
            a
            for a in near
            if not any(first <= a <= last for first, last in blocks)
            and not any(abs(a - place) <= 1.5 * spread for place in steep)
        ]
        share = sum(weight[a] for a in rough) / sum(weight.values())
        means.append(share * mean + (1 - share) * own)
    return np.array(means).T


def angle(rank: float, n_pos: int) -> float:
    """The arc sine of the root of the recall at a rank."""
    return asin(sqrt(min(max((rank - 0.5) / n_pos, 0.0), 1.0)))


@pytest.mark.parametrize("prior", [None, 0.2])
@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("many")])
def test_draws_are_as_smooth_as_by_the_slow_definition(name: str, prior: float | None) -> None:
    group, path = data(name), path_of(name)
    weights = drawn_weights(100, np.random.default_rng(4))

    @cache
    def draw(level: float) -> Floats:
        curve = DrawnPath(path, np.array([level]), weights, turning=True)
        return (curve if prior is None else curve.at_prior(prior)).curves().logit[:, 0]

    knots = knots_of(list(group["positives"]), list(group["negatives"]))
    expected = naive_means(LEVELS, knots, int(path.n_pos), draw)
    found = posterior_of(cells_of(name), np.array(LEVELS), weights, prior).log_odds
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("prior", [None, 0.2])
@pytest.mark.parametrize("name", NAMES)
def test_draws_for_single_levels_are_not_smoothed(name: str, prior: float | None) -> None:
    cells, levels = cells_of(name), np.array(LEVELS)
    weights = drawn_weights(300, np.random.default_rng(4))
    curve = DrawnPath(RocPath.of(cells), levels, weights, turning=True)
    expected = (curve if prior is None else curve.at_prior(prior)).curves().logit
    both, one, every = (
        posterior_of(cells, levels, weights, prior, simultaneous=kind)
        for kind in (None, False, True)
    )
    np.testing.assert_allclose(both.single, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(one.single, both.single)
    for kind, alone in ((False, one), (True, every)):
        for ends in zip(alone.band(simultaneous=kind), both.band(simultaneous=kind), strict=True):
            np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("n_pos", [100, 2000])
def test_draws_bend_about_as_little_as_their_medians_did(n_pos: int) -> None:
    rng = np.random.default_rng(3)
    cells = cells_of_classes(
        *two_classes(rng.normal(1, 1, n_pos), rng.normal(0, 1, 9 * n_pos), None, None)
    )
    # From recall .5 on to either side, a standard deviation apart.
    levels = np.sin(np.pi / 4 + np.arange(-8, 9) / 2 / np.sqrt(n_pos)) ** 2
    weights = drawn_weights(1000, np.random.default_rng(2))
    plain = DrawnPath(RocPath.of(cells), levels, weights, turning=True).curves().logit
    found = posterior_of(cells, levels, weights).log_odds
    before, after = (
        np.diff(draws - np.median(draws, axis=0), n=2, axis=1).std() for draws in (plain, found)
    )
    assert after < before / 2
    assert 0.5 < after / np.diff(np.median(plain, axis=0), n=2).std() < 1.3
    # Each level varies nearly as much as before.
    assert 0.9 < found.std(axis=0).mean() / plain.std(axis=0).mean() < 1


@pytest.mark.parametrize("name", ["untied", "ties", "unretrieved", "totals"])
def test_levels_that_are_multiples_are_read_like_others(name: str) -> None:
    path, weights = path_of(name), drawn_weights(300, np.random.default_rng(4))
    even = np.linspace(0.05, 0.95, 181)
    # A further level is no multiple, so that all are looked up in finer cells.
    odd = np.sort(np.append(even, 0.1234567))
    of_even, of_odd = (
        DrawnPath(path, levels, weights, turning=True).curves().logit for levels in (even, odd)
    )
    of_odd = of_odd[:, odd != 0.1234567]
    np.testing.assert_allclose(of_even, of_odd, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("level", [0.3, 0.5, 0.6])
def test_how_often_a_level_is_not_reached(level: float) -> None:
    group = data("totals")
    found = pr_posterior(**group, recall=[0.1, level, 0.97], n_resamples=4000, rng=3)
    unreached = (found.log_odds == -inf).sum(axis=0)
    chance = stats.beta(5, 5).cdf([0.1, level, 0.97])
    for count, expected in zip(unreached, chance, strict=True):
        assert stats.binomtest(int(count), 4000, expected).pvalue > CHANCE


def test_levels_beyond_reach_leave_the_others_alone() -> None:
    group = data("totals")
    alone, beside = (
        pr_posterior(**group, recall=levels, n_resamples=5000, rng=seed).log_odds[:, 0]
        for seed, levels in ((1, [0.3]), (2, [0.3, 0.8, 0.95]))
    )
    assert same_law(alone, beside)


def test_block_ends() -> None:
    group = data("ties")
    cells = cells_of_classes(*two_classes(group["positives"], group["negatives"], None, None))
    path = RocPath.of(cells)
    drawn = DrawnPath(path, np.array(LEVELS), drawn_weights(2000, np.random.default_rng(1)))
    ends, within = (drawn.curves(block_ends=block_ends) for block_ends in (True, False))
    assert (ends.log_recall >= within.log_recall).all()
    # Levels in one block share its end.
    same = ends.log_recall[:, 2] == ends.log_recall[:, 3]
    assert (ends.log_fpr[same, 2] == ends.log_fpr[same, 3]).all()
    assert 0 < same.mean() < 1
    # How often the last level lies within the last block.
    block = path.ranks[[*np.flatnonzero(path.tied)[-1:], -2]] - path.ranks[0]
    chance = stats.beta(block, path.ranks[-1] - path.ranks[0] - block).cdf(0.95)
    inside = int((ends.log_recall[:, -1] > log(0.95)).sum())
    assert stats.binomtest(inside, 2000, chance[0] - chance[1]).pvalue > CHANCE


def naive_precision(
    positives: list[float], negatives: list[float], level: float, n_pos: int
) -> float:
    """Precision where the level is reached, within a tie block in proportion; 0 if it never is."""
    found, passed = level * n_pos, 0
    for score in sorted({score for score in positives if score > -inf}, reverse=True):
        size = positives.count(score)
        if found <= passed + size + 1e-9:
            above = sum(other > score for other in negatives)
            return found / (found + above + (found - passed) / size * negatives.count(score))
        passed += size
    return 0.0


SCORES = st.lists(st.sampled_from([-inf, -1.0, 0.0, 0.5, 2.0, inf]), min_size=1, max_size=9)


@given(SCORES, SCORES, st.integers(0, 4))
def test_empirical_precision(positives: list[float], negatives: list[float], more: int) -> None:
    n_pos = len(positives) + more
    levels = np.unique([*(np.arange(1, n_pos + 1) / n_pos), 0.01, 0.3, 0.77])
    expected = [naive_precision(positives, negatives, level, n_pos) for level in levels]
    cells = cells_of_classes(*two_classes(positives, negatives, n_pos, None))
    assert empirical_precision(cells, levels) == pytest.approx(expected, rel=1e-12)
    curve = pr_curve(positives, negatives, levels, n_pos=n_pos)
    assert empirical_precision(cells, levels) == pytest.approx(curve, rel=1e-12)
    # Where a tie block ends it is the curve of the frame.
    frame = pl.DataFrame(
        {
            "score": positives + negatives,
            "label": [1] * len(positives) + [0] * len(negatives),
        }
    )
    rows = prframe.curve(frame, n_pos=n_pos, anchor=False).filter(pl.col("tp") > 0)
    ends = rows.unique("tp", keep="first", maintain_order=True).filter(pl.col("recall") < 1)
    there = empirical_precision(cells, ends["recall"].to_numpy())
    assert there == pytest.approx(ends["precision"].to_numpy(), rel=1e-12)


@given(SCORES, SCORES, st.integers(0, 4))
def test_runs_of_positives(positives: list[float], negatives: list[float], more: int) -> None:
    n_pos = len(positives) + more
    path = RocPath.of(cells_of_classes(*two_classes(positives, negatives, n_pos, None)))
    knots = knots_of(positives, negatives)
    assert list(zip(path.ranks, path.fp, strict=True)) == [knot[:2] for knot in knots]
    assert path.turns == pytest.approx(turns_of(knots))


def test_turns_in_a_ranking_without_ties() -> None:
    # + + - + + + - + -
    label = np.array([1, 1, 0, 1, 1, 1, 0, 1, 0], dtype=np.bool_)
    path = RocPath.of(cells_from_scores(-np.arange(9.0), label)[0])
    assert path.turns == pytest.approx([0, 0, 0.6, -2 / 3, 0, 2 / 3, 0, 0])


def test_a_constant_scorer_has_the_precision_of_chance() -> None:
    found = pr_posterior([0.5] * 30, [0.5] * 70, np.arange(1, 20) / 20, rng=1)
    assert found.precision == pytest.approx([0.3] * 19, rel=1e-12)
    low, high = found.band()
    assert (low < 0.3).all()
    assert (high > 0.3).all()


@pytest.mark.parametrize("name", ["untied", "some ties", "totals"])
def test_the_order_and_scale_of_scores_do_not_matter(name: str) -> None:
    group = data(name)
    plain = pr_posterior(**group, recall=LEVELS, n_resamples=50, rng=1)
    turned = group | {
        key: np.exp(3 * np.flip(np.asarray(group[key]))) for key in ("positives", "negatives")
    }
    again = pr_posterior(**turned, recall=LEVELS, n_resamples=50, rng=1)
    assert (plain.log_odds == again.log_odds).all()
    other = pr_posterior(**group, recall=LEVELS, n_resamples=50, rng=2)
    assert (plain.log_odds != other.log_odds).any()


def test_the_path_of_many_positives_is_thinned() -> None:
    for name in ("many", "many, in part tied"):
        group = data(name)
        cells = cells_of_classes(*two_classes(group["positives"], group["negatives"], None, None))
        path = RocPath.of(cells)
        assert path.ranks.size <= 2 * 2048
        # A block has no width before it, if it is the first one or follows another.
        assert (np.diff(path.ranks) >= 0).all()
        assert (np.diff(path.fp) >= 0).all()
        # Runs are those of the whole path.
        assert (path.runs[0] <= path.ranks).all()
        assert (path.ranks <= path.runs[1]).all()
        assert (np.abs(path.turns) < 1).all()
        assert (path.ranks[0], path.fp[0], path.fp[-1]) == (0.5, 0, len(group["negatives"]))


def test_blocks_and_what_is_kept_leave_the_law_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    group = data("untied")
    expected = pr_posterior(**group, recall=[0.1, 0.6], n_resamples=2000, rng=12)
    cells = cells_of_classes(*two_classes(group["positives"], group["negatives"], None, None))
    metrics = [AveragePrecision(), RocArea()]
    whole = posterior_replicates(cells, metrics, drawn_weights(2000, np.random.default_rng(12)))
    monkeypatch.setattr(gamma_walks, "_STREAM", 150)
    monkeypatch.setattr(gamma_walks, "_MOST_KEPT", 2000)
    weights = drawn_weights(2000, np.random.default_rng(13))
    assert [block.n_draws for block in weights] == [600] * 3 + [200]
    found = pr_posterior(**group, recall=[0.1, 0.6], n_resamples=2000, rng=13)
    parts = posterior_replicates(cells, metrics, weights)
    assert (found.log_odds.shape, parts.shape) == ((2000, 2), (2, 2000))
    draws = [*expected.log_odds.T, *whole], [*found.log_odds.T, *parts]
    for one, other in zip(*draws, strict=True):
        assert same_law(one, other)
        # In single precision a few draws are equal.
        assert np.unique(other).size > 1990


@pytest.mark.parametrize("above", range(7000, 7010))
def test_thinning_leaves_large_blocks_alone(above: int) -> None:
    # Every positive has a negative above it; about ten of them to a cell.
    pos = np.array([0, 1] * above + [2000] + [0, 1] * 9000 + [0])
    cells = RankedCells(pos, np.where(pos == 2000, 500, 1 - pos))
    path = RocPath.of(cells)
    assert path.ranks.size <= 2200
    (block,) = np.flatnonzero(path.tied)
    assert path.ranks[block : block + 2].tolist() == [above + 0.5, above + 2000.5]
    assert path.fp[block : block + 2].tolist() == [above, above + 500]


def studentized_band(draws: Floats, level: float) -> tuple[Floats, Floats]:
    return Deviations(draws, draws).band(level)


def pointwise_band(draws: Floats, level: float) -> tuple[Floats, Floats]:
    return Deviations(draws, draws).pointwise_band(level)


def within(draws: Floats, low: Floats, high: Floats) -> int:
    """How many draws keep within a band at all levels."""
    hair = 1e-9 * (1 + np.where(np.isfinite(draws), np.abs(draws), 0))
    return int(((draws >= low - hair) & (draws <= high + hair)).all(axis=1).sum())


@pytest.mark.parametrize("level", [0.2, 0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("name", ["untied", "ties", "few"])
def test_a_band_holds_the_share_of_draws_that_was_asked_for(name: str, level: float) -> None:
    draws = pr_posterior(**data(name), recall=LEVELS, n_resamples=1000, rng=6).log_odds
    low, high = studentized_band(draws, level)
    # One factor for all levels and both sides.
    ordered = np.sort(draws, axis=0)
    factors = (high - ordered[500]) / (ordered[995] - ordered[500])
    assert factors == pytest.approx([factors[0]] * len(LEVELS))
    assert (ordered[499] - low) / (ordered[499] - ordered[4]) == pytest.approx(factors)
    # Draws beyond a unit are measured in smaller ones, those of the others, and more are within.
    more = within(draws, low, high) - ceil(level * 1001)
    assert 0 <= more <= (0 if factors[0] < 1 - 1e-6 else 2 * len(LEVELS))
    # At a single level two draws set the units, and at most one more is within.
    ends = studentized_band(draws[:, :1], level)
    assert 0 <= within(draws[:, :1], *ends) - ceil(level * 1001) <= 1


@pytest.mark.parametrize("simultaneous", [True, False])
@pytest.mark.parametrize("prior", [None, 0.01, 0.3, 0.9])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(1, 1), (1, 6), (2, 3), (5, 1)])
def test_a_band_holds_its_curve_with_all_negatives_on_top(
    n_pos: int, n_neg: int, prior: float | None, simultaneous: bool
) -> None:
    found = pr_posterior(
        np.arange(n_pos),
        10 + np.arange(n_neg),
        LEVELS,
        n_resamples=300,
        rng=1,
        prior=prior,
    )
    low, high = found.band(simultaneous=simultaneous)
    assert (low <= found.precision).all()
    assert (found.precision <= high).all()


NUMBERS = st.sampled_from([-inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, inf])


@given(st.integers(1, 4), st.data())
def test_bands_of_any_draws(levels: int, drawn: st.DataObject) -> None:
    rows = st.lists(NUMBERS, min_size=levels, max_size=levels)
    draws = np.array(drawn.draw(st.lists(rows, min_size=1, max_size=12)))
    before = None
    for level in (0.1, 0.5, 0.9, 0.99):
        low, high = studentized_band(draws, level)
        assert not np.isnan([low, high]).any()
        assert (low <= high).all()
        assert within(draws, low, high) >= ceil(level * len(draws) - 1e-9)
        if before is not None:
            assert (low <= before[0]).all()
            assert (high >= before[1]).all()
        before = low, high


def test_bands_of_one_draw_and_of_draws_without_spread() -> None:
    one = np.array([[1.0, -inf, inf, 0.0]])
    for band in (studentized_band, pointwise_band):
        assert [end.tolist() for end in band(one, 0.95)] == [one[0].tolist()] * 2
        low, high = band(np.repeat(one, 30, axis=0), 0.95)
        assert low.tolist() == high.tolist() == one[0].tolist()
    found = pr_posterior([2.0, 1.0], [0.0], [0.5], n_resamples=1, rng=1)
    for simultaneous, drawn in ((True, found.log_odds), (False, found.single)):
        assert found.band(simultaneous=simultaneous).low == expit(drawn[0].astype(np.float64))


def test_a_perfect_ranking_has_no_upper_limit_and_one_that_falls_with_n_below() -> None:
    lows = []
    for n in (10, 100, 1000):
        found = pr_posterior([1.0 + i for i in range(n)], [0.0 - i for i in range(n)], GRID, rng=1)
        low, high = found.band()
        assert (high == 1).all()
        lows.append(low)
    assert (np.diff(lows, axis=0) > 0).all()


def test_levels_that_some_draws_do_not_reach() -> None:
    found = pr_posterior(**data("totals"), recall=[0.1, 0.45, 0.55, 0.97], rng=3)
    for level in (0.5, 0.95, 0.999):
        low, high = found.band(level)
        # A little less than asked for, since counts are whole.
        assert within(expit(found.log_odds), low, high) >= 0.9 * level * 2000
        assert low[1:].tolist() == [0, 0, 0]
        # The median is 0 at .55, but not every draw.
        assert 0.1 < high[2] < 1
        assert high[3] == 0
    alone = pr_posterior(**data("totals"), recall=[0.55], rng=3)
    assert alone.band().high == pytest.approx(expit(alone.log_odds).max())
    assert found.precision[2:].tolist() == [0, 0]


def test_bands_are_narrowed_in_wide_tie_blocks_alone() -> None:
    # Without ties, or with blocks narrower than a standard deviation of recall.
    for name in ("untied", "perfect", "unretrieved", "many"):
        assert pr_posterior(**data(name), recall=LEVELS, n_resamples=9, rng=1).factor == 1
    # One block, in which negatives grow in proportion.
    found = pr_posterior([1.0] * 30, [1.0] * 120, LEVELS, n_resamples=500, rng=6)
    expected = 1 - 0.16 * np.mean([1 / sqrt(1 + 120 * level) for level in LEVELS])
    assert found.factor == pytest.approx(expected)
    wide = replace(found, factor=1.0).band()
    narrow, middle = found.band(), np.median(found.log_odds.astype(np.float64), axis=0)
    for ends in zip(narrow, wide, strict=True):
        one, other = (logit(end) - middle for end in ends)
        np.testing.assert_allclose(one, expected * other, rtol=1e-3, atol=1e-3)


def test_pointwise_intervals_are_quantiles() -> None:
    found = pr_posterior(**data("some ties"), recall=LEVELS, n_resamples=999, rng=6)
    draws = np.sort(expit(found.single.astype(np.float64)), axis=0)
    low, high = found.band(0.9, simultaneous=False)
    assert low == pytest.approx(draws[ceil(0.05 * 999) - 1], rel=1e-12)
    # No negative is seen above the first level, and perhaps none stands above the second.
    assert found.precision[0] == high[0] == high[1] == 1 > found.precision[1]
    assert high[2:] == pytest.approx(draws[ceil(0.95 * 999) - 1, 2:], rel=1e-12)
    wide = found.band(0.9)
    assert (wide.low < low).all()
    assert (wide.high[2:] > high[2:]).all()
    assert (wide.high[:2] == 1).all()


def test_the_band_reaches_1_up_to_the_limit_of_the_recall_before_the_first_negative() -> None:
    levels = np.linspace(0.01, 0.99, 99)
    for before, n_pos in ((0, 10), (3, 20), (19, 20), (20, 20)):
        scores = {"positives": np.r_[np.full(before, 2.0), np.full(n_pos - before, 0.5)]}
        negatives = np.linspace(0, 1, 50)
        found = pr_posterior(**scores, negatives=negatives, recall=levels, rng=1)
        for confidence_level in (0.8, 0.95, 0.99):
            tail = (1 - confidence_level) / 2
            alone = found.band(confidence_level, simultaneous=False).high == 1
            limit = (
                1.0 if before == n_pos else stats.beta.ppf(1 - tail, before + 1, n_pos - before)
            )
            assert (alone == (levels <= limit)).all()
        limit = 1.0 if before == n_pos else stats.beta.ppf(0.995, before + 1, n_pos - before)
        assert ((found.band().high == 1) == (levels <= limit)).all()
    # In a tie of positives and negatives at the top precision is limited by the tie.
    tied = pr_posterior(positives=[1.0] * 10, negatives=[1.0] * 20, recall=levels, rng=1)
    assert (tied.band().high < 1).all()


def binormal(mu: float, size: int, rng: np.random.Generator, n_pos: int) -> tuple[Floats, Floats]:
    """Scores of both classes."""
    return rng.normal(mu, 1, n_pos), rng.normal(0, 1, size - n_pos)


CUTS = np.array([0.0, 0.7, 1.4, 2.1])
GRID = np.linspace(0.05, 0.95, 46)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "prevalence", "n", "tied"),
    # Of the fifth, most samples have no negative above most positives.
    [(1, 0.1, 200, 0), (2, 0.01, 2000, 0), (1, 0.1, 200, 1), (2, 0.01, 2000, 1), (4, 0.3, 100, 0)],
)
def test_coverage(mu: float, prevalence: float, n: int, tied: int) -> None:
    rng, runs, covered, single, widths = np.random.default_rng(17), 200, 0, [], []
    alpha = ndtr(ndtri(GRID) - mu)
    if tied:
        # Five scores: the curve is straight, in ROC space, between four points.
        ends = [[0.0, *ndtr(shift - CUTS[::-1]), 1.0] for shift in (mu, 0)]
        alpha = np.interp(GRID, *ends)
    truth = prevalence * GRID / (prevalence * GRID + (1 - prevalence) * alpha)
    for _ in range(runs):
        scores = binormal(mu, n, rng, max(3, rng.binomial(n, prevalence)))
        if tied:
            scores = tuple(np.searchsorted(CUTS, values) for values in scores)
        found = pr_posterior(*scores, GRID, n_resamples=400, rng=rng)
        low, high = found.band()
        covered += bool(((low <= truth) & (truth <= high)).all())
        low, high = found.band(simultaneous=False)
        single.append((low <= truth) & (truth <= high))
        widths.append((high - low).mean())
    error = np.sqrt(0.05 * 0.95 / runs)
    assert covered / runs >= 0.93 - 3 * error
    assert mu == 4 or 0.95 - 2 * error <= np.mean(single) <= 0.95 + 2 * error
    assert np.mean(single, axis=0).min() > 0.95 - 5 * error
    assert np.mean(widths) < 0.5


def sunk(size: int, n_pos: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Scores of both classes, a third of the positives being below most negatives."""
    mean = np.where(rng.random(n_pos) < 0.3, -3.0, 3.0)
    return rng.normal(mean, 1.0), rng.normal(0, 1, size - n_pos)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [None, 0.05])
@pytest.mark.parametrize(("n_pos", "n"), [(30, 100), (100, 1000)])
def test_single_levels_in_a_gap_between_positives(n_pos: int, n: int, prior: float | None) -> None:
    levels, runs, share = np.array([0.6, 0.7, 0.8, 0.9]), 300, prior or n_pos / n
    cuts = np.linspace(-9, 9, 200_001)[::-1]
    recall = 0.7 * ndtr(3 - cuts) + 0.3 * ndtr(-3 - cuts)
    truth = (
        share * levels / (share * levels + (1 - share) * np.interp(levels, recall, ndtr(-cuts)))
    )
    rng, covered = np.random.default_rng(19), np.zeros(4, dtype=np.int64)
    for _ in range(runs):
        scores = sunk(n, rng.binomial(n, n_pos / n), rng)
        found = pr_posterior(*scores, levels, n_resamples=400, rng=rng, prior=prior)
        low, high = found.band(simultaneous=False)
        covered += (low <= truth) & (truth <= high)
    # With 100 positives smoothed draws cover in less than .9 at one of these levels.
    for count in covered:
        assert stats.binomtest(int(count), runs, 0.94, alternative="less").pvalue > CHANCE


@pytest.mark.parametrize("simultaneous", [True, False])
@pytest.mark.parametrize("prior", [None, 0.05])
def test_a_band_reaches_down_to_the_least_precision(
    prior: float | None, simultaneous: bool
) -> None:
    # Six of 20 positives are below all 80 negatives.
    scores = {"positives": [*range(200, 214), *range(-6, 0)], "negatives": [*range(80)]}
    found = pr_posterior(**scores, recall=GRID, prior=prior, rng=1)
    for confidence_level in (0.8, 0.95, 0.999):
        tail = (1 - confidence_level) / 2
        tail = min(tail, 0.005) if simultaneous else tail
        share = stats.beta.ppf(tail, 20.5, 80.5) if prior is None else prior
        least = share * GRID / (share * GRID + 1 - share)
        reached = 1 - stats.beta.ppf(1 - tail, 7, 14) <= GRID
        low = found.band(confidence_level, simultaneous=simultaneous).low
        assert (low[reached] <= least[reached] * (1 + 1e-12)).all()
        without = replace(found, least=None)
        plain = without.band(confidence_level, simultaneous=simultaneous).low
        np.testing.assert_array_equal(low[~reached], plain[~reached])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "prevalence", "n"), [(4, 0.9, 2000), (4, 0.8, 1000), (3, 0.9, 1000)]
)
def test_coverage_of_long_runs_of_positives(mu: float, prevalence: float, n: int) -> None:
    rng, runs, outside = np.random.default_rng(18), 200, np.zeros(2)
    alpha = ndtr(ndtri(GRID) - mu)
    truth = prevalence * GRID / (prevalence * GRID + (1 - prevalence) * alpha)
    for _ in range(runs):
        scores = binormal(mu, n, rng, rng.binomial(n, prevalence))
        low, high = pr_posterior(*scores, GRID, n_resamples=400, rng=rng).band()
        outside += (low > truth).any(), (high < truth).any()
    assert outside.sum() <= stats.binom.ppf(0.999, runs, 0.07)
    # Either end is missed in half of these, but for those next to 1.
    assert outside.max() <= stats.binom.ppf(0.999, runs, 0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recall": []}, "`recall` must be a list of rising levels, each once; got []."),
        ({"recall": 0.5}, "`recall` must be a list of rising levels, each once; got 0.5."),
        ({"recall": [0.5, 0.5]}, "`recall` must be a list of rising levels, each once; got [0.5, 0.5]."),
        ({"recall": [0.5, 1]}, "`recall` must be > 0 and < 1; got 1.0."),
        ({"recall": [0.5, [0.6]]}, "`recall` must be numbers in lists of one length; got [0.5, [0.6]]."),
        ({"positives": []}, "`positives` must hold at least one score, or `n_pos` exceed 0; got none."),
        ({"negatives": []}, "`negatives` must hold at least one score, or `n_neg` exceed 0; got none."),
        ({"negatives": [np.nan]}, "`negatives` must not contain NaN: 1 of 1 scores."),
        ({"n_pos": 1}, "`n_pos` must be at least the number of positives; got n_pos = 1 with 2 positives."),
        ({"n_resamples": 0}, "`n_resamples` must be a whole number >= 1; got 0."),
        ({"rng": "1"}, "`rng` must be a whole number >= 0 or a numpy.random.Generator; got '1'."),
    ],
)  # fmt: skip
def test_refusals(change: dict[str, object], message: str) -> None:
    arguments = {"positives": [1.0, 2.0], "negatives": [0.0, 1.0], "recall": [0.5], **change}
    with pytest.raises(prframe.PrframeError) as caught:
        pr_posterior(**arguments)
    assert str(caught.value) == message
    with pytest.raises(prframe.PrframeError) as caught:
        pr_posterior([1.0], [0.0], [0.5], n_resamples=1).band(95)
    assert str(caught.value) == "`confidence_level` must be a number > 0 and < 1; got 95."
