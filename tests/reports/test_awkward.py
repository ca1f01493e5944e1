"""Awkward data and options of reports: names, tests and runs without judgments."""

import polars as pl
import pytest

import prframe
from prframe import PrframeError

from .cases import classified, qrels, runs

# A few queries are few, and their differences may be skewed by chance.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.SkewedDifferencesWarning", "ignore::prframe.CoverageWarning"
)

OVER_QUERIES = "`test` of rankings, over queries, must be one of 'bootstrap', 'hall', 'randomization', 'sign', 't', 'wilcoxon'; got {}."


def message(*args, **options) -> str:
    with pytest.raises(PrframeError) as error:
        prframe.report(*args, **options)
    return str(error.value)


@pytest.mark.parametrize("argument", ["by", "over", "model"])
def test_columns_of_structs(argument) -> None:
    frame = classified(20).with_columns(pair=pl.struct("region", "label"))
    assert message(frame, **{argument: "pair"}) == (
        f"`{argument}` must name columns of plain values; 'pair' is "
        "Struct({'region': String, 'label': Boolean})."
    )
    # A column that is called as reports look for models is one of plain values, too.
    frame = frame.with_columns(model=pl.concat_list("model"))
    assert message(frame) == "`model` must name columns of plain values; 'model' is List(String)."


@pytest.mark.parametrize("test", ["delong", "nonsense"])
def test_tests_of_rankings(test) -> None:
    assert message(runs(4, ["a", "b"]), qrels(4), test=test) == OVER_QUERIES.format(repr(test))


@pytest.mark.slow
def test_models_without_a_name() -> None:
    frame = classified(40).with_columns(pl.col("model").replace({"old": None}))
    assert "null" in prframe.report(frame, item="item").facts["systems"]
    both = frame.with_columns(pl.col("model").replace({"new": "null"}))
    for options in ({}, {"over": "region"}):
        assert message(both, **options) == (
            "`model` 'model' has nulls beside the name 'null', which would be one model; name "
            "these models, or drop the rows."
        )


@pytest.mark.slow
def test_runs_of_one_tag_are_named_after_their_files(tmp_path) -> None:
    for name, shift in (("first", 0), ("second", 1)):
        lines = [
            f"{query} Q0 {document} 1 {score + shift * len(document)} same\n"
            for query, document, score in runs(4, ["a"])
            .select("query_id", "doc_id", "score")
            .iter_rows()
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    paths = [tmp_path / "first.run", tmp_path / "second.run"]
    page = prframe.report(paths, qrels(4), metrics="AP")
    assert sorted(page.facts["systems"]) == ["first", "second"]


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("x.run", "'x.run'"),
        (["x.run", "y.run"], "['x.run', 'y.run']"),
        ({"q1": {"d1": 1.0}}, "{'q1': {'d1': 1.0}}"),
        ({"bm25": "x.run"}, "{'bm25': 'x.run'}"),
    ],
)
def test_runs_need_judgments(data, shown) -> None:
    assert message(data) == (
        f"runs need judgments: prframe.report(runs, qrels); got {shown} alone. Of labelled rows "
        "give the frame, for example polars.read_csv(path)."
    )


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
def test_a_query_that_a_model_lacks_is_named_with_what_a_report_can_do() -> None:
    rows = [
        (query, model, item, float(-item), item == 0)
        for query in (1, 2, 3)
        for model in ("a", "b")
        for item in range(4)
        if (query, model) != (2, "b")
    ]
    frame = pl.DataFrame(rows, ["qid", "model", "item", "score", "label"], orient="row")
    options = {"over": "qid", "model": "model", "item": "item"}
    with pytest.raises(prframe.PrframeError, match=r"for 1 of 3, in groups 2; drop these"):
        prframe.report(frame, **options)
    missed = pl.DataFrame([(2, "b", 0, float("-inf"), True)], frame.schema, orient="row")
    assert "</html>" in str(prframe.report(pl.concat([frame, missed]), **options).html)


@pytest.mark.parametrize("of_queries", [{"over": "query_id"}, {}])
def test_models_that_a_report_does_not_know(of_queries) -> None:
    rows = prframe.trec.join(runs(8, ["a", "b"]), qrels(8))
    rows = rows if of_queries else rows.filter(pl.col("query_id") == "q1").drop("query_id")
    named = prframe.report(rows.rename({"system": "run"}), metrics="AP", **of_queries)
    assert named.facts["systems"] == ["a", "b"]
    with pytest.warns(prframe.PooledRankingWarning, match="Name it in model= if it tells models"):
        prframe.report(rows.rename({"system": "run_id"}), metrics="AP", **of_queries)
    assert "must name each item of a ranking once" in message(
        rows.rename({"system": "ranker"}), item="doc_id", **of_queries
    )
