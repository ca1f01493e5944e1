"""Resamples by counts: their law, and standard errors of clusters."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats.rankings import (
    AveragePrecision,
    bootstrap as cell_bootstrap,
)
from prframe.stats.rankings.bootstrap import (
    cluster_counts,
    ranking_bootstrap,
)
from prframe.stats.rankings.cells import RankedCells, cells_from_scores

AP = AveragePrecision()
N_RESAMPLES = 3000


def sample(n: int, prevalence: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < prevalence
    return np.round(rng.normal(size=n) + label, 1), label


def ap_of(score: np.ndarray, label: np.ndarray) -> float:
    """Compute AP by its definition."""
    hits = score[label]
    return float(np.mean([label[score >= hit].mean() for hit in hits]))


def naive(score: np.ndarray, label: np.ndarray, cluster: np.ndarray, seed: int) -> np.ndarray:
    """Draw whole clusters of rows and rank what was drawn."""
    rng, values = np.random.default_rng(seed), []
    rows = [np.flatnonzero(cluster == one) for one in range(cluster.max() + 1)]
    for _ in range(N_RESAMPLES):
        drawn = np.concatenate([rows[one] for one in rng.integers(0, len(rows), len(rows))])
        if label[drawn].any():
            values.append(ap_of(score[drawn], label[drawn]))
    return np.array(values)


@pytest.mark.slow
@pytest.mark.parametrize("per_kind", [0, 10_000])
def test_resamples_have_the_law_of_resampled_rows(
    monkeypatch: pytest.MonkeyPatch, per_kind: int
) -> None:
    # Draws by kind of item, and item by item.
    monkeypatch.setattr(cell_bootstrap, "_PER_KIND", per_kind)
    score, label = sample(80, 0.3, seed=1)
    expected = naive(score, label, np.arange(80), seed=2)
    values = ranking_bootstrap(cells_from_scores(score, label)[0], [AP], N_RESAMPLES, rng=3)[0]
    assert stats.ks_2samp(values, expected).pvalue > 0.01


@pytest.mark.slow
def test_resampled_clusters_have_the_law_of_resampled_rows() -> None:
    score, label = sample(80, 0.3, seed=4)
    cluster = np.arange(80) % 11
    expected = naive(score, label, cluster, seed=77)
    cells, cell = cells_from_scores(score, label)
    counts = cluster_counts(cell, label, cluster, cells.pos.size)
    values = ranking_bootstrap(cells, [AP], N_RESAMPLES, rng=6, clusters=counts)[0]
    assert stats.ks_2samp(values, expected).pvalue > 0.01
    plain = ranking_bootstrap(cells, [AP], N_RESAMPLES, rng=6)[0]
    assert stats.ks_2samp(plain, expected).pvalue < 0.01


def error_of(cells: RankedCells) -> float:
    values, number = AP.influence(cells).of_items(cells)
    return float(np.sqrt(number @ values**2))


def test_items_that_come_twice_count_once() -> None:
    score, label = sample(60, 0.3, seed=10)
    single, _ = cells_from_scores(score, label)
    cells, cell = cells_from_scores(np.tile(score, 2), np.tile(label, 2))
    counts = cluster_counts(cell, np.tile(label, 2), np.tile(np.arange(60), 2), cells.pos.size)
    error = np.linalg.norm(counts @ np.concatenate(AP.influence(cells)))
    assert error == pytest.approx(error_of(single))
    assert error == pytest.approx(2**0.5 * error_of(cells))
