"""The standard error of an interval is that of the estimate, whatever makes the interval."""

import numpy as np
import pytest
from scipy.special import ndtri

from prframe.stats import AveragePrecision, PrecisionAt, RocArea, cells_from_scores
from prframe.stats.intervals import ranking_interval, ranking_intervals
from prframe.stats.intervals.standard_errors import standard_error
from prframe.stats.rankings import (
    DiscountedGain,
    GainArea,
    PartialAveragePrecision,
    PartialRocArea,
    RankedCells,
)

METRICS = (AveragePrecision(), RocArea(), PrecisionAt(10), DiscountedGain(10, normalised=True))


def sample(auc: float, rng: np.random.Generator, n: int = 1000) -> RankedCells:
    """Draw normal scores of this AUC, 5 % of which are positive."""
    label = rng.random(n) < 0.05
    return cells_from_scores(rng.normal(label * ndtri(auc) * 2**0.5), label)[0]


@pytest.mark.parametrize("auc", [0.8, 0.99])
def test_the_method_does_not_matter(auc: float) -> None:
    cells = sample(auc, np.random.default_rng(1))
    for metric in METRICS:
        errors = {
            ranking_interval(cells, metric, method, n_resamples=50, rng=1).std_error
            for method in ("auto", "bayesian-bootstrap", "logit-t")
        }
        assert len(errors) == 1


def test_long_rankings_have_the_error_of_all_derivatives() -> None:
    cells = sample(0.9, np.random.default_rng(3), 8000)
    metrics = (METRICS[3], PartialRocArea(0.2), PartialAveragePrecision(0.5), GainArea())
    for metric in metrics:
        counts = np.stack([cells.pos, cells.neg]).astype(float)
        slopes = metric._slopes(counts)
        slopes -= (slopes * counts).sum() / counts.sum()
        expected = np.sqrt((slopes**2 * counts).sum())
        assert standard_error(cells, metric, None) == pytest.approx(expected, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("auc", [0.8, 0.9, 0.95, 0.99])
def test_it_is_the_deviation_of_simulated_estimates(auc: float) -> None:
    """P@10 and nDCG@10 hardly vary where nearly all positives are on top."""
    rng, found = np.random.default_rng(2), []
    metrics = METRICS if auc < 0.95 else METRICS[:2]
    for _ in range(600):
        asked = [(metric, None) for metric in metrics]
        ones = ranking_intervals(sample(auc, rng), asked, n_resamples=40, rng=1)
        found.append([(one.estimate, one.std_error) for one in ones])
    estimate, error = np.moveaxis(np.array(found), 2, 0)
    ratio = np.sqrt((error**2).mean(axis=0)) / estimate.std(axis=0)
    np.testing.assert_allclose(ratio, 1.0, atol=0.15)
