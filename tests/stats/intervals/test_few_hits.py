"""Intervals of metrics of the first k items of which none or one is positive."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import Confidence, posterior_replicates
from prframe.stats.intervals.means import proportion_interval
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import RankedCells, RecallAt
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
    assert RecallAt(400).largest_possible(cells, tail) == pytest.approx(min(of_pos, of_k) / n_pos)
    # So many positives have no hit in as many samples as lie beyond one end.
    assert binom.pmf(0, n_pos, of_pos / n_pos) == pytest.approx(tail)


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
