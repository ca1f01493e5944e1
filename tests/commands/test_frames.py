"""Frames of several files: a model each, patterns of names, folders of partitions."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe
from tests.commands.shell import run

RNG = np.random.default_rng(1)
LABEL = (RNG.random(240) < 0.3).astype(int)
ITEMS = pl.DataFrame({"query_id": np.arange(240) // 12, "label": LABEL})
DAYS = {
    day: ITEMS.with_columns(score=pl.Series(gain * LABEL + RNG.normal(size=240)))
    for day, gain in (("monday", 2.0), ("tuesday", 0.2))
}
COMPARE = ["compare", "--over", "query_id", "-m", "AP", "-f", "csv", "--frame"]
GATE = [*COMPARE[:-1], "--fail-if-worse"]


@pytest.fixture(autouse=True)
def _files_of_days(tmp_path, monkeypatch) -> None:
    """Write the frame of each day into one file, and into a folder of partitions."""
    monkeypatch.chdir(tmp_path)
    for day, rows in DAYS.items():
        rows.write_parquet(f"{day}.parquet")
        rows.write_csv(f"{day}.csv")
        part = Path("days", f"day={day}")
        part.mkdir(parents=True)
        rows.head(120).write_parquet(part / "part-0.parquet")
        rows.tail(120).write_parquet(part / "part-1.parquet")
        (part / "_SUCCESS").touch()


def expected() -> float:
    rows = pl.concat(rows.with_columns(model=pl.lit(day)) for day, rows in DAYS.items())
    return prframe.compare(rows, "AP")["difference"].item()


@pytest.mark.parametrize(
    "words",
    [
        ["monday.parquet", "tuesday.parquet"],
        ["tuesday.csv", "monday.parquet"],
        ["*day.parquet"],
        ["days", "--model", "day"],
        ["days/*/*.parquet", "--model", "day"],
    ],
    ids=["two files", "two formats", "a pattern", "a folder", "a pattern of parts"],
)
def test_files_are_models(words, capfdbinary) -> None:
    done = run(capfdbinary, *COMPARE, *words)
    assert done.err == ""
    found = pl.read_csv(done.out.encode()).row(0, named=True)
    assert (found["model_a"], found["model_b"]) == ("monday", "tuesday")
    assert found["difference"] == pytest.approx(expected(), rel=1e-12)


def test_a_gate_of_two_days(capfdbinary) -> None:
    days = ["--frame", "tuesday.parquet", "monday.parquet"]
    done = run(capfdbinary, *GATE, *days)
    assert done.code == 2
    assert "--fail-if-worse needs --baseline, one of: monday, tuesday" in done.err
    for files in (days, [days[0], *reversed(days[1:])]):
        done = run(capfdbinary, *GATE, *files, "--baseline", "monday")
        assert done.code == 1
        assert "failed: tuesday is worse than monday in AP: " in done.err
        assert run(capfdbinary, *GATE, *files, "--baseline", "tuesday").code == 0


def test_other_commands_tell_files_apart(capfdbinary) -> None:
    for command in (["evaluate", "-m", "AP"], ["curve", "--recall", "0.5"], ["test"]):
        words = [*command, "-f", "csv", "--over", "query_id", "--frame"]
        done = run(capfdbinary, *words, "monday.parquet", "tuesday.parquet")
        assert (done.code, done.err) == (0, "")
        models = pl.read_csv(done.out.encode())["model"]
        assert models.unique().sort().to_list() == ["monday", "tuesday"]
    # A folder is one frame, with the columns that its paths name.
    done = run(capfdbinary, "evaluate", "--frame", "days", "--by", "day", "-m", "AP", "-f", "csv")
    assert pl.read_csv(done.out.encode()).columns == ["day", "AP"]


def test_messages(capfdbinary) -> None:
    Path("other.csv").write_text("score,label,query_id,note\n1,1,1,x\n")
    for words, code, message in (
        (["week*.parquet"], 66, "no file matches 'week*.parquet'; mend the pattern, or name the files."),
        (
            ["monday.csv", "other.csv"],
            65,
            "the files of a frame must have the same columns; other.csv and those before it differ in note.",
        ),
        (["monday.csv", "none.csv"], 66, "there is no file 'none.csv'"),
        (
            ["monday.csv", "tuesday.csv", "-o", "tuesday.csv"],
            2,
            "tuesday.csv is a file of the input; name another one with -o",
        ),
    ):  # fmt: skip
        done = run(capfdbinary, *COMPARE, *words)
        assert (done.code, done.err) == (code, f"prframe: error: {message}\n")
