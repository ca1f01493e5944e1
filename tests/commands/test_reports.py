"""The options of ``prframe report`` are those of the function."""

import gzip
import inspect

import polars as pl
import pytest

import prframe
from prframe.commands import options, report
from tests.commands.shell import FRAME, run

# Where the option of an argument is called differently, or is an option for several of them.
CALLED = {"data": "files", "qrels": "files", "notes": "note", "depth": "shown"}


@pytest.fixture
def asked(monkeypatch):
    """What the function was asked for."""
    seen = {}

    def recorded(data, qrels=None, **chosen) -> None:
        seen.update(chosen, data=data, qrels=qrels)

    monkeypatch.setattr(prframe, "report", recorded)
    return seen


def test_every_argument_has_an_option() -> None:
    command = options.Parser()
    report.REPORT.add_options(command)
    # The command line is noted without being asked for.
    arguments = inspect.signature(prframe.report).parameters.keys() - {"notes"}
    assert {CALLED.get(name, name) for name in arguments} <= set(command.flags())


def test_options_of_runs(asked, capfdbinary, tmp_path) -> None:
    queries, texts = tmp_path / "queries.tsv", tmp_path / "texts.tsv.gz"
    queries.write_text("\ufeff100\theat in transistors\n\n101\ta\tb\r\n")
    texts.write_bytes(gzip.compress("d1\tä\n".encode()))
    done = run(
        *(capfdbinary, "report", "qrels", "old.run", "new.run", "-o", "page.html", "--depth", "3"),
        *("--queries", queries, "--texts", texts, "--test", "t", "--correction", "none"),
        *("--confidence-level", ".9", "-l", "2"),
    )
    assert (done.code, done.err) == (0, "")
    command = asked["notes"]["command"]
    assert command.startswith("prframe report qrels old.run new.run -o page.html --depth 3 ")
    assert asked == {
        "data": ["old.run", "new.run"],
        "qrels": "qrels",
        "depth": 3,
        "queries": {"100": "heat in transistors", "101": "a\tb"},
        "texts": {"d1": "ä"},
        "test": "t",
        "correction": None,
        "confidence_level": 0.9,
        "notes": {"command": command},
        "positive": 2,
        "output": "page.html",
        "seed": 0,
    }


def test_options_of_frames(asked, capfdbinary, tmp_path) -> None:
    words = ["report", "--frame", "frame.csv", "-o", "page.html"]
    assert run(capfdbinary, *words, "--thresholds", "1", "2.5", "--by", "query").code == 0
    assert asked["thresholds"] == [1.0, 2.5]
    assert asked["by"] == ["query"]
    for number, expected in (("12", 12), ("n", "n")):
        assert run(capfdbinary, *words, "--over", "query", "--n-pos", number).code == 0
        assert asked["n_pos"] == expected
    assert run(capfdbinary, *words, "--score", "score", "other").code == 0
    assert asked["score"] == ["score", "other"]
    # Ids that are numbers in the frame are numbers among the texts.
    frame, texts = tmp_path / "frame.parquet", tmp_path / "texts"
    pl.read_csv(FRAME.encode()).with_columns(item=pl.int_range(pl.len())).write_parquet(frame)
    texts.write_text("7\tseven\n")
    words = ["report", "--frame", frame, "--over", "query", "--item", "item", "-o", "page.html"]
    assert run(capfdbinary, *words, "--queries", texts, "--texts", texts).code == 0
    assert asked["queries"] == asked["texts"] == {7: "seven"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--queries", "nowhere"], 66, "there is no file 'nowhere'"),
        (["--queries", "qrels"], 2, "qrels, line 1: there is no tab between id and text"),
    ],
)
def test_errors_of_usage(words, code, message, asked, capfdbinary, tmp_path, monkeypatch) -> None:
    output = tmp_path / "page.html"
    if words[0] == "--texts":
        output = "texts"
        monkeypatch.chdir(tmp_path)
        (tmp_path / "frame.csv").write_text(FRAME)
        (tmp_path / "texts").write_text("1\tone\n")
        files = ["--frame", "frame.csv"]
    else:
        files = ["qrels", "old.run"]
    done = run(capfdbinary, "report", *files, "-o", output, *words)
    assert (done.code, done.err) == (code, f"prframe: error: {message}\n")
    assert not asked


@pytest.mark.slow
def test_a_report_with_all_options(capfdbinary, tmp_path) -> None:
    page, queries = tmp_path / "page.html", tmp_path / "queries"
    queries.write_text("100\theat in transistors\n")
    done = run(
        *(capfdbinary, "report", "qrels", "old.run", "new.run", "-o", page, "--depth", "3"),
        *("--queries", queries, "--test", "t", "--correction", "bh"),
        *("--title", "Nightly", "-m", "AP", "P@5", "--confidence-level", "0.9"),
    )
    assert done.code == 0
    text = page.read_text()
    for part in ("heat in transistors", "Nightly", "90% confidence interval"):
        assert part in text
