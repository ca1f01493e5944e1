"""Summaries over groups, and values for what is undefined."""

import math
import statistics
import warnings

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe

DATA = pl.DataFrame(
    {
        "model": [*"aaaaaabbbbbb"],
        "q": [1, 1, 2, 2, 3, 3] * 2,
        "score": [2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
        "label": [1, 0, 0, 1, 0, 0] * 2,
    }
)


def summary(frame: object = DATA, **options: object) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)
        return prframe.evaluate(frame, ["RR", "P@1"], over="q", **options)


def test_per_model() -> None:
    found = summary(by="model", geometric_mean=True)
    assert found.columns == [
        "model",
        "metric",
        "mean",
        "std",
        "n",
        "n_undefined",
        "geometric_mean",
    ]
    assert found.select("model", "metric", "n", "n_undefined").rows() == [
        ("a", "RR", 2, 1),
        ("a", "P@1", 3, 0),
        ("b", "RR", 2, 1),
        ("b", "P@1", 3, 0),
    ]
    assert found["mean"].to_list() == pytest.approx([0.75, 1 / 3, 0.75, 1 / 3])
    assert found["std"].to_list() == pytest.approx(
        [statistics.stdev([1, 0.5]), statistics.stdev([1, 0, 0])] * 2
    )
    floor = 1e-5
    assert found["geometric_mean"].to_list() == pytest.approx(
        [math.sqrt(0.5), (floor * floor) ** (1 / 3)] * 2
    )


def test_one_group_has_no_spread() -> None:
    row = prframe.evaluate(DATA.head(2), "P@1", over="q").row(0)
    assert row == ("P@1", 1.0, None, 1, 0)


def test_nothing_defined() -> None:
    with pytest.warns(prframe.UndefinedMetricWarning, match="for 3 of 3 groups"):
        row = prframe.evaluate(DATA.head(6).with_columns(label=0), "RR", over="q").row(0)
    assert row == ("RR", None, None, 0, 3)


def test_a_value_for_what_is_undefined() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = prframe.evaluate(DATA, "RR", by=["model", "q"], undefined=0)
        mean = prframe.evaluate(DATA, "RR", by="model", over="q", undefined=0)
    assert values["RR"].to_list() == [1.0, 0.5, 0.0, 0.5, 1.0, 0.0]
    assert mean.select("mean", "n", "n_undefined").rows() == [(0.5, 3, 0), (0.5, 3, 0)]


def test_a_table_of_systems_by_metrics() -> None:
    long = summary(by="model")
    wide = summary(by="model", layout="wide")
    assert wide.columns == ["model", "RR", "P@1"]
    assert_frame_equal(wide, long.pivot("metric", index="model", values="mean"))
    assert_frame_equal(summary(by="model", layout="long"), long)
    whole = prframe.evaluate(DATA.drop("model"), "P@1", over="q", layout="wide")
    assert whole.columns == ["P@1"]
    assert whole.item() == prframe.evaluate(DATA.drop("model"), "P@1", over="q")["mean"].item()


WIDE = pl.DataFrame(
    {
        "q": [1, 1, 1, 2, 2, 2],
        "label": [1, 0, 0, 0, 1, 0],
        "one": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        "two": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
    }
)
MELTED = WIDE.unpivot(["one", "two"], index=["q", "label"], variable_name="model").rename(
    {"value": "score"}
)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_column_of_scores_per_model(layout: str) -> None:
    options = {"layout": layout}
    found = prframe.evaluate(WIDE, ["AP", "P@1"], ["one", "two"], by="q", **options)
    expected = prframe.evaluate(MELTED, ["AP", "P@1"], by=["q", "model"], **options)
    # The models of a group stand after one another.
    order = ["q", "model"]
    assert found[order].unique(maintain_order=True).rows() == [
        (1, "one"),
        (1, "two"),
        (2, "one"),
        (2, "two"),
    ]
    assert_frame_equal(found, expected.sort(order, maintain_order=True))
    pandas = prframe.evaluate(WIDE.to_pandas(), ["AP", "P@1"], ["one", "two"], by="q", **options)
    assert pandas["model"].tolist() == found["model"].to_list()


def test_models_of_a_group_stand_together_whatever_groups_they_lack() -> None:
    data = WIDE.with_columns(two=pl.when(pl.col("q") == 2).then("two"))
    found = prframe.evaluate(data, "P@1", ["one", "two"], by="q", missing="drop")
    assert found.select("q", "model").rows() == [(1, "one"), (2, "one"), (2, "two")]


def test_a_group_is_undefined_if_it_is_for_any_model() -> None:
    rows = pl.DataFrame({"q": [1, 1, 2, 2], "label": [1, 0, 1, 0]})
    rows = rows.with_columns(a=pl.Series([0.9, 0.1, 0.9, 0.1]), b=pl.Series([0.9, 0.1, 0.2, 0.1]))
    with pytest.warns(prframe.UndefinedMetricWarning, match="1 of 2 groups"):
        found = prframe.evaluate(rows, "P(threshold=0.5)", ["a", "b"], by="q")
    assert found["P(threshold=0.5)"].to_list() == [1, 1, 1, None]
