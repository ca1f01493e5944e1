"""The threshold at which F1 is largest, and its interval, a row after MaxF1."""

from math import inf

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import prframe

ITEMS = st.lists(
    st.tuples(st.sampled_from([-inf, 0.0, 1.0, 2.0, 3.5]), st.booleans()), min_size=1, max_size=12
)
FEW = {"n_resamples": 100, "rng": 1}


def naive_threshold(items: list[tuple[float, bool]]) -> float | None:
    """Return the highest score at which F1 is largest, by trying all of them."""
    n_pos = sum(label for _, label in items)
    best, threshold = 0.0, None
    for score in sorted({score for score, _ in items if score > -inf}, reverse=True):
        above = [label for other, label in items if other >= score]
        f1 = 2 * sum(above) / (len(above) + n_pos) if n_pos else 0.0
        if f1 > best:
            best, threshold = f1, score
    return threshold


def frame(items: list[tuple[float, bool]]) -> pl.DataFrame:
    """Return items as a frame."""
    return pl.DataFrame(items, schema={"score": pl.Float64, "label": pl.Boolean}, orient="row")


def samples(runs: int, n: int, share: float, distance: float, seed: int) -> pl.DataFrame:
    """Return binormal samples."""
    rng = np.random.default_rng(seed)
    label = rng.random(runs * n) < share
    score = rng.normal(size=runs * n) + distance * label
    run = np.repeat(np.arange(runs), n)
    return pl.DataFrame({"score": score, "label": label, "run": run})


@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
@given(items=ITEMS)
def test_the_threshold_is_the_naive_one(items: list[tuple[float, bool]]) -> None:
    found = frame(items).pr.interval(["AP", "MaxF1"], **FEW)
    assert found["metric"].to_list() == ["AP", "MaxF1", "MaxF1 threshold"]
    assert found["estimate"][2] == naive_threshold(items)
    clusters = frame(items).filter(pl.col("score") > -inf).with_row_index("user")
    if clusters.height:
        found = clusters.pr.interval("MaxF1", cluster="user", method="percentile", **FEW)
        assert found["estimate"][1] == naive_threshold(clusters.drop("user").rows())


@pytest.mark.parametrize("ties", ["group", "order", "trec"])
def test_the_threshold_is_that_of_the_curve(ties: str) -> None:
    data = samples(2, 60, 0.4, 1.0, 2).with_columns(pl.col("score").round(1))
    data = data.with_columns(doc=pl.int_range(pl.len()).cast(pl.String))
    options = {"by": "run", "ties": ties, "item": "doc"}
    found = data.pr.interval("MaxF1", **options, **FEW).filter(metric="MaxF1 threshold")
    f1 = 2 * pl.col("tp") / (pl.col("k") + pl.col("tp") / pl.col("recall"))
    best = data.pr.curve(**options, anchor=False).filter(pl.col("tp") > 0)
    best = best.group_by("run", maintain_order=True).agg(pl.col("threshold").get(f1.arg_max()))
    assert found["estimate"].to_list() == best["threshold"].to_list()


def test_without_a_retrieved_positive_there_is_none() -> None:
    data = pl.DataFrame({"score": [1.0, -inf], "label": [False, True]})
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = data.pr.interval("MaxF1", **FEW)
    assert found["estimate"].to_list() == [0.0, None]
    assert [str(warning.message) for warning in caught] == [
        "MaxF1 threshold: undefined, so null or NaN, for the rows, which have no positives or no "
        "retrieved positives"
    ]
