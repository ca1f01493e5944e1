"""Means and differences by two judges: humans for some queries, a machine for all."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.stats import Confidence, predicted_mean
from tests.refusals import refusals

Q, N, DEPTH = 60, 24, 12
METRICS = ["AP", "nDCG@10", "P@5"]
COUNTS = ["n", "n_predicted", "weight", "bias", "n_effective"]


def rows(seed: int = 0) -> pl.DataFrame:
    """Two models that rank the same items; humans have judged the first queries."""
    rng = np.random.default_rng(seed)
    query, item = np.repeat(np.arange(Q), DEPTH), np.tile(np.arange(DEPTH), Q)
    ease = np.repeat(rng.normal(size=Q), DEPTH)
    quality = rng.normal(size=Q * DEPTH)
    true = (ease + quality + rng.normal(size=Q * DEPTH) > 0) | (item == 0)
    llm = np.where(rng.random(Q * DEPTH) < 0.15, ~true, true) | (item == 1)
    frame = pl.DataFrame({"query_id": query, "item": item, "true": true * 1, "llm": llm * 1})
    frame = frame.with_columns(label=pl.when(pl.col("query_id") < N).then("true"))
    frame = frame.with_columns(user=pl.col("query_id") // 2)
    scores = [quality + rng.normal(0, noise, Q * DEPTH) for noise in (0.5, 1.5)]
    parts = [
        frame.with_columns(model=pl.lit(m), score=s) for m, s in zip("ab", scores, strict=True)
    ]
    return pl.concat(parts)


ROWS = rows()
OF_A = ROWS.filter(model="a").drop("model")


def by_query(frame: pl.DataFrame, label: str, **options: Any) -> pl.DataFrame:
    """The metrics of each query."""
    return prframe.evaluate(frame, METRICS, label=label, layout="wide", **options)


def at_hand(frame: pl.DataFrame = OF_A, by: Any = "query_id") -> pl.DataFrame:
    """The values of queries by both judges, the human ones null elsewhere."""
    human, machine = by_query(frame, "true", by=by), by_query(frame, "llm", by=by)
    known = pl.when(pl.col("query_id") < N)
    human = human.with_columns(known.then(metric).alias(metric) for metric in METRICS)
    names = {metric: f"{metric} llm" for metric in METRICS}
    return human.join(machine.rename(names), on=by, maintain_order="left")


@pytest.mark.parametrize("method", ["auto", "t", "logit"])
def test_interval_joins_what_evaluate_gives(method: str) -> None:
    options: dict[str, Any] = {"over": "query_id", "method": method, "confidence_level": 0.9}
    found = prframe.interval(OF_A, METRICS, predicted="llm", **options)
    values = at_hand()
    for row in found.iter_rows(named=True):
        y = values[row["metric"]].fill_null(float("nan")).to_numpy()
        g = values[f"{row['metric']} llm"].to_numpy()
        expected = predicted_mean(y, g, method, Confidence(0.9, limits=(0, 1)))
        names = {"conf_low": "low", "conf_high": "high"}
        for name in ["estimate", "std_error", "conf_low", "conf_high", *COUNTS]:
            assert row[name] == pytest.approx(getattr(expected, names.get(name, name))), name
        assert row["method"] == f"{expected.method}-predicted"
    predicted = [f"{metric} llm" for metric in METRICS]
    of_values = prframe.interval(values, values=METRICS, predicted=predicted, **options)
    assert_frame_equal(of_values, found)


def test_laws_of_interval() -> None:
    options: dict[str, Any] = {"over": "query_id"}
    human = prframe.interval(OF_A.filter(pl.col("query_id") < N), METRICS, **options)
    constant = OF_A.with_columns(llm=1)
    found = prframe.interval(constant, METRICS, predicted="llm", **options)
    assert_frame_equal(found.select(human.columns), human)
    every = prframe.interval(OF_A, METRICS, label="true", **options)
    perfect = prframe.interval(OF_A, METRICS, predicted="true", **options)
    ends = ["estimate", "std_error", "conf_low", "conf_high"]
    assert_frame_equal(perfect.select(ends), every.select(ends))
    assert perfect["bias"].to_list() == [0, 0, 0]


def test_a_group_that_humans_have_judged_whole_or_not_at_all() -> None:
    parts = {
        "all": OF_A.filter(pl.col("query_id") < N),
        "some": OF_A,
        "none": OF_A.with_columns(label=None),
    }
    frame = pl.concat(
        [part.with_columns(part=pl.lit(name)) for name, part in parts.items()],
        how="vertical_relaxed",
    )
    told = (
        "estimate: undefined, so null or NaN, for 1 of 3 groups, in which humans have judged no query, "
        "in groups 'none'"
    )
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.interval(frame, "AP", by="part", over="query_id", predicted="llm")
    assert [str(warning.message) for warning in caught] == [told]
    human = prframe.interval(parts["all"], "AP", over="query_id")
    assert_frame_equal(found.filter(part="all").select(human.columns), human)
    assert found["n"].to_list() == [N, N, 0]
    assert found["estimate"].is_null().to_list() == [False, False, True]


def test_clusters() -> None:
    options: dict[str, Any] = {"over": "query_id", "cluster": "user", "method": "t"}
    found = prframe.interval(OF_A, "AP", predicted="llm", **options)
    values = at_hand()
    y = values["AP"].fill_null(float("nan")).to_numpy()
    user = (values["query_id"] // 2).to_numpy()
    expected = predicted_mean(y, values["AP llm"].to_numpy(), "t", cluster=user)
    assert found["std_error"].item() == pytest.approx(expected.std_error)
    frame = values.with_columns(user=pl.Series(user.astype(str)))
    same = prframe.interval(frame, values="AP", predicted="AP llm", **options)
    assert_frame_equal(same, found)
    pair = prframe.compare(ROWS, "AP", item="item", cluster="user", predicted="llm")
    assert pair["n_predicted"].item() == Q


def test_compare_is_the_interval_of_differences() -> None:
    found = prframe.compare(ROWS, METRICS, item="item", predicted="llm", correction=None)
    both = at_hand(ROWS, ["query_id", "model"])
    a, b = (both.filter(model=model).drop("query_id", "model") for model in "ab")
    for row in found.iter_rows(named=True):
        name = row["metric"]
        d = (a[name] - b[name]).fill_null(float("nan")).to_numpy()
        expected = predicted_mean(d, (a[f"{name} llm"] - b[f"{name} llm"]).to_numpy(), "t")
        for column, attribute in [
            ("difference", "estimate"),
            ("conf_low", "low"),
            ("conf_high", "high"),
            *zip(COUNTS, COUNTS, strict=True),
        ]:
            assert row[column] == pytest.approx(getattr(expected, attribute)), column
        assert row["statistic"] == pytest.approx(expected.estimate / expected.std_error)
        assert row["mean_a"] - row["mean_b"] == pytest.approx(row["difference"])
        assert (row["test"], row["method"]) == ("t", "t-predicted")
        # A level of 1 - p bounds the difference at 0.
        level = 1 - row["p_value"]
        ends = prframe.compare(
            ROWS, name, item="item", predicted="llm", confidence_level=level, correction=None
        )
        nearest = min(abs(ends["conf_low"].item()), abs(ends["conf_high"].item()))
        assert nearest == pytest.approx(0, abs=1e-9)


@pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")
def test_laws_of_compare() -> None:
    options: dict[str, Any] = {"item": "item", "test": "t"}
    human = prframe.compare(ROWS.filter(pl.col("query_id") < N), METRICS, **options)
    found = prframe.compare(ROWS.with_columns(llm=1), METRICS, predicted="llm", **options)
    assert_frame_equal(found.select(human.columns), human)
    every = prframe.compare(ROWS, METRICS, label="true", **options)
    perfect = prframe.compare(ROWS, METRICS, predicted="true", **options)
    same = ["difference", "conf_low", "conf_high", "p_value", "mean_a", "mean_b"]
    assert_frame_equal(perfect.select(same), every.select(same))


def test_compare_takes_models_in_columns_and_values() -> None:
    found = prframe.compare(ROWS, ["AP"], item="item", predicted="llm")
    wide = OF_A.with_columns(b=ROWS.filter(model="b")["score"]).rename({"score": "a"})
    same = prframe.compare(wide, ["AP"], score=["a", "b"], predicted="llm")
    assert_frame_equal(same, found)
    long = at_hand(ROWS, ["query_id", "model"])
    of_rows = prframe.compare(long, values="AP", predicted="AP llm")
    assert_frame_equal(of_rows, found)
    table = long.pivot("model", index="query_id", values=["AP", "AP llm"])
    names = {"values": ["AP_a", "AP_b"], "predicted": ["AP llm_a", "AP llm_b"]}
    of_table = prframe.compare(table, **names)
    drop = ["metric", "model_a", "model_b"]
    assert_frame_equal(of_table.drop(drop), found.drop(drop))


def test_missing_rankings() -> None:
    lacking = ROWS.filter(~((pl.col("model") == "b") & pl.col("query_id").is_in([0, 50])))
    options: dict[str, Any] = {"item": "item", "predicted": "llm"}
    with pytest.raises(prframe.PrframeError, match="'b' lacks 2"):
        prframe.compare(lacking, "AP", **options)
    for policy, fewer in (("pairwise", 1), ("common", 1), ("zero", 0)):
        found = prframe.compare(lacking, "AP", incomplete=policy, **options)
        counts = (found["n"].item(), found["n_predicted"].item())
        assert counts == (N - fewer, Q - 2 * fewer)


def other_frames() -> dict[str, Any]:
    frame = OF_A
    return {
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "pyarrow": frame.to_arrow(),
        "nan": frame.with_columns(pl.col("label").cast(pl.Float64).fill_null(float("nan"))),
        "shuffled": frame.sample(fraction=1, shuffle=True, seed=1),
        "boolean": frame.with_columns(pl.col("label", "llm").cast(pl.Boolean)),
        "mixed": frame.with_columns(pl.col("llm").cast(pl.Float64)),
    }


@pytest.mark.parametrize("name", other_frames())
def test_frames_and_dtypes(name: str) -> None:
    frame = other_frames()[name]
    expected = prframe.interval(OF_A, METRICS, over="query_id", predicted="llm")
    found = prframe.interval(frame, METRICS, over="query_id", predicted="llm")
    if isinstance(found, pl.LazyFrame):
        found = found.collect()
    found = pl.from_pandas(found) if isinstance(found, pd.DataFrame) else pl.DataFrame(found)
    assert_frame_equal(found, expected, check_exact=name == "shuffled")
    if name in {"pandas", "lazy"}:
        report = frame.pr.check(by="query_id", predicted="llm")
        assert len(report.collect() if name == "lazy" else report)


def test_text_labels_and_grades() -> None:
    words = {0: "no", 1: "yes"}
    text = OF_A.with_columns(pl.col("label", "llm").replace_strict(words, return_dtype=pl.String))
    found = prframe.interval(text, "AP", over="query_id", predicted="llm", positive="yes")
    assert_frame_equal(found, prframe.interval(OF_A, "AP", over="query_id", predicted="llm"))
    grades = OF_A.with_columns(label=2 * pl.col("label"), llm=3 * pl.col("llm"))
    found = prframe.interval(grades, "nDCG@10", over="query_id", predicted="llm")
    assert found["n"].item() == N


def test_no_rows() -> None:
    with pytest.warns(prframe.EmptyFrameWarning):
        found = prframe.interval(OF_A.clear(), "AP", over="query_id", predicted="llm")
    assert found.columns[-5:] == COUNTS
    with pytest.warns(prframe.EmptyFrameWarning):
        found = prframe.compare(ROWS.clear(), "AP", item="item", predicted="llm")
    assert found.columns[-4:] == COUNTS[1:]


NULLS = OF_A.with_columns(label=pl.lit(None, dtype=pl.Int64))
GAPS = OF_A.with_columns(llm=pl.when(pl.col("query_id") != 3).then("llm"))
HALF = OF_A.with_columns(label=pl.when(pl.col("item") != 2).then("label"))
WRONG_DATA = {
    "no null": (
        OF_A.with_columns(label="true"),
        "'label' has no nulls, so humans have judged every query; leave out predicted=, which adds "
        "nothing, or set the queries to null that only the machine has judged.",
    ),
    "all null": (
        NULLS,
        "'label' holds nulls alone, so humans have judged no query; judge a random sample of 20 or "
        "more, without which nothing tells how far the machine is off.",
    ),
    "machine": (
        GAPS,
        "`predicted` 'llm' must not contain nulls or NaN: 12 of 720 rows, in groups 3; have the "
        "machine judge these too, or, where a value is undefined, fill it with the same number "
        "everywhere, such as 0.",
    ),
    "half": (
        HALF,
        "'label' must have human labels for all rows of a query, or null for all: 24 queries have "
        "both, in groups 0, 1, 2, 3, 4 and 19 more; judge their other rows, fill these with 0 if "
        "they are not relevant, or set all to null.",
    ),
}


@pytest.mark.parametrize(("frame", "message"), WRONG_DATA.values(), ids=WRONG_DATA)
def test_wrong_data(frame: pl.DataFrame, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.interval(frame, "AP", over="query_id", predicted="llm")
    assert str(caught.value) == message
    twice = pl.concat([frame.with_columns(model=pl.lit(m)) for m in "ab"])
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.compare(twice, "AP", item="item", predicted="llm")
    assert str(caught.value) == message.replace("12 of 720", "24 of 1440")


def test_values_of_a_part_of_the_models() -> None:
    table = at_hand(ROWS, ["query_id", "model"]).pivot(
        "model", index="query_id", values=["AP", "AP llm"]
    )
    table = table.with_columns(AP_a=pl.when(pl.col("query_id") > 1).then("AP_a"))
    with pytest.raises(prframe.PrframeError, match=r"2 queries have both, in groups 0, 1"):
        prframe.compare(table, values=["AP_a", "AP_b"], predicted=["AP llm_a", "AP llm_b"])


TAKES = "`predicted` takes Student's t over queries; leave out "


test_wrong_calls = refusals(
    {
        TAKES + "test='randomization'.": {"test": "randomization"},
        TAKES + "`power`.": {"power": 0.8},
        TAKES + "interval='hall'.": {"interval": "hall"},
        "`predicted` is for means over queries; name these with over=.": {"over": None},
        "`predicted` must name another column for each of 'label'; got 'llm', 'true'.": {
            "predicted": ["llm", "true"]
        },
        "`predicted` must name another column for each of 'label'; got 'label'.": {
            "predicted": "label"
        },
        "`predicted` must name another column for each of 'label'; got 'query_id'.": {
            "predicted": "query_id"
        },
        "`predicted` must name another column for each of 'label'; got 'item'.": {
            "predicted": "item"
        },
        "`predicted` combines human with machine labels, and `n_pos` counts those of one judge; "
        "list these items with a score of -inf and the labels of both.": {"n_pos": 5},
        "`predicted` combines human with machine labels, where null means not judged; leave out "
        "ignore=[None].": {"ignore": [None]},
    },
    lambda options: prframe.compare(ROWS, "AP", **{"item": "item", "predicted": "llm", **options}),
)


def test_wrong_calls_of_interval() -> None:
    with pytest.raises(prframe.PrframeError, match="is for means over queries; name these with"):
        prframe.interval(OF_A, "AP", predicted="llm")
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.interval(OF_A, "AP", over="query_id", predicted="llm", method="bca")
    assert str(caught.value) == (
        "`predicted` takes method='t' or 'logit', and independent queries or clusters; leave out "
        "method='bca'."
    )
    with pytest.raises(prframe.PrframeError, match="'bpref' is about items that are not judged"):
        prframe.interval(OF_A, "bpref", over="query_id", predicted="llm")
    for column in ("gpt", "query_id", "score"):
        with pytest.raises(prframe.PrframeError, match=r"`predicted` .* column"):
            prframe.interval(OF_A, "AP", over="query_id", predicted=column)


def test_undefined_values_do_not_enter() -> None:
    """Queries without positives have no AP; by humans they leave the sample, with a warning."""
    frame = OF_A.with_columns(label=pl.when(pl.col("query_id") == 1).then(0).otherwise("label"))
    with pytest.warns(prframe.UndefinedMetricWarning, match="1 of 24 groups"):
        found = prframe.interval(frame, "AP", over="query_id", predicted="llm")
    assert (found["n"].item(), found["n_predicted"].item()) == (N - 1, Q)
    values = at_hand().with_columns(AP=pl.when(pl.col("query_id") != 1).then("AP"))
    expected = predicted_mean(
        values["AP"].fill_null(float("nan")).to_numpy(),
        values["AP llm"].to_numpy(),
        confidence=Confidence(limits=(0, 1)),
        judged=(values["query_id"] < N).to_numpy(),
    )
    assert found["estimate"].item() == pytest.approx(expected.estimate)
    pairs = pl.concat(
        [ROWS.filter(model="b"), frame.with_columns(model=pl.lit("a")).select(ROWS.columns)]
    )
    lacking = pairs.with_columns(label=pl.when(pl.col("query_id") == 1).then(0).otherwise("label"))
    with pytest.warns(prframe.UndefinedMetricWarning, match="2 of 48 groups"):
        pair = prframe.compare(lacking, "AP", item="item", predicted="llm").row(0, named=True)
    assert (pair["n"], pair["n_predicted"]) == (N - 1, Q)
    assert pair["mean_a"] - pair["mean_b"] == pytest.approx(pair["difference"])


def kinds(report: pl.DataFrame) -> dict[str, tuple[str, int, str]]:
    return {row[0]: row[1:] for row in report.rows()}


def test_check_reports_agreement() -> None:
    rows = ROWS.drop("item", "true")
    found = kinds(prframe.check(rows, by=["model", "query_id"], predicted="llm"))
    assert "missing_label" not in found
    assert not {"few_judged", "judged_not_random", "half_judged"} & {*found}
    both = rows.drop_nulls("label")
    same = (both["label"] == both["llm"]).mean()
    h, m = both["label"].mean(), both["llm"].mean()
    kappa = (same - (h * m + (1 - h) * (1 - m))) / (1 - h * m - (1 - h) * (1 - m))
    told = f"Cohen's kappa {kappa:.3f}; {100 * same:.1f} % of labels are the same"
    assert found["judge_agreement"] == ("info", both.height, told)
    values = at_hand(ROWS, ["query_id", "model"]).drop_nulls("AP")
    bias = (values["AP"] - values["AP llm"]).mean()
    report = prframe.check(rows, by=["model", "query_id"], predicted="llm", k=5)
    example = report.filter(kind="judge_bias")["example"][0]
    assert example == f"AP: human minus machine {bias:+.3f}"
    assert report["severity"].to_list() == sorted(
        report["severity"], key=["error", "warning", "info"].index
    )


def test_few_queries_with_human_labels_are_warned_of() -> None:
    few = ROWS.with_columns(pl.when(pl.col("query_id") < 9).then("label").alias("label"))
    told = r"humans have judged 9 queries: with fewer than 20 the interval may miss"
    options: dict[str, Any] = {"over": "query_id", "predicted": "llm"}
    with pytest.warns(prframe.CoverageWarning, match=told):
        few.pr.interval("AP", by="model", **options)
    with pytest.warns(prframe.CoverageWarning, match=told):
        few.pr.compare("AP", model="model", item="item", **options)


def test_check_finds_queries_that_are_no_sample() -> None:
    share = OF_A.group_by("query_id").agg(pl.col("llm").mean()).sort("llm", "query_id")
    easy = share["query_id"].tail(15)
    rows = OF_A.drop("item", "true").with_columns(
        label=pl.when(pl.col("query_id").is_in(easy.implode())).then(1)
    )
    found = kinds(prframe.check(rows, by="query_id", predicted="llm"))
    assert found["few_judged"] == ("warning", 15, "humans have judged 15 of 60 queries; judge 20")
    assert found["judged_not_random"][0] == "warning"
    assert found["judged_not_random"][2].startswith("P@10 by the machine: 0.")


def test_check_finds_wrong_data() -> None:
    cases = {"half": "half_judged", "machine": "missing_prediction", "all null": "few_judged"}
    for name, kind in cases.items():
        frame = WRONG_DATA[name][0].drop("item", "true")
        assert kind in kinds(prframe.check(frame, by="query_id", predicted="llm")), name
    text = OF_A.with_columns(pl.col("label", "llm").cast(pl.String)).drop("item", "true")
    found = kinds(prframe.check(text, by="query_id", predicted="llm", positive="1"))
    assert found["judge_agreement"][1] == N * DEPTH


def test_check_without_queries_and_without_rows() -> None:
    rows = OF_A.select("score", "label", "llm")
    assert kinds(prframe.check(rows, predicted="llm"))["judge_agreement"][1] == N * DEPTH
    with pytest.warns(prframe.EmptyFrameWarning):
        assert prframe.check(OF_A.clear(), by="query_id", predicted="llm").is_empty()
