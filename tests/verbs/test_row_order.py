"""No result depends on the order of the rows: shuffled frames, lazy joins, kinds of frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe
from tests.spark.likeness import DataFrame as LikeSpark

RNG = np.random.default_rng(3)
ITEMS = pl.DataFrame(
    {
        "query_id": np.repeat(np.arange(12), 8),
        "item": np.tile(np.arange(8), 12),
        "label": np.tile([1, 0, 1, 0, 0, 0, 1, 0], 12),
        "half": np.repeat(["x", "y"], 48),
        "user": np.repeat(np.arange(6), 16),
    }
)
# The model that comes first by its name has neither the first row nor the best scores.
ROWS = pl.concat(
    ITEMS.with_columns(model=pl.lit(name), score=pl.Series(RNG.normal(size=96).round(1)) + gain)
    for name, gain in (("old", pl.col("label")), ("new", 0.5 * pl.col("label")), ("mid", 0.0))
)
FEW: dict[str, Any] = {"n_resamples": 99, "rng": 1}
ON_ITEMS: dict[str, Any] = {"over": None, "by": "query_id", "item": "item"}
VALUES = ROWS.pr.evaluate(["RR", "AP"], by=["model", "query_id", "half"])
IN_ROWS = VALUES.unpivot(
    ["RR", "AP"], index=["model", "query_id", "half"], variable_name="metric", value_name="value"
)
CASES: dict[str, tuple[pl.DataFrame, Callable[[Any], Any]]] = {
    "compare": (ROWS, lambda rows: rows.pr.compare(["P@3", "AP"])),
    "compare by": (ROWS, lambda rows: rows.pr.compare("AP", by="half", **FEW)),
    "on items": (ROWS, lambda rows: rows.pr.compare("AP", **ON_ITEMS, **FEW)),
    "curves": (
        ROWS,
        lambda rows: rows.pr.compare_curves(by="half", over="query_id", recall=[0.2, 0.6], **FEW),
    ),
    "curves of items": (
        ROWS.filter(pl.col("query_id") < 2),
        lambda rows: rows.pr.compare_curves(by="query_id", item="item", recall=[0.5], **FEW),
    ),
    "values": (VALUES, lambda rows: rows.pr.compare(values=["RR", "AP"], by="half")),
    "values in rows": (IN_ROWS, lambda rows: rows.pr.compare(values="value")),
    "means": (
        ROWS,
        lambda rows: rows.pr.evaluate("AP", by="model", over="query_id").sort("model"),
    ),
    "mean of tests": (
        ROWS,
        lambda rows: rows.pr.ap_test(by="model", over="query_id").sort("model"),
    ),
    "interval of clusters": (
        ROWS,
        lambda rows: rows.pr.interval(["AP", "P@3"], by="model", cluster="query_id").sort("model"),
    ),
    "interval of means": (
        ROWS.cast({"user": pl.String}).cast({"user": pl.Categorical}),
        lambda rows: rows.pr.interval(
            "AP", by="model", over="query_id", cluster="user", method="bca", **FEW
        ).sort("model"),
    ),
    "band of means": (
        ROWS,
        lambda rows: rows.pr.band(
            by="model", over="query_id", cluster="user", recall=[0.2, 0.6], **FEW
        ).sort("model", "recall"),
    ),
    "rank_test": (
        ROWS,
        lambda rows: rows.pr.rank_test(by="model", phi=["mww", "rtb", "median"]).sort(
            "model", "phi"
        ),
    ),
    "check": (ROWS, lambda rows: rows.pr.check(by=["model", "query_id"])),
}


@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
@pytest.mark.parametrize(("rows", "ask"), CASES.values(), ids=CASES)
def test_shuffled_rows_have_one_answer(rows: pl.DataFrame, ask: Callable[[Any], Any]) -> None:
    expected = ask(rows)
    for seed in range(2):
        assert ask(rows.sample(fraction=1, shuffle=True, seed=seed)).equals(expected)


@pytest.mark.slow
def test_a_hundred_shuffles() -> None:
    small = VALUES.select("model", "query_id", "AP")
    expected = small.pr.compare(values="AP")
    assert expected["model_a"].to_list() == ["mid", "mid", "new"]
    assert expected["model_b"].to_list() == ["new", "old", "old"]
    for seed in range(100):
        shuffled = small.sample(fraction=1, shuffle=True, seed=seed)
        assert shuffled.pr.compare(values="AP").equals(expected)


@pytest.mark.slow
def test_twenty_executions_of_a_lazy_join(tmp_path: Any) -> None:
    n = 200_000
    items = pl.DataFrame({"id": np.arange(n), "query_id": np.arange(n) // 1000})
    items = items.with_columns(label=pl.Series(RNG.random(n) < 0.05))
    scores = pl.concat(
        pl.DataFrame({"id": np.arange(n), "model": [name] * n, "score": RNG.normal(size=n)})
        for name in ("old", "new")
    ).sample(fraction=1, shuffle=True, seed=1)
    items.write_parquet(tmp_path / "items.parquet")
    scores.write_parquet(tmp_path / "scores.parquet")
    left, right = (pl.scan_parquet(tmp_path / f"{name}.parquet") for name in ("scores", "items"))
    answers = {
        left.join(right, on="id").pr.compare("AP").select("model_a", "difference").collect().row(0)
        for _ in range(20)
    }
    assert len(answers) == 1


def test_models_are_in_order_of_their_values() -> None:
    numbered = ROWS.with_columns(pl.col("model").replace_strict({"old": 10, "new": 2, "mid": 9}))
    assert numbered.pr.compare("AP")["model_a"].to_list() == [2, 2, 9]
    enum = ROWS.with_columns(pl.col("model").cast(pl.Enum(["old", "new", "mid"])))
    assert enum.pr.compare("AP")["model_a"].to_list() == ["old", "old", "new"]
    against = enum.pr.compare("AP", baseline="old")
    assert against["model_a"].to_list() == ["new", "mid"]
    assert against["model_b"].to_list() == ["old", "old"]


@pytest.mark.parametrize("ordered", [True, False])
def test_ordered_categories_of_pandas_keep_their_order(ordered: bool) -> None:
    rows = ROWS.to_pandas()
    kind = pd.CategoricalDtype(["old", "new", "mid"], ordered=ordered)
    rows["model"] = rows["model"].astype(kind)
    found = prframe.compare(rows, "AP")
    expected = ["old", "old", "new"] if ordered else ["mid", "mid", "new"]
    assert found["model_a"].tolist() == expected
    assert found["model_a"].dtype == kind


def test_spark_has_the_order_of_polars() -> None:
    expected = ROWS.pr.compare("AP")
    found = prframe.compare(LikeSpark.of(ROWS), "AP")
    assert pl.from_arrow(found.toArrow()).select(expected.columns).equals(expected)
