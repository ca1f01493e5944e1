"""Resamples by counts: their law, and standard errors of clusters."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats.rankings import (
    AveragePrecision,
    RocArea,
    bootstrap as cell_bootstrap,
)
from prframe.stats.rankings.bootstrap import (
    cluster_counts,
    cluster_influence,
    ranking_bootstrap,
    tally,
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


def test_clusters_of_one_item_are_items() -> None:
    score, label = sample(120, 0.2, seed=7)
    cells, cell = cells_from_scores(score, label)
    counts = cluster_counts(cell, label, np.arange(120), cells.pos.size)
    values = ranking_bootstrap(cells, [AP], N_RESAMPLES, rng=8, clusters=counts)[0]
    plain = ranking_bootstrap(cells, [AP], N_RESAMPLES, rng=9)[0]
    assert stats.ks_2samp(values, plain).pvalue > 0.01
    influence = AP.influence(cells)
    error = np.linalg.norm(cluster_influence(influence, counts))
    assert error == pytest.approx(influence.std_error(cells))


def test_items_that_come_twice_count_once() -> None:
    score, label = sample(60, 0.3, seed=10)
    single, _ = cells_from_scores(score, label)
    cells, cell = cells_from_scores(np.tile(score, 2), np.tile(label, 2))
    counts = cluster_counts(cell, np.tile(label, 2), np.tile(np.arange(60), 2), cells.pos.size)
    error = np.linalg.norm(cluster_influence(AP.influence(cells), counts))
    assert error == pytest.approx(AP.influence(single).std_error(single))
    assert error == pytest.approx(2**0.5 * AP.influence(cells).std_error(cells))


def test_statistics_share_the_resamples_and_seeds_repeat_them() -> None:
    cells, _ = cells_from_scores(*sample(50, 0.4, seed=13))
    both = ranking_bootstrap(cells, [AP, RocArea()], 50, rng=14)
    assert both.shape == (2, 50)
    assert (both[1] == ranking_bootstrap(cells, [RocArea()], 50, rng=14)[0]).all()
    assert (both[0] != ranking_bootstrap(cells, [AP], 50, rng=15)[0]).any()


@pytest.mark.slow
def test_chunks_hold_what_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_bootstrap, "_CHUNK", 64)
    monkeypatch.setattr(cell_bootstrap, "_BATCH", 16)
    score, label = sample(50, 0.4, seed=16)
    cells, _ = cells_from_scores(score, label)
    shapes = [
        drawn.shape for drawn in cell_bootstrap._item_draws(cells, 7, np.random.default_rng(1))
    ]
    assert shapes == [(1, 2 * cells.pos.size)] * 7
    sums = [
        drawn.sum() for drawn in cell_bootstrap._item_draws(cells, 7, np.random.default_rng(1))
    ]
    assert sums == [50] * 7
    values = ranking_bootstrap(cells, [AP], N_RESAMPLES, rng=17)[0]
    expected = naive(score, label, np.arange(50), seed=18)
    assert stats.ks_2samp(values, expected).pvalue > 0.01


@pytest.mark.parametrize("n", [1, 2, 40, 300])
def test_rankings_of_one_size_have_the_same_draws_alone_and_after_others(n: int) -> None:
    """Draws that several rankings share are counted as those of a single one."""
    rng = np.random.default_rng(8)
    scores = [rng.integers(0, rng.integers(1, n + 1), n) for _ in range(4)]
    rankings = [cells_from_scores(score, rng.random(n) < 0.5)[0] for score in scores]
    for seed in (5, 6):
        for cells in (*rankings, *rankings):
            generator, alone = np.random.default_rng(seed), np.random.default_rng(seed)
            drawn = ranking_bootstrap(cells, [RocArea()], 90, generator)
            counts = np.concatenate([cells.pos, cells.neg])
            if np.count_nonzero(counts) * 20 < n:
                continue
            of_item = np.repeat(np.arange(counts.size), counts)
            pos, neg = np.hsplit(tally(of_item, counts.size, 90, alone), 2)
            np.testing.assert_array_equal(drawn[0], RocArea().values(pos, neg))
            assert generator.random() == alone.random()


def test_resamples_without_positives_are_not_defined() -> None:
    cells = RankedCells(np.array([1, 0]), np.array([9, 0]))
    values = ranking_bootstrap(cells, [AP], 4000, rng=19)[0]
    assert np.isnan(values).mean() == pytest.approx(0.9**10, abs=0.03)
