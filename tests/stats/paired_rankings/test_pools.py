"""Pools of near items of large samples, against draws of the items themselves."""

import numpy as np
import pytest
from scipy import stats

from prframe.stats import AveragePrecision, PrecisionAt, RocArea, ranking_levels
from prframe.stats._units import units_of
from prframe.stats.paired_rankings import PairedRankings, rankings as parts
from prframe.stats.rankings import CellEvaluator


def sample(n: int) -> tuple[np.ndarray, CellEvaluator]:
    """Levels of two models that are often wrong about the same items, and metrics."""
    rng = np.random.default_rng(5)
    label, common = rng.random(n) < 0.1, rng.normal(size=n)
    scores = np.stack([label + common, 0.9 * label + 0.7 * (common + rng.normal(size=n))])
    return ranking_levels(scores), CellEvaluator(label, [AveragePrecision(), RocArea()])


def test_pools_have_one_label_and_leave_the_top_alone() -> None:
    levels, evaluate = sample(20_000)
    found = parts.pools_of(levels, evaluate, units_of(None, 20_000))
    assert found.item.size == found.units.number == found.sizes.size < 5_000
    for side in (True, False):
        assert (
            found.sizes[evaluate.label[found.item] == side].sum() == (evaluate.label == side).sum()
        )
    top = np.flatnonzero((levels > 19_800).any(axis=0))
    assert set(top) <= set(found.item[found.sizes == 1])


def test_nothing_is_pooled_where_few_items_decide() -> None:
    levels, evaluate = sample(20_000)
    other = levels[0].copy()
    moved = np.arange(0, 20_000, 1_000)
    other[moved] = np.roll(other[moved], 1)
    found = parts.pools_of(np.stack([levels[0], other]), evaluate, units_of(None, 20_000))
    assert found.item.size == 20_000


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [None, np.arange(6_000) // 2])
def test_draws_of_pools_vary_as_those_of_items(
    monkeypatch: pytest.MonkeyPatch, cluster: np.ndarray | None
) -> None:
    levels, evaluate = sample(6_000)
    found = []
    for least in (1_000, 1 << 30):
        monkeypatch.setattr(parts, "_LARGE", least)
        rankings = PairedRankings(levels, evaluate, cluster)
        drawn = rankings.replicates(1_500, rng=1)
        swapped = rankings.randomization(0, 1, 1_500, rng=2).differences
        means = (drawn.mean(axis=2) - rankings.values()).ravel()
        found.append([drawn[:, 0] - drawn[:, 1], swapped, means])
    for pooled, alone in zip(*(each[:2] for each in found), strict=True):
        # The standard error of this ratio is .026.
        np.testing.assert_allclose(pooled.std(axis=1), alone.std(axis=1), rtol=0.1)
    np.testing.assert_allclose(found[0][2], found[1][2], atol=0.002)


def test_numbers_drawn_are_those_of_their_distribution() -> None:
    sizes = np.repeat([1, 4, 64], [30, 20, 10])
    draws = parts.Draws(sizes, lambda size: stats.binom(size, 0.5).cdf(np.arange(size + 1)))
    drawn = draws(2_000, np.random.default_rng(1))
    assert drawn.shape == (60, 2_000)
    for size in (1, 4, 64):
        of_size = drawn[sizes == size]
        assert of_size.min() >= 0
        assert of_size.max() <= size
        assert of_size.mean() == pytest.approx(size / 2, rel=0.02)
        assert of_size.var() == pytest.approx(size / 4, rel=0.05)


@pytest.mark.parametrize("k", [100, 2_000])
def test_items_near_a_cut_stay_alone(k: int) -> None:
    levels, evaluate = sample(20_000)
    first = CellEvaluator(evaluate.label, [PrecisionAt(k)])
    hits = k * PairedRankings(levels, first).randomization(0, 1, 100, rng=1).differences
    # A pool at the cut would count in part.
    np.testing.assert_allclose(hits, np.round(hits), atol=1e-9)
