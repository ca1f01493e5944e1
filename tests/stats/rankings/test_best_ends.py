"""The end with the largest F1 of resamples, of which most is never drawn."""

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.stats.rankings import (
    AveragePrecision,
    ThresholdOfLargestF1,
    best_ends,
    bootstrap as cell_bootstrap,
)
from prframe.stats.rankings.best_ends import first_best_ends
from prframe.stats.rankings.bootstrap import ranking_bootstrap
from prframe.stats.rankings.cells import RankedCells, cells_from_scores


def naive(pos: list[int], neg: list[int], ends: list[int]) -> int:
    """Compare F1 at all ends as fractions."""
    f1 = [
        Fraction(2 * sum(pos[: end + 1]), max(sum(pos + pos[: end + 1] + neg[: end + 1]), 1))
        for end in ends
    ]
    return f1.index(max(f1)) if max(f1) else -1


def cells_of(n: int, prevalence: float, seed: int, levels: int) -> tuple[RankedCells, np.ndarray]:
    """Return a ranking, and its cells with positives that are retrieved."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < prevalence
    score = np.round(levels * (rng.normal(size=n) + label)) / levels
    score[rng.random(n) < 0.05] = -np.inf
    cells, _ = cells_from_scores(score, label)
    return cells, np.flatnonzero(cells.pos[:-1])


class AsInTheSample:
    """Draws that are as likely as any other one, of which the ranking itself is made."""

    def multinomial(self, n: int, shares: np.ndarray, size: int) -> np.ndarray:
        return np.tile(np.rint(n * shares).astype(np.int64), (size, 1))

    def binomial(self, n: np.ndarray, share: np.ndarray) -> np.ndarray:
        return np.rint(n * share).astype(np.int64)


@pytest.mark.parametrize("largest", [1, 2, 5])
def test_no_end_that_is_best_is_passed_over(largest: int) -> None:
    """What is left undrawn of a resample that is the sample itself does not matter."""
    rng = np.random.default_rng(3)
    for size in np.tile(np.arange(2, 40), 4):
        pos, neg = rng.integers(0, largest + 1, (2, size))
        neg[-1] += 1
        ends = np.flatnonzero(np.append(rng.random(size - 2) < 0.6, values=True))
        draws: Any = AsInTheSample()
        found = first_best_ends(RankedCells(pos, neg), ends, 3, draws)
        assert found.tolist() == [naive(pos.tolist(), neg.tolist(), ends.tolist())] * 3


@pytest.mark.parametrize("held", [1, best_ends._HELD])
@pytest.mark.parametrize(
    ("pos", "neg"),
    [([1, 1, 0, 1, 0], [0, 0, 1, 0, 1]), ([1, 0, 2, 0], [1, 1, 0, 0]), ([1, 1, 1], [1, 0, 1])],
)
def test_ends_are_as_likely_as_among_all_resamples(
    monkeypatch: pytest.MonkeyPatch, pos: list[int], neg: list[int], held: int
) -> None:
    """All ways to draw the items are counted; the last cell was not retrieved."""
    monkeypatch.setattr(best_ends, "_HELD", held)
    items = [cell for cell, number in enumerate(pos) for _ in range(number)]
    items += [len(pos) + cell for cell, number in enumerate(neg) for _ in range(number)]
    ends = np.flatnonzero(pos[:-1])
    ways = Counter(
        naive(drawn[: len(pos)], drawn[len(pos) : -1], ends.tolist())
        for rows in product(items, repeat=len(items))
        for drawn in [np.bincount(rows, minlength=2 * len(pos)).tolist()]
    )
    times, rng = 1_500 if held == 1 else 30_000, np.random.default_rng(1)
    found = first_best_ends(RankedCells(np.array(pos), np.array(neg)), ends, times, rng)
    seen = [np.count_nonzero(found == end) for end in ways]
    expected = [times * number / sum(ways.values()) for number in ways.values()]
    assert sum(seen) == times
    assert stats.chisquare(seen, expected).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize("prevalence", [0.02, 0.5, 0.9])
def test_thresholds_are_distributed_as_those_of_whole_resamples(
    prevalence: float, levels: int
) -> None:
    cells, ends = cells_of(2000, prevalence, 4, levels)
    least = np.full(cells.pos.size - 1, np.nan)
    least[ends] = -np.arange(ends.size)
    threshold = ThresholdOfLargestF1(least)
    in_part = ranking_bootstrap(cells, [threshold], 5000, rng=5)[0]
    whole = ranking_bootstrap(cells, [threshold, AveragePrecision()], 5000, rng=6)[0]
    assert np.unique(whole).size > 3
    assert stats.ks_2samp(in_part, whole, method="asymp").pvalue > 0.001


def test_few_of_the_counts_are_drawn() -> None:
    cells, ends = cells_of(100_000, 0.5, 6, 10**6)

    class Counting:
        """A generator that says how many variates it drew."""

        number, rng = 0, np.random.default_rng(7)
        multinomial = rng.multinomial

        def binomial(self, n: np.ndarray, share: np.ndarray) -> np.ndarray:
            self.number += n.size
            return self.rng.binomial(n, share)

    counting: Any = Counting()
    first_best_ends(cells, ends, 50, counting)
    assert counting.number / 50 < 20 * cells.n ** (1 / 3)


def test_draws_that_rankings_share_stay_whole() -> None:
    """So do those that several metrics share."""
    for n, alone in [(1000, False), (1200, True)]:
        cells, ends = cells_of(n, 0.5, 8, 10**6)
        least = np.full(cells.pos.size - 1, np.nan)
        least[ends] = -np.arange(ends.size)
        threshold, other = ThresholdOfLargestF1(least), AveragePrecision()
        drawn = ranking_bootstrap(cells, [threshold], 2000, rng=9)[0]
        both = ranking_bootstrap(cells, [threshold, other], 2000, rng=9)
        in_part = first_best_ends(cells, ends, 2000, np.random.default_rng(9))
        assert (drawn == both[0]).all() == (not alone)
        assert (drawn == -in_part).all() == alone
        assert (both[1] == ranking_bootstrap(cells, [other], 2000, rng=9)[0]).all()
    assert 1000 * 2000 < cell_bootstrap._MOST_KEPT < 1200 * 2000


def test_a_large_group_has_the_same_threshold_alone_and_in_any_order() -> None:
    rng = np.random.default_rng(10)
    label = rng.random(2200) < 0.4
    rows = pl.DataFrame({"score": np.round(rng.normal(size=2200) + label, 2), "label": label})
    rows = rows.with_columns(group=pl.int_range(pl.len()) % 2)
    found = rows.pr.interval("MaxF1", by="group", rng=1)
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=2)
    assert (
        prframe.interval(shuffled, "MaxF1", by="group", rng=1)
        .sort("group", "metric")
        .equals(found.sort("group", "metric"))
    )
    alone = rows.filter(group=1).pr.interval("MaxF1", rng=1)
    assert alone.equals(found.filter(group=1).drop("group"))
