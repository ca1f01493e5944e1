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


@pytest.mark.parametrize(
    "ask",
    [
        lambda: FRAME.pr.evaluate(["SetP", "SetR", "precision@1", "recall@1"], by="group"),
        # Some positives are known and not retrieved.
        lambda: FRAME.pr.evaluate("recall", by="group", n_pos=3),
        lambda: prframe.evaluate(
            FRAME.with_columns(score=pl.when(pl.col("score") < 0.5).then(-float("inf")).otherwise("score")),
            ["precision", "recall"],
            by="group",
        ),
        lambda: FRAME.clear().pr.evaluate("precision", by="group"),
    ],
)  # fmt: skip
def test_nothing_to_warn_of(ask) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask()


def test_values_are_as_before() -> None:
    with pytest.warns(NoCutoffWarning):
        values = FRAME.pr.evaluate(["precision", "recall"], by="group")
    assert values.rows() == [("a", 0.5, 1.0), ("b", 0.5, 1.0)]
