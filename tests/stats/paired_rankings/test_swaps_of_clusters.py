"""Swaps of whole clusters, against the definition, and the memory that they take."""

import tracemalloc
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from prframe.stats import AveragePrecision, RocArea, compare_rankings, ranking_levels
from prframe.stats.paired_rankings import PairedRankings
from prframe.stats.rankings import CellEvaluator


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
    exact = compare_rankings(*scores, label, AveragePrecision(), cluster=cluster)
    assert exact.p_value == pytest.approx(by_hand(scores, label, cluster), abs=1e-12)


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
