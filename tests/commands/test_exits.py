"""How the command ends: exit codes, messages, closed pipes, interrupts."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import prframe
from prframe import PrframeError
from prframe.commands import exits
from tests.commands.shell import COMMAND, ENVIRONMENT, process, run

# Test runners and shells let their children ignore interrupts.
INTERRUPTIBLE = [
    *(COMMAND[0], "-c"),
    "import signal, sys; from prframe.commands.main import main; "
    "signal.signal(signal.SIGINT, signal.default_int_handler); sys.exit(main())",
]
FILES = "QRELS or RUN is missing: an option takes all words after it, and has taken {}. Name the files first, as in: prframe evaluate QRELS RUN -m AP nDCG@10; or put -- before them"
USAGE = "usage: prframe evaluate QRELS RUN... [OPTIONS]\n       prframe evaluate --frame FILE [OPTIONS]\n"


ERRORS_OF_USAGE = {
    "name QRELS and one RUN or more, or --frame FILE for a table such as CSV or Parquet": "evaluate",
    "frame.csv is a table, and no QRELS: put --frame before it": "compare frame.csv --score new old",
    FILES.format("'qrels' and 'old.run'"): "evaluate -m AP qrels old.run",
    FILES.format("'old.run'"): "evaluate qrels -m AP old.run",
    FILES.format("'new.run'"): "evaluate qrels old.run -m AP new.run",
    "--frame stands in place of QRELS and RUN; got both": "evaluate qrels old.run --frame frame.csv",
    "-f trec takes QRELS and RUN, and no --frame": "evaluate --frame frame.csv -f trec",
    "--complete, -M goes with QRELS and RUN, and not with --frame": "evaluate --frame frame.csv -c -M 3",
    "--label, --by names columns of a frame, and goes with --frame; for a row per query pass -q": "evaluate qrels old.run --by x --label y",
    "standard input can be read once; - stands for two files here": "evaluate - -",
    "-f trec takes the conventions of trec_eval, without --interval, --prior or --ties": "evaluate qrels old.run -f trec --ties best",
    "-n leaves out lines of -f trec; -q alone gives no mean elsewhere": "evaluate qrels old.run -n",
    "--margin goes with --fail-if-worse": "compare qrels old.run new.run --margin 0.1",
    "--margin must be a number of at least 0; got -1": "compare qrels old.run new.run --fail-if-worse --margin -1",
    "--fail-if-worse needs --baseline, one of: bad, new, old": "compare qrels old.run new.run bad.run --fail-if-worse",
    "--alternative greater can show no run to be worse; leave it out": "compare qrels *.run --fail-if-worse --alternative greater",
    "--model names a column of --frame; QRELS and RUN have a model per run": "compare qrels *.run --model run",
    "--model names a column of models, and --score a column for each; leave one out": "compare --frame rows.csv --score a b --model run",
    "--recall must lie between 0 and 1; got -0.1.": "band qrels old.run --recall -0.1 0.5 nan",
    "--over names columns of a frame, and goes with --frame": "test nofile nofile --over query",
    "--n-items is a number from 1 to 2^53; got 99999999999999999999": "test nofile nofile --n-items 99999999999999999999",
    "cannot write nowhere/x.csv: No such file or directory": "evaluate qrels old.run -o nowhere/x.csv",
}


@pytest.mark.parametrize(("message", "words"), ERRORS_OF_USAGE.items(), ids=ERRORS_OF_USAGE)
def test_errors_of_usage(message, words, capfdbinary) -> None:
    done = run(capfdbinary, *words.split())
    assert (done.code, done.out, done.err) == (2, "", f"prframe: error: {message}\n")


def test_errors_of_the_parser(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "qrels", "--metric", "AP")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{USAGE}prframe: error: unrecognized arguments: --metric")
    done = run(capfdbinary, "check", "qrels", "old.run", "-k", "x")
    assert done.err.endswith("prframe: error: argument -k: invalid int value: 'x'\n")
    done = run(capfdbinary, "evaluate", "qrels", "old.run", "--threshold", "0.5")
    assert ": --threshold 0.5: write it into the name of a metric, for example" in done.err
    done = run(capfdbinary, "evalute", "qrels")
    assert done.err.endswith(
        "prframe: error: there is no command 'evalute'; did you mean 'evaluate'?\n"
    )
    done = run(capfdbinary, "draw")
    assert done.code == 2
    assert "there is no command 'draw'; the commands are evaluate, compare, curve" in done.err
    done = run(capfdbinary, "interval")
    assert "there is no command 'interval'; use evaluate --interval" in done.err


MISSING_FILES = {
    "there is no file 'none'": "evaluate none old.run",
    "no file matches 'none*.run'; mend the pattern, or name the files.": "evaluate qrels none*.run",
    "there is no file 'none.csv'": "evaluate --frame none.csv",
    "'.' is a folder; name its files, for example by the pattern './*.run'.": "evaluate qrels .",
    "'.' is a folder; name its files, for example by the pattern './*qrels*'.": "evaluate . old.run",
}


@pytest.mark.parametrize(("message", "words"), MISSING_FILES.items(), ids=MISSING_FILES)
def test_missing_files(message, words, capfdbinary) -> None:
    done = run(capfdbinary, *words.split())
    assert (done.code, done.out, done.err) == (66, "", f"prframe: error: {message}\n")


def test_errors_of_data_are_one_line(capfdbinary, tmp_path) -> None:
    path = tmp_path / "bad.run"
    path.write_text("100 Q0 d1 1\n")
    for words in (
        ["evaluate", "qrels", path],
        ["evaluate", "--frame", "frame.csv", "--by", "nothing"],
        ["report", "--frame", "frame.csv", "--by", "nothing", "-o", tmp_path / "page.html"],
        ["compare", "qrels", "old.run", "new.run", "--baseline", "nothing"],
        ["evaluate", "--frame", "frame.csv", "--positive", "yes"],
        ["test", "qrels", "old.run", "--n-items", "1"],
    ):
        done = run(capfdbinary, *words)
        assert (done.code, done.out) == (65, "")
        assert done.err.startswith("prframe: error: ")
        assert done.err.count("\n") == 1
    path.write_bytes(b"PAR1 and nothing else")
    done = run(capfdbinary, "evaluate", "--frame", path)
    assert done.code == 65
    assert done.err.startswith("prframe: error: ")


OF_FRAME = ["--frame", "frame.csv", "--by", "query"]
MODELS = ["compare", *OF_FRAME, "--score", "score", "other"]


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "qrels", "old.run", "-M", "0"],
        ["evaluate", "qrels", "old.run", "-M", "0", "-f", "trec"],
        ["evaluate", "qrels", "old.run", "-m", "nothing", "-f", "trec"],
        ["evaluate", "qrels", "old.run", "-m", "AP,P@5"],
        ["evaluate", "qrels", "old.run", "-m", "AP", "AP"],
        ["evaluate", "qrels", "old.run", "--interval", "--confidence-level", "nan"],
        ["evaluate", "qrels", "old.run", "--interval", "--seed", "-1"],
        ["evaluate", *OF_FRAME, "--over", "query"],
        ["compare", "qrels", "old.run", "new.run", "--n-resamples", "0"],
        [*MODELS, "--incomplete", "pairwise"],
        ["curve", *OF_FRAME, "--ties", "expected"],
        ["band", "qrels", "old.run", "--n-resamples", "3"],
        ["compare", "qrels", "old.run", "new.run", "--test", "delong"],
        ["check", *OF_FRAME, "--ties", "trec"],
        ["check", *OF_FRAME, "-k", "0"],
        ["report", "qrels", "old.run", "new.run", "-o", "page.html", "--depth", "0"],
        ["report", "qrels", "old.run", "new.run", "-o", "page.html", "--n-pos", "3"],
        ["report", "--frame", "frame.csv", "-o", "page.html", "--test", "t"],
    ],
    ids=" ".join,
)
@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
def test_arguments_that_verbs_refuse_are_errors_of_usage(words, capfdbinary) -> None:
    done = run(capfdbinary, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith("prframe: error: ")


def test_warnings_are_one_line(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "--frame", "frame.csv", "-m", "AP")
    assert done.code == 0
    assert done.err.startswith(
        "prframe: warning: rows with different 'query' were ranked together"
    )
    assert done.err.count("\n") == 1


@pytest.mark.slow
def test_the_gate(capfdbinary) -> None:
    words = ["compare", "qrels", "old.run", "bad.run", "-m", "AP", "--fail-if-worse"]
    message = "prframe: error: --fail-if-worse needs --baseline, one of: bad, old\n"
    assert run(capfdbinary, *words) == (2, "", message)
    words += ["--baseline", "old"]
    done = run(capfdbinary, *words)
    assert done.code == 1
    assert done.out.startswith("metric  model_a  model_b  difference")
    assert "prframe: failed: bad is worse than old in AP: " in done.err
    assert done.err.endswith(", n 12, randomization test)\n")
    assert run(capfdbinary, *words, "--baseline", "bad").code == 0
    assert run(capfdbinary, *words, "--margin", "0.9").code == 0
    done = run(capfdbinary, *words, "--margin", "0.01", "--correction", "none")
    assert done.code == 1
    assert ", by more than 0.01 (p_value " in done.err
    # What is not shown to be worse passes.
    assert run(capfdbinary, *words, "--confidence-level", "0.9999999").code == 0
    of_three = ["compare", "qrels", "old.run", "new.run", "bad.run", "--fail-if-worse"]
    done = run(capfdbinary, *of_three, "--baseline", "new")
    assert "prframe: failed: bad is worse than new" in done.err


def test_versions_and_help(capfdbinary) -> None:
    done = run(capfdbinary, "--version")
    assert (done.code, done.out) == (0, f"prframe {prframe.__version__}\n")
    for words in ([], ["--help"], ["-h"]):
        done = run(capfdbinary, *words)
        assert done.code == 0
        assert done.out.startswith("usage: prframe [-h] [--version] COMMAND ...\n")
    done = run(capfdbinary, "evaluate", "--help")
    assert done.code == 0
    assert done.out.startswith(USAGE)


def test_help_loads_neither_polars_nor_numpy() -> None:
    code = """
import sys
from prframe.commands.main import main
try:
    main(["compare", "--help"])
except SystemExit:
    pass
heavy = {"polars", "numpy", "pandas", "scipy", "pyarrow", "tqdm"}
print(sorted(heavy & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stderr == "[]\n"


@pytest.mark.slow
def test_evaluate_loads_no_random_numbers() -> None:
    code = """
import sys
from prframe.commands.main import main
main(["evaluate", "qrels", "old.run", "-f", "trec"])
print({"numpy.random", "scipy", "pandas"} & set(sys.modules), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stderr == "set()\n"


def test_faults_are_told_from_gates(capfdbinary, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr("prframe.commands.options.flags_of", broken)
    done = run(capfdbinary, "evaluate")
    assert done.code == 70
    lines = done.err.splitlines()
    assert lines[-2:] == [
        "ZeroDivisionError: by chance",
        "prframe: error: this is a fault of prframe; please report it with the lines above.",
    ]


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(tmp_path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("score,label\n" + "".join(f"{i},{i % 2}\n" for i in range(200_000)))
    words = " ".join([*COMMAND, "curve", "--frame", str(path), "-f", "csv"])
    done = subprocess.run(
        ["bash", "-c", f"{words} | head -n 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    assert done.stdout == "threshold,k,tp,fp,recall,precision\n141\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_an_interrupt_is_quiet(tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [*INTERRUPTIBLE, "evaluate", str(pipe), "old.run"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
        ) as running,
        pipe.open("w"),
    ):
        # The pipe is open once the command waits for the judgments.
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


@pytest.mark.slow
def test_an_interrupt_ends_draws_of_a_frame() -> None:
    words = ["band", "--frame", "frame.csv", "--by", "model", "--n-resamples", "90000000"]
    with subprocess.Popen(
        [*INTERRUPTIBLE, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | {"PYTHONWARNINGS": "ignore"},
    ) as running:
        time.sleep(5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, b"", b"")


def test_a_module_and_a_script() -> None:
    assert process("--version").out == f"prframe {prframe.__version__}\n"
    project = Path(prframe.__file__).parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("the package is not run from its repository")
    assert '\nprframe = "prframe.commands.main:main"\n' in project.read_text()


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "qrels", "old.run", "-f", "trec", "-o", "./old.run"],
        ["evaluate", "qrels", "*.run", "-f", "csv", "-o", "old.run"],
        ["compare", "qrels", "old.run", "bad.run", "-o", "qrels"],
        ["report", "qrels", "old.run", "-o", "old.run"],
        ["evaluate", "--frame", "frame.csv", "-o", "frame.csv"],
    ],
)
def test_no_file_of_the_input_is_overwritten(words, capfdbinary) -> None:
    before = Path(words[-1]).read_bytes()
    done = run(capfdbinary, *words)
    assert (done.code, done.out) == (2, "")
    message = f"{words[-1]} is a file of the input; name another one with -o"
    assert done.err == f"prframe: error: {message}\n"
    assert Path(words[-1]).read_bytes() == before


def test_qrels_are_one_file(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "*.run", "old.run")
    assert done.code == 2
    assert done.err == "prframe: error: QRELS is one file; '*.run' matches 3\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", [["-q"], ["-f", "trec"], ["-f", "csv"]])
def test_a_full_device_is_no_fault(words) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "evaluate", "qrels", "old.run", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            check=False,
        )
    assert done.returncode == 2
    message = b"prframe: error: cannot write standard output: No space left on device\n"
    assert done.stderr == message


@pytest.mark.slow
def test_the_gate_passes_nothing_that_it_cannot_compare(capfdbinary, tmp_path) -> None:
    gate = ["--fail-if-worse", "--baseline", "bad", "-m", "AP"]
    empty, strange = tmp_path / "empty.run", tmp_path / "strange.run"
    empty.write_text("\n")
    strange.write_text("none Q0 d1 1 1.0 strange\n")
    for further, message in (
        (empty, f"the gate cannot decide: 1 of 3 runs have no rows: '{empty}'"),
        (
            strange,
            "the gate cannot decide: 1 of 3 runs lack judged queries: 'strange' lacks 12 of "
            "12; to count them as 0, pass --incomplete zero",
        ),
    ):
        done = run(capfdbinary, "compare", "qrels", "bad.run", "old.run", further, *gate)
        assert (done.code, done.err) == (65, f"prframe: error: {message}\n")
        assert run(capfdbinary, "compare", "qrels", "bad.run", "old.run", further).code == 0
    done = run(
        capfdbinary, "compare", "qrels", "bad.run", tmp_path / "empty.run", "--fail-if-worse"
    )
    assert done.code == 65


@pytest.mark.slow
def test_the_gate_passes_nothing_undefined(capfdbinary, tmp_path) -> None:
    qrels = tmp_path / "qrels"
    words = ["compare", qrels, "old.run", "bad.run", "-m", "AP", "--fail-if-worse"]
    words += ["--baseline", "old"]
    lines = Path("qrels").read_text().splitlines(keepends=True)
    qrels.write_text("".join(line[:-2] + "0\n" for line in lines))
    message = (
        "prframe: error: the gate cannot decide: the test of bad and old in AP is undefined.\n"
    )
    done = run(capfdbinary, *words)
    assert done.code == 65
    assert done.err.endswith(message)
    qrels.write_text("".join(line for line in lines if line.startswith("100 ")))
    done = run(capfdbinary, *words, "--test", "t")
    assert done.code == 65
    assert done.err.endswith(message)
    # A run that lies above the baseline needs no test.
    assert run(capfdbinary, *words, "--test", "t", "--baseline", "bad").code == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_failed_gate(closed) -> None:
    # The metrics are undefined without positives, of which there is a warning.
    command = f"'{sys.executable}' -m prframe evaluate qrels old.run -l 9 -m AP {closed}"
    done = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0


def test_an_error_of_a_library_that_names_no_file_is_one_of_data(capfd) -> None:
    def read() -> int:
        raise OSError("corrupt deflate stream")

    assert exits.exit_code(read) == exits.DATA
    assert capfd.readouterr().err == "prframe: error: corrupt deflate stream\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BrokenPipeError(), exits.CLOSED_PIPE),
        (KeyboardInterrupt(), exits.INTERRUPTED),
        (prframe.EmptyFrameWarning("no rows"), 65),
        (PrframeError("no rows"), 65),
        (FileNotFoundError(2, "No such file", "x.csv"), 66),
    ],
)
def test_errors_have_the_codes_of_the_shell(error, code, monkeypatch) -> None:
    monkeypatch.setattr(exits, "discard_output", lambda: None)

    def fail() -> int:
        raise error

    assert exits.exit_code(fail) == code
