"""Metrics that are read from drawn curves at their points, against definitions rank by rank."""

import numpy as np
import pytest

from prframe.stats.curves import DrawnPath, RocPath, Weights, drawn_weights
from prframe.stats.intervals.posterior_draws import _Curves, posterior_replicates
from prframe.stats.rankings import (
    AveragePrecisionAt,
    Bedroc,
    CellStatistic,
    CountedStatistic,
    DiscountedGain,
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


def drawn_curves(n_draws: int = 50, *, shown: int = N) -> _Curves:
    """Draw curves of a ranking of which so many items are retrieved."""
    rng = np.random.default_rng(1)
    label = rng.random(N) < 0.1
    score = rng.normal(label)
    score[np.argsort(score)[: N - shown]] = -np.inf
    cells = cells_from_scores(score, label)[0]
    weights = drawn_weights(n_draws, np.random.default_rng(2))
    return curves_of(cells, np.array([0.5]), weights)


def curves_of(cells: RankedCells, levels: Floats, weights: list[Weights]) -> _Curves:
    """Draw curves at levels of recall."""
    path = DrawnPath(RocPath.of(cells), levels, weights)
    return _Curves(cells, weights, lambda: path)


def rank_by_rank(curves: _Curves, statistic: CellStatistic) -> Floats:
    """Return the metric of rankings in which every rank is a cell, or a trial."""
    area = getattr(statistic, "is_area", isinstance(statistic, Bedroc))
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
    statistic: CountedStatistic, width: float, shown: float
) -> None:
    """Thresholds are cut into blocks of a width, and a part of the list is retrieved."""
    rng = np.random.default_rng(7)
    label = rng.random(800) < 0.15
    score = rng.normal(1.5 * label)
    score[score < np.quantile(score, 1 - shown)] = -np.inf
    score = np.floor(score / width) if width else score
    cells = cells_from_scores(score, label)[0]
    weights, levels = drawn_weights(40, np.random.default_rng(8)), (np.arange(8000) + 0.5) / 8000
    curves = curves_of(cells, levels, weights)
    if shown < 1 and statistic.name in ("AP@700", "pAP(max_recall=1)"):
        pytest.skip("the share that is retrieved is drawn for itself")
    is_area = not isinstance(statistic, RecallAtPrecision)
    if not is_area:
        # The list ends at its last point, and for others at a share that is drawn for itself.
        recall, above = (points[-1].astype(np.float64) for points in curves.points(at_ends=True))
        passed = (above - curves.prevalence * recall) / (1 - curves.prevalence)
        object.__setattr__(curves, "retrieved", lambda: (recall, passed))
    wanted = statistic.values(*curves.counts(area=is_area, at_ends=True))
    assert statistic.draws(curves) == pytest.approx(wanted, rel=0.005, abs=0.001)


def test_draws_of_a_ranking_without_a_retrieved_positive() -> None:
    cells = RankedCells(np.array([0, 5]), np.array([50, 45]))
    statistics = [PrecisionAt(K), Enrichment(), DiscountedGain(K), ReciprocalRank(), LargestF1()]
    weights = drawn_weights(100, np.random.default_rng(4))
    draws = posterior_replicates(cells, statistics, weights)
    assert draws == pytest.approx(np.zeros((5, 100)), abs=1e-9)
    assert (posterior_replicates(cells, [Bedroc()], weights) < 0.02).all()
