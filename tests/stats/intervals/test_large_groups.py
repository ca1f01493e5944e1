"""Draws of the metrics of groups of any size lie where the ranking is."""

import numpy as np
import pytest
import scipy.stats
from scipy.special import ndtr, ndtri

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import ranking_interval
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
    cells_from_scores,
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
@pytest.mark.parametrize("n_pos", [20_000, pytest.param(300_000, marks=pytest.mark.slow)])
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


@pytest.mark.slow
@pytest.mark.parametrize(("share", "apart"), [(0.5, 1.0), (0.3, 0.0)])
@pytest.mark.parametrize(("n", "prevalence"), [(1000, 0.05), (5000, 0.05), (20_000, 0.05)])
def test_the_largest_f1_behind_a_pure_top_is_covered(
    share: float, apart: float, n: int, prevalence: float
) -> None:
    rng, samples = np.random.default_rng(7), 200
    recall = np.append(ndtr(np.linspace(-12, 8, 20_001)), [share, 1.0])
    false = ndtr(ndtri(np.clip((recall - share) / (1 - share), 0, 1)) - apart)
    f1 = 2 * prevalence * recall / (prevalence * (recall + 1) + (1 - prevalence) * false)
    covered = 0
    for i in range(samples):
        label = rng.random(n) < prevalence
        score = rng.normal(size=n) + np.where(rng.random(n) < share, 100.0, apart) * label
        cells, _ = cells_from_scores(score, label)
        found = ranking_interval(cells, LargestF1(), n_resamples=300, rng=i)
        covered += found.low <= f1.max() <= found.high
    assert scipy.stats.binomtest(covered, samples, 0.92, alternative="less").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("share", "reached"), [(0.02, 0.8), (0.1, 0.8), (0.02, 0.999)])
@pytest.mark.parametrize(("n", "prevalence"), [(400, 0.05), (500, 0.1), (300, 0.3), (5000, 0.2)])
def test_the_largest_f1_at_an_edge_is_covered(
    share: float, reached: float, n: int, prevalence: float
) -> None:
    """Both classes have even scores on either side of an edge, at which F1 is largest."""
    rng, samples = np.random.default_rng(8), 200
    f1 = 2 * prevalence * reached / (prevalence * (1 + reached) + (1 - prevalence) * share)
    covered = 0
    for i in range(samples):
        label = rng.random(n) < prevalence
        above = rng.random(n) < np.where(label, reached, share)
        cells, _ = cells_from_scores(rng.random(n) + above, label)
        found = ranking_interval(cells, LargestF1(), n_resamples=300, rng=i)
        covered += found.low <= f1 <= found.high
    assert scipy.stats.binomtest(covered, samples, 0.93, alternative="less").pvalue > 1e-3
