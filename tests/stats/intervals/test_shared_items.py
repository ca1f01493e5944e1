"""The variance that shared items add to a mean over queries, against its definition."""

import numpy as np
import pytest

from prframe.errors import PrframeError
from prframe.stats import AveragePrecision, RocArea
from prframe.stats.intervals import influence_of_few, shared_item_variance
from prframe.stats.rankings import cells_from_scores


def test_items_of_one_query_each_share_nothing_and_no_variance_is_negative():
    influence = np.random.default_rng(5).normal(size=12)
    assert shared_item_variance(np.repeat([0, 1, 2], 4), np.arange(12), influence) == 0
    assert shared_item_variance([0, 0, 1, 1], [0, 1, 0, 1], [1, -1, -1, 1]) == 0
    assert shared_item_variance([0, 0], [0, 1], [1, -1]) == 0
    assert shared_item_variance([0, 1], [0, 0], [1, 1]) == 0


def test_lengths_that_differ_are_refused():
    with pytest.raises(PrframeError, match="an entry per row of `influence`"):
        shared_item_variance([0, 1], [0, 1, 2], [0.1, 0.2])


@pytest.mark.slow
def test_items_that_are_drawn_again_for_all_queries_vary_as_much():
    """Drawn with the same weights in all queries, means vary more than of queries apart."""
    n, m, draws, auc = 8, 400, 1000, RocArea()
    rng = np.random.default_rng(5)
    hub = 1.5 * rng.normal(size=m)
    times = rng.multinomial(m, np.full(m, 1 / m), size=draws)
    influence, replicates = np.zeros((n, m)), np.zeros((n, draws))
    for q in range(n):
        label = rng.random(m) < 0.3
        score = 1.5 * label + hub + rng.normal(size=m)
        cells, cell = cells_from_scores(score, label)
        of_class = auc.influence(cells)
        influence[q] = np.where(label, of_class.pos[cell], of_class.neg[cell])
        pos, neg = (np.zeros((draws, cells.pos.size)) for _ in "ab")
        np.add.at(pos.T, cell[label], times[:, label].T)
        np.add.at(neg.T, cell[~label], times[:, ~label].T)
        replicates[q] = auc.values(pos, neg)
    drawn = np.cov(replicates)
    expected = (drawn.sum() - np.trace(drawn)) / (n * (n - 1))
    query, item = np.indices((n, m))
    found = shared_item_variance(query.ravel(), item.ravel(), influence.ravel())
    assert found == pytest.approx(expected, rel=0.2)


def test_many_items_a_single_positive_and_other_metrics_have_their_derivatives():
    rng = np.random.default_rng(5)
    label = np.arange(600) % 2 == 0
    cells, _ = cells_from_scores(rng.normal(size=600), label)
    one, _ = cells_from_scores([3, 2, 1], [0, 1, 0])
    few, _ = cells_from_scores([4, 3, 2, 1], [0, 1, 1, 0])
    for ranking, metric in (
        (cells, AveragePrecision()),
        (one, AveragePrecision()),
        (few, RocArea()),
    ):
        influence, derivatives = influence_of_few(ranking, metric), metric.influence(ranking)
        assert np.array_equal(influence.pos, derivatives.pos)
        assert np.array_equal(influence.neg, derivatives.neg)
