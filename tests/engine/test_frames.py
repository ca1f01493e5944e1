"""Every kind of frame: equal values, the caller's kind out."""

import datetime as dt
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe._engine.frame_kinds import kinds
from prframe.accessors import verbs

# Some calls take the rows of all queries as one ranking on purpose, or have few levels of scores.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.CoverageWarning",
    "ignore::prframe.NoNegativesWarning",
    "ignore::prframe.PooledRankingWarning",
    "ignore::prframe.UnlistedItemsWarning",
)

RNG = np.random.default_rng(7)
N = 200
DATA = pl.DataFrame(
    {
        "model": pl.Series(RNG.choice(["x", "y"], N), dtype=pl.Categorical),
        "query": RNG.integers(0, 5, N),
        "score": np.round(RNG.normal(size=N), 1),
        "label": RNG.random(N) < 0.4,
        "row": range(N),
        "text": ["not needed"] * N,
    }
)
BY = ["model", "query"]
CALLS = {name: partial(getattr(prframe, name), by=BY) for name in verbs()} | {
    "evaluate": lambda frame: prframe.evaluate(frame, ["AP", "nDCG@3", "RR"], by=BY),
    "long": lambda frame: prframe.evaluate(frame, ["AP", "P@3"], by=BY, layout="long"),
    "input": lambda frame: prframe.curve(frame, by=BY, order="input"),
    "levels": lambda frame: prframe.curve(frame, by=BY, recall=[0.0, 0.5]),
    "mean curve": lambda frame: prframe.curve(frame, by="model", over="query", recall=[0.0, 0.5]),
    "mean band": lambda frame: prframe.band(
        frame, by="model", over="query", recall=[0.0, 0.5], rng=1, n_resamples=50
    ),
    "mean curves compared": lambda frame: prframe.compare_curves(
        frame, over="query", recall=[0.0, 0.5], rng=1, n_resamples=50
    ),
    "ap_test": lambda frame: prframe.ap_test(frame, by=BY, correction="holm"),
    "rank_test": lambda frame: prframe.rank_test(
        frame, by="model", phi=["mww", "local-auc"], correction="holm"
    ),
    "compare": lambda frame: prframe.compare(
        frame, ["AP", "P@3"], over="query", power=0.8, n_resamples=50, rng=1
    ),
    "band": lambda frame: prframe.band(
        frame, by="model", recall=[0.3, 0.6], rng=1, n_resamples=50
    ),
    "compare_curves": lambda frame: prframe.compare_curves(
        frame, item="row", incomplete="last", recall=[0.3, 0.6], rng=1, n_resamples=50
    ),
    "interval": lambda frame: prframe.interval(frame, ["AP"], by="model", rng=1, n_resamples=50),
    "topk_test": lambda frame: prframe.topk_test(frame, by=BY, k=[3, 50], ties="order"),
}
# Columns of results that hold values of the caller's, and whose.
COPIED = {"model": "model", "query": "query", "model_a": "model", "model_b": "model"}
calls = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Forget how keys are encoded."""
    return frame.with_columns(
        pl.col(name).cast(pl.String)
        for name in COPIED
        if name != "query" and name in frame.columns
    )


@calls
def test_lazy(call) -> None:
    result = call(DATA.lazy())
    assert isinstance(result, pl.LazyFrame)
    expected = call(DATA)
    assert result.collect_schema() == expected.schema
    for engine in ("in-memory", "streaming"):
        assert_frame_equal(result.collect(engine=engine), expected)


@calls
@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_pandas(call, backend: str) -> None:
    given = DATA.to_pandas(use_pyarrow_extension_array=backend == "pyarrow")
    if backend == "numpy_nullable":
        given = given.convert_dtypes(dtype_backend="numpy_nullable")
    given.index = pd.Index(range(1000, 1000 + N))
    before = given.copy()
    result = call(given)
    assert isinstance(result, pd.DataFrame)
    assert isinstance(result.index, pd.RangeIndex)
    for name in set(COPIED) & set(result.columns):
        assert result[name].dtype == given[COPIED[name]].dtype
    for name in set(result.columns) - set(COPIED):
        dtype = result[name].dtype
        if backend == "pyarrow":
            assert isinstance(dtype, pd.ArrowDtype)
        elif backend == "numpy_nullable":
            assert dtype.na_value is pd.NA
        else:
            assert isinstance(dtype, (np.dtype, pd.StringDtype))
    assert_frame_equal(plain(pl.from_pandas(result)), plain(call(DATA)), check_dtypes=False)
    pd.testing.assert_frame_equal(given, before)


@calls
def test_pyarrow(call) -> None:
    given = DATA.with_columns(pl.col("model").cast(pl.String)).to_arrow(
        compat_level=pl.CompatLevel.oldest()
    )
    result = call(given)
    assert isinstance(result, pa.Table)
    for name in set(COPIED) & set(result.column_names):
        assert result.schema.field(name).type == given.schema.field(COPIED[name]).type
    assert_frame_equal(plain(pl.from_arrow(result)), plain(call(DATA)))


# Kinds of frames that need no dtypes of their own: how polars becomes one, what comes back, and how
# that is read, given the dtypes that it should have, which not every kind of frame can tell.
KINDS = {
    "duckdb": (
        lambda rows: duckdb.from_arrow(rows.to_arrow()),
        pa.Table,
        lambda result, _: pl.from_arrow(result),
    ),
    "dict of lists": (
        lambda rows: rows.to_dict(as_series=False),
        pl.DataFrame,
        lambda result, schema: result.cast(schema),
    ),
    "dict of arrays": (
        lambda rows: {
            column.name: column.to_list() if column.null_count() else column.to_numpy()
            for column in rows
        },
        pl.DataFrame,
        lambda result, schema: result.cast(schema),
    ),
}


@calls
@pytest.mark.parametrize(("make", "back", "read"), KINDS.values(), ids=KINDS)
def test_other_kinds(call, make, back, read) -> None:
    result = call(make(DATA.with_columns(pl.col("model").cast(pl.String))))
    assert isinstance(result, back)
    expected = call(DATA)
    assert_frame_equal(plain(read(result, expected.schema)), plain(expected))


def test_kinds_are_named() -> None:
    arrow = "pyarrow Table, or any other frame with the Arrow PyCapsule interface"
    for what in ("polars DataFrame or LazyFrame", "pandas DataFrame", "dict of columns", arrow):
        assert what in kinds()


def test_record_batches_are_tables() -> None:
    batch = pa.RecordBatch.from_pydict({"score": [2.0, 1.0], "label": [True, False]})
    assert prframe.evaluate(batch, "AP")["AP"].to_pylist() == [1.0]


def test_null_keys_are_a_group() -> None:
    data = pl.DataFrame({"q": ["a", None, None], "score": [1.0, 2.0, 1.0], "label": [1, 0, 1]})
    assert prframe.evaluate(data, "AP", by="q").rows() == [("a", 1.0), (None, 0.5)]
    result = prframe.evaluate(data.to_pandas(), "AP", by="q")
    assert result["AP"].tolist() == [1.0, 0.5]
    assert result["q"].isna().tolist() == [False, True]
    numeric = pd.DataFrame(
        {"q": [1.0, np.nan, np.nan], "score": [1.0, 2.0, 1.0], "label": [1, 0, 1]}
    )
    assert prframe.evaluate(numeric, "AP", by="q")["AP"].tolist() == [1.0, 0.5]


def test_groups_come_in_order_of_first_appearance() -> None:
    for queries in (["b", "b", "a", "a"], ["b", "a", "b", "a"]):
        data = pl.DataFrame({"q": queries, "score": [4, 3, 2, 1], "label": [1, 1, 0, 1]})
        assert prframe.evaluate(data, "AP", by="q")["q"].to_list() == ["b", "a"]


def test_undefined_is_null_in_every_kind() -> None:
    data = pl.DataFrame({"q": [1, 1, 2], "score": [2.0, 1.0, 1.0], "label": [1, 0, 0]})
    with pytest.warns(prframe.UndefinedMetricWarning):
        assert prframe.evaluate(data, "AP", by="q")["AP"].to_list() == [1.0, None]
    with pytest.warns(prframe.UndefinedMetricWarning):
        assert prframe.evaluate(data.to_pandas(), "AP", by="q")["AP"].isna().tolist() == [
            False,
            True,
        ]
    nullable = data.to_pandas().convert_dtypes()
    with pytest.warns(prframe.UndefinedMetricWarning):
        result = prframe.evaluate(nullable, "AP", by="q")
    assert str(result["AP"].dtype) == "Float64"
    assert result["AP"].isna().tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
@pytest.mark.slow
def test_empty_frames_give_no_rows() -> None:
    for frame in (
        DATA.clear(),
        DATA.clear().lazy(),
        DATA.clear().to_pandas(),
        DATA.clear().to_arrow(),
    ):
        for name in set(CALLS) - {"check"}:
            result = CALLS[name](frame)
            result = result.collect() if isinstance(result, pl.LazyFrame) else result
            assert len(result) == 0
    assert prframe.evaluate(DATA.clear(), "AP").is_empty()


@pytest.mark.slow
def test_the_source_is_not_touched() -> None:
    before = DATA.clone()
    for call in CALLS.values():
        call(DATA)
    assert_frame_equal(DATA, before)


def test_days_of_pandas_come_back_as_days() -> None:
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None]
    frame = pd.DataFrame({"day": days, "score": [3.0, 2.0, 1.0], "label": [1, 1, 1]})
    result = prframe.evaluate(frame, "AP", by="day", n_neg=3)
    assert result["day"].dtype == frame["day"].dtype == object
    assert result["day"].to_list() == days
    assert len(result.merge(frame, on="day")) == 3


def test_an_enum_and_a_date_key() -> None:
    data = pl.DataFrame(
        {
            "e": pl.Series(["u", "v"], dtype=pl.Enum(["v", "u"])),
            "d": pl.Series(["2026-01-01", "2026-01-02"]).str.to_date(),
            "score": [1.0, 1.0],
            "label": [True, True],
        }
    )
    result = prframe.evaluate(data, "AP", by=["e", "d"])
    assert result.schema["e"] == data.schema["e"]
    assert result["d"].to_list() == data["d"].to_list()
