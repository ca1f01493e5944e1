"""Metrics that are read from drawn curves at their points, against definitions rank by rank."""

from collections.abc import Iterator

import numpy as np
import pytest

from prframe.stats.curves import DrawnPath, RocPath, Weights, drawn_weights
from prframe.stats.intervals import posterior_replicates
from prframe.stats.rankings import (
    AveragePrecisionAt,
    Bedroc,
    CellStatistic,
    DiscountedGain,
    DrawnCurves,
    Enrichment,
    LargestF1,
    PartialAveragePrecision,
    PrecisionAt,
    RankBiasedPrecision,
    RankedCells,
    RecallAtPrecision,
    ReciprocalRank,
    SuccessAt,
    cells_from_scores,
)
from prframe.typing import Floats

N, K = 400, 10


def drawn_curves(n_draws: int = 50, *, shown: int = N) -> DrawnCurves:
    """Draw curves of a ranking of which so many items are retrieved."""
    rng = np.random.default_rng(1)
    label = rng.random(N) < 0.1
    score = rng.normal(label)
    score[np.argsort(score)[: N - shown]] = -np.inf
    cells = cells_from_scores(score, label)[0]
    weights = drawn_weights(n_draws, np.random.default_rng(2))
    return curves_of(cells, weights)


def curves_of(cells: RankedCells, weights: list[Weights]) -> DrawnCurves:
    """Draw curves."""
    path = DrawnPath(RocPath.of(cells), weights)
    return DrawnCurves(cells, weights, lambda: path)


def rank_by_rank(curves: DrawnCurves, statistic: CellStatistic) -> Floats:
    """Return the metric of rankings in which every rank is a cell, or a trial."""
    area = statistic.is_area
    hits = np.diff(curves.positives_among(np.arange(N + 1.0), area=area), axis=0)
    if isinstance(statistic, (ReciprocalRank, SuccessAt)):
        ranks = np.arange(1, N + 1)
        credit = 1 / ranks if isinstance(statistic, ReciprocalRank) else np.ones(N)
        credit = np.where(ranks <= (statistic.k or N), credit, 0.0)
        missed = np.cumprod(np.vstack([np.ones(hits.shape[1]), 1 - hits[:-1]]), axis=0)
        return np.asarray(credit @ (hits * missed))
    rest = N * curves.prevalence - hits.sum(axis=0)
    return statistic.values(np.vstack([hits, rest]).T, np.vstack([1 - hits, 0 * rest]).T)


@pytest.mark.parametrize(
    "statistic",
    [
        DiscountedGain(K, normalised=True),
        RankBiasedPrecision(),
        ReciprocalRank(),
        Bedroc(),
        PrecisionAt(K),
    ],
    ids=lambda statistic: statistic.name,
)
def test_blocks_of_ranks_say_what_single_ranks_do(statistic: CellStatistic) -> None:
    curves = drawn_curves()
    wanted = rank_by_rank(curves, statistic)
    assert statistic.draws(curves) == pytest.approx(wanted, rel=0.005, abs=0.001)


@pytest.mark.parametrize("shown", [1.0, 0.3])
@pytest.mark.parametrize("width", [0.0, 0.4])
@pytest.mark.parametrize(
    "statistic",
    [
        AveragePrecisionAt(60),
        AveragePrecisionAt(700),
        PartialAveragePrecision(0.5),
        PartialAveragePrecision(1.0),
        RecallAtPrecision(0.5),
    ],
    ids=lambda statistic: statistic.name,
)
def test_draws_are_as_by_definition_at_very_many_levels(
    statistic: CellStatistic, width: float, shown: float
) -> None:
    """Thresholds are cut into blocks of a width, and a part of the list is retrieved."""
    rng = np.random.default_rng(7)
    label = rng.random(800) < 0.15
    score = rng.normal(1.5 * label)
    score[score < np.quantile(score, 1 - shown)] = -np.inf
    score = np.floor(score / width) if width else score
    cells = cells_from_scores(score, label)[0]
    curves = curves_of(cells, drawn_weights(40, np.random.default_rng(8)))
    wanted = [float(statistic.values(*c)) for c in at_many_levels(curves, area=statistic.is_area)]
    assert statistic.draws(curves) == pytest.approx(wanted, rel=0.01, abs=0.001)


def at_many_levels(curves: DrawnCurves, *, area: bool) -> Iterator[tuple[Floats, Floats]]:
    """Yield the counts between very many levels of each draw; those in a tie block are its end."""
    levels, n = (np.arange(8000) + 0.5) / 8000, curves.cells.n
    columns = (points.T.astype(np.float64) for points in curves.points(area=area, at_ends=True))
    for recall, above, p in zip(*columns, curves.prevalence, strict=True):
        at = np.append(levels[levels < recall[-1]], recall[-1])
        after = np.searchsorted(recall, at)
        at = np.where(curves.tied[after - 1], recall[after], at)
        passed = np.interp(at, recall, above) - p * at
        yield (
            n * p * np.diff(at, prepend=0, append=1),
            n * np.diff(passed, prepend=0, append=1 - p),
        )


def test_draws_of_a_ranking_without_a_retrieved_positive() -> None:
    cells = RankedCells(np.array([0, 5]), np.array([50, 45]))
    statistics = [PrecisionAt(K), Enrichment(), DiscountedGain(K), ReciprocalRank(), LargestF1()]
    weights = drawn_weights(100, np.random.default_rng(4))
    draws = posterior_replicates(cells, statistics, weights)
    assert draws == pytest.approx(np.zeros((5, 100)), abs=1e-9)
    assert (posterior_replicates(cells, [Bedroc()], weights) < 0.02).all()
