"""Warnings about rankings in which nothing is positive."""

import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import prframe

ROWS = pl.DataFrame(
    {
        "query": [1, 1, 1, 2, 2, 2],
        "a": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        "b": [1.0, 3.0, 2.0, 1.0, 2.0, 3.0],
        "y": ["click", "no", "no", "no", "click", "no"],
    }
)
MISSPELT: dict[str, Any] = {"label": "y", "positive": "clicked"}
MESSAGE = (
    "no row is positive: no 'y' is 'clicked', so that nothing is a hit. Say which labels are "
    "positive with positive=; check lists the labels that there are. If there are no positives, "
    "ignore NoPositivesWarning."
)


def caught(call: Callable[[], Any]) -> list[warnings.WarningMessage]:
    """Return the warnings of a call."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        result = call()
        if isinstance(result, pl.LazyFrame):
            result.collect()
    return given


def texts(call: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings about missing positives."""
    return [str(w.message) for w in caught(call) if w.category is prframe.NoPositivesWarning]


@pytest.mark.parametrize(
    "metric",
    [
        *("P@2", "P(threshold=2)", "SetP", "DCG", "ERR", "RBP", "NumRel", "NumRelRet"),
        "Specificity(threshold=2)",
    ],
)
def test_metrics_that_are_defined_without_positives(metric: str) -> None:
    one: dict[str, Any] = {"score": "a", **MISSPELT}
    two: dict[str, Any] = {"score": ["a", "b"], **MISSPELT}
    assert texts(lambda: ROWS.pr.evaluate(metric, **one)) == [MESSAGE]
    assert texts(lambda: ROWS.pr.evaluate(metric, over="query", **one)) == [MESSAGE]
    assert texts(lambda: ROWS.pr.evaluate(metric, **two)) == [MESSAGE]
    assert texts(lambda: ROWS.lazy().pr.evaluate(metric, by="query", **one)) == [MESSAGE]
    assert texts(lambda: ROWS.pr.interval(metric, over="query", **one)) == [MESSAGE]
    assert texts(lambda: ROWS.pr.compare(metric, over="query", **two)) == [MESSAGE]


def test_one_ranking() -> None:
    one: dict[str, Any] = {"score": "a", "by": "query", **MISSPELT}
    two: dict[str, Any] = {"score": ["a", "b"], "over": None, "n_resamples": 99, **MISSPELT}
    assert texts(lambda: ROWS.pr.interval("P@2", **one)) == [MESSAGE]
    assert texts(lambda: ROWS.pr.compare("P@2", **two)) == [MESSAGE]


def test_a_single_positive_in_any_group_is_enough() -> None:
    first = ROWS.with_columns(y=pl.Series([1, 0, 0, 0, 0, 0]))
    assert not texts(lambda: first.pr.evaluate("P@2", score="a", label="y", by="query"))
    [text] = texts(lambda: first.pr.evaluate("P@2", score="a", label="y", positive=2))
    assert text.startswith("no row is positive: no 'y' is at least 2, so that")
    [text] = texts(lambda: first[1:].pr.evaluate("P@2", score="a", label="y"))
    assert text.startswith("no row is positive: no 'y' is True or above 0, so that")


def test_nothing_to_suspect() -> None:
    one: dict[str, Any] = {"score": "a", **MISSPELT}
    assert not texts(lambda: ROWS.clear().pr.evaluate("P@2", by="query", **one))
    assert not texts(lambda: ROWS.pr.evaluate("P@2", n_pos=4, **one))
    assert not texts(lambda: ROWS.pr.evaluate("NumRet", **one))
    known = pl.DataFrame({"query": [1, 2, 3], "value": [0.1, 0.2, 0.3]})
    assert not texts(lambda: known.pr.interval(values="value", over="query"))
