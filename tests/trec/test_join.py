"""Runs and qrels, joined: a naive join as the oracle, kinds of frames, names of columns, errors."""

from math import inf

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe import MissingColumnError, PrframeError
from prframe._engine.frame_kinds import KINDS
from prframe.trec import join
from tests.verbs.names import NUMBERED

# Drawn runs and qrels may have nothing in common; the warning has a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.UnmatchedIdsWarning")

RUN_SCHEMA = {"system": pl.String, "query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
QRELS_SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "label": pl.Int64}
FRAMES = ", a ".join(kind.description for kind in KINDS)
OUT = ["query_id", "doc_id", "score", "label", "judged"]


IDS = st.sampled_from(["a", "b", "c", "d"])
RUNS = st.lists(
    st.tuples(st.sampled_from(["x", "y"]), IDS, IDS, st.sampled_from([-inf, 0.5, 1.0, 2.0])),
    max_size=14,
)
JUDGMENTS = st.lists(
    st.tuples(IDS, IDS, st.integers(-1, 2)), max_size=10, unique_by=lambda row: row[:2]
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.UnretrievedWarning")
@given(run=RUNS, qrels=JUDGMENTS)
def test_a_run_without_systems_has_one(run, qrels) -> None:
    run = list({row[1:3]: ("x", *row[1:]) for row in run}.values())
    frame = pl.DataFrame(run, schema=RUN_SCHEMA, orient="row")
    judgments = pl.DataFrame(qrels, schema=QRELS_SCHEMA, orient="row")
    with_system = join(frame, judgments)
    without = join(frame.drop("system"), judgments)
    if run:
        assert_frame_equal(without, with_system.drop("system"))
    else:
        # The judged documents of every query: nothing was retrieved.
        assert without.height == len(qrels)
        assert with_system.height == 0


RUN = pl.DataFrame(
    {
        "system": ["x", "x", "x", "y", "y", "x"],
        "query_id": ["1", "1", "2", "1", "1", "1"],
        "doc_id": ["d1", "d2", "d1", "d3", "d1", "d4"],
        "score": [3, 2, 1, 5, 4, 1],
        "label": [9] * 6,
    }
)
QRELS = pl.DataFrame(
    {"query_id": ["3", "1", "1", "1"], "doc_id": ["d1", "d9", "d1", "d2"], "label": [1, 2, 0, -1]}
)
JOINED = pl.DataFrame(
    [
        ("x", "1", "d1", 3.0, 0, True),
        ("x", "1", "d2", 2.0, -1, False),
        ("x", "1", "d4", 1.0, 0, False),
        ("x", "1", "d9", -inf, 2, True),
        ("x", "2", "d1", 1.0, 0, False),
        ("y", "1", "d3", 5.0, 0, False),
        ("y", "1", "d1", 4.0, 0, True),
        ("y", "1", "d9", -inf, 2, True),
        ("y", "1", "d2", -inf, -1, False),
        ("x", "3", "d1", -inf, 1, True),
        ("y", "3", "d1", -inf, 1, True),
    ],
    schema=["system", *OUT],
    orient="row",
)
KINDS = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas objects": lambda frame: frame.to_pandas().astype(
        {name: object for name, dtype in frame.schema.items() if dtype == pl.String}
    ),
    "pandas nullable": lambda frame: frame.to_pandas().convert_dtypes(),
    "pandas categories": lambda frame: frame.to_pandas().astype(
        {name: "category" for name, dtype in frame.schema.items() if dtype == pl.String}
    ),
    "pandas pyarrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame: frame.to_arrow(),
    "stream": lambda frame: frame.to_arrow().to_reader(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
    "categories": lambda frame: frame.with_columns(pl.col(pl.String).cast(pl.Categorical)),
    "enums": lambda frame: frame.with_columns(
        pl.col(name).cast(pl.Enum(frame[name].unique(maintain_order=True)))
        for name, dtype in frame.schema.items()
        if dtype == pl.String
    ),
}


@pytest.mark.parametrize(("kind", "other"), list(zip(KINDS, [*KINDS][::-1], strict=True)))
def test_kinds_of_frames(kind: str, other: str) -> None:
    run = KINDS[kind](RUN)
    result = join(run, KINDS[other](QRELS))
    if kind in {"stream", "duckdb"}:
        assert isinstance(result, pa.Table)
    else:
        assert type(result) is type(run)
    if isinstance(result, pd.DataFrame):
        assert isinstance(result.index, pd.RangeIndex)
        assert result["system"].dtype == run["system"].dtype
        if kind != "pandas categories":
            assert result["doc_id"].dtype == run["doc_id"].dtype
        result = pl.from_pandas(result)
    elif isinstance(result, pl.LazyFrame):
        schema = result.collect_schema()
        result = result.collect()
        assert result.schema == schema
    elif isinstance(result, pa.Table):
        result = pl.from_arrow(result)
    assert result.schema["doc_id"] == pl.String
    assert_frame_equal(result.with_columns(pl.col("system").cast(pl.String)), JOINED)


def test_nothing_runs_before_collect_and_then_once() -> None:
    runs = []

    def source(frame: pl.DataFrame) -> pl.LazyFrame:
        return pl.defer(lambda: runs.append(1) or frame, schema=frame.schema)

    query = join(source(RUN), source(QRELS))
    assert query.collect_schema() == JOINED.schema
    assert runs == []
    assert_frame_equal(query.collect(), JOINED)
    assert runs == [1, 1]
    wrong = join(source(RUN.with_columns(score=None)), source(QRELS))
    with pytest.raises(PrframeError, match="the score 'score' of the run must not contain nulls"):
        wrong.collect()


def test_verbs_take_the_result() -> None:
    by = ["system", "query_id"]
    with pytest.warns(prframe.UndefinedMetricWarning, match="for 1 of 5 groups"):
        values = prframe.evaluate(join(RUN, QRELS), ["AP", "NumRel", "NumRet"], by=by)
    assert values.rows() == [
        ("x", "1", 0.0, 1.0, 3.0),
        ("x", "2", None, 0.0, 1.0),
        ("y", "1", 0.0, 1.0, 2.0),
        ("x", "3", 0.0, 1.0, 0.0),
        ("y", "3", 0.0, 1.0, 0.0),
    ]


@pytest.mark.parametrize("name", ["system", "run", "tag", "run_id"])
def test_the_system_is_recognised(name: str) -> None:
    run = RUN.rename({"system": name})
    assert join(run, QRELS).columns == [name, *OUT]
    numbered = run.drop(name).with_columns(pl.Series(name, [1, 1, 1, 2, 2, 1]))
    with pytest.raises(PrframeError, match="a ranking of the run must hold a document once"):
        join(numbered, QRELS)
    result = join(numbered, QRELS, system=name)
    assert result[name].to_list() == [{"x": 1, "y": 2}[system] for system in JOINED["system"]]


def test_several_columns_tell_systems_apart() -> None:
    run = RUN.with_columns(fold=pl.Series([1, 1, 1, None, None, 2], dtype=pl.Int8))
    result = join(run, QRELS, system=["system", "fold"])
    assert result.columns == ["system", "fold", *OUT]
    rankings = result.select("system", "fold", "query_id").unique(maintain_order=True).rows()
    assert rankings == [
        ("x", 1, "1"), ("x", 1, "2"), ("y", None, "1"), ("x", 2, "1"),
        ("x", 1, "3"), ("y", None, "3"), ("x", 2, "3"),
    ]  # fmt: skip
    single = RUN.unique(["query_id", "doc_id"], maintain_order=True)
    assert join(single, QRELS, system=[]).columns == OUT


def test_ids_that_are_integers() -> None:
    run = pl.DataFrame({"qid": [1, 1], "docno": [5, 6], "score": [2.0, 1.0]})
    run = run.cast({"qid": pl.UInt8, "docno": pl.Int16})
    qrels = pl.DataFrame({"qid": [1, 1], "docno": [6, 7], "label": [0.5, 2.0]})
    result = join(run, qrels)
    assert result.schema == {
        "query_id": pl.UInt8, "doc_id": pl.Int16, "score": pl.Float64,
        "label": pl.Float64, "judged": pl.Boolean,
    }  # fmt: skip
    assert result.rows() == [
        (1, 5, 2.0, 0.0, False), (1, 6, 1.0, 0.5, True), (1, 7, -inf, 2.0, True)
    ]  # fmt: skip
    nullable = join(run.to_pandas().convert_dtypes(), qrels)
    assert [str(dtype) for dtype in nullable.dtypes] == [
        "UInt8", "Int16", "Float64", "Float64", "boolean"
    ]  # fmt: skip
    assert [field.type for field in join(run.to_arrow(), qrels).schema][:2] == [pa.uint8(), pa.int16()]  # fmt: skip
    own = join(pl.DataFrame({"qid": [7], "docno": ["7"], "score": [1]}), qrels.cast({"docno": pl.String}), exclude_self=True)  # fmt: skip
    assert own.rows() == [(1, "6", -inf, 0.5, True), (1, "7", -inf, 2.0, True)]


def test_labels_that_are_booleans() -> None:
    qrels = QRELS.with_columns(pl.col("label") > 0)
    assert join(RUN, qrels)["label"].to_list() == [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_frames_without_rows(kind: str) -> None:
    convert = KINDS[kind]
    no_run, no_qrels = RUN.head(0), QRELS.head(0)
    assert len(join(convert(no_run), convert(no_qrels))) == 0
    assert len(join(convert(no_run), convert(QRELS))) == 0
    assert len(join(convert(no_run.drop("system")), convert(QRELS))) == 4
    assert len(join(convert(RUN), convert(no_qrels))) == 6
    bare = pd.DataFrame({"qid": [], "docno": [], "score": []}, dtype=object)
    assert len(join(bare, convert(QRELS))) == 4


NULLS = "drop these rows; documents without a row are not retrieved."
REFUSED = {
    "the run must have a column for the query, named one of 'query_id', 'qid', 'q_id', "
    "'query', 'topic', 'query-id'; its columns are 'system', 'doc_id', 'score', 'label'. "
    "Rename the column that it is.": lambda: join(RUN.drop("query_id"), QRELS),
    "the run must have a column for the score, named 'score'; its columns are 'system', "
    "'query_id', 'doc_id', 'label'. Rename the column that it is.": lambda: join(
        RUN.drop("score").to_pandas(), QRELS
    ),
    "the qrels must have a column for the label, named one of 'label', 'relevance', 'rel', "
    "'score'; its columns are 'query_id', 'doc_id'. Rename the column that it is.": lambda: join(
        RUN, QRELS.drop("label")
    ),
    "the qrels must have a column for the document, named one of 'doc_id', 'docno', 'docid', "
    "'document_id', 'corpus-id'; its columns are 'query_id', 'label'. Rename the column that it is.": lambda: (
        join(RUN.lazy(), QRELS.drop("doc_id").to_arrow())
    ),
    "`unjudged` must be one of 'drop', 'negative'; got 'dropped'. Did you mean 'drop'?": lambda: (
        join(RUN, QRELS, unjudged="dropped")
    ),
    "`complete` must be True or False; got 'yes'.": lambda: join(RUN, QRELS, complete="yes"),
    "`queries` must be one of 'all', 'both', 'means', 'qrels', 'run'; got None.": lambda: join(
        RUN, QRELS, queries=None
    ),
    "`duplicates` must be one of 'best', 'keep', 'raise'; got 'first'.": lambda: join(
        RUN, QRELS, duplicates="first"
    ),
    "`exclude_self` must be True or False; got 1.": lambda: join(RUN, QRELS, exclude_self=1),
    "`system` names the column 'sytem', which the frame does not have; its columns are "
    "'system', 'query_id', 'doc_id', 'score', 'label'. Did you mean 'system'?": lambda: join(
        RUN, QRELS, system="sytem"
    ),
    f"`system` must be a column name or a list of them; got 3.{NUMBERED}": lambda: join(
        RUN, QRELS, system=3
    ),
    f"`system[1]` must be the name of a column, a string; got 3.{NUMBERED}": lambda: join(
        RUN, QRELS, system=["system", 3]
    ),
    "`system` names 'label', which is also a column of the result; rename it.": lambda: join(
        RUN, QRELS, system=["system", "label"]
    ),
    "`system` must name columns of plain values; 'more' is List(Int64).": lambda: join(
        RUN.with_columns(more=pl.concat_list("score")), QRELS, system="more"
    ),
    "the query ids of run and qrels must both be strings or both be integers; 'query_id' of "
    "the run is String, 'query_id' of the qrels is Int64. Cast one of them.": lambda: join(
        RUN, QRELS.cast({"query_id": pl.Int64})
    ),
    "the document ids of run and qrels must both be strings or both be integers; 'doc_id' of "
    "the run is Float64, 'doc_id' of the qrels is String. Cast one of them.": lambda: join(
        RUN.with_columns(doc_id=1.5), QRELS
    ),
    "the score must be numeric; 'score' of the run is String.": lambda: join(
        RUN.cast({"score": pl.String}), QRELS
    ),
    "the label must be numeric; 'label' of the qrels is String.": lambda: join(
        RUN, QRELS.cast({"label": pl.String})
    ),
    "the ids in 'doc_id' of the run must not be null: 6 of 6 rows; "
    "fill in the ids or drop these rows.": lambda: join(
        RUN.with_columns(doc_id=pl.lit(None, pl.String)), QRELS
    ),
    "the ids in 'query_id' of the qrels must not be null: 1 of 4 rows; "
    "fill in the ids or drop these rows.": lambda: join(
        RUN, QRELS.with_columns(pl.col("query_id").replace("3", None))
    ),
    f"the score 'score' of the run must not contain nulls or NaN: 2 of 6 rows; {NULLS}": lambda: (
        join(RUN.with_columns(score=pl.Series([None, np.nan, 1, 1, 1, 1], strict=False)), QRELS)
    ),
    "the label 'label' of the qrels must be finite numbers, not null: 3 of 4 rows; "
    "mend or drop these rows.": lambda: join(
        RUN, QRELS.with_columns(label=pl.Series([1.0, None, np.nan, inf]))
    ),
    "the label 'label' of the qrels must be finite numbers, not null: 1 of 4 rows; "
    "mend or drop these rows.": lambda: join(
        RUN, QRELS.with_columns(label=pl.Series([1, None, 2, 3]))
    ),
    "a ranking of the run must hold a document once: 2 of 8 rows repeat another, for instance "
    "('x', '1', 'd1'), ('x', '1', 'd2'); drop the rows that do not count, or keep the best "
    "ones with duplicates='best'. If these are several systems, name the columns that tell them "
    "apart with system=.": lambda: join(pl.concat([RUN, RUN.head(2)]), QRELS),
    "the qrels must judge a document once for each query: 1 of 5 rows repeat another, "
    "for instance ('3', 'd1'); drop the rows that do not count.": lambda: join(
        RUN, pl.concat([QRELS, QRELS.head(1)]), duplicates="best"
    ),
    f"the frame must be a {FRAMES}; got list. Arrays are given as a dict of columns, such as "
    "{'score': scores, 'label': labels}. Precomputed values of a metric are such a column, too, "
    "as in interval({'query_id': queries, 'AP': values}, values='AP', over='query_id').": lambda: (
        join(RUN, [1])
    ),
}


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=REFUSED)
def test_refusals(call, message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, MissingColumnError) == ("column for" in message or "sytem" in message)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (
            {"qid": ["1", "2"], "docno": ["d1", "d1"], "score": [1.0, 1.0]},
            "run and qrels have no query in common: the run has '1', '2', the qrels have 'q1'",
        ),
        (
            {"qid": ["q1"], "docno": ["1"], "score": [1.0]},
            "run and qrels have no document of a query in common: the run has '1', the qrels have 'd1', 'd2'",
        ),
        (
            {"qid": [], "docno": [], "score": []},
            "run and qrels have no query in common: the run has no rows, the qrels have 'q1'",
        ),
    ],
)
def test_ids_that_do_not_match(run: dict[str, list[object]], message: str) -> None:
    qrels = pl.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "label": [1, 0]})
    with pytest.warns(prframe.UnmatchedIdsWarning) as caught:
        join(pl.DataFrame(run), qrels)
    assert [str(warning.message) for warning in caught] == [message]
    assert caught[0].filename == __file__


def test_judgments_without_rows_match_nothing() -> None:
    run = pl.DataFrame({"qid": ["1"], "docno": ["d1"], "score": [1.0]})
    qrels = pl.DataFrame({"qid": ["1"], "docno": ["d1"], "label": [1]}).clear()
    message = "run and qrels have no query in common: the run has '1', the qrels have no rows"
    with pytest.warns(prframe.UnmatchedIdsWarning) as caught:
        joined = join(run, qrels)
    assert [str(warning.message) for warning in caught] == [message]
    assert joined.rows() == [("1", "d1", 1.0, 0, False)]
    # Nothing was to be matched where there are no rows at all.
    assert join(run.clear(), qrels).is_empty()


@pytest.mark.parametrize("queries", ["all", "qrels", "run", "both"])
def test_queries_of_unjudged_documents_count(queries: str) -> None:
    # As in trec_eval -J, which averages over all these queries: 0 for those without judged documents.
    run = pl.DataFrame(
        {"query_id": ["1", "2", "3"], "doc_id": ["d1", "d1", "d2"], "score": [3.0, 2.0, 1.0]}
    )
    qrels = pl.DataFrame({"query_id": ["1", "2"], "doc_id": ["d1", "d1"], "label": [1, -1]})
    joined = join(run, qrels, unjudged="drop", queries=queries)
    values = prframe.evaluate(joined, ["AP", "NumRet"], by="query_id", undefined=0)
    expected = [("1", 1.0, 1.0), ("2", 0.0, 0.0), ("3", 0.0, 0.0)]
    assert values.rows() == expected[: 3 if queries in {"all", "run"} else 2]


def test_documents_that_stay_twice_are_for_check_alone() -> None:
    twice = pl.concat([RUN, RUN.head(1)])
    joined = join(twice, QRELS, duplicates="keep")
    once = join(RUN, QRELS)
    assert joined.height == once.height + 1
    assert joined.unique(["system", "query_id", "doc_id"]).height == once.height
    keys = {"by": ["system", "query_id"], "item": "doc_id"}
    found = prframe.check(joined, **keys).filter(kind="duplicate_item")
    assert found.select("severity", "count").row(0) == ("error", 1)
    with pytest.raises(PrframeError, match="doc_id"):
        prframe.evaluate(joined, "AP", **keys, ties="trec")
    for refused in (
        lambda: prframe.trec.evaluate(twice, QRELS, duplicates="keep"),
        lambda: prframe.report({"a": twice}, QRELS, duplicates="keep"),
    ):
        with pytest.raises(PrframeError, match="`duplicates` must be one of 'best', 'raise'"):
            refused()


def test_the_query_itself_is_left_out_of_run_and_judgments() -> None:
    run = pl.DataFrame({"query_id": ["a", "a"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    qrels = pl.DataFrame({"query_id": ["a", "a"], "doc_id": ["a", "b"], "label": [1, 1]})
    assert join(run, qrels, exclude_self=True)["doc_id"].to_list() == ["b"]
    assert join(run[1:], qrels, exclude_self=True)["doc_id"].to_list() == ["b"]


def test_of_a_document_listed_twice_the_best_row_may_count() -> None:
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "a"], "score": [1.0, 2, 3]})
    qrels = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "label": [1]})
    found = join(run, qrels, duplicates="best").sort("doc_id")
    assert found.select("doc_id", "score").rows() == [("a", 3.0), ("b", 2.0)]
