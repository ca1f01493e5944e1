"""Warnings about rankings in which nothing, or everything, is positive."""

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
NO_POSITIVES = (
    "no row is positive: no 'y' is 'clicked'. Say which labels are positive with positive=; check "
    "lists the labels. If there are no positives, ignore NoPositivesWarning."
)


def texts(call: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings about missing positives or negatives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
        if isinstance(result, pl.LazyFrame):
            result.collect()
    looked_for = (prframe.NoPositivesWarning, prframe.NoNegativesWarning)
    return [str(w.message) for w in caught if issubclass(w.category, looked_for)]


@pytest.mark.parametrize(
    "metric", ["P@2", "P(threshold=2)", "SetP", "DCG", "NumRelRet", "Specificity(threshold=2)"]
)
def test_metrics_that_are_defined_without_positives(metric: str) -> None:
    one: dict[str, Any] = {"score": "a", **MISSPELT}
    two: dict[str, Any] = {"score": ["a", "b"], **MISSPELT}
    for call in (
        lambda: ROWS.pr.evaluate(metric, **one),
        lambda: ROWS.pr.evaluate(metric, over="query", **one),
        lambda: ROWS.pr.evaluate(metric, **two),
        lambda: ROWS.lazy().pr.evaluate(metric, by="query", **one),
        lambda: ROWS.pr.interval(metric, over="query", **one),
        lambda: ROWS.pr.compare(metric, over="query", **two),
    ):
        assert texts(call) == [NO_POSITIVES]


def test_one_ranking_without_positives() -> None:
    one: dict[str, Any] = {"score": "a", "by": "query", **MISSPELT}
    two: dict[str, Any] = {"score": ["a", "b"], "over": None, "n_resamples": 99, **MISSPELT}
    assert texts(lambda: ROWS.pr.interval("P@2", **one)) == [NO_POSITIVES]
    assert texts(lambda: ROWS.pr.compare("P@2", **two)) == [NO_POSITIVES]


def test_a_single_positive_in_any_group_is_enough() -> None:
    first = ROWS.with_columns(y=pl.Series([1, 0, 0, 0, 0, 0]))
    assert not texts(lambda: first.pr.evaluate("P@2", score="a", label="y", by="query"))
    [text] = texts(lambda: first.pr.evaluate("P@2", score="a", label="y", positive=2))
    assert text.startswith("no row is positive: no 'y' is at least 2. Say")
    [text] = texts(lambda: first[1:].pr.evaluate("P@2", score="a", label="y"))
    assert text.startswith("no row is positive: no 'y' is True or above 0. Say")


def test_nothing_to_suspect() -> None:
    one: dict[str, Any] = {"score": "a", **MISSPELT}
    assert not texts(lambda: ROWS.clear().pr.evaluate("P@2", by="query", **one))
    assert not texts(lambda: ROWS.pr.evaluate("P@2", n_pos=4, **one))
    assert not texts(lambda: ROWS.pr.evaluate("NumRet", **one))
    known = pl.DataFrame({"query": [1, 2, 3], "value": [0.1, 0.2, 0.3]})
    assert not texts(lambda: known.pr.interval(values="value", over="query"))


# Labels of which 1 is negative and 2 positive.
CODED = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "b", "b", "b"],
        "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        "label": [1, 2, 1, 2, 1, 2],
    }
)
TWO = CODED.with_columns(other=-pl.col("score"))
NO_NEGATIVES = (
    "no row is negative: every 'label' is True or above 0, so precision is 1 at every threshold. "
    "Say which labels are positive, for example positive=2 for grades of at least 2; if negatives are not "
    "listed, give their number in n_neg=. If there are none, ignore NoNegativesWarning."
)


def test_labels_that_are_all_positive() -> None:
    for by in (None, "segment"):
        assert texts(lambda: prframe.evaluate(CODED, "AP", by=by)) == [NO_NEGATIVES]  # noqa: B023
    assert not texts(lambda: prframe.evaluate(CODED, "AP", positive=2, by="segment"))
    rows = CODED.with_columns(label=pl.Series([1, 1, 1, 1, 1, 0]))
    for given in (rows, rows[[0, 3, 1, 4, 2, 5]]):
        assert not texts(lambda: prframe.evaluate(given, "AP", by="segment"))  # noqa: B023


def test_totals_that_say_what_there_is() -> None:
    for n_neg in (0, 5):
        assert not texts(lambda: prframe.evaluate(CODED, "AP", n_neg=n_neg))  # noqa: B023
    assert texts(lambda: prframe.evaluate(CODED, "AP", n_pos=9)) == [NO_NEGATIVES]


@pytest.mark.parametrize(
    "call",
    [
        lambda: prframe.evaluate(CODED, ["AP", "P@1", "nDCG"]),
        lambda: prframe.evaluate(TWO, "AP", score=["score", "other"]),
        lambda: prframe.evaluate(CODED.lazy(), "AP"),
        lambda: prframe.curve(CODED),
        lambda: prframe.roc(CODED),
        lambda: prframe.band(CODED, n_resamples=50, recall=[0.5]),
        lambda: prframe.interval(CODED, "AP", n_resamples=50),
        lambda: prframe.interval(CODED, "P@1", over="segment"),
        lambda: prframe.ap_test(CODED),
        lambda: prframe.topk_test(CODED, k=1),
        lambda: prframe.rank_test(CODED),
        lambda: prframe.compare(TWO, "P@1", score=["score", "other"], over="segment"),
        lambda: prframe.compare(TWO, "AP", score=["score", "other"], over=None, n_resamples=99),
        lambda: prframe.compare_curves(TWO, score=["score", "other"], n_resamples=99),
    ],
)
def test_every_verb_warns_once(call: Callable[[], Any]) -> None:
    assert texts(call) == [NO_NEGATIVES]
