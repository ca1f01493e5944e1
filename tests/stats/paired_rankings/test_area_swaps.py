"""The randomization test of AUC: swaps as random signs, against swaps one by one."""

from itertools import product

import numpy as np
import pytest

from prframe.stats import (
    RocArea,
    compare_rankings,
    ranking_levels,
)
from prframe.stats.rankings import joint_ranks

AUC = RocArea()


def sample(n: int, levels: int | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two rankings that share a part, with ties or without, of which some items lack one."""
    rng = np.random.default_rng([seed, n, levels or 0])
    label = rng.permutation(np.arange(n) < max(1, round(n * rng.uniform(0.2, 0.7))))
    scores = rng.normal(size=n) + label + rng.normal(size=(2, n))
    if levels:
        scores = np.round(scores * levels / 6)
    if seed % 3 == 0:
        scores[rng.random((2, n)) < 0.2] = -np.inf
    return scores, label


def areas(rankings: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the AUC of each ranking: the share of its pairs in order, where a tie is half a one."""
    ahead = rankings[:, label, None] - rankings[:, None, ~label]
    return (1 + np.sign(ahead)).mean(axis=(1, 2)) / 2


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("levels", [None, 6])
@pytest.mark.parametrize("clustered", [False, True])
def test_p_values_are_those_of_all_swaps(
    levels: int | None, alternative: str, clustered: bool
) -> None:
    n = 24 if clustered else 11
    scores, label = sample(n, levels, 1)
    cluster = np.arange(n) % 9 if clustered else np.arange(n)
    ranks = joint_ranks(ranking_levels(scores))
    signs = product((False, True), repeat=int(cluster.max()) + 1)
    swap = np.array(list(signs))[:, cluster]
    pair = (np.where(swap, *order) for order in (ranks[::-1], ranks))
    drawn = np.subtract(*(areas(rows, label) for rows in pair))
    # The first of the swaps leaves everything in its place.
    observed = drawn[0]
    extreme = {
        "two-sided": abs(drawn) >= abs(observed) - 1e-12,
        "less": drawn <= observed + 1e-12,
        "greater": drawn >= observed - 1e-12,
    }[alternative]
    found = compare_rankings(
        *scores, label, AUC, alternative=alternative, cluster=cluster if clustered else None
    )
    assert found.p_value == pytest.approx(np.mean(extreme), abs=1e-12)
    assert found.method == "randomization-exact"
    assert np.isnan(found.p_std_error)
    assert found.statistic == found.difference == pytest.approx(observed)


def test_degenerate_rankings() -> None:
    label = np.arange(8) < 3
    same = compare_rankings(np.arange(8), np.arange(8), label, AUC, n_resamples=50)
    assert (same.p_value, same.difference) == (1, 0)
    tied = compare_rankings(np.ones(8), np.ones(8), label, AUC, n_resamples=50)
    assert (tied.p_value, tied.difference) == (1, 0)
    for only in (np.ones(8, dtype=bool), np.zeros(8, dtype=bool)):
        found = compare_rankings(np.arange(8), -np.arange(8), only, AUC, n_resamples=50)
        assert np.isnan(found.p_value)
    # If one of two items is swapped, both rankings tie them.
    two = compare_rankings([2, 1], [1, 2], [True, False], AUC, n_resamples=50)
    assert two.p_value == 0.5
