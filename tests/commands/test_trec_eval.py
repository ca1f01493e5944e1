"""The lines of trec_eval, byte for byte.

The files of trec_eval's own suite are not part of the repository; see `tests/trec`. Where the
directory of the shared data has more of its expected outputs than ``out.test.a``, these are
compared as well.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from prframe import trec
from tests.commands.shell import process, run
from tests.trec.test_trec_eval import data

# Measures of trec_eval's suite that are not offered.
NOT_OFFERED = {
    *("relstring", "G", "ndcg_rel", "Rndcg", "rbp", "rbp_resid"),
}
SUITE = {
    "out.test": ["results.test"],
    "out.test.a": ["results.test", "-m", "all_trec"],
    "out.test.aq": ["results.test", "-m", "all_trec", "-q"],
    "out.test.aqc": ["results.trunc", "-m", "all_trec", "-q", "-c"],
    "out.test.aqcM": ["results.trunc", "-m", "all_trec", "-q", "-c", "-M100"],
}

RUN = """\
q10 Q0 d1 1 3 tag
q9 Q0 d3 1 1.5 tag
q10 Q0 d2 2 3 tag
q9 Q0 d1 2 1.5 other junk
"""
QRELS = "q9 0 d1 1\nq9 0 d2 1\nq10 0 d1 2\nq10 0 d2 0\nq11 0 d1 1\n"


def line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


@pytest.fixture
def files(tmp_path) -> tuple[Path, Path]:
    qrels, path = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    path.write_text(RUN)
    return qrels, path


def offered(lines: Iterable[str]) -> list[str]:
    """Return the lines of measures that are offered."""
    names = [(text.split()[0], text) for text in lines]
    return [
        text for name, text in names
        if name not in NOT_OFFERED
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", SUITE)
def test_the_suite_of_trec_eval(name: str) -> None:
    path = data("trec_eval")
    if not (path / name).is_file():
        pytest.skip(f"the shared data lack {name} of trec_eval's suite")
    results, *options = SUITE[name]
    words = ["evaluate", path / "qrels.test", path / results, *options, "-f", "trec"]
    # Version 10 wrote these outputs.
    done = process(*words, "--trec-eval", "10")
    assert done.code == 0
    expected = (path / name).read_text().splitlines(keepends=True)
    assert done.out.splitlines(keepends=True) == offered(expected)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "options"), {"out.test.aqc": [], "out.test.aqcM": ["-M100"]}.items()
)
def test_the_recorded_outputs_of_the_suite(name: str, options, capfdbinary) -> None:
    path, recorded = data("trec_eval"), Path(__file__).parents[1] / "data" / "trec_eval" / name
    words = ["evaluate", path / "qrels.test", path / "results.trunc", "-m", "all_trec", "-q", "-c"]
    done = run(capfdbinary, *words, *options, "-f", "trec")
    expected = recorded.read_text().splitlines()
    # The record is of the measures that are offered, without the name of the run, and of the time
    # before version 10 rounded levels of recall in another way.
    assert [text for text in done.out.splitlines() if not text.startswith("runid")] == expected
    assert done.out.count(line("runid", "all", "STANDARD")) == 1


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["results.test", "results.trunc"])
@pytest.mark.parametrize(
    "options",
    [
        ["-q"],
        ["-q", "-m", "all_trec"],
        ["-q", "-c", "-m", "all_trec"],
        ["-n", "-q", "-J", "-M", "100", "-m", "all_trec"],
        ["-l2", "-m", "map", "-m", "P.5,10", "-m", "ndcg_cut.10"],
    ],
    ids=" ".join,
)
def test_the_c_program_prints_the_same_bytes(name: str, options: list[str], capfdbinary) -> None:
    named = os.environ.get("PRFRAME_TREC_EVAL", "trec_eval")
    program = shutil.which(named)
    if program is None:
        pytest.skip(f"there is no program {named!r}; PRFRAME_TREC_EVAL names another one")
    path = data("trec_eval")
    files = [path / "qrels.test", path / name]
    printed = subprocess.run(
        [program, *options, *files], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    ours = run(capfdbinary, "evaluate", *files, *options, "-f", "trec").out.splitlines()
    # Version 10 has measures more, and prints the lines of all others alike.
    names = {text.split()[0] for text in printed}
    assert [text for text in ours if text.split()[0] in names] == offered(printed)


@pytest.mark.shared
def test_a_collection_against_the_wheel(capfdbinary) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="compares with trec_eval's wheel")
    path = data("vaswani")
    run_path, qrels_path = path / "run.binary.txt.gz", path / "qrels.txt"
    words = ["evaluate", qrels_path, run_path, "-f", "trec", "-q", "-n"]
    out = run(capfdbinary, *words, "-m", "map", "P.5,10", "ndcg", "num_rel_ret").out
    qrels = trec.read_qrels(qrels_path)
    judged: dict[str, dict[str, int]] = {}
    for query, document, label in qrels.iter_rows():
        judged.setdefault(query, {})[document] = label
    scored: dict[str, dict[str, float]] = {}
    for query, document, score in (
        trec.read_run(run_path).select("query_id", "doc_id", "score").iter_rows()
    ):
        scored.setdefault(query, {})[document] = score
    wanted = {"map", "P", "ndcg", "num_rel_ret"}
    theirs = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(scored)
    expected = [
        line(
            name, query, f"{values[name]:.0f}" if name == "num_rel_ret" else f"{values[name]:.4f}"
        )
        for query, values in sorted(theirs.items())
        for name in ("num_rel_ret", "map", "P_5", "P_10", "ndcg")
    ]
    assert out.splitlines(keepends=True) == expected


def test_lines_of_queries_and_the_summary(files, capfdbinary) -> None:
    qrels, path = files
    words = ["evaluate", qrels, path, "-f", "trec", "-q"]
    # The order is that of trec_eval, of queries as text, whatever the order of the measures.
    done = run(capfdbinary, *words, "-m", "P.10,5", "map", "num_q", "num_rel", "gm_map", "runid")
    # Documents with equal scores stand in descending order of their ids.
    assert done.out == "".join(
        [
            line("num_rel", "q10", "1"),
            line("map", "q10", "0.5000"),
            line("P_5", "q10", "0.2000"),
            line("P_10", "q10", "0.1000"),
            line("num_rel", "q9", "2"),
            line("map", "q9", "0.2500"),
            line("P_5", "q9", "0.2000"),
            line("P_10", "q9", "0.1000"),
            line("runid", "all", "other"),
            line("num_q", "all", "2"),
            line("num_rel", "all", "3"),
            line("map", "all", "0.3750"),
            line("gm_map", "all", "0.3536"),
            line("P_5", "all", "0.2000"),
            line("P_10", "all", "0.1000"),
        ]
    )
    assert (done.code, done.err) == (0, "")


@pytest.mark.slow
def test_options_of_trec_eval(files, capfdbinary) -> None:
    qrels, path = files
    words = ["evaluate", qrels, path, "-f", "trec", "-m", "map"]
    assert run(capfdbinary, *words, "-c").out == line("map", "all", "0.2500")
    # A query that the run lacks counts, and has no line.
    assert run(capfdbinary, *words, "-c", "-q").out == "".join(
        [
            line("map", "q10", "0.5000"),
            line("map", "q9", "0.2500"),
            line("map", "all", "0.2500"),
        ]
    )
    assert run(capfdbinary, *words, "-l2").out == line("map", "all", "0.2500")
    assert run(capfdbinary, *words, "-M1").out == line("map", "all", "0.0000")
    assert run(capfdbinary, *words, "-J").out == line("map", "all", "0.5000")
    assert run(capfdbinary, *words, "-q", "-n").out == "".join(
        [line("map", "q10", "0.5000"), line("map", "q9", "0.2500")]
    )


def test_the_output_is_read_back(files, capfdbinary, tmp_path) -> None:
    qrels, path = files
    output = tmp_path / "results.txt"
    words = ["evaluate", qrels, path, "-q", "-f", "trec", "-o", output]
    assert run(capfdbinary, *words).out == ""
    results = trec.read_results(output)
    assert results["system"].unique().to_list() == ["other"]
    assert results.filter(metric="map")["value"].to_list() == [0.5, 0.25]


def test_several_runs_follow_one_another(files, capfdbinary) -> None:
    qrels, path = files
    single = run(capfdbinary, "evaluate", qrels, path, "-f", "trec").out
    assert single.startswith(line("runid", "all", "other"))
    # The second run with this tag is called by its file.
    second = single.replace(line("runid", "all", "other"), line("runid", "all", Path(path).stem))
    several = ["evaluate", qrels, path, path, "-f", "trec"]
    assert run(capfdbinary, *several).out == single + second
    for words in (["-m", "map"], ["-m", "map", "-q"], ["-m", "map", "-q", "-n"]):
        alone = run(capfdbinary, "evaluate", qrels, path, "-f", "trec", *words).out
        assert "runid" not in alone
        names = [line("runid", "all", name) for name in ("other", Path(path).stem)]
        assert run(capfdbinary, *several, *words).out == "".join(name + alone for name in names)


def test_measures_of_our_own_come_last(files, capfdbinary) -> None:
    words = ["evaluate", *files, "-f", "trec", "-m", "RBP(p=0.9)", "AP", "map"]
    names = [text.split("\t")[0].strip() for text in run(capfdbinary, *words).out.splitlines()]
    assert names == ["map", "RBP(p=0.9)", "AP"]


def test_nothing_in_common_is_an_error(files, capfdbinary, tmp_path) -> None:
    other = tmp_path / "other"
    other.write_text("x 0 d1 1\n")
    done = run(capfdbinary, "evaluate", other, files[1], "-f", "trec")
    assert (done.code, done.out) == (65, "")
    assert (
        "error: the run and the qrels have no query in common; take other qrels, or mend ids.\n"
        in done.err
    )
