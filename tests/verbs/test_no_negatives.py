"""Warnings about rankings that hold nothing but positives."""

import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import prframe

# Labels of which 1 is negative and 2 positive.
CODED = pl.DataFrame(
    {
        "segment": ["a", "a", "a", "b", "b", "b"],
        "score": [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        "label": [1, 2, 1, 2, 1, 2],
    }
)
TWO = CODED.with_columns(other=-pl.col("score"))
MESSAGE = (
    "no row is negative: every 'label' is True or above 0, so that every ranking is perfect. Say "
    "which labels are positive, for example positive=2 (or 0.5) for those of at least that, or "
    "a list of labels; or give the number of negatives that are not listed in n_neg=; "
    "if there are none, ignore NoNegativesWarning."
)


def texts(call: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings about missing negatives."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
        if isinstance(result, pl.LazyFrame):
            result.collect()
    return [str(w.message) for w in caught if w.category is prframe.NoNegativesWarning]


def test_labels_that_are_all_positive() -> None:
    for by in (None, "segment"):
        assert texts(lambda: prframe.evaluate(CODED, "AP", by=by)) == [MESSAGE]  # noqa: B023
    soft = CODED.with_columns(label=pl.col("label") / 3)
    assert texts(lambda: prframe.evaluate(soft, "AP")) == [MESSAGE]
    assert not texts(lambda: prframe.evaluate(CODED, "AP", positive=2, by="segment"))
    assert not texts(lambda: prframe.evaluate(CODED, "AP", positive=[1], by="segment"))


def test_a_single_negative_in_any_group_is_enough() -> None:
    rows = CODED.with_columns(label=pl.Series([1, 1, 1, 1, 1, 0]))
    assert not texts(lambda: prframe.evaluate(rows, "AP", by="segment"))
    scattered = rows[[0, 3, 1, 4, 2, 5]]
    assert not texts(lambda: prframe.evaluate(scattered, "AP", by="segment"))
    assert texts(lambda: prframe.evaluate(scattered[:-1], "AP", by="segment")) == [MESSAGE]


def test_totals_that_say_what_there_is() -> None:
    for n_neg in (0, 5):
        assert not texts(lambda: prframe.evaluate(CODED, "AP", n_neg=n_neg))  # noqa: B023
    assert texts(lambda: prframe.evaluate(CODED, "AP", n_pos=9)) == [MESSAGE]


@pytest.mark.parametrize(
    "call",
    [
        lambda: prframe.evaluate(CODED, ["AP", "P@1", "nDCG"]),
        lambda: prframe.evaluate(TWO, "AP", score=["score", "other"]),
        lambda: prframe.evaluate(CODED, "AP", over="segment"),
        lambda: prframe.evaluate(CODED.lazy(), "AP"),
        lambda: prframe.curve(CODED),
        lambda: prframe.curve(CODED, order="input"),
        lambda: prframe.curve(CODED.lazy(), by="segment"),
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
    assert texts(call) == [MESSAGE]
