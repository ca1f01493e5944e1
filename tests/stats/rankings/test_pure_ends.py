"""How far the population may have no negative above or below a level, against known limits."""

from math import inf

import numpy as np
import pytest
from scipy import stats

from prframe.stats.intervals import Confidence
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AtPrior,
    AveragePrecision,
    LeastPrecision,
    PrecisionAtRecall,
    cells_from_scores,
    pure_bottom,
    pure_top,
)
from prframe.stats.rankings.cells import RankedCells

# A true agreement fails a test at this level once in a thousand seeds; the seeds are fixed.
CHANCE = 0.001
LEVELS = np.linspace(0.01, 0.99, 99)


def ranked(after: int, n_pos: int, n_neg: int = 50) -> RankedCells:
    """A ranking of positives above all negatives, and of some that are below all of them."""
    pos = [3.0] * (n_pos - after) + [-1.0 - i for i in range(after)]
    scores = [*pos, *np.linspace(1, 2, n_neg)]
    return cells_from_scores(scores, [1] * n_pos + [0] * n_neg)[0]


@pytest.mark.parametrize(("after", "n_pos"), [(1, 10), (3, 20), (19, 20)])
@pytest.mark.parametrize("tail", [0.1, 0.025, 0.005])
def test_the_bottom_begins_at_the_clopper_pearson_limit(
    after: int, n_pos: int, tail: float
) -> None:
    chance = pure_bottom(ranked(after, n_pos), LEVELS)
    limit = 1 - stats.beta.ppf(1 - tail, after + 1, n_pos - after)
    assert ((chance >= tail) == (limit <= LEVELS)).all()


def test_the_bottom_is_the_top_of_the_ranking_from_below() -> None:
    cells = ranked(4, 15)
    turned = RankedCells(cells.pos[::-1], cells.neg[::-1])
    np.testing.assert_allclose(
        pure_bottom(cells, LEVELS, 0.5), pure_top(turned, 1 - LEVELS, 0.5), rtol=1e-12
    )
    assert (pure_bottom(cells, LEVELS, 0.5) > pure_bottom(cells, LEVELS))[LEVELS < 0.7].all()


def test_without_positives_below_all_negatives_there_is_no_bottom() -> None:
    assert not pure_bottom(ranked(0, 10), LEVELS).any()
    tied = RankedCells(np.array([5, 5, 0]), np.array([3, 7, 0]))
    assert not pure_bottom(tied, LEVELS).any()
    # Positives below all negatives that are not retrieved have precision 0, and not the least.
    assert not pure_bottom(RankedCells(np.array([5, 5, 2]), np.array([10, 0, 0])), LEVELS).any()
    assert not pure_bottom(RankedCells(np.array([5, 5, 0]), np.array([10, 0, 2])), LEVELS).any()
    assert (pure_bottom(ranked(10, 10), LEVELS) == 1).all()


def test_positives_tied_with_the_first_negative_leave_the_limit_as_it_is() -> None:
    """What stands above a block of both classes is as pure as what stands above a negative."""
    of_block = pure_top(RankedCells(np.array([5, 5, 0]), np.array([0, 1, 0])), LEVELS)
    untied = pure_top(RankedCells(np.array([5, 0, 5, 0]), np.array([0, 1, 0, 0])), LEVELS)
    assert of_block.tolist() == untied.tolist()
    bottom = pure_bottom(RankedCells(np.array([5, 5, 0]), np.array([1, 0, 0])), 1 - LEVELS)
    np.testing.assert_allclose(bottom, of_block, rtol=1e-12)


@pytest.mark.parametrize("prior", [None, 0.05])
def test_the_least_precision_has_all_negatives_above(prior: float | None) -> None:
    cells = ranked(6, 20, 80)
    p = stats.beta.ppf(0.025, 20.5, 80.5) if prior is None else prior
    found = LeastPrecision.of(cells, np.array([0.2, 0.9]), prior).at(0.025)
    assert found[0] == inf
    # Of a million items.
    pos, neg = 1e6 * p, 1e6 * (1 - p)
    assert found[1] == pytest.approx(0.9 * pos / (0.9 * pos + neg))


@pytest.mark.parametrize("prior", [None, 0.05])
def test_the_interval_at_a_level_reaches_down_to_it(prior: float | None) -> None:
    cells, metric = ranked(6, 20, 80), PrecisionAtRecall(0.9)
    least = LeastPrecision.of(cells, np.array([0.9]), prior).at(Confidence().tail)[0]
    asked = metric if prior is None else AtPrior(metric, prior)
    assert asked.with_all_negatives(cells, 0.025) == pytest.approx(least)
    found = ranking_interval(cells, asked, n_resamples=400, rng=1)
    assert found.low <= least < found.high
    assert AveragePrecision().with_all_negatives(cells, 0.025) == inf
    assert AtPrior(AveragePrecision(), 0.1).with_all_negatives(cells, 0.025) == inf


def test_a_level_below_all_negatives_of_the_population_is_covered() -> None:
    # Fifteen per cent of the positives are below all negatives; precision there is the least.
    rng, metric, runs, covered = (
        np.random.default_rng(5),
        AtPrior(PrecisionAtRecall(0.9), 0.05),
        150,
        0,
    )
    true = 0.9 * 0.05 / (0.9 * 0.05 + 0.95)
    for _ in range(runs):
        low = rng.random(30) < 0.3
        pos = np.where(low, -0.2, 0.8) + 0.4 * rng.random(30)
        cells = cells_from_scores([*pos, *rng.random(70)], [1] * 30 + [0] * 70)[0]
        found = ranking_interval(cells, metric, n_resamples=200, rng=rng)
        covered += found.low <= true * (1 + 1e-12) and true <= found.high
    assert stats.binomtest(covered, runs, 0.95, alternative="less").pvalue > CHANCE
