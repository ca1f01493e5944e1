"""Columns and frames at the border: keys come back as they were, and what misleads is refused."""

import uuid

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import prframe
from prframe._engine.frame_kinds import kind_of
from tests.spark.likeness import DataFrame as LikeSpark

ROWS = {"score": [0.9, 0.8, 0.7, 0.6], "label": [1, 0, 0, 1]}
A, B = uuid.UUID(int=1), uuid.UUID(int=2)


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_uuids_of_pandas_stay_uuids() -> None:
    frame = pd.DataFrame({"q": [A, A, B, B], **ROWS})
    values = prframe.evaluate(frame, "AP", by="q")
    assert values["q"].tolist() == [A, B]
    assert len(frame.merge(values, on="q")) == 4
    curve = prframe.curve(frame, by="q")
    assert set(curve["q"]) == {A, B}
    models = frame.assign(item=[1, 2, 1, 2], label=[1, 0, 1, 0])
    found = prframe.compare(models, "AP", model="q", item="item", over=None, rng=1, n_resamples=50)
    assert {found["model_a"][0], found["model_b"][0]} == {A, B}
    unnamed = frame.assign(q=[A, A, None, None])
    assert prframe.evaluate(unnamed, "AP", by="q")["q"].tolist() == [A, None]
    plain = pd.DataFrame({"q": [b"a", b"a", b"\xff", b"\xff"], **ROWS})
    assert prframe.evaluate(plain, "AP", by="q")["q"].tolist() == [b"a", b"\xff"]


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("score", pd.arrays.SparseArray([0.9, 0.8, 0.7, 0.6])),
        ("label", pd.arrays.SparseArray([1, 0, 0, 1])),
        ("label", pd.arrays.SparseArray([True, False, False, True])),
        ("label", pd.Series([True, 0, False, 1], dtype=object)),
        ("q", pd.arrays.SparseArray([0, 0, 1, 1])),
        ("w", pd.arrays.SparseArray([1.0, 1.0, 1.0, 1.0])),
    ],
)
def test_sparse_and_mixed_columns_are_read(column: str, values: object) -> None:
    plain = pd.DataFrame({"q": [0, 0, 1, 1], "w": [1.0] * 4, **ROWS})
    options = {"by": "q", "weight": "w"}
    expected = prframe.evaluate(plain, "AP", **options)["AP"].tolist()
    found = prframe.evaluate(plain.assign(**{column: values}), "AP", **options)
    assert found["AP"].tolist() == expected


def test_columns_that_cannot_be_read_are_named() -> None:
    frame = pd.DataFrame(ROWS).assign(label=pd.Series([1, "x", 0, 1], dtype=object))
    with pytest.raises(prframe.PrframeError, match="column 'label', of dtype object"):
        prframe.evaluate(frame, "AP")


@pytest.mark.parametrize("verb", [prframe.curve, lambda frame: prframe.evaluate(frame, "AP")])
def test_a_reader_is_read_once(verb) -> None:
    reader = pa.table(ROWS).to_reader()
    verb(reader)
    with pytest.raises(prframe.PrframeError) as caught:
        verb(reader)
    assert str(caught.value) == (
        "the reader has no rows, or no more of them; got a pyarrow RecordBatchReader, which can be "
        "read once; make a table with read_all() first, and pass that."
    )


def test_streaming_frames_are_refused() -> None:
    frame = LikeSpark.of(pl.DataFrame(ROWS))
    frame.isStreaming = True
    with pytest.raises(prframe.PrframeError, match="a streaming frame has parts"):
        prframe.evaluate(frame, "AP")
    assert kind_of(frame).is_elsewhere


def test_a_column_called_pr_is_named() -> None:
    frame = pd.DataFrame({"pr": [1, 2, 3, 4], **ROWS})
    assert prframe.evaluate(frame, "AUC", "pr")["AUC"].item() == 0.5
    with pytest.raises(AttributeError, match=r"The column 'pr' is frame\['pr'\]$"):
        frame.pr.mean()
    with pytest.raises(AttributeError, match=r"has no 'evaluat'; it has .*evaluate"):
        pd.DataFrame(ROWS).pr.evaluat()
