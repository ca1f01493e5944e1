"""Runs and qrels that are no frames: files, patterns, dicts by query, and several runs at once."""

from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe import PrframeError, UnretrievedWarning, trec
from prframe.trec import join, read_qrels, read_run
from tests.refusals import refusals

NESTED = {"1": {"d1": 2.5, "d2": 1}, "2": {"d3": 0.5}}
JUDGED = {"1": {"d2": 1, "d9": 2}, "2": {"d3": 0}}
RUN = pl.DataFrame(
    {"query_id": ["1", "1", "2"], "doc_id": ["d1", "d2", "d3"], "score": [2.5, 1.0, 0.5]}
)
QRELS = pl.DataFrame(
    {"query_id": ["1", "1", "2"], "doc_id": ["d2", "d9", "d3"], "label": [1, 2, 0]}
)
EXPECTED = join(RUN, QRELS)


def run_file(folder: Path, name: str, tag: str, frame: pl.DataFrame = RUN) -> Path:
    lines = [f"{q} Q0 {d} 0 {s} {tag}\n" for q, d, s in frame.iter_rows()]
    (folder / name).write_text("".join(lines))
    return folder / name


@pytest.fixture
def qrels_file(tmp_path: Path) -> Path:
    path = tmp_path / "judged.qrels"
    path.write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label in QRELS.iter_rows()))
    return path


def named(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the rows once for each name, in the order in which join lists them."""
    return pl.concat(frame.select(pl.lit(name).alias("system"), pl.all()) for name in names)


def systems(frame: pl.DataFrame) -> list[str]:
    return frame["system"].unique(maintain_order=True).to_list()


def test_paths(tmp_path: Path, qrels_file: Path) -> None:
    path = run_file(tmp_path, "x.run", "bm25")
    for given, judged in ((path, qrels_file), (str(path), [str(qrels_file)])):
        assert_frame_equal(join(given, judged), named(EXPECTED, "bm25"))
        assert_frame_equal(join(given, judged), join(read_run(path), read_qrels(qrels_file)))


def test_patterns_and_lists(tmp_path: Path, qrels_file: Path) -> None:
    run_file(tmp_path, "b.run", "bm25")
    run_file(tmp_path, "a.run", "dense")
    assert_frame_equal(
        join(str(tmp_path / "*.run"), str(tmp_path / "*.qrels")), named(EXPECTED, "dense", "bm25")
    )
    listed = [tmp_path / "b.run", str(tmp_path / "a*"), named(RUN, "c").to_pandas()]
    assert_frame_equal(join(listed, qrels_file), named(EXPECTED, "bm25", "dense", "c"))


def test_numbers_of_several_types(tmp_path: Path) -> None:
    whole = named(RUN, "b").with_columns(score=pl.Series([3, 2, 1], dtype=pl.Int32))
    listed = join([run_file(tmp_path, "a.run", "a"), whole], JUDGED)
    by_name = join({"a": NESTED, "b": whole}, JUDGED)
    assert_frame_equal(listed, by_name)
    assert listed.filter(system="b", score=3.0).height == 1
    ids = pl.DataFrame({"query_id": [1], "doc_id": [2], "score": [1.0]})
    small = ids.cast({"query_id": pl.Int8, "doc_id": pl.UInt16})
    runs = [named(ids, "a"), named(small, "b")]
    assert join(runs, {1: {2: 1}})["query_id"].to_list() == [1, 1]


def test_files_that_share_a_tag_and_a_query_are_named_after_themselves(tmp_path: Path) -> None:
    run_file(tmp_path, "a.run", "run")
    run_file(tmp_path, "b.run.gz", "run")
    run_file(tmp_path, "c.run", "dense")
    assert systems(join(str(tmp_path / "*.run*"), JUDGED)) == ["a", "b", "dense"]


def test_files_that_share_a_tag_and_no_query_are_one_run(tmp_path: Path) -> None:
    parts = [RUN.filter(query_id="1"), RUN.filter(query_id="2")]
    paths = [run_file(tmp_path, f"{i}.run", "bm25", part) for i, part in enumerate(parts)]
    assert_frame_equal(join(paths, QRELS), named(EXPECTED, "bm25"))


def test_dicts_by_query() -> None:
    assert_frame_equal(join(NESTED, JUDGED), EXPECTED)
    scalars = {"1": {"d1": np.float32(2.5), "d2": np.int64(1)}, "2": {"d3": 0.5}, "3": {}}
    labels = {"1": {"d2": np.int64(1), "d9": 2}, "2": {"d3": False}, "4": {}}
    assert_frame_equal(join(scalars, labels), EXPECTED)
    whole = join({1: {10: 3, 11: 2}}, {1: {10: 1}})
    assert whole.rows() == [(1, 10, 3.0, 1, True), (1, 11, 2.0, 0, False)]
    with pytest.warns(UnretrievedWarning, match="1 of 1 rows of the run have the score -inf"):
        missing = join({"1": {"d1": -inf}}, {"1": {"d1": 1}})
    assert missing["score"].to_list() == [-inf]


def test_a_column_is_not_taken_for_files(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d1").touch()
    run = {"doc_id": ["d1"], "query_id": ["1"], "score": [1.0]}
    assert join(run, {"1": {"d1": 1}})["label"].to_list() == [1]


RUNS = {
    "dicts": lambda: {"a": NESTED, "b": NESTED},
    "polars": lambda: {"a": RUN, "b": RUN.lazy()},
    "pandas and pyarrow": lambda: {"a": RUN.to_pandas(), "b": RUN.to_arrow()},
    "readers": lambda: {"a": RUN.to_arrow().to_reader(), "b": NESTED},
    "columns": lambda: {"a": RUN.to_dict(as_series=False), "b": RUN.to_dict()},
    "other names": lambda: {"a": RUN.rename({"query_id": "qid", "doc_id": "docno"}), "b": NESTED},
    "a system of another name": lambda: {"a": named(RUN, "x"), "b": RUN},
    "categories": lambda: {"a": RUN.cast({"query_id": pl.Categorical}), "b": RUN},
}


@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
def test_dicts_by_system(runs) -> None:
    assert_frame_equal(join(runs(), JUDGED), named(EXPECTED, "a", "b"))


def test_runs_without_rows_lack_all_queries(tmp_path: Path) -> None:
    (tmp_path / "c.run").touch()
    full = run_file(tmp_path, "a.run", "a")
    for runs, name in (
        ({"a": NESTED, "c": {"1": {}}}, "c"),
        ({"a": NESTED, "c": RUN.clear()}, "c"),
        ([full, tmp_path / "c.run"], str(tmp_path / "c.run")),
    ):
        with pytest.warns(prframe.UnmatchedIdsWarning) as caught:
            labelled = join(runs, JUDGED)
        assert [str(warning.message) for warning in caught] == [
            f"1 of 2 runs have no rows: {name!r}"
        ]
        empty = labelled.filter(system="c")
        assert empty.height == sum(map(len, JUDGED.values()))
        assert (empty["score"] == -float("inf")).all()
        assert_frame_equal(labelled.filter(system="a"), named(EXPECTED, "a"))
    with pytest.warns(prframe.UnmatchedIdsWarning, match="the run has no rows"):
        values = trec.evaluate(tmp_path / "c.run", JUDGED, ["map", "num_q"], complete_queries=True)
    assert values.rows() == [("c", 0.0, len(JUDGED))]


def test_files_by_system(tmp_path: Path) -> None:
    path = run_file(tmp_path, "x.run", "bm25")
    assert_frame_equal(join({"a": path, "b": str(path)}, JUDGED), named(EXPECTED, "a", "b"))


COLUMNS = {
    "lists": RUN.to_dict(as_series=False),
    "series": RUN.to_dict(),
    "arrays": {name: RUN[name].to_numpy() for name in RUN.columns},
    "pandas": {name: pd.Series(RUN[name].to_list()) for name in RUN.columns},
    "pyarrow": {name: pa.chunked_array([RUN[name].to_list()]) for name in RUN.columns},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_dicts_of_columns_are_frames(columns) -> None:
    assert_frame_equal(join(columns, QRELS.to_dict()), EXPECTED)


def test_frames_keep_their_kind(qrels_file: Path) -> None:
    assert isinstance(join(RUN.to_pandas(), JUDGED), pd.DataFrame)
    assert isinstance(join(RUN.to_arrow(), qrels_file), pa.Table)
    assert isinstance(join(RUN.lazy(), str(qrels_file)), pl.LazyFrame)


def test_systems_without_judged_queries_are_named() -> None:
    other = {"q1": {"d1": 1.0}}
    with pytest.warns(prframe.UnmatchedIdsWarning) as caught:
        join({"a": NESTED, "b": other}, JUDGED)
    assert [str(warning.message) for warning in caught] == [
        "1 of 2 systems have no query in common with the qrels: 'b'"
    ]
    run = pl.concat([named(RUN, "a"), named(RUN, "b").with_columns(query_id=pl.lit("q1"))])
    run = run.with_columns(part=pl.lit(1))
    with pytest.warns(prframe.UnmatchedIdsWarning, match=r"with the qrels: \('b', 1\)$"):
        join(run, QRELS, system=["system", "part"])


FLAT = "Pass a dict, {name: run}, or files of other names."
OTHER_COLUMNS = RUN.rename({"score": "label"})


test_refusals = refusals(
    {
        "the scores of the run must be numbers; got '2.5' for document 'd1' of query '1'.": lambda: (
            join({"1": {"d1": "2.5"}}, JUDGED)
        ),
        "the scores of the run must be numbers; got None for document 'd1' of query '1'.": lambda: (
            join({"1": {"d1": None}}, JUDGED)
        ),
        "the run comes first, and the qrels second; these look swapped: the second has a "
        "'score', and no label. Exchange them.": lambda: join(OTHER_COLUMNS, RUN),
        "the query ids of the run must all be strings or all be integers.": lambda: join(
            {"1": {"d1": 1.0}, 2: {"d1": 1.0}}, JUDGED
        ),
        "the document ids of the qrels must all be strings or all be integers.": lambda: join(
            NESTED, {"1": {("d", 1): 1}}
        ),
        "the query ids of the runs must be strings in all of them or integers in all of them. "
        "Cast those of some runs.": lambda: join({"a": RUN, "b": {1: {2: 0.5}}}, JUDGED),
        "the name of a run must be a string; got 1.": lambda: join({1: RUN}, JUDGED),
        "the run 'a' must be that of one system; it has those of 'x', 'y'. Pass it without a name.": lambda: (
            join({"a": named(RUN, "y", "x")}, JUDGED)
        ),
        "a frame in a list of runs must have a column of text that names its system, one of "
        f"'system', 'run', 'tag', 'run_id'. {FLAT}": lambda: join([named(RUN, "a"), RUN], JUDGED),
        "the runs must have names of their own; several of them that have a query in common are "
        f"named 'a'. {FLAT}": lambda: join([named(RUN, "a"), named(RUN, "a")], JUDGED),
    }
)


def test_files_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    paths = [run_file(tmp_path, "a.run", "x"), run_file(tmp_path / "more", "a.run", "x")]
    with pytest.raises(PrframeError) as caught:
        join(paths, JUDGED)
    assert str(caught.value) == (
        "the runs must have names of their own; several of them that have a query in common are "
        f"named 'a'. {FLAT}"
    )
    several = tmp_path / "b.run"
    several.write_text((tmp_path / "a.run").read_text() + "9 Q0 d 1 1 y\n")
    with pytest.raises(PrframeError, match=r"are named 'x', 'y'\. Pass a dict"):
        join([paths[0], several], JUDGED)


def test_files_that_changed_places(tmp_path: Path, qrels_file: Path) -> None:
    path = run_file(tmp_path, "a.run", "x")
    with pytest.raises(PrframeError, match=r"got 4, as in qrels .*exchanged"):
        join(qrels_file, path)
    with pytest.raises(PrframeError, match=r"got 6, as in a run .*exchanged"):
        join(path, path)
