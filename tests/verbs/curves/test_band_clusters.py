"""Bands of rankings whose items come in clusters."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import PrframeError

LEVELS = [0.2, 0.4, 0.6, 0.8]


def items(n_clusters: int, size: int, rng: np.random.Generator) -> pl.DataFrame:
    """Draw items whose labels and scores depend on the cluster."""
    cluster = np.repeat(np.arange(n_clusters), size)
    label = rng.random(cluster.size) < 1 / (1 + np.exp(1 - rng.normal(size=n_clusters)[cluster]))
    noise = rng.normal(size=n_clusters)[cluster] + rng.normal(size=cluster.size)
    score = 1.5 * label + noise / 2**0.5
    return pl.DataFrame({"score": score, "label": label, "user": cluster})


DATA = items(30, 6, np.random.default_rng(1))


def test_whole_clusters_are_drawn() -> None:
    """A row and five copies in the same cluster say no more than the row."""
    single = DATA.with_columns(user=pl.int_range(pl.len()))
    copied = pl.concat([single] * 5)
    options = {"recall": LEVELS, "rng": 1}
    width = {
        name: (pl.col("conf_high") - pl.col("conf_low"))
        for name in ("single", "copied", "unclustered")
    }
    found = {
        "single": single.pr.band(cluster="user", **options),
        "copied": copied.pr.band(cluster="user", **options),
        "unclustered": copied.pr.band(**options),
    }
    mean = {name: found[name].select(width[name].mean()).item() for name in found}
    assert mean["copied"] == pytest.approx(mean["single"], rel=0.15)
    assert mean["unclustered"] < 0.7 * mean["single"]


def test_two_clusters_have_no_band() -> None:
    frame = DATA.with_columns(user=pl.col("user") % 2)
    with pytest.warns(prframe.UndefinedMetricWarning, match="3 clusters that hold either"):
        found = frame.pr.band(recall=LEVELS, cluster="user", rng=1)
    assert found["conf_low"].null_count() == len(LEVELS)
    assert found["precision"].null_count() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "smoothed-bootstrap"}, "`cluster` is for method='auto'; the smoothed-"),
        ({"n_neg": 1000}, "`n_neg` counts items that are not listed, and so in no cluster;"),
    ],
)
def test_messages(options: dict[str, object], message: str) -> None:
    with pytest.raises(PrframeError, match=message):
        DATA.pr.band(cluster="user", **options)
