"""Rankings of the same items: evaluators, swaps and resamples, against naive definitions."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score

from prframe.stats import (
    AveragePrecision,
    PrecisionAt,
    RecallAt,
    RocArea,
    TrapezoidArea,
    ranking_levels,
)
from prframe.stats._p_values import sampled_p_value
from prframe.stats.paired_rankings import PairedRankings, rankings as paired_draws
from prframe.stats.paired_rankings.rankings import HELD, multiplicities
from prframe.stats.rankings import CellEvaluator, PrecisionAtRecall
from tests.refusals import refusals

AP, AUC = AveragePrecision(), RocArea()
ALL = [AP, AUC, TrapezoidArea(), PrecisionAt(7), RecallAt(12), PrecisionAtRecall(0.6)]


def sample(n: int, seed: int, *, ties: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Scores of two models, on different scales, of the same items, and their labels."""
    rng = np.random.default_rng(seed)
    label = rng.permutation(n) < 0.4 * n
    common = rng.normal(size=n) + label
    scores = np.stack([common + rng.normal(size=n), np.exp(common + rng.normal(size=n))])
    if ties:
        scores = np.round(scores, 0)
        scores[rng.random(scores.shape) < 0.1] = -np.inf
    return scores, label


def ap_of(keys: list[tuple[float, int]], label: np.ndarray) -> float:
    """Compute AP by its definition, of items with keys; what has no rank is not retrieved."""
    total = 0.0
    for key in (keys[hit] for hit in np.flatnonzero(label)):
        if key[0] > -np.inf:
            total += np.mean(label[[other >= key for other in keys]])
    return total / label.sum()


def naive_difference(scores: np.ndarray, label: np.ndarray, swap: np.ndarray, coin: int) -> float:
    """Swap mid-ranks between two models, re-rank, and subtract AP.

    Tie blocks that share more than half of the ranks of the larger one or one mid-rank have the same rank.
    """
    entries: list[list[tuple[float, int]]] = []
    for model, score in enumerate(scores):
        ranks = stats.rankdata(-score)
        entries.append(
            [
                (-rank if value > -np.inf else -np.inf, int(model != coin))
                for rank, value in zip(ranks, score, strict=True)
            ]
        )
    blocks = [
        {
            rank: (rank - names.count(rank) / 2, rank + names.count(rank) / 2)
            for rank in sorted({-name for name, _ in entry if name > -np.inf})
            for names in ([-name for name, _ in entry],)
        }
        for entry in entries
    ]
    for (rank, (begin, end)), (other, (start, stop)) in product(*(x.items() for x in blocks)):
        sizes = end - begin, stop - start
        shares = min(sizes) > 1 and 2 * (min(end, stop) - max(begin, start)) > max(sizes)
        if shares or (max(sizes) > 1 and rank == other):
            for model, own in enumerate((rank, other)):
                entries[model] = [
                    (-rank, 2) if entry[0] == -own else entry for entry in entries[model]
                ]
    given = [
        [
            entries[model ^ int(swapped and entries[0][item][0] != entries[1][item][0])][item]
            for item, swapped in enumerate(swap)
        ]
        for model in (0, 1)
    ]
    return ap_of(given[0], label) - ap_of(given[1], label)


def expected_hits(level: np.ndarray, label: np.ndarray, count: np.ndarray, k: int) -> float:
    """Count positives among the first k; of a block at the cut, the share that is above."""
    above = hits = 0.0
    for one in sorted(set(level[level > 0].tolist()), reverse=True):
        size, found = count[level == one].sum(), (count * label)[level == one].sum()
        if size:
            hits += found * min(max(k - above, 0), size) / size
        above += size
    return hits


def test_what_is_not_retrieved_earns_nothing() -> None:
    scores, label = sample(40, 2)
    found = CellEvaluator(label, [AP, PrecisionAt(30)])(ranking_levels(scores))
    for row, score in enumerate(scores):
        assert found[0, row] == pytest.approx(ap_of([(value, 0) for value in score], label))
        hits = expected_hits(ranking_levels(score), label, np.ones(40, dtype=int), 30)
        assert found[1, row] == pytest.approx(hits / 30)


@pytest.mark.parametrize("seed", range(5))
def test_merged_levels_keep_the_metrics_of_all_swaps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    label = rng.random(60) < 0.1
    label[0] = True
    levels = rng.integers(0, 61, (2, 60))
    evaluate = CellEvaluator(label, ALL)
    fewer = evaluate.merge(levels)
    assert fewer.max() <= 4 * label.sum() + 1 < levels.max()
    swap = rng.random((30, 60)) < 0.5
    np.testing.assert_allclose(
        evaluate(np.where(swap, *fewer)), evaluate(np.where(swap, *levels)), atol=1e-12
    )


@pytest.mark.parametrize("counted", [False, True])
def test_levels_merged_at_the_ends_of_positives_keep_ap(counted: bool) -> None:
    rng = np.random.default_rng(11)
    label, levels = rng.random(60) < 0.2, rng.integers(0, 61, (2, 60))
    evaluate = CellEvaluator(label, [AP, PrecisionAtRecall(0.6)])
    fewer = evaluate.merge(levels)
    assert fewer.max() <= 2 * label.sum() + 1
    count = rng.integers(0, 4, (30, 60)) if counted else None
    swap = rng.random((30, 60)) < 0.5
    given, merged = (x[:1] if counted else np.where(swap, *x) for x in (levels, fewer))
    np.testing.assert_allclose(evaluate(merged, count), evaluate(given, count), atol=1e-12)


@pytest.mark.parametrize("sizes", [[1], [1, 1], [1] * 5, [1, 1, 2, 8], [1] * 150 + [2] * 50])
def test_multiplicities_are_multinomial(sizes: list[int]) -> None:
    n, number = sum(sizes), 200_000 // len(sizes)
    drawn = multiplicities(np.array(sizes), number, HELD, np.random.default_rng(6))
    times = np.concatenate(list(drawn), axis=1)
    assert times.shape == (len(sizes), number)
    assert (times.sum(axis=0) == n).all()
    for size in set(sizes):
        law, of_size = stats.binom(n, size / n), times[np.array(sizes) == size]
        bounds = np.arange(law.ppf(0.001), law.isf(0.001))
        share = [(of_size <= bound).mean() for bound in bounds]
        error = np.sqrt(law.cdf(bounds) * law.sf(bounds) / of_size.size)
        assert (np.abs(share - law.cdf(bounds)) <= 4.5 * error).all()


def test_influence_is_the_derivative() -> None:
    scores, label = sample(40, 3)
    evaluate, level = CellEvaluator(label, [AP, AUC, TrapezoidArea()]), ranking_levels(scores[0])
    steps = 1 + 1e-6 * np.eye(40)
    slopes = (evaluate(level[None], steps) - evaluate(level[None])) / 1e-6
    np.testing.assert_allclose(evaluate.influence(level), slopes, atol=1e-6)


@pytest.mark.parametrize("ties", [False, True])
def test_swaps_are_those_of_ranks(ties: bool) -> None:
    scores, label = sample(30, 4, ties=ties)
    rankings = PairedRankings(ranking_levels(scores), CellEvaluator(label, [AUC, AP]))
    found = rankings.randomization(0, 1, 60, rng=5)
    assert not found.exact
    draws = [
        (coin, swap > 0)
        for coin, heads in paired_draws._swaps(
            60, np.random.default_rng(5), np.ones(30, int), HELD
        )
        for swap in heads.T
    ]
    expected = [naive_difference(scores, label, swap, coin) for coin, swap in draws]
    np.testing.assert_allclose(found.differences[1], expected, atol=1e-12)
    assert {coin for coin, _ in draws} == {0, 1}
    assert 0.4 < np.mean([swap for _, swap in draws]) < 0.6


@pytest.mark.parametrize("cluster", [None, [0, 1, 1, 2, 2, 3, 4]])
@pytest.mark.parametrize("ties", [False, True])
def test_few_swaps_are_enumerated(cluster: list[int] | None, ties: bool) -> None:
    scores, label = sample(7, 6, ties=ties)
    unit = np.arange(7) if cluster is None else np.array(cluster)
    number = unit.max() + 1
    rankings = PairedRankings(ranking_levels(scores), CellEvaluator(label, [AP]), cluster)
    found = rankings.randomization(0, 1, 2**number)
    assert found.exact
    assert not rankings.randomization(0, 1, 2**number - 1).exact
    swaps = [np.array(bits)[unit] for bits in product([False, True], repeat=int(number))]
    expected = [naive_difference(scores, label, s, coin) for s in swaps for coin in (0, 1)]
    np.testing.assert_allclose(np.sort(found.differences[0]), np.sort(expected), atol=1e-12)


def naive_replicates(
    scores: np.ndarray, label: np.ndarray, unit: np.ndarray, number: int
) -> np.ndarray:
    """Draw units of rows, rank what was drawn, and subtract AP."""
    rng, values = np.random.default_rng(77), []
    rows = [np.flatnonzero(unit == one) for one in np.unique(unit)]
    for _ in range(number):
        drawn = np.concatenate([rows[one] for one in rng.integers(0, len(rows), len(rows))])
        if label[drawn].any():
            a, b = (average_precision_score(label[drawn], score[drawn]) for score in scores)
            values.append(a - b)
    return np.array(values)


@pytest.mark.slow
@pytest.mark.parametrize("units", [60, 12])
def test_replicates_have_the_law_of_resampled_rows(units: int) -> None:
    scores, label = sample(60, 9, ties=False)
    scores = np.round(scores, 1)
    unit = np.arange(60) % units
    expected = naive_replicates(scores, label, unit, 1500)
    levels, evaluate = ranking_levels(scores), CellEvaluator(label, [AP])
    names = None if units == 60 else [f"c{one}" for one in unit]
    drawn = PairedRankings(levels, evaluate, names).replicates(4000, rng=2)[0]
    assert stats.ks_2samp(drawn[0] - drawn[1], expected).pvalue > 0.01
    # The pairing matters.
    shuffled = np.random.default_rng(3).permutation(drawn[1])
    assert stats.ks_2samp(drawn[0] - shuffled, expected).pvalue < 0.01


def test_p_values_by_hand() -> None:
    drawn = np.array([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0 - 1e-14, np.nan])
    assert sampled_p_value(2.0, drawn, "greater").p_value == 2 / 7
    assert sampled_p_value(2.0, drawn, "less").p_value == 1.0
    assert sampled_p_value(2.0, drawn, "two-sided", exact=True).p_value == 3 / 6
    found = sampled_p_value(-2.0, drawn, "two-sided")
    assert found == pytest.approx((4 / 7, np.sqrt(4 / 7 * 3 / 7 / 6)))
    assert np.isnan(sampled_p_value(2.0, drawn, "less", exact=True).std_error)
    assert np.isnan(sampled_p_value(np.nan, drawn, "less")).all()
    assert np.isnan(sampled_p_value(1.0, np.array([np.nan]), "less")).all()


test_mistakes = refusals(
    {
        "`scores` must have one or two dimensions; got 3.": lambda: ranking_levels([[[1.0]]]),
        "`scores` must not be NaN: 1 of 2.": lambda: ranking_levels([1.0, np.nan]),
        "`levels` must be whole numbers with a row per ranking and a column per item, at least one of "
        "each; got [1, 2].": lambda: PairedRankings([1, 2], CellEvaluator([True, False], [AP])),
        "`levels` must lie between 0 and the number of items, 2; got 5. `ranking_levels` makes them "
        "from scores.": lambda: PairedRankings([[1, 5]], CellEvaluator([True, False], [AP])),
    }
)
