"""The verbs on Spark frames: the numbers of polars, bit for bit; what is refused, before any job."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe._engine.frames import source
from tests.spark.conftest import MODE, lacking

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.PrframeWarning",
    # These are pyspark's own.
    "ignore::FutureWarning",
    "ignore::DeprecationWarning",
    "ignore::ResourceWarning",
    "ignore::UserWarning:pyspark",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

RNG = np.random.default_rng(7)
N = 420
DATA = pl.DataFrame(
    {
        "model": RNG.choice(["x", "y", "z"], N),
        "query": RNG.integers(0, 7, N),
        "score": RNG.normal(size=N).round(1),
        "label": RNG.integers(-1, 3, N).clip(0),
        "judged": True,
        "item": [f"d{i}" for i in range(N)],
        "weight": RNG.integers(1, 4, N).astype(np.float64),
        "total": 200,
    }
).sort("model", "query")
DATA = DATA.with_columns(user=pl.col("query") // 2)
DATA = DATA.with_columns(
    llm=pl.when(pl.col("item").str.ends_with("3"))
    .then(1 - pl.col("label").clip(0, 1))
    .otherwise("label"),
    human=pl.when(pl.col("query") < 5).then("label"),
)
BOTH = {"label": "human", "predicted": "llm"}
BY = ["model", "query"]
LEVELS = [0.0, 0.4, 0.8]
DRAWN = {"rng": 1, "n_resamples": 50}
CALLS = {
    "check": lambda f: prframe.check(f, by=BY, item="item", k=[3, 5]),
    "evaluate": lambda f: prframe.evaluate(f, ["AP", "nDCG@3", "RR", "AUC", "Bpref"], by=BY),
    "long": lambda f: prframe.evaluate(f, ["AP", "P@3"], by=BY, layout="long"),
    "trec": lambda f: prframe.evaluate(f, "AP", by=BY, ties="trec", item="item"),
    "weighted": lambda f: prframe.evaluate(f, "AP", by=BY, weight="weight", n_pos="total"),
    "models": lambda f: prframe.evaluate(f, "AP", ["score", "weight"], by="query"),
    "summary": lambda f: prframe.evaluate(f, ["AP", "RR"], by="model", over="query"),
    "means": lambda f: prframe.evaluate(f, ["AP", "RR"], by="model", over="query", layout="wide"),
    "one mean": lambda f: prframe.evaluate(f, "AP", over=BY, geometric_mean=True),
    "curve": lambda f: prframe.curve(f, by=BY),
    "curve at levels": lambda f: prframe.curve(f, by=BY, recall=LEVELS),
    "mean curve": lambda f: prframe.curve(f, by="model", over="query", recall=LEVELS),
    "roc": lambda f: prframe.roc(f, by=BY),
    "topk_test": lambda f: prframe.topk_test(f, k=[3, 9], by=BY),
    "topk_test corrected": lambda f: prframe.topk_test(f, k=[3, 9], by=BY, correction="holm"),
    "ap_test": lambda f: prframe.ap_test(f, by=BY),
    "ap_test corrected": lambda f: prframe.ap_test(f, by=BY, correction="holm"),
    "ap_test of means": lambda f: prframe.ap_test(f, by="model", over="query"),
    "rank_test": lambda f: prframe.rank_test(f, by=BY, phi=["mww", "local-auc"]),
    "rank_test corrected": lambda f: prframe.rank_test(f, by=BY, correction="bh"),
    "band": lambda f: prframe.band(f, by="model", recall=LEVELS[1:], **DRAWN),
    "sup band": lambda f: prframe.band(
        f, by="model", recall=LEVELS[1:], method="smoothed-bootstrap", **DRAWN
    ),
    "mean band": lambda f: prframe.band(f, by="model", over="query", recall=LEVELS, **DRAWN),
    "mean band of clusters": lambda f: prframe.band(
        f, by="model", over="query", cluster="user", recall=LEVELS, **DRAWN
    ),
    "interval": lambda f: prframe.interval(f, ["AP", "AUC", "P@5"], by=BY, **DRAWN),
    "interval of means": lambda f: prframe.interval(f, "AP", by="model", over="query", **DRAWN),
    "interval of clusters": lambda f: prframe.interval(
        f, ["AP", "P@5"], by="model", over="query", cluster="user", method="bca", **DRAWN
    ),
    "interval of two judges": lambda f: prframe.interval(
        f, ["AP", "P@5"], by="model", over="query", **BOTH
    ),
    "compare by two judges": lambda f: prframe.compare(f, ["AP", "P@3"], over="query", **BOTH),
    "check of two judges": lambda f: prframe.check(f, by=BY, **BOTH),
    "compare": lambda f: prframe.compare(f, ["AP", "P@3"], over="query", **DRAWN),
    "compare columns": lambda f: prframe.compare(
        f, "AP", ["score", "weight"], over="query", by="model", model=None, **DRAWN
    ),
    "compare_curves": lambda f: prframe.compare_curves(f, over="query", recall=LEVELS, **DRAWN),
    "compare_curves of clusters": lambda f: prframe.compare_curves(
        f, over="query", cluster="user", recall=LEVELS, **DRAWN
    ),
}
VALUES = prframe.evaluate(DATA, ["AP", "RR"], by=BY)
TESTED = prframe.ap_test(DATA, by=BY).select(*BY, "ap", "n_pos", "n")
AT_HAND = {
    "compare": lambda f: prframe.compare(f, values=["AP", "RR"], over="query", **DRAWN),
    "interval": lambda f: prframe.interval(f, values="AP", by="model", over="query"),
}
NOON = datetime(1999, 1, 1, 12, tzinfo=UTC)
KEYS = {
    "tinyint": pl.Series([1, 2, None, -3], dtype=pl.Int8),
    "smallint": pl.Series([1, 2**15 - 1, None, -(2**15)], dtype=pl.Int16),
    "int": pl.Series([1, 2**31 - 1, None, -(2**31)], dtype=pl.Int32),
    "bigint": pl.Series([1, 2**62, None, -3]),
    "string": pl.Series(["a", "Ä`", None, ""]),
    "boolean": pl.Series([True, False, None, True]),
    "date": pl.Series([date(2020, 1, 1), date(1, 1, 1), None, date(2020, 1, 2)]),
    "timestamp": pl.Series(
        [
            datetime(2020, 1, 1, tzinfo=UTC),
            datetime(2020, 7, 1, 12, 0, 0, 5, tzinfo=UTC),
            None,
            NOON,
        ]
    ),
    "timestamp_ntz": pl.Series(
        [datetime(2020, 1, 1), datetime(2020, 7, 1, 12), None, datetime(1999, 1, 1)]  # noqa: DTZ001
    ),
    "decimal": pl.Series(
        [Decimal("1.10"), Decimal("-2.25"), None, Decimal("1.11")], dtype=pl.Decimal(10, 2)
    ),
    "wide decimal": pl.Series(
        [Decimal("1e-18"), Decimal(10) ** 19, None, Decimal("-1e-18")], dtype=pl.Decimal(38, 18)
    ),
    "float": pl.Series([1.5, float("inf"), None, float("nan")], dtype=pl.Float32),
    "double": pl.Series([0.0, float("nan"), None, -0.0]),
    "binary": pl.Series([b"a", b"", None, b"\xff"]),
}


# Names that Spark quotes.
EVERY = [f"o.f `{kind}" for kind in KEYS]
KEYED = {
    "evaluate": lambda f: prframe.evaluate(f, ["AP", "nDCG@3", "AUC"], by=[*EVERY, "model"]),
    "means": lambda f: prframe.evaluate(f, ["AP", "RR"], by="model", over=EVERY),
    "curve": lambda f: prframe.curve(f, by=[*EVERY, "model"]),
    "ap_test of means": lambda f: prframe.ap_test(f, by="model", over=EVERY),
    "mean band": lambda f: prframe.band(f, by="model", over=EVERY, recall=LEVELS, **DRAWN),
    "interval of means": lambda f: prframe.interval(f, "AP", by="model", over=EVERY, **DRAWN),
    "compare": lambda f: prframe.compare(f, "AP", over=EVERY, **DRAWN),
}


def with_keys_of_every_type(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows whose queries are named by a column of each type, no single one of them alone.

    They are in the order in which Spark's rows are added up: keys that are floats come last.
    """
    query = frame["query"].to_numpy()
    places = [query % 4, query // 2 % 4]
    names = zip(EVERY, KEYS.values(), strict=True)
    keyed = frame.with_columns(
        values[places[i % 2]].alias(name) for i, (name, values) in enumerate(names)
    )
    floats = [name for name in EVERY if keyed.schema[name].is_float()]
    return keyed.sort(pl.exclude(*floats, *frame.columns), "model", *floats)


def read(frame) -> pl.DataFrame:
    """Collect a Spark frame."""
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows in an order of their own, as Spark has none."""
    return rows.sort(pl.all())


def assert_same(spark, polars: pl.DataFrame) -> None:
    """Require the rows of polars with the same bits.

    The p-values of AP alone depend on the groups that are computed beside, in the last digits.
    """
    assert spark.columns == polars.columns
    of_ap = ("p_value", "log10_p_value", "p_adjusted") if {"ap", "map"} & {*polars.columns} else ()
    rows, expected = in_order(read(spark)), in_order(polars)
    inexact = [name for name in of_ap if name in expected.columns]
    assert_frame_equal(rows.drop(inexact), expected.drop(inexact), check_exact=True)
    assert_frame_equal(rows.select(inexact), expected.select(inexact), rel_tol=1e-9)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_verbs(to_spark, call) -> None:
    assert_same(call(to_spark(DATA)), call(DATA))


@pytest.mark.parametrize("call", AT_HAND.values(), ids=AT_HAND)
def test_precomputed_values(to_spark, call) -> None:
    assert_same(call(to_spark(VALUES)), call(VALUES))


def test_ap_at_hand(to_spark) -> None:
    def call(frame):
        return prframe.ap_test(frame, ap="ap", n_pos="n_pos", n="n", by=BY, correction="by")

    assert_same(call(to_spark(TESTED)), call(TESTED))


@pytest.mark.slow
@pytest.mark.parametrize("call", KEYED.values(), ids=KEYED)
def test_verbs_with_keys_of_every_type(to_spark, call) -> None:
    keyed = with_keys_of_every_type(DATA)
    assert keyed.select(EVERY).n_unique() == 7
    spark = to_spark(keyed)
    result = call(spark)
    kinds = dict(result.dtypes)
    assert {name: kinds[name] for name in EVERY if name in kinds}.items() <= dict(
        spark.dtypes
    ).items()
    assert_same(result, call(keyed))


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_instants_in_sessions_of_other_zones(session, zone) -> None:
    times = KEYS["timestamp"][DATA["query"].to_numpy() % 4]
    keyed = DATA.with_columns(times.alias("at"))
    session.conf.set("spark.sql.session.timeZone", zone)
    try:
        spark = session.createDataFrame(keyed.to_arrow(compat_level=pl.CompatLevel.oldest()))
        for call in (
            lambda f: prframe.evaluate(f, ["AP", "AUC"], by=["at", "model"]),
            lambda f: prframe.rank_test(f, by=["at", "query"], correction="holm"),
        ):
            rows = read(call(spark)).with_columns(pl.col("at").dt.convert_time_zone("UTC"))
            assert_frame_equal(in_order(rows), in_order(call(keyed)), check_exact=True)
    finally:
        session.conf.set("spark.sql.session.timeZone", "UTC")


def test_models_keep_their_type(to_spark) -> None:
    frame = DATA.with_columns(model=pl.col("model").replace_strict({"x": 1, "y": 2, "z": 3}))
    frame = frame.cast({"model": pl.Int8})
    result = prframe.compare(to_spark(frame), "AP", over="query", baseline=2)
    assert dict(result.dtypes)["model_a"] == "tinyint"
    assert_same(result, prframe.compare(frame, "AP", over="query", baseline=2))


@pytest.mark.slow
def test_nothing_runs_at_the_call() -> None:
    from tests.spark.likeness import DataFrame

    frame = DataFrame.of(DATA)
    for call in CALLS.values():
        call(frame)
    assert not frame.jobs


REFUSED = {
    "all rows are one ranking, and weights are added up in order of rank, so that one worker would "
    "have to hold all of them; name groups with by=, or pass the rows to polars, for example with "
    "polars.scan_parquet of files that Spark has written.": lambda f: prframe.evaluate(
        f, "AP", weight="weight"
    ),
    "all rows are one ranking, and items are compared with all others, so that one worker would "
    "have to hold all of them; name groups with by=, or pass the rows to polars, for example with "
    "polars.scan_parquet of files that Spark has written.": lambda f: prframe.topk_test(
        f, item="item"
    ),
    "all rows are one ranking, and each column of scores has an order of its own, so that one "
    "worker would have to hold all of them; name groups with by=, or pass the rows to polars, for "
    "example with polars.scan_parquet of files that Spark has written.": lambda f: (
        prframe.evaluate(f, "AP", ["score", "weight"])
    ),
    "ties='order' keeps the input order, and the rows of a Spark frame have none; take 'group', or "
    "order tied items by their names with ties='trec' and item=.": lambda f: prframe.evaluate(
        f, "AP", by="query", ties="order"
    ),
    "a comparison on the same items (no over=) matches the models of all groups, which is not "
    "done on Spark; pass these rows to polars, for example with "
    "polars.from_arrow(frame.toArrow()).": lambda f: prframe.compare(
        f, "AP", over=None, item="item", by="query"
    ),
    "only the verbs take a Spark frame; collect what is needed here, for example with "
    "frame.toArrow().": lambda f: source(f, {"score": "score"}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_before_any_job(message) -> None:
    from tests.spark.likeness import DataFrame

    frame = DataFrame.of(DATA)
    with pytest.raises(prframe.PrframeError) as caught:
        REFUSED[message](frame)
    assert str(caught.value) == message
    assert not frame.jobs


def test_names_equal_up_to_case() -> None:
    from tests.spark.likeness import DataFrame

    frame = DataFrame.of(DATA.with_columns(Score=pl.lit(1.0)))
    message = r"the frame has columns 'score', 'Score', which Spark does not tell apart"
    with pytest.raises(prframe.PrframeError, match=message):
        prframe.evaluate(frame, "AP", by="query")
    frame = DataFrame.of(DATA.rename({"query": "ap"}))
    message = r"the result would have columns 'ap', 'AP', which Spark does not tell apart"
    with pytest.raises(prframe.PrframeError, match=message):
        prframe.evaluate(frame, "AP", by="ap")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 2], "array<bigint>"),
        ({"a": 1}, "struct<a:bigint>"),
        (time(12), "time(6)"),
        (timedelta(1), "interval day to second"),
    ],
)
def test_keys_that_are_no_plain_values(value, kind) -> None:
    from tests.spark.likeness import DataFrame

    frame = DataFrame.of(DATA.with_columns(pl.Series("parts", [value] * N)))
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.evaluate(frame, "AP", by="parts")
    assert str(caught.value) == (
        f"`by` must name columns of plain values; 'parts' is {kind} in Spark; cast it, for "
        "example to string."
    )
    assert not frame.jobs


def test_faults_of_rows(to_spark) -> None:
    frame = DATA.with_columns(score=pl.when(pl.col("query") != 3).then("score"))
    result = prframe.evaluate(to_spark(frame), "AP", by=BY)
    with pytest.raises(Exception, match="`score` 'score' must not contain nulls or NaN"):
        read(result)


@pytest.mark.slow
@pytest.mark.skipif(MODE == "connect", reason="this runs the tests with Connect")
def test_connect() -> None:
    """Run the tests of Spark once more, in a process of their own, on a Connect session."""
    if reason := lacking():
        pytest.skip(reason)
    environment = os.environ | {"PRFRAME_SPARK_MODE": "connect"}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow", str(Path(__file__).parent)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
