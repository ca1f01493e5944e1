"""The Bayesian bootstrap of the curve, against a slow definition, known laws and simulation."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import asin, ceil, exp, inf, pi, sin, sqrt
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import logit, ndtr, ndtri

import prframe
from prframe.stats import pr_curve, pr_posterior
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


def test_levels_beyond_reach_leave_the_others_alone() -> None:
    group = data("totals")
    alone, beside = (
        pr_posterior(**group, recall=levels, n_resamples=5000, rng=seed).log_odds[:, 0]
        for seed, levels in ((1, [0.3]), (2, [0.3, 0.8, 0.95]))
    )
    assert same_law(alone, beside)


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


def test_turns_in_a_ranking_without_ties() -> None:
    # + + - + + + - + -
    label = np.array([1, 1, 0, 1, 1, 1, 0, 1, 0], dtype=np.bool_)
    path = RocPath.of(cells_from_scores(-np.arange(9.0), label)[0])
    assert path.turns == pytest.approx([0, 0, 0.6, -2 / 3, 0, 2 / 3, 0, 0])


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
        ({"positives": []}, "`positives` must hold at least one score, or `n_pos` exceed 0; got none."),
        ({"negatives": [np.nan]}, "`negatives` must not contain NaN: 1 of 1 scores."),
        ({"n_pos": 1}, "`n_pos` must be at least the number of positives; got n_pos = 1 with 2 positives."),
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
