"""Warnings about calls that are likely to be mistakes, and their absence from others."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.verbs import _guards

RUNS = pl.DataFrame(
    {
        "system": ["a"] * 4 + ["b"] * 4,
        "query_id": [1, 1, 2, 2] * 2,
        "doc_id": [1, 2, 3, 4] * 2,
        "score": [4.0, 3.0, 2.0, 1.0, 2.0, 3.0, 1.0, 4.0],
        "label": [1, 0, 1, 0] * 2,
    }
)
ONE = RUNS.filter(system="a")


def texts(call: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings about pooled rankings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if w.category is prframe.PooledRankingWarning]


def test_columns_with_another_part_are_not_suspected() -> None:
    rows = ONE.drop("system").rename({"query_id": "model", "doc_id": "topic"})
    assert not texts(lambda: prframe.evaluate(rows, "AP", by="model", item="topic"))
    lists = ONE.drop("system", "query_id").with_columns(fold=pl.Series([[1], [2], [3], [4]]))
    assert not texts(lambda: prframe.evaluate(lists, "AP"))


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows,
        lambda rows: rows.lazy(),
        lambda rows: rows.to_pandas(),
        lambda rows: rows.to_arrow(),
        lambda rows: rows.to_dict(),
        # A stream that can be read once.
        lambda rows: pa.RecordBatchReader.from_stream(rows),
    ],
    ids=["polars", "lazy", "pandas", "pyarrow", "dict", "stream"],
)
def test_every_kind_of_frame(make: Callable[[pl.DataFrame], Any]) -> None:
    def call() -> Any:
        result = prframe.roc(make(ONE))
        return result.collect() if isinstance(result, pl.LazyFrame) else result

    [text] = texts(call)
    assert text.startswith("rows with different 'query_id' were ranked together. Use by=")


@pytest.mark.parametrize(
    "call",
    [
        lambda: prframe.ap_test(ONE),
        lambda: prframe.topk_test(ONE, k=1),
        lambda: prframe.rank_test(ONE),
        lambda: prframe.band(ONE, n_resamples=50, rng=1, recall=[0.5]),
        lambda: prframe.interval(ONE, "AP", n_resamples=50, rng=1),
        lambda: prframe.compare(
            RUNS.with_columns(other=-pl.col("score")), "AP", score=["score", "other"]
        ),
    ],
)
def test_every_verb(call: Callable[[], Any]) -> None:
    assert len(texts(call)) == 1


@pytest.mark.parametrize(
    "compared",
    [
        lambda rows, **options: prframe.compare(rows, "AP", over=None, **options),
        lambda rows, **options: prframe.compare_curves(rows, recall=[0.5], **options),
    ],
    ids=["compare", "compare_curves"],
)
def test_comparisons_on_the_same_items(compared: Callable[..., Any]) -> None:
    rows = pl.concat([ONE.drop("system")] * 4).with_columns(other=-pl.col("score"))
    rows = rows.with_columns(doc_id=pl.int_range(pl.len()))
    options: dict[str, Any] = {"score": ["score", "other"], "n_resamples": 99, "rng": 1}
    [text] = texts(lambda: compared(rows, **options))
    assert text == (
        "rows with different 'query_id' were ranked together. Use by='query_id' for one ranking "
        "each, or over='query_id' for the mean. If they are one ranking, drop the column, or ignore "
        "PooledRankingWarning."
    )
    for told in ({"by": "query_id"}, {"cluster": "query_id"}):
        assert not texts(lambda told=told: compared(rows, **options, **told))
    assert not texts(lambda: compared(rows.drop("query_id"), **options))
    # Models in rows: their column and that of items tell no rankings apart.
    long = rows.drop("query_id").unpivot(
        ["score", "other"], index=["doc_id", "label"], variable_name="system"
    )
    options = options | {"score": "value", "model": "system", "item": "doc_id"}
    assert not texts(lambda: compared(long, **options))


def test_check_calls_it_an_error() -> None:
    first = prframe.check(RUNS, by="system").row(0, named=True)
    assert first == {
        "kind": "pooled_rankings",
        "severity": "error",
        "count": 2,
        "example": "'query_id', in groups 'a', 'b'",
    }
    assert not texts(lambda: prframe.check(RUNS, by="system"))
    kinds = prframe.check(RUNS, by=["system", "query_id"])["kind"]
    assert "pooled_rankings" not in kinds
    assert prframe.check(ONE.lazy()).collect()["example"][0] == "'query_id', the whole frame"


@pytest.mark.parametrize(
    "make",
    [
        lambda: (
            pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0]}).to_pandas().assign(model=["a", 1])
        ),
        lambda: {"score": [2.0, 1.0], "label": [1, 0], "query_id": [{1}, 2]},
        lambda: pl.LazyFrame({"score": [2.0, 1.0], "label": [1, 0], "x": ["a", "b"]}).with_columns(
            fold=pl.col("x").cast(pl.Int64)
        ),
    ],
    ids=["mixed", "objects", "an expression that fails"],
)
def test_columns_that_cannot_be_read_are_left_be(make: Callable[[], Any]) -> None:
    result = prframe.evaluate(make(), "AP")
    if isinstance(result, pl.LazyFrame):
        result = result.collect()
    assert list(result["AP"]) == [1.0]


LAYOUTS = {
    "system by system": ["system", "query_id", "rank"],
    "query by query": ["query_id", "system", "rank"],
    "in turn": ["query_id", "rank", "system"],
    "at random": ["at_random"],
}


@pytest.mark.parametrize("columns", LAYOUTS.values(), ids=LAYOUTS)
def test_a_sample_of_many_rows_shows_what_is_ranked_together(
    columns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks = pl.DataFrame({"rank": range(20)})
    queries = pl.DataFrame({"query_id": range(100)})
    rows = pl.DataFrame({"system": ["a", "b", "c"]}).join(queries, how="cross")
    rows = rows.join(ranks, how="cross")
    rng = np.random.default_rng(1)
    rows = rows.with_columns(
        score=rng.random(rows.height),
        label=rng.random(rows.height) < 0.3,
        at_random=rng.random(rows.height),
    ).sort(columns)
    monkeypatch.setattr(_guards, "_MOST_ROWS", 1200)
    monkeypatch.setattr(_guards, "_STRETCHES", 60)
    assert _guards.stretches(rows).height == 1200
    with pytest.warns(prframe.PooledRankingWarning, match="'system' were ranked together"):
        prframe.evaluate(rows, "AP", by="query_id")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prframe.evaluate(rows, "AP", by=["system", "query_id"])
        prframe.evaluate(rows.filter(system="a"), "AP", by="query_id")


CALLS_OVER = {
    "evaluate": lambda rows: prframe.evaluate(rows, "AP", over="query_id"),
    "interval": lambda rows: prframe.interval(rows, "AP", over="query_id"),
    "ap_test": lambda rows: prframe.ap_test(rows, over="query_id"),
    "curve": lambda rows: prframe.curve(rows, over="query_id", recall=[0.5]),
    "compare": lambda rows: prframe.compare(rows, "AP", ["score", "other"]),
}


@pytest.mark.parametrize("call", CALLS_OVER.values(), ids=CALLS_OVER)
def test_rows_without_a_query_are_told_of(call) -> None:
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"score": rng.random(40), "other": rng.random(40)})
    rows = rows.with_columns(
        label=pl.int_range(40) % 3 == 0,
        query_id=pl.when(pl.int_range(40) < 30).then(pl.format("q{}", pl.int_range(40) // 6)),
    )
    with pytest.warns(prframe.PooledRankingWarning, match="is null in some rows"):
        call(rows.to_pandas())
    with pytest.warns(prframe.PooledRankingWarning) as caught:
        found = call(rows.lazy()).collect()
    assert [str(warning.message) for warning in caught] == [
        "`over` 'query_id' is null in some rows, which are taken as one group of their own; name "
        "the groups of these rows, or drop them. If they are one group, ignore "
        "PooledRankingWarning."
    ]
    assert_frame_equal(found, call(rows.with_columns(pl.col("query_id").fill_null("none"))))
