"""Draws of the metrics of groups of any size lie where the ranking is."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals.posterior_draws import posterior_replicates
from prframe.stats.rankings import (
    AveragePrecision,
    AveragePrecisionAt,
    Bedroc,
    CellStatistic,
    DiscountedGain,
    F1At,
    GainArea,
    LargestF1,
    LinearRankMean,
    PartialAveragePrecision,
    PartialRocArea,
    PrecisionAtRecall,
    RankedCells,
    RecallAtPrecision,
    RocArea,
    RPrecision,
    TrapezoidArea,
)


def without_noise(n_pos: int, prevalence: float, apart: float) -> RankedCells:
    """Return a ranking by normal scores at equal steps of the distribution of each class."""
    recall = (np.arange(n_pos) + 0.5) / n_pos
    above = ndtr(ndtri(recall) - apart) * n_pos * (1 - prevalence) / prevalence
    pos, neg = np.zeros((2, 2 * n_pos + 2), dtype=np.int64)
    pos[1:-1:2] = 1
    last = round(n_pos * (1 - prevalence) / prevalence)
    neg[::2] = np.diff(np.rint(above), prepend=0.0, append=last)
    return RankedCells(pos, neg)


@pytest.mark.parametrize(
    ("prevalence", "apart"), [(0.05, 1.0), (0.05, 2.0), (0.5, 1.0), (0.5, 2.0), (0.9, 1.0)]
)
@pytest.mark.parametrize("n_pos", [20_000, 300_000])
def test_means_of_draws_are_close_to_the_metric_of_a_ranking_without_noise(
    n_pos: int, prevalence: float, apart: float
) -> None:
    cells = without_noise(n_pos, prevalence, apart)
    precision = prevalence / (prevalence + (1 - prevalence) * ndtr(-apart) / 0.5)
    k = cells.n // 10
    statistics: list[CellStatistic] = [
        AveragePrecision(),
        AveragePrecisionAt(k),
        Bedroc(),
        DiscountedGain(k),
        F1At(k),
        GainArea(),
        LargestF1(),
        LinearRankMean("mww"),
        PartialAveragePrecision(0.3),
        PartialRocArea(0.1),
        PrecisionAtRecall(0.5),
        RecallAtPrecision(float(precision)),
        RocArea(),
        RPrecision(),
        TrapezoidArea(),
    ]
    drawn = posterior_replicates(cells, statistics, drawn_weights(400, np.random.default_rng(1)))
    values = np.array([one.value(cells) for one in statistics])
    distance = (drawn.mean(axis=1) - values) / drawn.std(axis=1)
    # The error of a mean of 400 draws is .05.
    far = {one.name: round(float(z), 2) for one, z in zip(statistics, distance, strict=True)}
    assert np.abs(distance).max() < 0.35, far
