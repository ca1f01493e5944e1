"""``--predicted``: the judgments of a machine beside those of humans."""

import io
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.trec.joining import join_both
from tests.commands.shell import run
from tests.verbs.test_predictions import ROWS, N, Q

HUMAN, MACHINE = "human.qrels", "llm.qrels"
RUNS = ["a.run", "b.run"]
WORDS = [HUMAN, *RUNS, "-m", "AP", "P@5", "--predicted", MACHINE, "-f", "csv"]
NOTE = f"(ties: trec; human labels of {N} queries from {HUMAN}, machine labels of {Q} from {MACHINE})\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Qrels of both judges, and the runs."""
    path = tmp_path_factory.mktemp("judges")
    items = ROWS.filter(model="a")
    for name, label in ((HUMAN, "label"), (MACHINE, "llm")):
        listed = items.drop_nulls(label).select("query_id", "item", label).rows()
        (path / name).write_text("".join(f"q{q} 0 d{d} {grade}\n" for q, d, grade in listed))
    for model in "ab":
        ranked = ROWS.filter(model=model).select("query_id", "item", "score").rows()
        lines = (f"q{q} Q0 d{d} 1 {score} {model}\n" for q, d, score in ranked)
        (path / f"{model}.run").write_text("".join(lines))
    return path


@pytest.fixture(autouse=True)
def _there(files, monkeypatch) -> None:
    monkeypatch.chdir(files)


def read(text: str) -> pl.DataFrame:
    return pl.read_csv(io.StringIO(text))


def test_evaluate_and_compare(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", *WORDS, "--interval")
    found = read(done.out).filter(system="a").drop("system")
    rows = ROWS.filter(model="a")
    expected = prframe.interval(rows, ["AP", "P@5"], over="query_id", predicted="llm")
    assert_frame_equal(found, expected)
    done = run(capfdbinary, "compare", *WORDS)
    expected = prframe.compare(ROWS, ["AP", "P@5"], item="item", predicted="llm")
    columns = ["metric", "difference", "p_adjusted", "n", "n_predicted", "weight", "test"]
    assert_frame_equal(read(done.out).select(columns), expected.select(columns))


def test_a_frame_names_the_column(capfdbinary) -> None:
    ROWS.filter(model="a").write_csv("frame.csv")
    words = ["--frame", "frame.csv", "--over", "query_id", "-m", "AP", "--predicted", "llm"]
    done = run(capfdbinary, "evaluate", *words, "--interval", "-f", "csv")
    assert read(done.out)["n_predicted"].item() == Q


def test_the_gate(capfdbinary) -> None:
    gate = ["--fail-if-worse", "--baseline", "a"]
    done = run(capfdbinary, "compare", *WORDS, *gate)
    assert done.code == 1
    assert f"n {N}, t test" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", *WORDS], "--predicted goes with --interval"),
        (["evaluate", *WORDS, "--interval", "-J"], "-J leaves out what no human has judged; "),
        (["compare", *WORDS, "--test", "sign"], "--predicted takes Student's t over queries; "),
        (["compare", HUMAN, *RUNS, "--predicted", "none"], "there is no file 'none'"),
        (["report", "--frame", "x.csv", "--predicted", "llm", "-o", "r.html"], "a report takes "),
    ],
)
def test_errors(words: list[str], message: str, capfdbinary) -> None:
    done = run(capfdbinary, *words)
    assert done.code in {2, 66}
    assert done.err.startswith(f"prframe: error: {message}")


def test_a_query_that_the_machine_lacks(capfdbinary) -> None:
    Path("few.qrels").write_text("q0 0 d1 1\n")
    done = run(capfdbinary, "compare", HUMAN, *RUNS, "--predicted", "few.qrels")
    assert done.code == 65
    assert done.err.startswith(
        f"prframe: error: the machine must have judged every query of the qrels: it has no label "
        f"for {N - 1}, in groups 'q1', "
    )


def test_unlisted_documents_are_not_relevant() -> None:
    run_rows = pl.DataFrame(
        {"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"], "score": [2, 1, 1]}
    )
    human = pl.DataFrame({"query_id": ["1"], "doc_id": ["c"], "label": [1]})
    machine = {"1": {"a": 2}, "2": {"a": 0, "z": 1}}
    found = join_both(run_rows, human, machine).sort("query_id", "doc_id")
    assert found.select("query_id", "doc_id", "label", "predicted").rows() == [
        ("1", "a", 0, 2),
        ("1", "b", 0, 0),
        ("1", "c", 1, 0),
        ("2", "a", None, 0),
        ("2", "z", None, 1),
    ]


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
def test_the_report_names_both_sources_and_combines_them() -> None:
    page = prframe.report(RUNS, HUMAN, predicted=MACHINE, metrics=["AP", "P@5"])
    facts = page.facts
    assert facts["title"] == f"2 runs, {Q} queries, {N} of them judged by humans"
    sections = {section["id"]: section for section in facts["sections"]}
    told = dict(sections["provenance"]["rows"])
    assert told["human labels"] == f"{HUMAN}, {N} queries"
    assert told["machine labels"] == f"{MACHINE}, {Q} queries"
    assert {f"sha256 of {HUMAN}", f"sha256 of {MACHINE}"} <= {*told}
    assert told["test"] == "t"
    expected = prframe.interval(ROWS.filter(model="a"), "AP", over="query_id", predicted="llm")
    shown = sections["results"]["rows"][0]["cells"][0]["ends"]
    ends = expected.select("estimate", "conf_low", "conf_high").row(0)
    assert shown == pytest.approx(ends, abs=1e-3)
    assert len(sections["queries"]["ids"]) == N


def test_a_report_on_frames_takes_no_second_judge() -> None:
    with pytest.raises(prframe.PrframeError, match="`predicted`"):
        prframe.report(ROWS, over="query_id", predicted=MACHINE)
    with pytest.raises(prframe.PrframeError, match="leave out test='sign'"):
        prframe.report(RUNS, HUMAN, predicted=MACHINE, test="sign")
