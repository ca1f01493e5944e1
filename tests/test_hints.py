"""What is said of the first guesses of people who come from other libraries."""

from collections.abc import Callable
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prframe
from prframe import hints
from prframe.accessors import verbs

GOOD = pl.DataFrame({"query_id": [1, 1], "label": [1, 0], "score": [2.0, 1.0]})


def test_synonyms_are_of_arguments_and_few() -> None:
    known = {name for verb in verbs() for name in signature(getattr(prframe, verb)).parameters}
    assert set(hints.SYNONYMS.values()) <= known
    assert all(word == word.lower() for word in hints.SYNONYMS)
    assert not set(hints.SYNONYMS) & set(hints.NOT_OFFERED)
    assert len(hints.SYNONYMS) <= 35


@pytest.mark.parametrize(
    ("frame", "given", "way"),
    [
        (
            np.array([1, 0]),
            "numpy.ndarray",
            " Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}.",
        ),
        (
            [1, 0],
            "list",
            " Arrays are given as a dict of columns, such as {'score': scores, 'label': labels}. "
            "Precomputed values of a metric are such a column, too, as in interval({'query_id': "
            "queries, 'AP': values}, values='AP', over='query_id').",
        ),
        (
            "rows.parquet",
            "str",
            " Read the file, for example with polars.scan_parquet or prframe.trec.read_run.",
        ),
        (
            {"q1": {"d1": 1}},
            "dict",
            " A dict of columns is a frame; prframe.trec.join makes one of a run and judgments by "
            "query.",
        ),
        (
            GOOD.group_by("query_id"),
            "polars.GroupBy",
            " Pass the frame itself and name its keys in by=.",
        ),
        (None, "NoneType", ""),
    ],
    ids=["array", "list", "path", "dict of queries", "group", "None"],
)
def test_what_is_no_frame(frame: object, given: str, way: str) -> None:
    with pytest.raises(prframe.PrframeError, match=r"^the frame must be a polars") as caught:
        prframe.evaluate(frame, [0.5, 0.6], "AP")
    assert str(caught.value).endswith(f" interface; got {given}.{way}")
    with pytest.raises(prframe.PrframeError, match=r"^the frame must be a polars"):
        prframe.curve(frame=frame)


def test_a_column_is_no_metric() -> None:
    for verb in (prframe.evaluate, prframe.compare, prframe.interval):
        for frame in (GOOD, GOOD.to_pandas(), GOOD.to_arrow(), GOOD.lazy()):
            with pytest.raises(prframe.PrframeError) as caught:
                verb(frame, "query_id", "AP")
            assert str(caught.value) == (
                "'query_id' is a column of the frame and not a metric; the metrics come after the "
                f"frame, for example {verb.__name__}(frame, 'AP'), and columns are named by "
                "score=, label= and by=."
                + " Name precomputed values of metrics with values=."
                * (verb != prframe.evaluate)
            )


def test_arrays_as_a_dict_of_columns() -> None:
    arrays = {"score": np.array([3.0, 2.0, 1.0]), "label": np.array([1, 0, 1])}
    result = prframe.evaluate(arrays, "AP")
    assert isinstance(result, pl.DataFrame)
    assert result["AP"].item() == pytest.approx((1 + 2 / 3) / 2)
    series = {"score": pd.Series([3.0, 2.0, 1.0]), "label": pl.Series([1, 0, 1])}
    assert prframe.evaluate(series, "AP").equals(result)
    with pytest.raises(prframe.PrframeError, match="cannot be read into polars"):
        prframe.evaluate(arrays | {"label": [1, 0]}, "AP")
    with pytest.raises(prframe.PrframeError, match="`score` must be numeric"):
        prframe.evaluate(arrays | {"score": np.ones((3, 2))}, "AP")
    with pytest.raises(prframe.MissingColumnError, match="its columns are 'scores', 'label'"):
        prframe.evaluate({"scores": [1], "label": [1]}, "AP")


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("rocs", " Did you mean 'roc'?"),
        ("zzz", ""),
    ],
)
@pytest.mark.parametrize(("door", "library"), [("plot", "matplotlib"), ("chart", "altair")])
def test_names_that_pictures_do_not_have(door: str, library: str, name: str, end: str) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(prframe, door), name)
    start = f"module 'prframe.{door}' has no attribute {name!r}."
    assert str(caught.value) == start + end


@pytest.mark.parametrize(
    ("call", "end"),
    [
        (
            lambda: prframe.interval(GOOD, "AP", score=[0.1, 0.2]),
            "got [0.1, 0.2]. Make it a column of the frame and give its name.",
        ),
        (
            lambda: prframe.plot.curve([0.1, 0.2]),
            "`result` must be a result of curve(); got list. Make one of scores and labels by "
            "prframe.curve({'score': scores, 'label': labels}).",
        ),
    ],
)
def test_the_call_that_is_meant(call: Callable[[], object], end: str) -> None:
    with pytest.raises((prframe.PrframeError, TypeError, AttributeError)) as caught:
        call()
    assert str(caught.value).endswith(end)
