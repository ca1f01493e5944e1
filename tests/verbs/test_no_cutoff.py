"""Precision and recall without a cut-off are the share of positives and 1, which nobody asks for."""

import warnings

import polars as pl
import pytest

import prframe
from prframe import NoCutoffWarning

FRAME = pl.DataFrame(
    {
        "group": ["a", "a", "a", "a", "b", "b"],
        "score": [0.9, 0.6, 0.4, 0.1, 0.8, 0.3],
        "label": [1, 0, 1, 0, 1, 0],
    }
)
SENTENCE = (
    "{} without a cut-off counts all rows, so that precision is the share of positives and recall "
    "is 1. Of a classifier say 'P(threshold=0.5)' or 'R(threshold=0.5)', of a ranking 'P@10' or "
    "'R@10'; if all rows are meant, say 'SetP' or 'SetR', or ignore NoCutoffWarning."
)


@pytest.mark.parametrize(
    ("metrics", "named"),
    [
        ("precision", "'precision'"),
        (["recall", "AP"], "'recall'"),
        (["precision", "recall"], "'precision', 'recall'"),
    ],
)
@pytest.mark.parametrize("options", [{"by": "group"}, {"over": "group"}])
def test_of_all_rows(metrics, named, options) -> None:
    with pytest.warns(NoCutoffWarning) as caught:
        values = prframe.evaluate(FRAME, metrics, **options)
    assert [str(warning.message) for warning in caught] == [SENTENCE.format(named)]
    assert "prframe: retrieved" not in values.columns


def test_what_the_sentence_leads_to() -> None:
    values = FRAME.pr.evaluate(["P(threshold=0.5)", "R(threshold=0.5)", "P@1"], by="group")
    assert values.rows() == [("a", 0.5, 0.5, 1.0), ("b", 1.0, 1.0, 1.0)]


def test_values_are_as_before() -> None:
    with pytest.warns(NoCutoffWarning):
        values = FRAME.pr.evaluate(["precision", "recall"], by="group")
    assert values.rows() == [("a", 0.5, 1.0), ("b", 0.5, 1.0)]


PAIRED = pl.DataFrame(
    {
        "query": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
        "item": [*range(4)] * 3,
        "first": [0.9, 0.6, 0.4, 0.1, 0.8, 0.3, 0.2, 0.7, 0.5, 0.4, 0.3, 0.2],
        "second": [0.8, 0.7, 0.3, 0.2, 0.1, 0.3, 0.9, 0.6, 0.5, 0.1, 0.7, 0.2],
        "label": [1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1],
    }
)
LONG = PAIRED.unpivot(
    ["first", "second"],
    index=["query", "item", "label"],
    variable_name="model",
    value_name="score",
)
CALLS = {
    "interval of rankings": lambda rows, metrics: prframe.interval(rows, metrics, by="model"),
    "interval of clusters": lambda rows, metrics: prframe.interval(
        rows, metrics, by="model", cluster="query", n_resamples=200
    ),
    "interval of means": lambda rows, metrics: prframe.interval(
        rows, metrics, by="model", over="query"
    ),
    "compare over queries": lambda rows, metrics: prframe.compare(
        rows, metrics, model="model", over="query", test="t"
    ),
    "compare on items": lambda rows, metrics: prframe.compare(
        rows, metrics, model="model", item="item", by="query", over=None, n_resamples=200
    ),
    "report of classifiers": lambda rows, metrics: prframe.report(
        rows.with_columns(pl.format("{}-{}", "query", "item").alias("item")).drop("query"),
        metrics=metrics,
        model="model",
        item="item",
    ),
    "report of rankings": lambda rows, metrics: prframe.report(
        rows, metrics=metrics, model="model", item="item", over="query"
    ),
}


def warned_of(ask) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask()
    return [str(each.message) for each in caught if each.category is NoCutoffWarning]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_other_verbs_warn_once(call) -> None:
    assert warned_of(lambda: call(LONG, ["precision"])) == [SENTENCE.format("'precision'")]
