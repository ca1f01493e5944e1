"""Where a metric of clusters is 0 or 1, each cluster that holds its trials is one of them."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import prframe

# Of 12 clusters of four rows with one score, the best three are positive.
ROWS = pl.DataFrame(
    {
        "cluster": np.repeat(np.arange(12), 4),
        "score": np.repeat(np.arange(12, 0, -1), 4).astype(float),
        "label": np.repeat(np.arange(12) < 3, 4),
    }
)
pytestmark = pytest.mark.filterwarnings("ignore:fewer than 40 clusters:prframe.CoverageWarning")


@pytest.mark.parametrize(
    ("metric", "value", "clusters"),
    [
        ("P(threshold=11)", 1, 2),
        ("Specificity(threshold=10)", 1, 9),
        ("BalancedAccuracy(threshold=10)", 1, 3),
        ("P@8", 1, 2),
        ("R@20", 1, 3),
        ("nDCG@8", 1, 2),
        ("AP", 1, 3),
        ("P(threshold=5)", 3 / 8, None),
    ],
)
def test_a_cluster_that_holds_trials_is_one(metric: str, value: float, clusters: int | None):
    rows = ROWS.sample(fraction=1, shuffle=True, seed=1)
    found = prframe.interval(rows, metric, cluster="cluster").row(0, named=True)
    assert found["estimate"] == pytest.approx(value)
    if clusters is not None:
        expected = beta.ppf(0.025, clusters + 0.5, 0.5)
        assert found["conf_low"] <= expected + 1e-9
        if metric != "nDCG@8":
            # What the first ranks decide has room for a rank more.
            assert found["conf_low"] == pytest.approx(expected)
        assert found["conf_high"] == 1


def test_none_of_the_trials() -> None:
    turned = ROWS.with_columns(label=~pl.col("label"))
    found = prframe.interval(turned, ["P(threshold=10)", "P@4"], cluster="cluster")
    assert found["estimate"].to_list() == [0, 0]
    expected = [beta.ppf(0.975, 0.5, clusters + 0.5) for clusters in (3, 1)]
    assert found["conf_high"].to_list() == pytest.approx(expected)
