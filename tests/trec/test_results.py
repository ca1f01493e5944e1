"""The output of trec_eval: what is read, which systems it is of, what is refused."""

import gzip
from math import inf
from pathlib import Path

import polars as pl
import pytest

import prframe
from prframe import PrframeError
from prframe.trec import read_qrels, read_results, read_run

OUTPUT = """\
num_ret               \t301\t100
map                   \t301\t0.0118
relstring             \t301\t'0000011000'
map                   \t303\t0.2723
runid                 \tall\tbm25
map                   \tall\t0.1421
"""
ROWS = [
    ("bm25", "301", "num_ret", 100.0),
    ("bm25", "301", "map", 0.0118),
    ("bm25", "303", "map", 0.2723),
]
SCHEMA = {
    "system": pl.String, "query_id": pl.String, "metric": pl.String, "value": pl.Float64,
}  # fmt: skip


def saved(folder: Path, text: str, name: str = "out.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_output(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path, OUTPUT, name)
    results = read_results(path)
    assert results.rows() == ROWS
    assert results.schema == SCHEMA
    assert read_results(path, summary=True).rows() == [*ROWS, ("bm25", "all", "map", 0.1421)]


def test_numbers_of_every_form(tmp_path: Path) -> None:
    texts = {
        "1.": 1.0, "+1": 1.0, ".5": 0.5, "-1e-3": -0.001,
        "inf": inf, "-INF": -inf, "+inf": inf, "Infinity": inf,
    }  # fmt: skip
    path = saved(tmp_path, "".join(f"m {i} {text}\n" for i, text in enumerate(texts)))
    assert read_results(path)["value"].to_list() == list(texts.values())


def test_a_file_without_a_run_is_named_by_itself(tmp_path: Path) -> None:
    path = saved(tmp_path, "map 301 0.5\n", "dense.v2.txt.gz")
    assert read_results(path).rows() == [("dense.v2", "301", "map", 0.5)]


def test_several_files(tmp_path: Path) -> None:
    saved(tmp_path, OUTPUT, "b.txt")
    saved(tmp_path, OUTPUT.replace("bm25", "dense"), "a.txt")
    results = read_results(tmp_path / "*.txt")
    assert results["system"].unique(maintain_order=True).to_list() == ["dense", "bm25"]
    # Other measures of the same run.
    saved(tmp_path, "P_5 301 0.2\nrunid all bm25\n", "c.txt")
    assert read_results(tmp_path / "[bc].txt")["system"].unique().to_list() == ["bm25"]
    # Another run of the same name.
    saved(tmp_path, OUTPUT, "d.txt")
    assert read_results(tmp_path / "[bd].txt")["system"].unique(maintain_order=True).to_list() == [
        "b",
        "d",
    ]


@pytest.mark.parametrize("line", ["", "# read line by line\n"])
def test_undefined_values_are_null(line: str, tmp_path: Path) -> None:
    text = f"{line}map 301 nan\nmap 302 0.5\nmap 303 0.3\nP_5 301 -nan\n"
    results = read_results(saved(tmp_path, text))
    assert results["value"].to_list() == [None, 0.5, 0.3, None]
    with pytest.warns(prframe.UndefinedMetricWarning, match="null or NaN"):
        means = prframe.interval(results, values="value", over="query_id")
    assert means["estimate"].to_list() == [0.4, None]


MEND = "Mend the line, or put # and a space in front of it to leave it out."
ORDER = "If files are exchanged: in Python runs come first, in a shell qrels do."
REFUSED = {
    "{}, line 2: the value of map must be a number; got 'x', in 'map\\t302\\tx'. "
    + MEND: "map 301 0.1\nmap\t302\tx\n",
    "{}, line 1: the value of map must be a number; got 'nano', in 'map 301 nano'. "
    + MEND: "map 301 nano\n",
    "{} must hold the results of one run; it has 2 lines of runid, 'bm25', 'dense'. "
    "Write one file for each run.": OUTPUT + OUTPUT.replace("bm25", "dense"),
    "{} holds the summary over all queries alone; run trec_eval with -q, or read the summary "
    "with summary=True.": "runid all bm25\nmap all 0.5\n",
}


@pytest.mark.parametrize(("message", "text"), REFUSED.items(), ids=REFUSED)
def test_refusals(text: str, message: str, tmp_path: Path) -> None:
    path = saved(tmp_path, text)
    with pytest.raises(PrframeError) as caught:
        read_results(path)
    assert str(caught.value) == message.format(path)


def test_options(tmp_path: Path) -> None:
    with pytest.raises(PrframeError, match="`summary` must be True or False; got 1"):
        read_results(saved(tmp_path, OUTPUT), summary=1)
    with pytest.raises(FileNotFoundError):
        read_results(tmp_path / "nothing")
    assert read_results(saved(tmp_path, "")).schema == SCHEMA


LIKE = {
    "qrels as a run": (read_run, "301 0 d1 1\n", "got 4, as in qrels (read_qrels), in '301 0 d1 1'. "),
    "results as a run": (read_run, "map 301 0.5\n", "got 3, as in the output of trec_eval (read_results), or in a run of MS MARCO, 'query document rank', from rank 0 or 1, in 'map 301 0.5'. "),
    "results without numbers": (read_run, "runid all bm25\n", "got 3, as in the output of trec_eval (read_results), or in a run of MS MARCO, 'query document rank', from rank 0 or 1, in 'runid all bm25'. "),
    "a run as qrels": (read_qrels, "301 Q0 d1 1 2.5 x y\n", "got 7, as in a run (read_run), in '301 Q0 d1 1 2.5 x y'. "),
    "qrels without iterations": (read_qrels, "1 d1 1\n", "got 3, as in qrels without the second field, often 0 (only below BEIR's header, 'query-id corpus-id score', it may be missing), or in the output of trec_eval (read_results), in '1 d1 1'. "),
    "something else": (read_qrels, "301 Q0 d1\n", "got 3, in '301 Q0 d1'. "),
}  # fmt: skip


@pytest.mark.parametrize(("read", "text", "message"), LIKE.values(), ids=LIKE)
def test_files_of_another_kind(read, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PrframeError) as caught:
        read(saved(tmp_path, text))
    assert str(caught.value).endswith((message + MEND, message + ORDER))


@pytest.mark.parametrize("read", [read_run, read_qrels, read_results])
def test_patterns_without_files(read, tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.run")
    with pytest.raises(PrframeError) as caught:
        read([pattern])
    assert str(caught.value) == (
        f"no file matches {pattern!r}; mend the pattern, or name the files."
    )


@pytest.mark.parametrize(
    ("read", "name"), [(read_run, "*.run"), (read_qrels, "*qrels*"), (read_results, "*.results")]
)
def test_folders(read, name: str, tmp_path: Path) -> None:
    with pytest.raises(PrframeError) as caught:
        read(tmp_path)
    assert str(caught.value) == (
        f"{str(tmp_path)!r} is a folder; name its files, for example by the pattern "
        f"{str(tmp_path / name)!r}."
    )


def test_patterns(tmp_path: Path) -> None:
    saved(tmp_path, "1 0 d2 1\n", "b.qrels")
    saved(tmp_path, "1 0 d1 1\n", "a.qrels")
    assert read_qrels(str(tmp_path / "?.qrels"))["doc_id"].to_list() == ["d1", "d2"]
    # The name of a file that exists is no pattern.
    saved(tmp_path, "1 0 d3 1\n", "[ab].qrels")
    assert read_qrels(tmp_path / "[ab].qrels")["doc_id"].to_list() == ["d3"]
