"""Intervals of metrics of the first k items of which none or one is positive."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, binom, norm

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import Confidence, posterior_replicates
from prframe.stats.intervals.proportion import proportion_interval
from prframe.stats.intervals.rankings import POSTERIOR, ranking_interval
from prframe.stats.rankings import F1At, PrecisionAt, RankedCells, RecallAt, RPrecision
from prframe.stats.rankings.cells import cells_from_scores


def cells_with(hits: int, k: int, n_pos: int, n: int) -> RankedCells:
    """Return a ranking with some positives as the last of the first k, and the others last."""
    label = np.zeros(n, dtype=bool)
    label[k - hits : k] = True
    label[n - n_pos + hits :] = True
    return cells_from_scores(-np.arange(float(n)), label)[0]


@pytest.mark.parametrize("n_pos", [1, 2, 20, 300])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_recall_without_hits_is_bounded_as_by_clopper_and_pearson(n_pos, level):
    cells = cells_with(0, k=400, n_pos=n_pos, n=10_000)
    # The share of 400 trials bounds the hits too, where these are fewer than the positives.
    of_pos, of_k = (proportion_interval(0, m, level)[1] * m for m in (n_pos, 400))
    tail = Confidence(level).tail
    assert RecallAt(400).with_few_hits(cells, tail) == pytest.approx(min(of_pos, of_k) / n_pos)
    # So many positives have no hit in as many samples as lie beyond one end.
    assert binom.pmf(0, n_pos, of_pos / n_pos) == pytest.approx(tail)


def test_metrics_of_the_first_items_are_multiples_of_their_recall():
    cells = cells_with(1, k=30, n_pos=20, n=2000)
    recall = RecallAt(30).with_few_hits(cells, 0.025)
    assert recall == pytest.approx(beta.ppf(0.975, 1.5, 19.5))
    assert PrecisionAt(30).with_few_hits(cells, 0.025) == pytest.approx(recall * 20 / 30)
    assert F1At(30).with_few_hits(cells, 0.025) == pytest.approx(recall * 40 / 50)
    at_n_pos = cells_with(1, k=20, n_pos=20, n=2000)
    assert RPrecision().with_few_hits(at_n_pos, 0.025) == pytest.approx(recall)


def test_a_cut_below_the_number_of_positives_bounds_hits_by_its_own_trials():
    cells = cells_with(1, k=5, n_pos=500, n=2000)
    assert PrecisionAt(5).with_few_hits(cells, 0.025) == pytest.approx(beta.ppf(0.975, 1.5, 4.5))


def test_more_hits_are_left_to_the_draws():
    cells = cells_with(2, k=30, n_pos=20, n=2000)
    assert RecallAt(30).with_few_hits(cells, 0.025) == 0


def test_a_tie_block_with_less_than_a_hit_above_the_cut():
    # Three of the first 12 are positive, and tied; among the first 2 there is half a hit.
    label = np.arange(100) < 3
    cells = cells_from_scores(np.repeat([1.0, 0.0], [12, 88]), label)[0]
    found = RecallAt(2).with_few_hits(cells, 0.025)
    assert found == pytest.approx(2 * beta.ppf(0.975, 1, 2) / 3)


@pytest.mark.parametrize("hits", [0, 1])
def test_intervals_reach_the_bound(hits):
    cells = cells_with(hits, k=40, n_pos=20, n=2000)
    for metric in (RecallAt(40), PrecisionAt(40), F1At(40)):
        found = ranking_interval(cells, metric, n_resamples=500, rng=1)
        assert found.method == POSTERIOR
        bound = metric.with_few_hits(cells, Confidence().tail)
        assert found.low <= found.estimate < bound <= found.high


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "n", "k"), [(1.0, 2000, 40), (2.0, 20_000, 20)])
def test_few_expected_hits_are_covered(distance, n, k):
    n_pos, samples, rng = 20, 400, np.random.default_rng(3)
    cut = brentq(lambda t: n_pos * norm.sf(t - distance) + (n - n_pos) * norm.sf(t) - k, 0, 6)
    true, label, covered = norm.sf(cut - distance), np.arange(n) < n_pos, 0
    for sample in range(samples):
        if sample % 20 == 0:
            weights = drawn_weights(500, rng)
        score = rng.normal(size=n) + distance * label
        cells = cells_from_scores(score, label)[0]
        drawn = posterior_replicates(cells, [RecallAt(k)], weights)[0]
        found = ranking_interval(cells, RecallAt(k), replicates=drawn)
        covered += found.low <= true <= found.high
    # Without the bound these were covered in 90 and 92 %.
    assert covered > binom.ppf(0.001, samples, 0.95)
