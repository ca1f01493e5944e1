"""Intervals of areas where hardly a negative stands above a positive."""

import numpy as np
import pytest
from scipy.special import ndtr

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AveragePrecision,
    CellStatistic,
    GainArea,
    RankedCells,
    RocArea,
    TrapezoidArea,
    cells_from_scores,
)

IN_UNIT: list[CellStatistic] = [AveragePrecision(), TrapezoidArea(), RocArea()]
# AUPRG has no least value, and near 1 it has a logit all the same.
AREAS = [*IN_UNIT, GainArea()]


def population(apart: float, share: float) -> list[float]:
    """Return the areas of normal scores by fine steps of the threshold."""
    threshold = np.linspace(12, -8, 400_001)
    recall, false = ndtr(apart - threshold), ndtr(-threshold)
    pos, neg = (np.diff(np.append(np.insert(x, 0, 0.0), 1.0)) for x in (recall, false))
    return [float(one.values(pos * share, neg * (1 - share))) for one in AREAS]


@pytest.mark.slow
@pytest.mark.parametrize(("apart", "n_pos", "n_neg"), [(4, 100, 100), (4, 300, 40), (5, 50, 400)])
def test_they_cover(apart: float, n_pos: int, n_neg: int) -> None:
    """The draws alone cover .69 to .92 of the time."""
    rng, number = np.random.default_rng(3), 200
    label = np.repeat([True, False], [n_pos, n_neg])
    true = population(apart, n_pos / label.size)
    weights = drawn_weights(500, rng)
    missed = np.zeros(len(AREAS))
    for _ in range(number):
        cells, _ = cells_from_scores(rng.normal(label * apart), label)
        drawn = posterior_replicates(cells, AREAS, weights)
        for at, (one, draws) in enumerate(zip(AREAS, drawn, strict=True)):
            found = ranking_interval(cells, one, "bayesian-bootstrap", replicates=draws)
            missed[at] += not found.low <= true[at] <= found.high
    # Of 200 samples 5 % and three standard errors.
    assert (missed <= 20).all(), missed


def test_rankings_with_more_negatives_above_keep_the_quantiles_of_draws() -> None:
    rng = np.random.default_rng(4)
    label = rng.random(5000) < 0.05
    cells, _ = cells_from_scores(rng.normal(3 * label), label)
    drawn = posterior_replicates(cells, AREAS, drawn_weights(500, rng))
    for one, draws in zip(AREAS, drawn, strict=True):
        found = ranking_interval(cells, one, "bayesian-bootstrap", replicates=draws, room=False)
        assert [found.low, found.high] == pytest.approx(np.quantile(draws, [0.025, 0.975]))


@pytest.mark.parametrize("counts", [(1, 1), (1, 5), (2, 3), (5, 1)])
def test_few_items_have_an_interval(counts: tuple[int, int]) -> None:
    cells = RankedCells([counts[0], 0, 0], [0, counts[1], 0])
    for one in AREAS:
        found = ranking_interval(cells, one, "bayesian-bootstrap", rng=1)
        assert found.high == 1
        assert one.limits[0] <= found.low < 1
