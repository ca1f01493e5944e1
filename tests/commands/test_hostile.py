"""Names and files that mislead: patterns, control characters, damage, failing writes."""

import gzip
import os
import stat
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import prframe
from prframe._replacing import replacing
from tests.commands.shell import run

BEST = "score,label\n3,1\n2,0\n1,0\n"
EVALUATE = ["evaluate", "-m", "AP", "-f", "csv", "--frame"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(frame: pl.DataFrame, name: str) -> None:
    """Write a frame in the format that its name says."""
    ending = Path(name).suffix
    if ending == ".csv":
        Path(name).write_text(frame.write_csv(), encoding="utf-8")
    elif ending == ".gz":
        Path(name).write_bytes(gzip.compress(frame.write_csv().encode()))
    elif ending == ".jsonl":
        Path(name).write_text(frame.write_ndjson(), encoding="utf-8")
    else:
        with Path(name).open("wb") as file:
            (frame.write_parquet if ending == ".parquet" else frame.write_ipc)(file)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("name", "other"), [("a[1]", "a1"), ("b*", "bX"), ("c?", "cX"), ("~d", "d"), ("e\udcff", "e")]
)
def test_a_name_that_exists_is_that_file(name, other, ending, capfdbinary) -> None:
    best = pl.DataFrame({"score": [3, 2, 1], "label": [1, 0, 0]})
    write(best, f"{name}.{ending}")
    write(best.with_columns(label=pl.Series([0, 0, 1])), f"{other}.{ending}")
    assert run(capfdbinary, *EVALUATE, f"{name}.{ending}").out == "AP\n1.0\n"


def test_control_characters_are_escaped(capfdbinary) -> None:
    Path("header.csv").write_text("q,score\x1b[2J,label\nq,0.5,1\nq,0.4,0\n", encoding="utf-8")
    Path("x\x1b]0;PWNED\x07.run").write_text("bad\n", encoding="utf-8")
    Path("qrels").write_text("q 0 d 1\n", encoding="utf-8")
    Path("x\x1b[31m.jsonl").write_text('{"a"\n', encoding="utf-8")
    for words in (
        ["evaluate", "--frame", "header.csv"],
        ["evaluate", "qrels", "x\x1b]0;PWNED\x07.run"],
        ["evaluate", "--frame", "x\x1b[31m.jsonl"],
        ["evaluate", "qrels", "--\x1b[2J"],
        ["\x1b[2J"],
    ):
        done = run(capfdbinary, *words)
        assert done.code
        assert "\x1b" not in done.err
        assert "\\x1b" in done.err


@pytest.mark.parametrize("word", ["nan", "1,000", " "])
def test_a_score_that_is_no_number(word, capfdbinary) -> None:
    Path("s.csv").write_text(f'score,label\n3,1\n2,0\n"{word}",0\nx,1\n', encoding="utf-8")
    Path("s.jsonl").write_text(
        f'{{"s":"3","label":1}}\n\n{{"s":"{word}","label":0}}\n', encoding="utf-8"
    )
    told = f"must be a number; got {word!r}; mend it, or leave it empty if it is missing.\n"
    done = run(capfdbinary, *EVALUATE, "s.csv")
    assert (done.code, done.err) == (
        65,
        f"prframe: error: s.csv, row 3 of the data: 'score' {told}",
    )
    done = run(capfdbinary, *EVALUATE, "s.jsonl", "--score", "s")
    assert (done.code, done.err) == (65, f"prframe: error: s.jsonl, row 2 of the data: 's' {told}")


@pytest.mark.parametrize("word", ["NaN", "-Infinity", "nan"])
def test_a_score_that_is_no_number_of_json(word, capfdbinary) -> None:
    Path("s.jsonl").write_text(f'{{"score":1,"label":1}}\n{{"score":{word}}}\n', encoding="utf-8")
    done = run(capfdbinary, *EVALUATE, "s.jsonl")
    told = f"line 2: each line must be a JSON object; got '{{\"score\":{word}}}'.\n"
    assert (done.code, done.err) == (65, f"prframe: error: s.jsonl, {told}")


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n\r\n"])
def test_blank_lines_at_the_end(end, capfdbinary) -> None:
    text = BEST.replace("3,1", '"3",1').replace("\n", "\r\n" if "\r" in end else "\n") + end
    Path("x.csv").write_bytes(text.encode())
    Path("x.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("x.csv", "x.csv.gz"):
        assert run(capfdbinary, *EVALUATE, name).out == "AP\n1.0\n"


def test_columns_of_one_name(capfdbinary) -> None:
    Path("x.csv").write_text("score,score,label\n1,2,0\n2,1,1\n", encoding="utf-8")
    done = run(capfdbinary, *EVALUATE, "x.csv")
    assert (done.code, done.err) == (
        65,
        "prframe: error: x.csv, line 1: it names 'score' more than once; rename these columns.\n",
    )
    columns = [pa.array([1.0, 2.0]), pa.array([2.0, 1.0]), pa.array([0, 1])]
    pq.write_table(pa.table(columns, names=["score", "score", "label"]), "x.parquet")
    done = run(capfdbinary, *EVALUATE, "x.parquet")
    assert done.code == 65
    assert "column with name 'score' has more than" in done.err


def test_check_reports_a_document_that_stands_twice(capfdbinary) -> None:
    Path("qrels").write_text("1 0 d1 1\n1 0 d2 0\n", encoding="utf-8")
    lines = "".join(
        f"1 Q0 {name} 1 {score} x\n" for name, score in (("d1", 2), ("d2", 1), ("d2", 3))
    )
    Path("x.run").write_text(lines, encoding="utf-8")
    done = run(capfdbinary, "check", "qrels", "x.run")
    assert done.code == 0
    assert done.out.splitlines()[1].split()[:3] == ["duplicate_item", "error", "1"]
    assert run(capfdbinary, "check", "qrels", "x.run", "--strict").code == 1
    assert run(capfdbinary, "check", "qrels", "x.run", "--duplicates", "raise").code == 65
    assert run(capfdbinary, "evaluate", "qrels", "x.run").code == 65


def failing(file: BinaryIO) -> None:
    file.write(b"half of it")
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("is_link", [False, True])
def test_a_failing_write_leaves_what_was_there(folder, is_link) -> None:
    old = folder / "old"
    old.write_bytes(b"old")
    old.chmod(0o640)
    path = old
    if is_link:
        path = folder / "link"
        path.symlink_to(old)
    with pytest.raises(OSError, match="No space left") as caught, replacing(path) as file:
        failing(file)
    assert caught.value.filename == str(path)
    assert old.read_bytes() == b"old"
    with replacing(path) as file:
        file.write(b"new")
    assert old.read_bytes() == b"new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert path.is_symlink() == is_link
    names = sorted(path.name for path in folder.iterdir())
    assert names == (["link", "old"] if is_link else ["old"])


def test_a_new_file_has_the_usual_rights(folder) -> None:
    (folder / "plain").write_bytes(b"")
    with replacing("new") as file:
        file.write(b"new")
    assert (folder / "new").stat().st_mode == (folder / "plain").stat().st_mode
    with pytest.raises(FileNotFoundError) as caught, replacing("nowhere/x") as file:
        pass
    assert caught.value.filename == "nowhere/x"
    with pytest.raises(IsADirectoryError), replacing(folder) as file:
        pass
    with replacing(os.devnull) as file:
        file.write(b"nothing")


def test_every_output_goes_through_it(folder, capfdbinary, monkeypatch) -> None:
    written: list[str] = []

    def broken(_: object, to: object) -> None:
        written.append(Path(os.fspath(to)).name)
        raise OSError(28, "No space left on device")

    Path("x.csv").write_text("q,score,label\n" + "a,3,1\na,2,0\nb,1,1\nb,2,0\n", encoding="utf-8")
    run_ = pl.DataFrame({"query_id": ["1"], "doc_id": ["a"], "score": [1.0]})
    monkeypatch.setattr(os, "replace", broken)
    names = ["o.csv", "o.jsonl", "o.parquet", "o.arrow", "o.txt"]
    for name in names:
        done = run(capfdbinary, "evaluate", "-m", "AP", "--frame", "x.csv", "-o", name)
        assert (done.code, done.err) == (
            2,
            f"prframe: error: cannot write {name}: No space left on device\n",
        )
    done = run(capfdbinary, "report", "--frame", "x.csv", "-o", "./o.html")
    assert done.code == 2
    assert "prframe: error: cannot write ./o.html: No space left on device\n" in done.err
    for name in ("o.run", "o.run.gz"):
        with pytest.raises(OSError, match="No space left"):
            prframe.trec.write_run(run_, name)
    assert written == [*names, "o.html", "o.run", "o.run.gz"]
    assert [path.name for path in folder.iterdir()] == ["x.csv"]
