"""Files that cannot be read: each message names the file, the line, and what is wrong with it."""

import bz2
import codecs
import gzip
import lzma
import os
import re
from pathlib import Path
from threading import Thread

import polars as pl
import pytest

from tests.commands.shell import FRAME, Done, process, run

HEAD = "query,score,label\n"
EVALUATE = ["evaluate", "-m", "AP", "--frame"]
JSON = b'{"score": 2, "label": 1}\n{"score": 1, "label": 0}\n'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", "x.csv is empty."),
        ("x.csv", HEAD.encode(), "x.csv has no rows below the names of its columns."),
        (
            "x.csv",
            f"{HEAD}a,1,1\na,2,0,5,6\n".encode(),
            "x.csv, line 3: the number of fields is 5, where the first line names 3 columns.",
        ),
        (
            "x.csv",
            f'{HEAD}"a\nb",1,1\na\n'.encode(),
            "x.csv, line 4: the number of fields is 1, where the first line names 3 columns.",
        ),
        (
            "x.tsv",
            HEAD.replace(",", "\t").encode() + b"a\t1\t1\n\na\t2\t1\n",
            "x.tsv, line 3: the number of fields is 0, where the first line names 3 columns.",
        ),
        (
            "x.csv",
            b"score;label\n0,5;1\n",
            "x.csv, line 1: it has semicolons; use commas for columns and points for decimals.",
        ),
        ("x.csv", f"{HEAD}é,1,1\n".encode("latin-1"), "x.csv, invalid utf-8 sequence."),
        (
            "x.csv.gz",
            gzip.compress(f"{HEAD}a,1,1\na,2,0,5\n".encode(), mtime=0),
            "x.csv.gz, line 3: the number of fields is 4, where the first line names 3 columns.",
        ),
        (
            "x.csv.gz",
            gzip.compress(FRAME.encode(), mtime=0)[:40],
            "x.csv.gz, the file is compressed, and damaged or cut short.",
        ),
        (
            "x.jsonl",
            b'{"score":1,"label":1}\n\n{"score":2,"label":0\n',
            'x.jsonl, line 3: each line must be a JSON object; got \'{"score":2,"label":0\'.',
        ),
        ("x.json", b"[1, 2]\n", "x.json, line 1: each line must be a JSON object; got '[1, 2]'."),
        (
            "x.parquet",
            HEAD.encode(),
            "x.parquet cannot be read as Parquet: ",
        ),
        ("x.csv", b"PAR1 and nothing", "x.csv cannot be read as Parquet: "),
        ("x.arrow", b"ARROW1 and nothing", "x.arrow cannot be read as Arrow: "),
        ("x.arrow", HEAD.encode(), "x.arrow cannot be read as Arrow: "),
    ],
)
def test_what_is_wrong_with_a_frame(
    name, content, message, capfdbinary, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    done = run(capfdbinary, *EVALUATE, name)
    assert (done.code, done.out) == (65, "")
    assert done.err.startswith(f"prframe: error: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.slow
def test_what_is_wrong_with_standard_input() -> None:
    for content, message in (
        (b"", "standard input is empty."),
        (
            f"{HEAD}a,1\n".encode(),
            "standard input, line 2: the number of fields is 2, where the first line names 3 columns.",
        ),
    ):
        done = process(*EVALUATE, "-", stdin=content)
        assert done == Done(65, "", f"prframe: error: {message}\n")


def test_a_column_may_change_its_type_late(capfdbinary, tmp_path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("score,label\n" + "2,1\n" * 10_050 + "0.5,0\n")
    assert run(capfdbinary, *EVALUATE, path).out == "    AP\n1.0000\n"
    # Nulls at the end of a line are no missing fields.
    path.write_text("score,label,note\n2,1,\n1,0,\n")
    assert run(capfdbinary, *EVALUATE, path).out == "    AP\n1.0000\n"


def test_qrels_and_runs_that_are_exchanged(capfdbinary, tmp_path) -> None:
    of_shell = "in Python runs come first, in a shell qrels do"
    for run_path in ("old.run", "old.run.gz"):
        for words in (["evaluate", "-f", "trec"], ["evaluate"], ["compare"], ["report"]):
            done = run(capfdbinary, words[0], run_path, "qrels", *words[1:], "-o", tmp_path / "x")
            assert done.code == 65
            assert re.search(of_shell, done.err), done.err


def test_runs_of_one_name(capfdbinary, tmp_path) -> None:
    other = tmp_path / "old.run"
    other.write_text(Path("old.run").read_text())
    done = run(capfdbinary, "evaluate", "qrels", "old.run", other)
    assert (done.code, done.out) == (65, "")
    assert done.err.endswith("are named 'old'. Rename a file, or change its tag.\n")
    renamed = other.rename(tmp_path / "again.run")
    done = run(capfdbinary, "evaluate", "qrels", "old.run", renamed, "-m", "AP")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names == ["system", "old", "again", "(ties:"]


def test_a_report_without_rows(capfdbinary, tmp_path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.read_csv(FRAME.encode(), schema_overrides={"query": pl.String})
    frame.clear().write_parquet(path)
    message = "prframe: error: --frame must have rows; got a frame without any.\n"
    for words in ([], ["--over", "query"], ["--by", "query"], ["--model", "model"]):
        done = run(capfdbinary, "report", "--frame", path, "-o", tmp_path / "x.html", *words)
        assert done == Done(65, "", message)


@pytest.fixture
def few(tmp_path):
    """Return a function that writes runs with so many queries."""

    def write(n_queries: int) -> list[Path]:
        queries = tuple(f"{100 + query} " for query in range(n_queries))
        for name in ("old", "bad"):
            lines = Path(f"{name}.run").read_text().splitlines(keepends=True)
            kept = [line for line in lines if line.startswith(queries)]
            (tmp_path / f"{name}.run").write_text("".join(kept))
        return [tmp_path / "old.run", tmp_path / "bad.run"]

    return write


@pytest.mark.parametrize(
    ("n_queries", "options", "reason"),
    [
        (5, [], "on 5 queries the least p-value of the randomization test is 0.062, above 0.05; it needs 6 queries"),
        (6, [], None),
        (6, ["-m", "AP", "P@5"], "on 6 queries the least p-value of 2 randomization tests is 0.062, above 0.05; it needs 7 queries"),
        (3, ["--test", "t"], None),
    ],
)  # fmt: skip
def test_a_gate_that_cannot_fail_says_so(n_queries, options, reason, few, capfdbinary) -> None:
    done = run(
        capfdbinary,
        "compare",
        "qrels",
        *few(n_queries),
        "--fail-if-worse",
        "--baseline",
        "old",
        *options,
    )
    warnings = [line for line in done.err.splitlines() if "cannot fail" in line]
    if reason is None:
        assert warnings == []
        assert done.code == 1
    else:
        assert len(warnings) == 1
        start = "prframe: warning: --fail-if-worse cannot fail for bad and old in AP: "
        assert warnings == [start + reason]
        assert done.code == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.jsonl", codecs.BOM_UTF8 + JSON),
        ("x", gzip.compress(JSON)),
        ("x.jsonl", JSON * 5_001 + b'{"score": 0.5, "label": 0}\n'),
        ("x.csv", b"text,score,label,note\nx\ry,2,1,\nb,1,0,\n"),
    ],
    ids=["mark", "compressed", "late decimals", "return"],
)
def test_files_that_are_right(name, content, capfdbinary, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    done = run(capfdbinary, *EVALUATE, name)
    assert (done.code, done.err) == (0, "")


def test_keys_that_come_late(capfdbinary, tmp_path, monkeypatch) -> None:
    """Neither a score nor a column of queries may be left out."""
    monkeypatch.chdir(tmp_path)
    late = b'{"query": "q2", "score": 2, "label": 0}\n{"query": "q2", "score": 1, "label": 1}\n'
    Path("x.jsonl").write_bytes(JSON * 6_000 + late)
    done = run(capfdbinary, *EVALUATE, "x.jsonl", "--by", "query", "-f", "csv")
    assert done == Done(0, "query,AP\n,1.0\nq2,0.5\n", "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_named_pipes_and_folders(capfdbinary, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    writer = Thread(target=Path("pipe").write_bytes, args=(FRAME.encode(),), daemon=True)
    writer.start()
    piped = run(capfdbinary, *EVALUATE, "pipe")
    writer.join(timeout=5)
    Path("x.csv").write_text(FRAME)
    assert piped == run(capfdbinary, *EVALUATE, "x.csv")
    Path("empty").mkdir()
    done = run(capfdbinary, *EVALUATE, "empty")
    assert done.code == 66
    assert done.err.startswith(
        "prframe: error: the folder 'empty' has no files whose names end in "
    )


@pytest.mark.parametrize(
    ("compress", "program"),
    [
        (bz2.compress, "bzip2"),
        (lzma.compress, "xz"),
        (lambda _: b"\x28\xb5\x2f\xfd\x24\x09", "zstd"),
    ],
)
def test_compressions_that_are_not_read(compress, program, capfdbinary, tmp_path) -> None:
    path = tmp_path / "frame.csv"
    path.write_bytes(compress(b"score,label\n2,1\n1,0\n"))
    done = run(capfdbinary, "evaluate", "--frame", path)
    assert done.code == 65
    assert f"starts like a file of {program}, which is not read here" in done.err
