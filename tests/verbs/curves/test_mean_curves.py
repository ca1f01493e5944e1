"""Mean curves over queries: naive means, the metrics that they are made of, laws and messages."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

import prframe
from prframe.stats.intervals import Confidence, mean_band
from tests.oracle import Group, Item
from tests.refusals import refusals
from tests.strategies import frame, items

Floats = NDArray[np.float64]
LEVELS = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
FEW = {"recall": LEVELS, "n_resamples": 199, "rng": 3}


def runs() -> pl.DataFrame:
    """Three models over twelve queries, with ties, unretrieved items and a query without hits."""
    rng = np.random.default_rng(8)
    rows = []
    for query in range(12):
        label = rng.random(30) < (0.0 if query == 4 else 0.25)
        if query != 4:
            label[0] = True
        for model, skill in (("a", 1.0), ("b", 0.6), ("c", 0.0)):
            score = (rng.normal(size=30) + skill * label).round(1)
            score[score < -1.2] = -np.inf
            part = pl.DataFrame({"score": score, "label": label, "item": range(30)})
            rows.append(part.with_columns(model=pl.lit(model), query=pl.lit(f"q{query:02}")))
    return pl.concat(rows)


RUNS = runs()
undefined = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
CALLS: dict[str, Callable[..., Any]] = {
    "curve": lambda rows, **options: prframe.curve(
        rows, **{"by": "model", "over": "query", "recall": LEVELS} | options
    ),
    "band": lambda rows, **options: prframe.band(
        rows, **{"by": "model", "over": "query"} | FEW | options
    ),
    "compare_curves": lambda rows, **options: prframe.compare_curves(
        rows, **{"over": "query"} | FEW | options
    ),
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def table(model: str, **options: Any) -> Floats:
    """The curve of each query of a model at the levels, a row each; no query without positives."""
    rows = RUNS.filter(pl.col("model") == model, pl.col("query") != "q04")
    drawn = prframe.curve(rows, by="query", recall=LEVELS, **options)
    return drawn["precision"].to_numpy().reshape(-1, len(LEVELS))


def naive_curve(group: Group, *, anchor: bool) -> list[float]:
    """The precision of one query at the levels: the first point that reaches each, or 0."""
    n_pos = group.total(positive=True)
    points = list(group.points())[0 if anchor else 1 :]
    reached = [[p for t, _, p in points if t >= level * n_pos - 1e-9] or [0.0] for level in LEVELS]
    return [precisions[0] for precisions in reached]


@given(
    st.lists(items(), min_size=1, max_size=4),
    st.sampled_from(["group", "order"]),
    st.booleans(),
    st.booleans(),
)
@undefined
@pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")
def test_equals_the_naive_mean(
    queries: list[list[Item]], ties: str, interpolate: bool, anchor: bool
) -> None:
    rows = frame({str(i): query for i, query in enumerate(queries)})
    options = {"ties": ties, "interpolate": interpolate, "anchor": anchor}
    drawn = prframe.curve(rows, over="group", recall=LEVELS, **options)
    groups = [Group(query, ties, interpolate=interpolate) for query in queries]
    curves = [naive_curve(g, anchor=anchor) for g in groups if g.total(positive=True)]
    assert drawn["recall"].to_list() == LEVELS
    assert drawn["n"].to_list() == [len(curves)] * len(LEVELS)
    if curves:
        assert drawn["precision"].to_list() == pytest.approx(np.mean(curves, axis=0).tolist())
    else:
        assert drawn["precision"].to_list() == [None] * len(LEVELS)


@undefined
@pytest.mark.parametrize(("metric", "options"), [("Prec", {}), ("IPrec", {"interpolate": True})])
def test_is_the_mean_of_a_metric(metric: str, options: dict[str, Any]) -> None:
    # A mean curve has no opening point, which Prec@0 counts.
    levels = LEVELS if metric == "IPrec" else LEVELS[1:]
    drawn = CALLS["curve"](RUNS, recall=levels, **options)
    names = [f"{metric}@{level}" for level in levels]
    means = prframe.evaluate(RUNS, names, by="model", over="query")
    assert drawn["precision"].to_list() == pytest.approx(means["mean"].to_list(), rel=1e-12)
    assert drawn["n"].to_list() == means["n"].to_list()


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
def test_bands_leave_out_the_ends_unless_told() -> None:
    rows = RUNS.filter(pl.col("query") != "q04")
    options: dict[str, Any] = {"over": "query", "rng": 1, "n_resamples": 50}
    inner = [i / 100 for i in range(10, 91)]
    for band in (
        prframe.band(rows, by="model", **options),
        prframe.band(rows, by="model", simultaneous=False, **options),
        prframe.compare_curves(rows, model="model", item="item", **options),
    ):
        assert band["recall"].unique().sort().to_list() == inner
    named = prframe.band(rows, by="model", recall=11, **options)
    assert named["recall"].unique().sort().to_list() == [i / 10 for i in range(11)]


@pytest.mark.parametrize("call", ["curve", "band", "compare_curves"])
def test_queries_without_positives_do_not_enter(call: str) -> None:
    without = "precision: undefined, so null or NaN, for 3 of 36 groups, which have no positives"
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        drawn = CALLS[call](RUNS)
    told = [str(w.message) for w in caught if w.category is prframe.UndefinedMetricWarning]
    assert len(told) == 1
    assert told[0].startswith(without)
    assert drawn["n"].unique().to_list() == [11]
    assert_frame_equal(drawn, CALLS[call](RUNS.filter(pl.col("query") != "q04")))


def test_no_query_with_positives() -> None:
    rows = RUNS.filter(query="q04")
    with pytest.warns(prframe.UndefinedMetricWarning):
        drawn = CALLS["band"](rows, simultaneous=False)
    assert drawn.select("precision", "conf_low", "conf_high").null_count().row(0) == (18,) * 3
    assert drawn["n"].unique().to_list() == [0]
    with pytest.warns(prframe.UndefinedMetricWarning):
        compared = CALLS["compare_curves"](rows)
    assert compared["p_value"].null_count() == 18


@undefined
@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize("method", ["auto", "t", "logit", "hall", "percentile", "bca"])
def test_bands_at_single_levels_are_intervals(method: str) -> None:
    levels = [0.1, 0.3, 0.5]
    options = {"by": "model", "over": "query", "rng": 3, "n_resamples": 199}
    band = prframe.band(RUNS, recall=levels, simultaneous=False, method=method, **options)
    names = [f"Prec@{level}" for level in levels]
    intervals = prframe.interval(RUNS, names, method=method, **options)
    for ours, theirs in (
        ("precision", "estimate"),
        ("conf_low", "conf_low"),
        ("conf_high", "conf_high"),
    ):
        assert band[ours].to_list() == pytest.approx(intervals[theirs].to_list(), rel=1e-12)
    assert band["method"].to_list() == intervals["method"].to_list()


def naive_p_value(differences: Floats) -> float:
    """Count the rows of signs whose largest |t| is as large as the observed one."""
    varied = differences[:, np.any(differences != 0, axis=0)]
    norms = np.sqrt((varied**2).sum(axis=0))
    observed = np.abs(varied.sum(axis=0) / norms).max()
    drawn = [
        np.abs(np.array(signs) @ varied / norms).max()
        for signs in product([1, -1], repeat=len(varied))
    ]
    return float(np.mean(np.array(drawn) >= observed - 1e-9))


@undefined
def test_the_p_value_counts_all_signs_of_whole_curves() -> None:
    compared = CALLS["compare_curves"](RUNS, n_resamples=4000, anchor=True)
    assert compared["method"].unique().to_list() == ["max-t-exact"]
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        rows = compared.filter(model_a=a, model_b=b)
        differences = table(a) - table(b)
        p_value = naive_p_value(differences)
        assert rows["p_value"].to_list() == pytest.approx([p_value] * len(LEVELS))
        assert rows["difference"].to_list() == pytest.approx(differences.mean(axis=0).tolist())
    sampled = CALLS["compare_curves"](RUNS, n_resamples=2000, recall=0.5)
    assert sampled["method"].unique().to_list() == ["max-t-sampled"]


@undefined
def test_the_band_of_a_difference() -> None:
    compared = CALLS["compare_curves"](RUNS, anchor=True)
    seed = int(np.random.default_rng(3).integers(1 << 62))
    confidence = Confidence(limits=(-1, 1))
    ends = mean_band(table("a") - table("b"), confidence, 199, np.random.default_rng(seed))
    rows = compared.filter(model_a="a", model_b="b")
    assert rows["conf_low"].to_list() == pytest.approx(ends.low.tolist())
    assert rows["conf_high"].to_list() == pytest.approx(ends.high.tolist())
    turned = CALLS["compare_curves"](RUNS, baseline="a", anchor=True).filter(model_a="b")
    assert turned["conf_low"].to_list() == pytest.approx((-rows["conf_high"]).to_list())
    assert turned["p_value"].to_list() == rows["p_value"].to_list()


def test_equal_models() -> None:
    rows = RUNS.filter(pl.col("query") != "q04", model="a").drop("model")
    rows = rows.with_columns(again=pl.col("score"))
    compared = prframe.compare_curves(rows, ["score", "again"], over="query", **FEW)
    for name in ("difference", "conf_low", "conf_high"):
        assert compared[name].to_list() == [0.0] * len(LEVELS)
    assert compared["p_value"].to_list() == [1.0] * len(LEVELS)


# What is said of a call, in part.


test_messages = refusals(
    {
        "evenly spaced levels, at most 1,000,000; got 1,000,000,000.": lambda: CALLS["curve"](
            RUNS, recall=10**9
        ),
        "`recall` must name at least one level; got none.": lambda: CALLS["compare_curves"](
            RUNS, recall=[]
        ),
        "`recall` and `recall_range` both name levels; give one of them.": lambda: CALLS["band"](
            RUNS, recall_range=(0, 1)
        ),
        "`recall_range` must lie between 0 and 1; got 2.": lambda: CALLS["band"](
            RUNS, recall=None, recall_range=(0, 2)
        ),
        "`method` of a mean over groups must be one of 'auto', 'bca',": lambda: CALLS["band"](
            RUNS, method="asymptotic"
        ),
        "with `over`, compare 'Prec@0.5' and the like": lambda: CALLS["compare_curves"](
            RUNS, simultaneous=False
        ),
        "method='t' knows single levels only; say simultaneous=False": lambda: CALLS["band"](
            RUNS, method="t"
        ),
        "`interpolate` is for mean curves; name the groups": lambda: prframe.band(
            RUNS, by=["model", "query"], interpolate=True
        ),
        "`cluster` 'item' must be one value, and no null, for each group of `over`, in groups "
        "'q00', 'q01', 'q02', 'q03', 'q04' and 7 more;": lambda: CALLS["compare_curves"](
            RUNS, cluster="item"
        ),
    },
    whole=False,
)
