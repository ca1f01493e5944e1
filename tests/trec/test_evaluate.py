"""trec_eval's numbers in one call: printed with four decimals they are those of the program."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe import PrframeError
from prframe.checks import SHOWN
from prframe.trec import evaluate, join, read_qrels, read_run
from prframe.trec.measures import measures_of
from tests.refusals import refusals
from tests.trec import wheel
from tests.trec.test_trec_eval import QRELS, RUN, SYSTEMS, data, nested

pytrec_eval = pytest.importorskip("pytrec_eval", reason="compares with trec_eval's wheel")

ALL = [measure.name for measure in measures_of("all_trec", 9)]
# Those of them that the program prints for single queries; the wheel has no unj.
OF_QUERIES = [
    measure.name
    for measure in measures_of("all_trec", 9)
    if measure.of_queries and not measure.name.startswith("unj")
]
# The measures of the wheel that are compared; the others are not computed.
COMPARED = {
    measure
    for measure in pytrec_eval.supported_measures
    if any(name == measure or name.startswith(f"{measure}_") for name in OF_QUERIES)
}
# The options of the program: -l, -J and -M.
CONVENTIONS = {
    "none": {},
    "level 2": {"relevance_level": 2},
    "judged only": {"judged_only": True},
    "depth": {"depth": 15},
    "all of them": {"relevance_level": 2, "judged_only": True, "depth": 50},
}
# One of each kind is enough for every day.
FEW_SYSTEMS = [SYSTEMS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in SYSTEMS[1:])]
conventions = pytest.mark.parametrize("options", CONVENTIONS.values(), ids=CONVENTIONS)


def printed(name: str, value: float) -> str:
    """Return a value as the program prints it.

    It divides by the number of retrieved documents for the interpolated precision, even if there
    are none, so that it prints nan.
    """
    if name.startswith("num_"):
        return f"{value:.0f}"
    return "0.0000" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN


def numbers(run: pl.DataFrame, qrels: pl.DataFrame, options) -> dict[str, dict[str, float]]:
    """Return the values of trec_eval 9, by query and measure."""
    if "depth" in options:
        # The wheel has no -M.
        ranked = run.sort(pl.col("score").cast(pl.Float32), "doc_id", descending=True)
        run = ranked.group_by("query_id").head(options["depth"])
    judged, scored = nested(qrels, "label"), nested(run, "score")
    # Of a query of which -J leaves no document the program reads memory that it has not set.
    left = {
        query: documents
        for query, documents in scored.items()
        if not options.get("judged_only") or any(judged[query].get(d, -1) >= 0 for d in documents)
    }
    level = options.get("relevance_level", 1)
    values = {
        query: dict.fromkeys(OF_QUERIES, 0.0)
        | {"num_rel": float(sum(label >= level for label in judged[query].values()))}
        for query in scored
    }
    is_limited = options.get("judged_only", False)
    return values | wheel.values(judged, left, COMPARED, level, is_limited)


def theirs(run: pl.DataFrame, qrels: pl.DataFrame, options) -> dict[tuple[str, str], str]:
    """Return what trec_eval 9 prints, by query and measure."""
    values = numbers(run, qrels, options)
    return {
        (query, name): printed(name, values[query][name])
        for query in values
        for name in OF_QUERIES
    }


def ours(run: pl.DataFrame, qrels: pl.DataFrame, options) -> dict[tuple[str, str], str]:
    """Return what is computed here, printed in the same way."""
    values = evaluate(run, qrels, "all_trec", by_query=True, **options)
    return {
        (row["query_id"], name): printed(name, row[name])
        for row in values.iter_rows(named=True)
        for name in OF_QUERIES
    }


def graded(qrels: pl.DataFrame) -> pl.DataFrame:
    """Return judgments of several grades, some of which are withdrawn (-1)."""
    place = pl.int_range(pl.len())
    label = pl.when(place % 7 == 0).then(-1).otherwise(pl.col("label") * (place % 3 + 1))
    return qrels.with_columns(label=label)


@pytest.mark.slow
@pytest.mark.shared
@conventions
@pytest.mark.parametrize("system", SYSTEMS)
def test_vaswani_as_printed(system: str, options) -> None:
    path = data("vaswani")
    run, qrels = read_run(path / f"run.{system}.txt.gz"), read_qrels(path / "qrels.txt")
    for judgments in (qrels, graded(qrels)):
        expected = theirs(run, judgments, options)
        assert ours(run, judgments, options) == expected
        print(f"{system}: {len(expected):,} numbers of single queries")  # noqa: T201 - with -s


@pytest.mark.shared
@conventions
@pytest.mark.parametrize(
    "name", ["results.test", pytest.param("results.trunc", marks=pytest.mark.slow)]
)
def test_the_suite_of_trec_eval_as_printed(name: str, options) -> None:
    path = data("trec_eval")
    run, qrels = read_run(path / name), read_qrels(path / "qrels.test")
    expected = theirs(run, qrels, options)
    assert ours(run, qrels, options) == expected
    print(f"{name}: {len(expected):,} numbers of single queries")  # noqa: T201 - with -s


def output(run: Path, qrels: Path, options) -> list[str]:
    """Return the lines that the program prints with -q -m all_trec, of the measures offered."""
    rows = evaluate(run, qrels, "all_trec", by_query=True, **options).sort("query_id")
    # With -c the program does not print the queries that a run lacks.
    lines = [
        f"{name:<22}\t{row['query_id']}\t{printed(name, row[name])}"
        for row in rows.filter(pl.col("num_ret") > 0).iter_rows(named=True)
        for name in ALL
        if name in row
    ]
    summary = evaluate(run, qrels, "all_trec", **options).row(0, named=True)
    return lines + [f"{name:<22}\tall\t{printed(name, summary[name])}" for name in ALL]


# The lines of the program's own expected output of -m all_trec -q -c, and with -M100, whose
# measures are offered.
RECORDED = {"out.test.aqc": {}, "out.test.aqcM": {"depth": 100}}


@pytest.mark.shared
@pytest.mark.parametrize(("name", "options"), RECORDED.items(), ids=RECORDED)
def test_the_output_of_the_suite_of_trec_eval_byte_for_byte(name: str, options) -> None:
    path, recorded = data("trec_eval"), Path(__file__).parents[1] / "data" / "trec_eval" / name
    expected = recorded.read_text().splitlines()
    options = {"complete_queries": True} | options
    assert output(path / "results.trunc", path / "qrels.test", options) == expected
    print(f"{name}: {len(expected):,} numbers, byte for byte")  # noqa: T201 - with -s


# With -c the program sums num_rel over all labels above 0, whatever the level.
SUMMARIES = {
    "-q -c": {},
    "-q -c -l2": {"relevance_level": 2},
    "-q -c -J": {"judged_only": True},
    "-q -c -M15": {"depth": 15},
    "-q -c -l2 -J -M50": CONVENTIONS["all of them"],
}


@pytest.mark.shared
@pytest.mark.parametrize("options", SUMMARIES.values(), ids=SUMMARIES)
@pytest.mark.parametrize("system", FEW_SYSTEMS)
def test_summaries_of_complete_queries(system: str, options) -> None:
    path = data("vaswani")
    run, qrels = read_run(path / f"run.{system}.txt.gz"), graded(read_qrels(path / "qrels.txt"))
    every = qrels["query_id"].unique(maintain_order=True).to_list()
    run = run.filter(~pl.col("query_id").is_in(every[::3]))
    by_query = numbers(run, qrels, options)
    summary = evaluate(run, qrels, "all_trec", complete_queries=True, **options)
    names = [name for name in OF_QUERIES if name != "num_rel"]
    expected = {}
    for name in names:
        # Of a query without retrieved documents the program's interpolated precision is nan.
        total = np.nansum([values[name] for values in by_query.values()])
        mean = total if name.startswith("num_") else total / len(every)
        expected[name] = printed(name, mean)
    row = summary.row(0, named=True)
    assert {name: printed(name, row[name]) for name in names} == expected
    assert printed("num_q", row["num_q"]) == str(len(every))
    print(f"{system}: {len(names) + 1} numbers of the summary")  # noqa: T201 - with -s


@pytest.mark.shared
def test_the_summary_of_version_10() -> None:
    path = data("trec_eval")
    values = evaluate(path / "results.test", path / "qrels.test", "all_trec", version=10)
    want = prframe.trec.read_results(path / "out.test.a", summary=True)
    want = dict(want.select("metric", "value").iter_rows())
    assert values["system"].to_list() == ["STANDARD"]
    row = values.row(0, named=True)
    assert {name: f"{row[name]:.4f}" for name in ALL} == {
        name: f"{want[name]:.4f}" for name in ALL
    }


@pytest.mark.shared
def test_complete_queries_and_depth_of_version_10() -> None:
    # From the expected output of trec_eval's own suite for -q -c -M100.
    want = {
        "num_q": 3, "num_ret": 184, "num_rel": 561, "num_rel_ret": 29, "map": 0.0947,
        "gm_map": 0.0032, "Rprec": 0.1495, "bpref": 0.1252, "recip_rank": 0.1667,
        "iprec_at_recall_0.40": 0.1905, "P_20": 0.1833, "recall_100": 0.2162, "infAP": 0.0947,
        "gm_bpref": 0.0053, "11pt_avg": 0.1205, "ndcg": 0.1800, "ndcg_cut_20": 0.2238,
        "map_cut_30": 0.0919, "relative_P_200": 0.2383, "success_5": 0.3333, "set_P": 0.1005,
        "set_recall": 0.2162, "set_map": 0.0180, "set_F": 0.0693, "num_nonrel_judged_ret": 111,
    }  # fmt: skip
    path = data("trec_eval")
    values = evaluate(
        path / "results.trunc",
        path / "qrels.test",
        list(want),
        complete_queries=True,
        depth=100,
        version=10,
    )
    row = values.row(0, named=True)
    assert {name: f"{row[name]:.4f}" for name in want} == {
        name: f"{value:.4f}" for name, value in want.items()
    }


@pytest.mark.shared
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_mean_curve_is_that_of_the_summary(system: str) -> None:
    path = data("vaswani")
    run, qrels = read_run(path / f"run.{system}.txt.gz"), read_qrels(path / "qrels.txt")
    joined = join(run, qrels, queries="both")
    drawn = prframe.curve(
        joined,
        over=["system", "query_id"],
        recall=11,
        interpolate=True,
        anchor=False,
        ties="trec",
        item="doc_id",
        float32=True,
    )
    summary = evaluate(run, qrels, "iprec_at_recall").drop("system").row(0)
    means = zip(drawn["recall"], drawn["precision"], summary, strict=True)
    # At level .7 the program is off by one document for some numbers of them, by rounding.
    exact = [(f"{ours:.4f}", f"{theirs:.4f}") for level, ours, theirs in means if level != 0.7]
    assert [pair for pair in exact if pair[0] != pair[1]] == []
    assert len(exact) == 10
    assert drawn["n"].unique().to_list() == [93]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Files of a made-up run and its judgments."""
    run, qrels = tmp_path / "made-up.run", tmp_path / "made-up.qrels"
    run.write_text(RUN)
    qrels.write_text(QRELS)
    return run, qrels


@conventions
def test_a_made_up_pair_as_printed(files, options) -> None:
    run, qrels = read_run(files[0]), read_qrels(files[1])
    assert ours(run, qrels, options) == theirs(run, qrels, options)


def test_options_that_change_nothing_are_those_of_join(files) -> None:
    values = evaluate(*files, "map", by_query=True)
    joined = join(read_run(files[0]), read_qrels(files[1]), queries="both")
    by = ["system", "query_id"]
    options = {"ties": "trec", "item": "doc_id", "float32": True, "undefined": 0}
    assert_frame_equal(values, prframe.evaluate(joined, "map", by=by, **options))


def test_versions(files) -> None:
    # 8.25 and 8.2500001 are one 32-bit float, so that d9 stands before d3 by its name.
    names = ["recip_rank", "iprec_at_recall_0.30", "11pt_avg"]
    options = {"by_query": True, "relevance_level": 2}
    old, new = (evaluate(*files, names, version=version, **options) for version in (9, 10))
    assert old.row(0)[2] == pytest.approx(1 / 3)
    assert new.row(0)[2] == pytest.approx(1 / 2)
    joined = join(read_run(files[0]), read_qrels(files[1]), queries="both")
    levels = ['IPrec(levels="v10")@0.3', 'AP11(levels="v10")']
    expected = prframe.evaluate(
        joined, levels, by="query_id", ties="trec", item="doc_id", positive=2, undefined=0
    )
    assert new.rows()[0][3:] == expected.rows()[0][1:]
    assert {name: evaluate(*files, name).columns[1] for name in levels} == dict(
        zip(levels, levels, strict=True)
    )


def test_queries_that_a_run_lacks() -> None:
    run = {"1": {"d1": 1.0}, "9": {"d1": 1.0}}
    qrels = {"1": {"d1": 1}, "2": {"d1": 1, "d2": 1}, "3": {"d1": 0}}
    names = ["num_q", "num_rel", "map", "gm_map"]
    assert evaluate(run, qrels, names).rows() == [(1.0, 1.0, 1.0, 1.0)]
    complete = evaluate(run, qrels, names, complete_queries=True).row(0)
    assert complete == pytest.approx((3.0, 3.0, 1 / 3, 1e-10 ** (1 / 3)))
    by_query = evaluate(run, qrels, names, complete_queries=True, by_query=True)
    assert by_query.rows() == [("1", 1.0, 1.0), ("2", 2.0, 0.0), ("3", 0.0, 0.0)]


def test_queries_of_unjudged_documents_count() -> None:
    run = {"1": {"d1": 1.0}, "2": {"d1": 1.0, "d2": 0.5}}
    qrels = {"1": {"d1": 1}, "2": {"d1": -1, "d9": 1}}
    assert evaluate(run, qrels, ["map", "num_ret"], judged_only=True).rows() == [(0.5, 1.0)]
    qrels["2"].pop("d9")
    assert evaluate(run, qrels, ["num_q", "map"], judged_only=True).rows() == [(2.0, 0.5)]


def test_the_depth_counts_before_judged_documents_are_chosen() -> None:
    run = {"1": {"a": 4.0, "b": 3.0, "c": 3.0, "d": 1.0}}
    qrels = {"1": {"b": 1, "c": 0, "d": 1}}
    names = ["num_ret", "num_rel_ret", "recall_5"]
    # c stands before b by its name.
    assert evaluate(run, qrels, names, depth=2, judged_only=True).rows() == [(1.0, 0.0, 0.0)]
    assert evaluate(run, qrels, names, depth=3, judged_only=True).rows() == [(2.0, 1.0, 0.5)]
    assert evaluate(run, qrels, names, depth=3).rows() == [(3.0, 1.0, 0.5)]


def test_unjudged_documents_are_a_share_of_the_cut_off() -> None:
    # Three documents, one of which is judged; the program divides by k.
    run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 1.0}}
    qrels = {"1": {"b": 1, "c": -1}, "2": {"a": 0}}
    values = evaluate(run, qrels, ["unj_2", "unj", "Judged@10"], by_query=True)
    assert values.rows() == [("1", 0.5, 0.4, 0.2, 0.1, 1 / 3), ("2", 0.0, 0.0, 0.0, 0.0, 1.0)]
    assert evaluate(run, qrels, "num_nonrel_judged_ret").rows() == [(1.0,)]


def test_measures_that_only_trec_eval_has() -> None:
    # Of three relevant documents, the second and the fourth of five are retrieved.
    run = {"1": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}, "2": {"a": 1.0}}
    qrels = {"1": {"b": 1, "d": 1, "x": 1, "a": 0}, "2": {"a": 0}}
    names = ["utility", "set_relative_P", "binG", "Rprec_mult_0.40", "Rprec_mult_2.00"]
    values = evaluate(run, qrels, names, by_query=True)
    gain = (1 / np.log2(3) + 1 / np.log2(4)) / 3
    # Two documents are .4 of three by the rounding of the program, and six are twice as many.
    assert values.row(0)[1:] == pytest.approx((-1.0, 2 / 3, gain, 1 / 2, 2 / 6))
    assert values.row(1)[1:] == (-1.0, 0.0, 0.0, 0.0, 0.0)


NAMED = {
    "map": ["map"],
    "P.5,10": ["P_5", "P_10"],
    "P_5,10": ["P_5", "P_10"],
    "P.5": ["P_5"],
    "iprec_at_recall.0.3,1": ["iprec_at_recall_0.30", "iprec_at_recall_1.00"],
    "iprec_at_recall_0.25": ["iprec_at_recall_0.25"],
    "success": ["success_1", "success_5", "success_10"],
    "set": ["num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P",
            "set_recall", "set_map", "set_F"],
    "Rprec_mult.0.2,1.5": ["Rprec_mult_0.20", "Rprec_mult_1.50"],
    "nDCG@10": ["nDCG@10"],
}  # fmt: skip


@pytest.mark.parametrize(("asked", "names"), NAMED.items())
def test_names_of_measures(asked: str, names: list[str]) -> None:
    assert evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, asked).columns == names


def test_measures_that_are_asked_for() -> None:
    run, qrels = {"1": {"d": 1.0}}, {"1": {"d": 1}}
    official = evaluate(run, qrels)
    assert official.columns[:9] == [
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref"),
        "recip_rank",
    ]
    assert official.width == 9 + 11 + 9
    assert "num_q" not in evaluate(run, qrels, by_query=True).columns
    listed = evaluate(run, qrels, ["P", "map", "P_5", prframe.nDCG @ 10])
    assert listed.columns[-2:] == ["map", "nDCG@10"]
    assert evaluate(run, qrels, {"map", "P_5", "ndcg"}).columns == ["P_5", "map", "ndcg"]
    assert evaluate(run, qrels, "num_q").rows() == [(1.0,)]


# The names of recall and precision of all retrieved documents elsewhere.
@pytest.mark.parametrize("name", ["recall", "P"])
def test_names_of_families_are_those_of_trec_eval(name: str) -> None:
    assert evaluate({"1": {"d": 1.0}}, {"1": {"d": 1}}, name).width == 9


def test_several_runs(files, tmp_path: Path) -> None:
    run, qrels = files
    (tmp_path / "again.run").write_text(RUN)
    values = evaluate(str(tmp_path / "*.run"), qrels, ["map", "num_q"])
    assert values["system"].to_list() == ["again", "made-up"]
    assert values["map"].n_unique() == 1
    runs = {"a": run, "b": read_run(run), "c": read_run(run).to_pandas()}
    assert evaluate(runs, read_qrels(qrels), "num_q").rows() == [("a", 4), ("b", 4), ("c", 4)]
    alone = evaluate(read_run(run).drop("system"), qrels, ["num_q", "num_rel"])
    assert alone.rows() == [(4.0, 7.0)]


def test_a_judged_query_that_a_run_lacks_counts_0_in_means_of_several() -> None:
    full, part = {"1": {"a": 1.0}, "2": {"a": 1.0}, "3": {"b": 1.0}}, {"1": {"a": 1.0}}
    qrels = {query: {"a": 1} for query in "123"}
    with pytest.warns(prframe.MissingQueriesWarning) as caught:
        values = evaluate({"full": full, "part": part}, qrels, ["map", "num_q"])
    assert [str(warning.message) for warning in caught] == [
        "1 of 2 runs lack judged queries, which count as 0 in their means: 'part' lacks 2 of 3"
    ]
    assert values["map"].to_list() == pytest.approx([2 / 3, 1 / 3])
    assert values["num_q"].to_list() == [3, 3]
    # A run by itself, and results of single queries, are as trec_eval has them.
    assert evaluate(part, qrels, ["map", "num_q"]).rows() == [(1, 1)]
    by_query = evaluate({"full": full, "part": part}, qrels, "map", by_query=True)
    assert by_query["system"].to_list() == ["full"] * 3 + ["part"]
    alone = evaluate({"full": full, "part": part}, qrels, "map", complete_queries=False)
    assert alone["map"].to_list() == pytest.approx([2 / 3, 1])
    # What no run has does not count unless it is asked for.
    more = qrels | {"4": {"a": 1}}
    with pytest.warns(prframe.MissingQueriesWarning):
        again = evaluate({"full": full, "part": part}, more, ["map", "num_q"])
    assert again.equals(values)
    every = evaluate({"full": full, "part": part}, qrels, "map", complete_queries=True)
    assert every["map"].to_list() == values["map"].to_list()


def test_many_runs_that_lack_queries_are_counted() -> None:
    qrels = {query: {"a": 1} for query in "12"}
    runs = {f"run{number}": {"1": {"a": 1.0}} for number in range(10)} | {"whole": qrels}
    with pytest.warns(prframe.MissingQueriesWarning) as caught:
        evaluate(runs, qrels, "map")
    assert str(caught[0].message) == (
        "10 of 11 runs lack judged queries, which count as 0 in their means: "
        + ", ".join(f"'run{number}' lacks 1 of 2" for number in range(SHOWN))
        + f", and {10 - SHOWN} more runs"
    )


def test_a_document_that_is_the_query_is_left_out() -> None:
    run, qrels = {"t1": {"t1": 3.0, "d1": 2.0, "d2": 1.0}}, {"t1": {"d1": 1}}
    assert evaluate(run, qrels, "recip_rank").item() == 0.5
    assert evaluate(run, qrels, "recip_rank", exclude_self=True).item() == 1


FRAME = pl.DataFrame(
    {
        "model": ["x", "x", "y"],
        "qid": ["1", "2", "1"],
        "docno": ["a", "a", "b"],
        "score": [1, 2, 3],
    }
)
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}


@pytest.mark.parametrize("by_query", [False, True])
def test_kinds_of_frames(by_query: bool) -> None:
    options = {"system": "model", "by_query": by_query, "complete_queries": False}
    expected = evaluate(FRAME, JUDGED, "map", **options)
    keys = ["model", "query_id"] if by_query else ["model"]
    assert expected.columns == [*keys, "map"]
    assert expected["map"].to_list() == ([1.0, 1.0, 0.0] if by_query else [1.0, 0.0])
    lazy = evaluate(FRAME.lazy(), JUDGED, "map", **options)
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect_schema() == expected.schema
    assert_frame_equal(lazy.collect(), expected)
    pandas = FRAME.to_pandas().astype({"model": "category"})
    values = evaluate(pandas, JUDGED, "map", **options)
    assert isinstance(values, pd.DataFrame)
    assert values["model"].dtype == pandas["model"].dtype
    assert values["map"].to_list() == expected["map"].to_list()
    table = evaluate(FRAME.to_arrow(), JUDGED, "map", **options)
    assert isinstance(table, pa.Table)
    assert_frame_equal(pl.from_arrow(table), expected)


def test_a_document_that_stands_twice() -> None:
    twice = pl.concat([FRAME, FRAME.head(1).with_columns(score=pl.lit(0, pl.Int64))])
    with pytest.raises(PrframeError, match="a ranking of the run must hold a document once"):
        evaluate(twice, JUDGED, "map", system="model")
    options = {"system": "model", "complete_queries": False}
    best = evaluate(twice, JUDGED, "map", duplicates="best", **options)
    assert_frame_equal(best, evaluate(FRAME, JUDGED, "map", **options))


def test_ids_that_are_integers() -> None:
    # As text 9 stands before 10.
    run, qrels = {1: {9: 1.0, 10: 1.0}}, {1: {10: 1}}
    assert evaluate(run, qrels, "recip_rank", depth=2, by_query=True).rows() == [(1, 0.5)]
    assert evaluate(run, qrels, "recip_rank", depth=1).rows() == [(0.0,)]


def test_nothing_in_common() -> None:
    with pytest.warns(prframe.UnmatchedIdsWarning, match="no query in common"):
        values = evaluate({"x": {"1": {"d": 1.0}}}, {"2": {"d": 1}}, ["num_q", "map"])
    assert values.rows() == []


test_refusals = refusals(
    {
        "`version` must be 9 or 10; got True.": {"version": True},
        "`version` must be 9 or 10; got [9].": {"version": [9]},
        "`measures` must be a measure or a list of them; got 3.": {"measures": 3},
        "`measures` must name at least one measure; got none.": {"measures": []},
        "unknown metric 'Rndcg'. Did you mean 'nDCG'? prframe.CATALOGUE has all metrics, such as 'AP', "
        "'AUC', 'P@10' and 'nDCG@10'.": {"measures": "Rndcg"},
        "'gm_map', 'num_q' have no values of single queries; leave out by_query, or name other "
        "measures.": {"measures": ["num_q", "gm_map"], "by_query": True},
    },
    lambda options: evaluate({"1": {"d": 1.0}}, JUDGED, **options),
)
