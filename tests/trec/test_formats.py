"""Runs and qrels of other collections and tools, which people have beside TREC's own."""

from collections.abc import Callable
from math import log2
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe import PrframeError
from prframe.trec import evaluate, read_qrels, read_run, reading


def saved(folder: Path, text: str, name: str = "file.tsv") -> Path:
    path = folder / name
    path.write_text(text, newline="")
    return path


def slowly(*_: object) -> None:
    pytest.fail("read line by line")


def both_ways(read: Callable[[Path], pl.DataFrame], path: Path) -> pl.DataFrame:
    """Read a file quickly, and line by line, which must agree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_line_by_line", slowly)
        quick = read(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_regular", lambda *_: None)
        assert_frame_equal(read(path), quick)
    return quick


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("gap", ["\t", " ", "  "])
def test_runs_of_ms_marco(end: str, gap: str, tmp_path: Path) -> None:
    lines = ["7 12 1", "7 11 2", "8 5 1", "8 11 10"]
    path = saved(tmp_path, "".join(line.replace(" ", gap) + end for line in lines), "mine.tsv")
    run = both_ways(read_run, path)
    assert run.schema == {
        "query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64,
        "system": pl.String,
    }  # fmt: skip
    assert run["rank"].to_list() == [1, 2, 1, 10]
    assert run["score"].to_list() == [-1, -2, -1, -10]
    assert run["system"].unique().to_list() == ["mine"]
    qrels = saved(tmp_path, f"7\t0\t11\t1{end}8\t0\t11\t1{end}", "qrels")
    value = evaluate(path, qrels, ["RR@10"])["RR@10"].item()
    assert value == 0.5


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("7 13 x", "the place must be a whole number; got 'x', in '7 13 x'"),
        (
            "7 Q0 13 3 1.5 t",
            "a line of a run of MS MARCO must have 3 fields, 'query document rank'; got 6, as in "
            "a run (read_run), in '7 Q0 13 3 1.5 t'",
        ),
    ],
)
def test_malformed_lines_of_ms_marco(line: str, problem: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"# of today\n7 12 1\n{line}\n")
    with pytest.raises(PrframeError) as caught:
        read_run(path)
    assert str(caught.value).startswith(f"{path}, line 3: {problem}. ")


def test_ranks_may_begin_with_0(tmp_path: Path) -> None:
    path = saved(tmp_path, "7 12 0\n7 11 1\n")
    assert read_run(path)["score"].to_list() == [0, -1]
    assert evaluate(path, {"7": {"11": 1}}, "recip_rank")["recip_rank"].to_list() == [0.5]


def test_three_columns_that_begin_with_no_rank(tmp_path: Path) -> None:
    with pytest.raises(PrframeError) as caught:
        read_run(saved(tmp_path, "7 12 40\n7 11 30\n"))
    assert "or in a run of MS MARCO, 'query document rank', from rank 0 or 1" in str(caught.value)


@pytest.mark.parametrize("mark", ["", "\ufeff", "# of BEIR\n\n"])
@pytest.mark.parametrize("head", ["query-id corpus-id score", "Query-ID corpus-id Score", "qid docid relevance"])  # fmt: skip
def test_qrels_of_beir(mark: str, head: str, tmp_path: Path) -> None:
    text = f"{mark}{head}\nq7 d1 1\nq7 d2 2\nq8 d1 0\n".replace(" ", "\t")
    path = saved(tmp_path, text)
    qrels = both_ways(read_qrels, path)
    assert qrels.schema == {"query_id": pl.String, "doc_id": pl.String, "label": pl.Int64}
    assert qrels.rows() == [("q7", "d1", 1), ("q7", "d2", 2), ("q8", "d1", 0)]
    with pytest.raises(PrframeError, match=r"got 3, as in qrels of BEIR [(]read_qrels"):
        read_run(path)
    wrong = saved(tmp_path, text + "q8\td9\n", "wrong.tsv")
    with pytest.raises(PrframeError) as caught:
        read_qrels(wrong)
    number = 5 + 2 * mark.startswith("#")
    assert str(caught.value).startswith(
        f"{wrong}, line {number}: a line of qrels of BEIR must have 3 fields, 'query document "
        "label'; got 2, in 'q8\\td9'."
    )


def test_frames_with_the_columns_of_beir() -> None:
    qrels = pl.DataFrame({"query-id": ["q7"], "corpus-id": ["d1"], "score": [1]})
    for frame in (qrels, qrels.to_pandas(), qrels.to_arrow()):
        result = evaluate({"q7": {"d2": 2.0, "d1": 1.0}}, frame, "recip_rank")
        assert result["recip_rank"].to_list() == [0.5]


@pytest.mark.parametrize("label", ["1.0", "+1", "1e0", "1.", "01"])
def test_grades_of_files_that_are_whole_numbers(label: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"1 0 a {label}\n1 0 b 0.0\n1 0 c -1.0\n")
    qrels = read_qrels(path)
    assert qrels["label"].to_list() == [1, 0, -1]
    assert qrels.schema["label"] == pl.Int64


def test_whole_grades_in_a_frame_a_dict_and_a_file(tmp_path: Path) -> None:
    path = saved(tmp_path, "1 0 a 1.0\n1 0 b 0.0\n")
    frame = pl.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1.0, 0.0]})
    for qrels in (frame, {"1": {"a": 1.0, "b": 0.0}}, path):
        value = evaluate({"1": {"b": 2.0, "a": 1.0}}, qrels, "ndcg")["ndcg"].item()
        assert value == pytest.approx(1 / log2(3), abs=1e-12)


@pytest.mark.parametrize("rank", ["1.0", "-", "x", "NaN", str(2**63)])
def test_ranks_that_are_no_whole_numbers(rank: str, tmp_path: Path) -> None:
    path = saved(tmp_path, f"1 Q0 a {rank} 2.5 t\n1 Q0 b 2 1.5 t\n")
    run = read_run(path)
    assert run["rank"].to_list() == [None, 2]
    assert run["score"].to_list() == [2.5, 1.5]
    assert evaluate(path, {"1": {"b": 1}}, "recip_rank")["recip_rank"].to_list() == [0.5]


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_queries_that_begin_with_a_hash(read: Callable[[Path], Any], tmp_path: Path) -> None:
    row = "rain Q0 d2 1 2.0 t" if read is read_run else "rain 0 d1 1"
    path = saved(tmp_path, f"{row}\n#{row}\n")
    with pytest.raises(PrframeError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line 2: a comment must not have the fields of ")
    assert read(saved(tmp_path, f"{row}\n# {row}\n#\n#{row} more words\n# x y\n")).height == 1


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


SCORED = [ScoredDoc("1", "a", 1.0), ScoredDoc("1", "b", 2.0)]
JUDGED = [Qrel("1", "a", 1, "0"), Qrel("1", "b", 0, "0")]


def of_ranx(kind: str, name: str | None, numbers: dict) -> object:
    """Return an object that looks like one of ranx, which is not installed for tests."""
    made = type(kind, (SimpleNamespace,), {"__module__": "ranx.data_structures"})
    return made(name=name, to_dict=lambda: numbers)


@pytest.mark.parametrize("form", [list, tuple, iter, lambda rows: (row for row in rows)])
def test_objects_of_ir_measures(form: Callable[[list], Any]) -> None:
    result = evaluate(form(SCORED), form(JUDGED), ["recip_rank", "num_q"])
    assert result.rows() == [(0.5, 1)]
    named = evaluate({"mine": form(SCORED)}, form(JUDGED), ["recip_rank"])
    assert named.rows() == [("mine", 0.5)]


def test_measures_of_ir_measures() -> None:
    measure = type(
        "Measure", (), {"__module__": "ir_measures.measures", "__str__": lambda _: "RR@10"}
    )
    assert evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, [measure()]).rows() == [(1.0,)]
    frame = pl.DataFrame({"score": [2.0, 1.0], "label": [0, 1]})
    for measures in (measure(), [measure()]):
        assert prframe.evaluate(frame, measures).rows() == [(0.5,)]
        assert evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, measures).rows() == [(1.0,)]


def test_objects_of_ranx() -> None:
    run, other = (of_ranx("Run", name, {"1": {"a": 1.0, "b": 2.0}}) for name in ("x", "y"))
    qrels = of_ranx("Qrels", None, {"1": {"a": 1, "b": 0}})
    assert evaluate(run, qrels, "recip_rank").rows() == [("x", 0.5)]
    assert evaluate([run, other], qrels, "recip_rank").rows() == [("x", 0.5), ("y", 0.5)]
    assert evaluate({"z": run}, qrels, "recip_rank").rows() == [("z", 0.5)]
    unnamed = of_ranx("Run", None, {"1": {"a": 1.0, "b": 2.0}})
    assert evaluate(unnamed, qrels, "recip_rank").rows() == [(0.5,)]
