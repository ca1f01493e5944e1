"""Metrics that are read from drawn curves at their points, against definitions rank by rank."""

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri
from scipy.stats import rankdata

from prframe.stats.curves import DrawnPath, RocPath, Weights, drawn_weights
from prframe.stats.intervals import ranking_interval
from prframe.stats.intervals.posterior_draws import _Curves, _Points, posterior_replicates
from prframe.stats.rankings import (
    AtPrior,
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
from prframe.stats.rankings.metrics import thresholded
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
    return _Curves(cells, weights, lambda: path, np.ones(levels.size))


@pytest.mark.parametrize("n_points", [30, 400])
def test_values_are_read_as_by_interpolation(n_points: int) -> None:
    rng = np.random.default_rng(3)
    along, values = rng.random((2, n_points, 200))
    along[5] = 0.0
    along.sort(axis=0)
    levels = np.array([-0.5, 0.0, 0.01, 0.3, 0.301, *np.linspace(0.31, 0.33, 9), 0.9, 1.5])
    read = _Points(values, along).recalls(levels[1:, None])
    wanted = [np.interp(levels, *draw) for draw in zip(along.T, values.T, strict=True)]
    assert read[1:] == pytest.approx(np.transpose(wanted)[2:], abs=1e-12)
    own = rng.random((1, 200))
    wanted = [np.interp(*draw) for draw in zip(own[0], along.T, values.T, strict=True)]
    assert _Points(values, along).recalls(own)[0] == pytest.approx(np.array(wanted), abs=1e-12)


@pytest.mark.parametrize("shown", [N, 100])
def test_positives_among_ranks_rise_to_those_that_are_retrieved(shown: int) -> None:
    curves = drawn_curves(shown=shown)
    positives = curves.positives_among(np.arange(N + 1.0))
    assert positives[0] == pytest.approx(0, abs=1e-9)
    assert (np.diff(positives, axis=0) >= -1e-12).all()
    # Curves are drawn in single precision.
    assert (np.diff(positives, axis=0) <= 1 + 1e-4).all()
    recall = curves.points()[0][-1]
    assert positives[-1] == pytest.approx(N * curves.prevalence * recall)


def test_recall_and_the_share_above_are_inverse() -> None:
    curves = drawn_curves()
    share = curves.share_above(np.array([0.2, 0.6]))
    for row, recall in zip(share, (0.2, 0.6), strict=True):
        assert curves.found(K, row) == pytest.approx(np.full(row.size, recall))


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
        DiscountedGain(),
        RankBiasedPrecision(),
        ReciprocalRank(),
        ReciprocalRank(50),
        Bedroc(),
        PrecisionAt(K),
    ],
    ids=lambda statistic: statistic.name,
)
def test_blocks_of_ranks_say_what_single_ranks_do(statistic: CellStatistic) -> None:
    curves = drawn_curves()
    wanted = rank_by_rank(curves, statistic)
    assert statistic.draws(curves) == pytest.approx(wanted, rel=0.005, abs=0.001)


def test_success_has_one_precision_at_all_ranks_for_the_low_end() -> None:
    """The order of the positives among the first k makes the value larger in every draw."""
    curves, statistic = drawn_curves(), SuccessAt(5)
    by_rank = rank_by_rank(curves, statistic)
    [hits] = curves.positives_among(np.array([5.0]))
    even = 1 - (1 - hits / 5) ** 5
    assert (even <= by_rank + 1e-9).all()
    found = statistic.draws(curves)
    assert found[:25] == pytest.approx(np.sort(even)[:25], abs=1e-6)
    assert found[25:] == pytest.approx(np.sort(by_rank)[25:], abs=1e-6)


@pytest.mark.parametrize("shown", [1.0, 0.3])
@pytest.mark.parametrize("width", [0.0, 0.05, 0.4, 1.5])
@pytest.mark.parametrize(
    "statistic",
    [
        AveragePrecisionAt(60),
        AveragePrecisionAt(700),
        PartialAveragePrecision(0.07),
        PartialAveragePrecision(0.5),
        PartialAveragePrecision(1.0),
        RecallAtPrecision(0.5),
        RecallAtPrecision(0.2),
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


@pytest.mark.parametrize("alpha", [0.01, 1.0, 20.0, 500.0])
@pytest.mark.parametrize("shown", [N, 100])
def test_bedroc_of_draws_is_that_of_straight_lines(alpha: float, shown: int) -> None:
    curves = drawn_curves(shown=shown)
    recall, above = (
        np.vstack([values.astype(np.float64), np.ones(50)]) for values in curves.points(area=True)
    )
    # Gauss's nodes within each piece integrate the exponential function to the last digits.
    x, weights = np.polynomial.legendre.leggauss(60)
    x = ((x + 1) / 2)[:, None, None]
    means = np.tensordot(
        weights / 2, np.exp(-alpha * (above[:-1] + x * np.diff(above, axis=0))), axes=1
    )
    p = curves.prevalence
    total = alpha * p * (np.diff(recall, axis=0) * means).sum(axis=0)
    best, worst = 1 - np.exp(-alpha * p), np.exp(-alpha * (1 - p)) - np.exp(-alpha)
    wanted = (total - worst) / (best - worst)
    assert Bedroc(alpha).draws(curves) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("shown", [N, 100])
def test_draws_of_the_largest_f1_are_moved_and_stretched(shown: int) -> None:
    """The median goes to the largest mean F1, the far end to the middle by the bootstrap."""
    curves = drawn_curves(shown=shown)
    recall, above = (values.astype(np.float64) for values in curves.points(at_ends=True))
    p, levels = curves.prevalence, thresholded._levels(curves.cells.n_pos)
    largest = (2 * p * recall / (above + p)).max(axis=0)
    # What is above a level of recall is read between the points; recall ends where retrieval does.
    reached = np.minimum(levels[:, None], recall[-1])
    at = np.transpose(
        [np.interp(r, *c) for r, *c in zip(reached.T, recall.T, above.T, strict=True)]
    )
    f1 = 2 * p * reached / (at + p)
    target = f1.mean(axis=1).max()
    gap = logit(2 * LargestF1().value(curves.cells) - largest.mean()) - logit(target)
    assert gap > 0
    rank = rankdata(largest)
    share = 2 * rank / (largest.size + 1) - 1
    wanted = logit(largest) - logit(largest).mean() + logit(target) + gap * np.maximum(share, 0)
    # No F1 is less than that of all retrieved items.
    wanted = np.maximum(wanted, logit(f1[-1]))
    # The least of them are no larger than those of lower limits, rank by rank.
    known, rate = curves.retrieved()
    every = [
        *f1,
        *LargestF1._behind_negatives(curves),
        2 * p * known / (p * known + (1 - p) * rate + p),
    ]
    limits = thresholded._lower_limits(np.array(every))
    least, half = np.argsort(wanted), wanted.size // 2
    wanted[least[:half]] = np.minimum(wanted[least], np.sort(logit(limits)))[:half]
    assert logit(LargestF1().draws(curves)) == pytest.approx(wanted, abs=0.002)


def test_lower_limits_are_those_of_the_largest_deviation() -> None:
    """Two thresholds are as good, the third one counts less, and the last one hardly at all."""
    rng = np.random.default_rng(6)
    odds = 0.1 * rng.normal([[0.0], [-0.2], [-2.0], [-5.0]], 1.0, (4, 4000))
    mean, spread = odds.mean(axis=1), odds.std(axis=1)
    best = max(mean - 2 * spread)
    less = [max(0.0, (best - m) / s + 1.5) for m, s in zip(mean, spread, strict=True)]
    assert less == pytest.approx([0, 0, 1.5, 4.5], abs=0.2)
    expected = []
    for draw in odds.T:
        farthest = max((draw - mean) / spread - less)
        expected.append(max(mean - (farthest + less) * spread))
    found = thresholded._lower_limits(expit(odds))
    assert logit(found) == pytest.approx(expected, abs=1e-6)
    # The larger one of two independent normal numbers has this quantile.
    assert 10 * np.quantile(expected, 0.025) == pytest.approx(-ndtri(0.975**0.5), abs=0.2)


def test_lower_limits_are_no_less_than_a_value_that_is_certain() -> None:
    """Rounding to single precision is no uncertainty."""
    rng = np.random.default_rng(7)
    rounding = np.where(rng.random(500) < 0.01, 1e-7, 0.0)
    f1 = np.stack([expit(rng.normal(size=500)), 0.4 + rounding])
    assert thresholded._lower_limits(f1).min() == pytest.approx(0.4, abs=1e-4)


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_the_low_end_is_no_less_than_f1_of_all_items(prior: float, apart: float) -> None:
    label = np.arange(200) < 60
    cells, _ = cells_from_scores(np.random.default_rng(0).normal(apart * label), label)
    weights = drawn_weights(1000, np.random.default_rng(1))
    [draws] = posterior_replicates(cells, [AtPrior(LargestF1(), prior)], weights)
    assert draws.min() >= 2 * prior / (1 + prior) * (1 - 1e-4)


@pytest.mark.parametrize("n_draws", [1, 2, 3])
def test_lower_limits_of_few_draws_and_of_certain_ones_are_numbers(n_draws: int) -> None:
    for f1 in (np.ones((3, n_draws)), np.zeros((3, n_draws)), np.eye(3, n_draws)):
        found = thresholded._lower_limits(f1)
        assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000])
def test_the_largest_f1_of_two_far_thresholds_is_covered(n: int) -> None:
    """30 % of all items are positive, and 30 % of these are above all others in random order."""
    rng, number, missed = np.random.default_rng(8), 400, 0
    for at in range(number):
        if at % 20 == 0:
            weights = drawn_weights(1000, rng)
        label = rng.random(n) < 0.3
        score = rng.random(n) + (label & (rng.random(n) < 0.3))
        cells, _ = cells_from_scores(score, label)
        [draws] = posterior_replicates(cells, [LargestF1()], weights)
        found = ranking_interval(cells, LargestF1(), replicates=draws)
        missed += not found.low <= 0.6 / 1.3 <= found.high
    # Draws alone miss in .15 to .17; these are two standard errors above .07.
    assert missed <= number * 0.07 + 2 * np.sqrt(number * 0.07 * 0.93)


def test_draws_are_stretched_on_the_side_of_the_gap() -> None:
    draws = np.array([3.0, 1.0, 2.0])
    assert thresholded._stretch(draws, 1.0) == pytest.approx([0.5, 0, 0])
    assert thresholded._stretch(draws, -1.0) == pytest.approx([0, -0.5, 0])
    assert thresholded._stretch(np.ones(4), 1.0) == pytest.approx(np.zeros(4))


def test_f1_of_a_pure_ranking_without_further_items() -> None:
    # Half a negative may be so small beside the positives that the drawn F1 is 1.
    cells = RankedCells([5, 0], [0, 995])
    drawn = posterior_replicates(
        cells, [LargestF1()], drawn_weights(2000, np.random.default_rng(1))
    )
    assert np.isfinite(drawn).all()
    assert ((drawn > 0) & (drawn <= 1)).all()


def test_f1_of_a_ranking_of_which_little_is_retrieved() -> None:
    cells = RankedCells(np.array([1, 8]), np.array([0, 30]))
    draws = posterior_replicates(
        cells, [LargestF1()], drawn_weights(100, np.random.default_rng(5))
    )
    assert ((draws > 0) & (draws < 1)).all()
