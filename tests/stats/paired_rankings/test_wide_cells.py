"""Cells in which the positives of AP are counted together deep in a ranking."""

import numpy as np
import pytest

from prframe.stats import AveragePrecision, CellEvaluator, PairedRankings, RocArea, ranking_levels
from prframe.stats._units import units_of
from prframe.stats.paired_rankings.cell_counts import CellCounts, enough_levels, metrics_of
from prframe.stats.paired_rankings.pools import Pools
from prframe.stats.paired_rankings.wide_cells import excess_precision, wide_cells


def sample(n: int, share: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Levels of two rankings that resemble each other, and labels."""
    rng = np.random.default_rng(1)
    label = rng.random(n) < share
    quality = shift * label + rng.normal(size=n)
    return ranking_levels(quality + rng.normal(0, 0.5, (2, n))), label


def test_few_positives_and_other_metrics_keep_their_levels() -> None:
    levels, label = sample(2000, 0.01, 1)
    for metrics in ([AveragePrecision()], [AveragePrecision(), RocArea()]):
        evaluate = CellEvaluator(label, metrics)
        fewer = enough_levels(levels[0], evaluate)
        kept = wide_cells(fewer, evaluate)
        assert not kept.wide.any()
        np.testing.assert_array_equal(kept.levels, fewer)


def test_large_tie_blocks_and_what_is_not_retrieved_stay_alone() -> None:
    label = np.arange(9000) % 3 == 0
    scores = -np.arange(9000.0)
    scores[4000:4500], scores[8000:] = -4000, -np.inf
    evaluate = CellEvaluator(label, [AveragePrecision()])
    levels, wide = wide_cells(enough_levels(ranking_levels(scores[None])[0], evaluate), evaluate)
    assert wide.sum() > 100
    for alone in (slice(4000, 4500), slice(8000, None)):
        cells = np.unique(levels[alone])
        assert cells.size == 1
        assert not wide[levels.max() - cells[0]]
    assert (levels[8000:] == 0).all()
    # Negatives below the last positive count for nothing, retrieved or not.
    assert (levels[:7998] > 0).all()


def test_the_mean_of_both_ends_is_taken() -> None:
    pos, precision = np.array([[2, 3, 4]]), np.array([[1.0, 0.5, 0.25]])
    wide = np.array([False, True, False])
    assert excess_precision(pos, precision, wide) == pytest.approx(3 * (0.5 - 1) / 2)


@pytest.mark.parametrize(("share", "shift"), [(0.1, 1), (0.1, 3), (0.5, 1)])
def test_resamples_hardly_differ_from_those_in_all_cells(share: float, shift: float) -> None:
    levels, label = sample(20_000, share, shift)
    evaluate = CellEvaluator(label, [AveragePrecision()])
    pools = Pools.of_units(evaluate, units_of(None, label.size))
    times = np.random.default_rng(2).poisson(1, (label.size, 60)).astype(np.uint8)
    exact, wide = [], []
    for level in levels:
        fewer = enough_levels(level, evaluate)
        exact.append(metrics_of(CellCounts.drawn(fewer, pools)(times), evaluate)[0])
        cells = wide_cells(fewer, evaluate)
        counts = CellCounts.drawn(cells.levels, pools)
        assert cells.wide.size < label.sum() / 2
        once = metrics_of(counts(np.ones_like(times[:, :1])), evaluate, cells.wide)[0]
        lacking = evaluate(level[None])[0] - once
        wide.append(metrics_of(counts(times), evaluate, cells.wide)[0] + lacking)
    differences, wider = np.subtract(*exact), np.subtract(*wide)
    assert np.abs(wider - differences).max() < 0.05 * differences.std()
    assert np.std(wider - differences) < 0.015 * differences.std()


def test_replicates_and_swaps_have_wide_cells_about_the_right_values() -> None:
    levels, label = sample(20_000, 0.1, 1)
    rankings = PairedRankings(levels, CellEvaluator(label, [AveragePrecision()]))
    values, drawn = rankings.values(), rankings.replicates(400, 1)
    error = (drawn.mean(axis=2) - values) / drawn.std(axis=2)
    # Resamples of AP are too large by a few hundredths of a standard deviation.
    assert np.abs(error).max() < 0.3
    swaps = rankings.randomization(0, 1, n_resamples=400, rng=1).differences[0]
    assert abs(swaps.mean()) < 0.2 * swaps.std()
