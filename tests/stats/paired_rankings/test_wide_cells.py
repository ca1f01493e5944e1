"""Cells in which the positives of AP are counted together deep in a ranking."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from prframe.stats import (
    AveragePrecision,
    RocArea,
    compare_rankings,
)


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
