"""Rankings that no worker holds: the numbers of polars, bit for bit, by counts of where rows lie."""

import numpy as np
import polars as pl
import pytest

import prframe
from tests.spark.test_verbs import KEYS, assert_same, pytestmark  # noqa: F401 - marks this file

RNG = np.random.default_rng(11)
N = 600
SETTING = "spark.prframe.plan"
DATA = pl.DataFrame(
    {
        "query": RNG.choice(["a", "b", "c", None], N, p=[0.8, 0.1, 0.05, 0.05]),
        "score": RNG.normal(size=N).round(2),
        "label": RNG.integers(-6, 3, N).clip(0),
        "judged": RNG.random(N) < 0.3,
        "total": N,
    }
).with_columns(
    pl.col("judged") | (pl.col("label") > 0),
    score=pl.when(pl.int_range(N) % 19 == 0).then(float("-inf")).otherwise("score"),
)
METRICS = [
    "AP",
    "AUC",
    "AUPRC",
    "P@7",
    "R@100",
    "RR",
    "nDCG@10",
    "ERR",
    "MaxF1",
    "Bpref",
    "P(rel=2)@5",
]
CALLS = {
    "evaluate": lambda f, by: prframe.evaluate(f, METRICS, by=by),
    "labels": lambda f, by: prframe.evaluate(f, ["AP", "AUC"], by=by, positive=[2], ignore=[1]),
    "totals": lambda f, by: prframe.evaluate(f, ["AP", "R@9"], by=by, n_pos="total", n_neg=2 * N),
    "threshold": lambda f, by: prframe.evaluate(
        f, ["P(threshold=0.5)", "MCC(threshold=-1)"], by=by
    ),
    "unretrieved": lambda f, by: prframe.evaluate(f, "AP", by=by, include_unretrieved=True),
    "float32": lambda f, by: prframe.evaluate(f, ["AP", "AUC"], by=by, float32=True),
    "best": lambda f, by: prframe.evaluate(f, ["AP", "nDCG@10"], by=by, ties="best"),
    "expected": lambda f, by: prframe.evaluate(f, ["AP", "RR"], by=by, ties="expected"),
    "curve": lambda f, by: prframe.curve(f, by=by, recall=[0.0, 0.3, 0.31, 1.0], anchor=False),
    "upper curve": lambda f, by: prframe.curve(f, by=by, recall=[0.0, 0.5], interpolate=True),
    "topk_test": lambda f, by: prframe.topk_test(f, k=[3, 200], by=by),
    "ap_test": lambda f, by: prframe.ap_test(f, by=by, method="normal"),
    "rank_test": lambda f, by: prframe.rank_test(f, by=by, phi=["mww", "local-auc"]),
}


@pytest.fixture
def planned(to_spark):
    """Return the function that makes a frame in a session whose plan is to count rows."""
    confs = []

    def make(frame: pl.DataFrame):
        spark = to_spark(frame)
        confs.append(spark.sparkSession.conf)
        confs[0].set(SETTING, "range")
        return spark

    yield make
    for conf in confs:
        conf.set(SETTING, "auto")


@pytest.mark.parametrize("by", ["query"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_counted_rows(planned, call, by) -> None:
    assert_same(call(planned(DATA), by), call(DATA, by))


def test_second_steps(planned) -> None:
    frame = DATA.sort("query")
    spark = planned(frame)
    for call in (
        lambda f: prframe.evaluate(f, ["AP", "RR"], over="query"),
        lambda f: prframe.rank_test(f, by="query", correction="holm"),
    ):
        assert_same(call(spark), call(frame))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEYS)
def test_keys(planned, kind) -> None:
    index = np.random.default_rng(3).integers(0, 4, DATA.height)
    keyed = DATA.with_columns(KEYS[kind][index].alias("k.e`y"))
    result = prframe.evaluate(planned(keyed), ["AP", "AUC"], by=["query", "k.e`y"])
    assert_same(result, prframe.evaluate(keyed, ["AP", "AUC"], by=["query", "k.e`y"]))


@pytest.mark.slow
def test_scores_of_every_type(planned) -> None:
    for dtype in (pl.Float32, pl.Int32, pl.Decimal(10, 2)):
        score = pl.col("score").clip(-9).cast(dtype)
        frame = DATA.with_columns(score=pl.when(pl.col("label") != 2).then(score))
        for missing in ("drop", "last"):
            result = prframe.evaluate(planned(frame), METRICS, missing=missing)
            assert_same(result, prframe.evaluate(frame, METRICS, missing=missing))


def test_no_rows_and_no_positives(planned) -> None:
    for frame in (DATA.head(0), DATA.with_columns(label=0)):
        for name in ("evaluate", "topk_test"):
            call = CALLS[name]
            assert_same(call(planned(frame), "query"), call(frame, "query"))
