"""Intervals of few clusters: the jackknife, by its definition and by how often it covers."""

import warnings
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
import scipy.stats
from scipy.special import logit
from sklearn.metrics import average_precision_score, roc_auc_score

import prframe

pytestmark = pytest.mark.filterwarnings("ignore:fewer than 40 clusters:prframe.CoverageWarning")

PART = 0.4


def each(value: Callable[[pl.Series, pl.Series], float]) -> Callable[..., list[float]]:
    """Return a function of frames of a function of labels and scores."""
    return lambda frames: [value(frame["label"], frame["score"]) for frame in frames]


def evaluated(metric: str) -> Callable[..., pl.Series]:
    """Return a function of frames, of which `evaluate` knows no clusters."""
    return lambda frames: prframe.evaluate(
        pl.concat(frame.with_columns(part=pl.lit(at)) for at, frame in enumerate(frames)),
        metric,
        by="part",
    )[metric]


VALUES = {
    "AP": each(average_precision_score),
    "AUC": each(roc_auc_score),
    f"pAUC(max_fpr={PART})": evaluated(f"pAUC(max_fpr={PART})"),
    "BEDROC": evaluated("BEDROC"),
}


def clustered(clusters: int, size: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return items whose scores have half of their variance in common with their cluster."""
    cluster = np.repeat(np.arange(clusters), size)
    label = rng.random(cluster.size) < 0.3
    noise = rng.normal(size=clusters)[cluster] + rng.normal(size=cluster.size)
    return pl.DataFrame(
        {"cluster": cluster, "label": label, "score": noise / 2**0.5 + 1.5 * label}
    )


@pytest.mark.parametrize("metric", VALUES)
@pytest.mark.parametrize("clusters", [5, 100])
def test_pseudo_values_give_the_ends(metric: str, clusters: int) -> None:
    data = clustered(clusters, 30, np.random.default_rng(3))
    found = prframe.interval(data, metric, cluster="cluster", alternative="less").row(
        0, named=True
    )
    most = PART if metric.startswith("pAUC") else 1.0
    # BEDROC of fewer items has fewer and larger steps.
    close = 0.02 if metric == "BEDROC" else 1e-9
    parts = [data.filter(pl.col("cluster") != cluster) for cluster in range(clusters)]
    whole, *left = logit(np.array(VALUES[metric]([data, *parts])) / most)
    pseudo = clusters * whole - (clusters - 1) * np.array(left)
    # Few clusters that are alike have as many degrees of freedom as there are but for one.
    df = clusters - 1
    reach = pseudo.std(ddof=1) / clusters**0.5
    assert found["conf_low"] == 0.0
    z = (logit(found["conf_high"] / most) - pseudo.mean()) / reach
    if clusters < 10:
        assert z == pytest.approx(-scipy.stats.t.ppf(0.05, df), rel=close)
    else:
        # There the influence of clusters tells of fewer degrees.
        assert 1 <= z / -scipy.stats.t.ppf(0.05, df) < 1.1


def test_few_clusters_are_told_of_once() -> None:
    rng = np.random.default_rng(3)
    label = rng.random(400) < 0.3
    data = pl.DataFrame(
        {
            "score": rng.normal(1.0 * label),
            "label": label,
            "user": np.arange(400) // 5,
            "half": np.where(np.arange(400) < 150, "few", "many"),
        }
    )
    with pytest.warns(prframe.CoverageWarning) as told:
        data.pr.interval(["AP", "AUC"], by="half", cluster="user", rng=1)
    (text,) = (str(one.message) for one in told)
    assert text.startswith(
        "fewer than 40 clusters hold positives, or negatives, in groups 'few', so 95 % intervals "
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.pr.interval(["AP", "P(threshold=1)"], cluster="user", rng=1)
    # A single cluster has no interval.
    with pytest.warns(prframe.UndefinedMetricWarning) as told:
        data.with_columns(one=1).pr.interval("AP", cluster="one", rng=1)
    assert not any(one.category is prframe.CoverageWarning for one in told)
