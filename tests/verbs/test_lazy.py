"""Lazy frames: nothing runs before it is collected, and then once."""

from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.accessors import verbs

DATA = pl.DataFrame({"q": [1, 1, 2, 2], "score": [2.0, 1.0, 3.0, 1.0], "label": [1, 0, 0, 1]})


# A report looks at the rows from several sides, a time each.
ONCE = [name for name in verbs() if name != "check"]
CALLS = {name: partial(getattr(prframe, name), by="q") for name in ONCE} | {
    "evaluate": lambda frame: prframe.evaluate(frame, ["AP", "nDCG"], by="q"),
    "evaluate of one group": lambda frame: prframe.evaluate(frame, ["AP"]),
    "curve in input order": lambda frame: prframe.curve(frame, by="q", order="input"),
    "mean curve": lambda frame: prframe.curve(frame, over="q"),
    "mean band": lambda frame: prframe.band(frame, over="q", rng=1, n_resamples=50),
    "mean curves compared": lambda frame: prframe.compare_curves(
        frame, ["score", "label"], over="q", rng=1, n_resamples=50
    ),
    "roc": lambda frame: prframe.roc(frame),
    "topk_test": lambda frame: prframe.topk_test(frame, by="q", k=[1, 2]),
    "rank_test": lambda frame: prframe.rank_test(frame, by="q", phi=["mww", "rtb"]),
    "compare": lambda frame: prframe.compare(
        frame.with_columns(m=pl.lit(["x", "y"])).explode("m"), "AP", model="m", over="q"
    ),
    "band": lambda frame: prframe.band(frame, by="q", rng=1, n_resamples=50),
    "interval": lambda frame: prframe.interval(frame, "AP", by="q", rng=1, n_resamples=50),
    "compare_curves": lambda frame: prframe.compare_curves(
        frame, ["score", "label"], by="q", rng=1, n_resamples=50
    ),
}


@pytest.fixture
def counted() -> tuple[pl.LazyFrame, list[int]]:
    """A query that counts how often its rows are made."""
    runs: list[int] = []

    def source() -> pl.DataFrame:
        runs.append(1)
        return DATA

    return pl.defer(source, schema=DATA.schema), runs


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.filterwarnings("ignore:.*conf_low:prframe.UndefinedMetricWarning")
def test_nothing_runs_before_collect_and_then_once(call, counted) -> None:
    query, runs = counted
    result = call(query)
    assert isinstance(result, pl.LazyFrame)
    schema = result.collect_schema()
    assert runs == []
    collected = result.collect()
    assert runs == [1]
    assert collected.schema == schema
    assert_frame_equal(collected, call(DATA))


def test_results_go_on_in_the_query(tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    DATA.write_parquet(path)
    values = pl.scan_parquet(path).pr.evaluate("AP", by="q")
    joined = values.join(values.rename({"AP": "again"}), on="q").filter(pl.col("AP") > 0.6)
    for engine in ("in-memory", "streaming"):
        assert joined.collect(engine=engine).rows() == [(1, 1.0, 1.0)]
    values.sink_parquet(tmp_path / "values.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "values.parquet"), values.collect())


def test_a_warning_comes_when_it_is_collected() -> None:
    query = prframe.evaluate(DATA.lazy().with_columns(label=0), "AP")
    with pytest.warns(
        prframe.UndefinedMetricWarning, match="AP: undefined, so null or NaN, for the rows"
    ):
        assert query.collect().item() is None
