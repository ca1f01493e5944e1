"""The Bayesian bootstrap of the curve, against a slow definition, known laws and simulation."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import asin, ceil, exp, inf, pi, sin, sqrt
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import expit

import prframe
from prframe.stats import pr_curve
from prframe.stats.curves import (
    DrawnPath,
    RocPath,
    cells_of_classes,
    drawn_weights,
    empirical_precision,
    posterior_of,
)
from prframe.stats.rankings.cells import RankedCells
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
    slow = naive_curves(name, 50 if many else 1500)
    size = 2000 if many else 6000
    weights = drawn_weights(size, np.random.default_rng(6))
    fast = expit(DrawnPath(path_of(name), weights, turning=True).log_odds(np.array(LEVELS)))
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
    angles = [(i + 0.5) * pi / 2 / number for i in range(number)]
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
        curve = DrawnPath(path, weights, turning=True)
        curve = curve if prior is None else curve.at_prior(prior)
        return curve.log_odds(np.array([level]))[:, 0]

    knots = knots_of(list(group["positives"]), list(group["negatives"]))
    expected = naive_means(LEVELS, knots, int(path.n_pos), draw)
    found = posterior_of(cells_of(name), np.array(LEVELS), weights, prior).log_odds
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


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
    found = pr_curve(positives, negatives, levels, n_pos=n_pos)
    assert found == pytest.approx(expected, rel=1e-12)
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
