"""The verb `compare` over queries: frames, types, layouts, orders of rows and seeds."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

import prframe
from prframe.stats.paired_values import QUERY_TESTS
from tests.compared_runs import pair, runs, table, without_nan

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")

DATA = runs()
QUERIES = sorted(set(DATA["query_id"]))
EVERYTHING: dict[str, Any] = {"power": 0.8, "n_resamples": 200, "rng": 1}
# What draws, and what does not.
SAMPLED: list[dict[str, Any]] = [
    {"test": "bootstrap"},
    {"correction": "max-t"},
]
QUIET: list[dict[str, Any]] = [{"test": test} for test in QUERY_TESTS if test != "bootstrap"]


def compared(frame: Any, metrics: Any = "AP", **options: Any) -> Any:
    """Return a comparison in which nothing is NaN."""
    return without_nan(prframe.compare(frame, metrics, **options))


@pytest.mark.parametrize(
    "dtype",
    [pl.String, pl.Categorical, pl.Enum(["x", "y", "z"]), pl.Int64, pl.UInt8, pl.Float64, pl.Date],
    ids=str,
)
def test_models_keep_their_type(dtype: Any) -> None:
    names: dict[str, Any] = {"x": "x", "y": "y", "z": "z"}
    if dtype not in (pl.String, pl.Categorical) and not isinstance(dtype, pl.Enum):
        names = {"x": 2, "y": 9, "z": 100}
    given = pl.col("model").replace_strict(names).cast(dtype)
    data = DATA.with_columns(given)
    found = compared(data, **EVERYTHING)
    assert found.schema["model_a"] == found.schema["model_b"] == data.schema["model"]
    expected = compared(DATA, **EVERYTHING).with_columns(
        pl.col("model_a", "model_b").replace_strict(names).cast(dtype)
    )
    assert found.equals(expected)
    (last,) = data.filter(pl.col("query_id") == "q000", pl.col("item") == 0)["model"][-1:]
    assert compared(data, baseline=last)["model_b"].to_list() == [last, last]


@pytest.mark.parametrize("options", [*SAMPLED, *QUIET], ids=str)
def test_the_order_of_rows_has_no_effect(options: dict[str, Any]) -> None:
    # The baseline settles who is a; scores tie, and so may the order of equal rows.
    options = {"baseline": "y", "n_resamples": 200, "rng": 1, **options}
    expected = compared(DATA, **options).sort("model_a")
    for seed in range(3):
        shuffled = DATA.sample(fraction=1, shuffle=True, seed=seed)
        assert_frame_equal(compared(shuffled, **options).sort("model_a"), expected, rel_tol=1e-9)
        parts = pl.concat(shuffled.iter_slices(7), rechunk=False)
        assert_frame_equal(compared(parts, **options).sort("model_a"), expected, rel_tol=1e-9)


@pytest.mark.slow
def test_batches_have_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = compared(DATA, ["AP", "P@4"], test="bootstrap", **EVERYTHING)
    monkeypatch.setattr("prframe._engine.frames._BATCH_ROWS", 11)
    monkeypatch.setattr("prframe._engine.frames._SLICE_ROWS", 11)
    for frame in (DATA, DATA.lazy()):
        found = prframe.compare(frame, ["AP", "P@4"], test="bootstrap", **EVERYTHING)
        assert_frame_equal(found.lazy().collect(), expected, rel_tol=1e-12)


@pytest.mark.parametrize("options", SAMPLED, ids=str)
def test_seeds(options: dict[str, Any]) -> None:
    options = {"n_resamples": 200, **options}
    data = runs(30)
    first = compared(data, rng=1, **options)
    assert compared(data, rng=1, **options).equals(first)
    assert compared(data, rng=np.random.default_rng(1), **options).equals(first)
    assert not compared(data, rng=2, **options).equals(first)


@pytest.mark.parametrize(
    "options", [one for one in SAMPLED + QUIET if "correction" not in one], ids=str
)
def test_pairs_and_metrics_do_not_depend_on_the_others(options: dict[str, Any]) -> None:
    options = {"n_resamples": 200, "rng": 1, "correction": None, **options}
    found = compared(DATA, ["P@4", "AP"], **options)
    for metric, (one, other) in product(["AP", "P@4"], [("x", "y"), ("y", "z")]):
        both = DATA.filter(pl.col("model").is_in([one, other]))
        row = found.filter(metric=metric, model_a=one, model_b=other)
        assert_frame_equal(compared(both, metric, **options), row, rel_tol=1e-12)


@pytest.mark.filterwarnings("ignore::prframe.PooledRankingWarning")
def test_several_columns_of_queries() -> None:
    data = DATA.with_columns(
        user=pl.when(pl.col("query_id") > "q005").then(pl.lit("u")),
        topic=pl.col("query_id").replace_strict(QUERIES, [*range(6), *range(6)]),
    )
    expected = compared(DATA, test="t")
    assert_frame_equal(compared(data, over=["user", "topic"], test="t"), expected, rel_tol=1e-12)
    found = compared(data, over=["topic"], by="user", test="t", within="by")
    assert found["n"].to_list() == [6] * 6
    # Where the users are pooled, a topic is one ranking of both users' items.
    (row, *_) = compared(data, over="topic", test="t").rows(named=True)
    a, b = pair(table(data, "AP", over="topic"), row)
    assert row["p_value"] == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("nDCG", {}),
        ("nDCG(gain='exp')@5", {}),
        ("ERR@5", {}),
        ("AP", {"positive": 2}),
        ("AP(rel=2)", {}),
        ("AP", {"weight": "weight"}),
        ("AUC", {"weight": "weight"}),
        ("AP", {"ties": "expected"}),
        ("P@3", {"ties": "worst"}),
        ("RR", {"ties": "best"}),
        ("AP", {"ties": "trec", "item": "item"}),
        ("AP", {"n_pos": "n_pos"}),
        ("AP", {"ignore": 2}),
        ("AP", {"float32": True}),
        ("RBP(p=0.8)", {}),
        ("Bpref", {"judged": "judged"}),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_metrics_and_shared_arguments(metric: str, options: dict[str, Any]) -> None:
    data = DATA.with_columns(
        n_pos=10,
        weight=1 + pl.col("item") % 3,
        judged=(pl.col("item") < 8) | (pl.col("label") > 0),
        score=pl.col("score").round(1),
    )
    values = table(data, metric, **options)
    found = compared(data, metric, test="t", **options)
    assert found["metric"].unique().to_list() == [metric]
    for row in found.rows(named=True):
        a, b = pair(values, row)
        assert row["n"] == a.size > 8
        assert row["mean_a"] == pytest.approx(a.mean())
        assert row["p_value"] == pytest.approx(scipy.stats.ttest_rel(a, b).pvalue)
        d = (a - b).round(12)
        assert [row["wins"], row["losses"]] == [(d > 0).sum(), (d < 0).sum()]


def test_metrics_beyond_1_have_wider_intervals() -> None:
    few = DATA.filter(pl.col("query_id") < "q003").with_columns(pl.col("label") * 100)
    values = table(few, "DCG")
    for row in compared(few, "DCG", alternative="less").rows(named=True):
        a, b = pair(values, row)
        high = scipy.stats.ttest_rel(a, b, alternative="less").confidence_interval().high
        assert (row["conf_low"], row["conf_high"]) == (-np.inf, pytest.approx(high))
