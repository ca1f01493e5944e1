"""Cells in which the positives of AP are counted together deep in a ranking."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from prframe.stats import (
    AveragePrecision,
    CellEvaluator,
    PairedRankings,
    RocArea,
    compare_rankings,
    ranking_levels,
)
from prframe.stats.paired_rankings.cell_counts import enough_levels
from prframe.stats.paired_rankings.wide_cells import wide_cells


def sample(n: int, share: float, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Levels of two rankings that resemble each other, and labels."""
    rng = np.random.default_rng(1)
    label = rng.random(n) < share
    quality = shift * label + rng.normal(size=n)
    return ranking_levels(quality + rng.normal(0, 0.5, (2, n))), label


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


def test_replicates_and_swaps_have_wide_cells_about_the_right_values() -> None:
    levels, label = sample(20_000, 0.1, 1)
    rankings = PairedRankings(levels, CellEvaluator(label, [AveragePrecision()]))
    values, drawn = rankings.values(), rankings.replicates(400, 1)
    error = (drawn.mean(axis=2) - values) / drawn.std(axis=2)
    # Resamples of AP are too large by a few hundredths of a standard deviation.
    assert np.abs(error).max() < 0.3
    swaps = rankings.randomization(0, 1, n_resamples=400, rng=1).differences[0]
    assert abs(swaps.mean()) < 0.2 * swaps.std()


def by_hand(scores: np.ndarray, label: np.ndarray, cluster: np.ndarray) -> float:
    """The p-value of all swaps of whole clusters, by mid-ranks and a coin for equal ones."""
    first, second = (rankdata(row) for row in scores)
    observed = average_precision_score(label, first) - average_precision_score(label, second)
    differences = []
    for coin, heads in product((-0.25, 0.25), product((False, True), repeat=cluster.max() + 1)):
        swap, moved = np.array(heads)[cluster], second + coin
        pair = np.where(swap, moved, first), np.where(swap, first, moved)
        differences.append(np.subtract(*(average_precision_score(label, row) for row in pair)))
    return float((np.abs(differences) >= abs(observed) - 1e-12).mean())


@pytest.mark.parametrize("seed", range(4))
def test_swaps_of_few_clusters_are_those_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label, cluster = rng.random(1200) < 0.2, np.arange(1200) % 6
    scores = np.array([[1.6], [1.2]]) * label + rng.normal(size=(2, 1200))
    # The sampled test has fewer swaps than there are.
    exact = compare_rankings(*scores, label, AveragePrecision(), cluster=cluster)
    assert exact.p_value == pytest.approx(by_hand(scores, label, cluster), abs=1e-12)
    sampled = compare_rankings(
        *scores, label, AveragePrecision(), cluster=cluster, n_resamples=63, rng=seed
    )
    other = compare_rankings(
        *scores, label, [AveragePrecision(), RocArea()], cluster=cluster, n_resamples=63, rng=seed
    )
    assert sampled.p_value == other[0].p_value


@pytest.mark.parametrize("number", [1, 3, 10])
@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_other_metrics_change_nothing_where_few_items_decide(number: int, test: str) -> None:
    rng = np.random.default_rng(number)
    label = rng.random(2000) < 0.2
    first = 1.2 * label + rng.normal(size=2000)
    second = first.copy()
    second[rng.choice(np.flatnonzero(label), number, replace=False)] += 0.4
    options = {"test": test, "n_resamples": 1000, "rng": 1}
    alone = compare_rankings(first, second, label, AveragePrecision(), **options)
    beside, _ = compare_rankings(first, second, label, [AveragePrecision(), RocArea()], **options)
    assert alone.p_value == beside.p_value


@pytest.mark.parametrize("seed", range(3))
def test_the_rankings_themselves_are_among_the_swaps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = rng.random(5000) < 0.2
    levels = ranking_levels(1.2 * label + rng.normal(size=(2, 5000)))
    # Of 16 clusters both rankings change places in one swap out of 32,768.
    evaluate = CellEvaluator(label, [AveragePrecision()])
    rankings = PairedRankings(levels, evaluate, np.arange(5000) % 17)
    values = rankings.values()[0]
    swaps = rankings.randomization(0, 1, n_resamples=20_000, rng=seed).differences[0]
    every = PairedRankings(levels, CellEvaluator(label, [AveragePrecision(), RocArea()]))
    assert np.abs(swaps).max() >= abs(values[0] - values[1]) * (1 - 1e-12)
    assert np.std(swaps) > 0
    assert every.values()[0] == pytest.approx(values)


def test_counts_of_few_clusters_in_many_cells_fit_into_memory() -> None:
    rng = np.random.default_rng(1)
    label = rng.random(20_000) < 0.3
    levels = ranking_levels(label + rng.normal(size=(2, 20_000)))
    evaluate = CellEvaluator(label, [AveragePrecision(), RocArea()])
    rankings = PairedRankings(levels, evaluate, np.arange(20_000) % 8)
    tracemalloc.start()
    rankings.randomization(0, 1, n_resamples=250, rng=1)
    rankings.replicates(250, rng=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All draws at a time took gigabytes.
    assert peak < 100 << 20
