"""Warnings of negatives of score -inf, and of labels with many values, in every verb."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import trec

INF = float("inf")
RNG = np.random.default_rng(3)
LOST = pl.DataFrame(
    {
        "score": [*RNG.random(38), -INF, -INF],
        "other": RNG.random(40),
        "label": [*(RNG.random(38) < 0.4).tolist(), True, False],
        "id": range(40),
    }
)
GRADES = LOST.with_columns(score="other", label=pl.Series([0, 1, 2, 3, 4, 5, 6, 0] * 5))
CHEAP: dict[str, Any] = {"rng": 1, "n_resamples": 50}
VERBS: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda frame: prframe.evaluate(frame, "AP"),
    "interval": lambda frame: prframe.interval(frame, "AP", **CHEAP),
    "compare": lambda frame: prframe.compare(
        frame, "AP", ["score", "other"], item="id", over=None, **CHEAP
    ),
    "curve": prframe.curve,
    "roc": prframe.roc,
    "band": lambda frame: prframe.band(frame, **CHEAP),
    "ap_test": prframe.ap_test,
    "rank_test": prframe.rank_test,
    "topk_test": lambda frame: prframe.topk_test(frame, k=5),
}
KINDS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "eager": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pyarrow": lambda frame: frame.to_arrow(),
}


def told(call: Callable[[], Any], category: type[Warning]) -> list[str]:
    """Return the warnings of a class."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
        if isinstance(result, pl.LazyFrame):
            result.collect()
    return [str(warning.message) for warning in caught if warning.category is category]


@pytest.mark.parametrize("name", sorted(VERBS.keys() - {"rank_test"}))
def test_negatives_that_are_not_ranked(name: str) -> None:
    verb = VERBS[name]
    (message,) = told(lambda: verb(LOST), prframe.UnretrievedWarning)
    assert message == (
        "rows that are not positive have the `score` -inf, so they count as not retrieved. If they "
        "were retrieved, and -inf is the logarithm of 0, clip 'score' from below, or say "
        "include_unretrieved=True in evaluate. If not, drop them, or ignore UnretrievedWarning."
    )
    assert not told(lambda: verb(LOST.head(39)), prframe.UnretrievedWarning)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_kind_of_frame(kind) -> None:
    for frame, category in (
        (LOST, prframe.UnretrievedWarning),
        (GRADES, prframe.ManyGradesWarning),
    ):
        assert len(told(lambda frame=frame: VERBS["evaluate"](kind(frame)), category)) == 1


def test_rows_that_were_meant_to_be_lost() -> None:
    def silent(call: Callable[[], Any]) -> bool:
        return not told(call, prframe.UnretrievedWarning)

    assert silent(lambda: prframe.evaluate(LOST, "AP", include_unretrieved=True))
    gaps = LOST.with_columns(score=pl.when(pl.col("score") > -INF).then("score"))
    assert silent(lambda: prframe.evaluate(gaps, "AP", missing="last"))
    # These rank all items, those of score -inf as one block.
    assert silent(lambda: prframe.rank_test(LOST))
    assert silent(lambda: prframe.evaluate(LOST, ["AUC", "W"]))
    assert not silent(lambda: prframe.evaluate(LOST, ["AUC", "AP"]))
    graded = LOST.with_columns(label=pl.Series([0, 1, 2, 1] * 10)).with_columns(
        score=pl.when(pl.col("label") == 1).then(-INF).otherwise("other")
    )
    assert silent(lambda: prframe.evaluate(graded, "AP", positive=2))
    assert silent(lambda: prframe.evaluate(LOST, "AP", ignore=False, n_neg=9))
    run = pl.DataFrame({"query_id": ["1"] * 2, "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"query_id": ["1"] * 3, "doc_id": ["a", "c", "d"], "label": [1, 0, 1]})
    joined = trec.join(run, qrels)
    assert joined.filter(pl.col("score") == -INF, label=0).height == 1
    assert silent(lambda: prframe.evaluate(joined, "AP", by="query_id"))
    assert silent(lambda: joined.select(pl.col("score").pr.ap("label")))
