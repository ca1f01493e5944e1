"""Messages name the options of the shell, and not the arguments of Python."""

from pathlib import Path

import pytest

from prframe.commands.exits import translated_to_options
from tests.commands.shell import run

FLAGS = {
    "over": "--over",
    "level": "-l",
    "test": "--test",
    "positive": "-l",
    "k": "-k",
    "rng": "--seed",
}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("name them with over=, or", "name them with --over, or"),
        ("say test='t', with", "say --test t, with"),
        ("say test=' t;u', or", "say --test ' t;u', or"),
        ("an integer for rng=0 (k=3)", "an integer for --seed 0 (-k 3)"),
        ("on the same items (over=None) or", "on the same items (no --over) or"),
        ("positive=2 (or 0.5) for", "-l 2 (or 0.5) for"),
        ("groups of `over` and `k`", "groups of --over and -k"),
        ("say positive=[...], or", "say -l ..., or"),
        ("say over=['fold', 'a query'], or", "say --over fold 'a query', or"),
        # Calls, names of metrics, paths and what has no option are left as they are.
        ("use evaluate('AP', over=..., geometric_mean=True)", None),
        ("P(threshold=0.5) and R(k=3)@5", None),
        ("there is no file 'runs/over=3/k=4.run'", None),
        ("say undefined=0 or `undefined`", None),
    ],
)
def test_arguments_become_options(message, expected) -> None:
    assert translated_to_options(message, FLAGS) == (message if expected is None else expected)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            "compare --frame frame.csv --score score other --test t",
            2,
            "--test on the same items (no --over) must be one of",
        ),
        (
            "compare --frame frame.csv --over query --score score other --test delong",
            2,
            "got 'delong'; to compare on the same items leave out --over.",
        ),
        (
            "evaluate qrels old.run -m BLEU",
            2,
            "unknown metric 'BLEU'. There are metrics such as 'AP', 'AUC', 'P@10' and 'nDCG@10'.",
        ),
        (
            "compare --frame frame.csv --over query --predicted other --equivalence 0.1",
            2,
            "--predicted takes Student's t over queries; leave out --equivalence.",
        ),
        ("band --frame frame.csv --seed -1", 2, "--seed must be a whole number >= 0; got -1."),
        ("evaluate --frame frame.csv -m Bpref", 65, "trec.join makes this column.\n"),
        (
            "evaluate qrels old.run -m AP,nDCG@10",
            2,
            "write several metrics as a list, ['AP', 'nDCG@10'], or in a shell as AP nDCG@10.",
        ),
        (
            "report qrels old.run -l 9 -o page.html",
            65,
            "or say with -l which labels are relevant.",
        ),
    ],
)
def test_errors_in_the_words_of_the_shell(words, code, message, capfdbinary) -> None:
    done = run(capfdbinary, *words.split())
    assert done.code == code
    assert done.err.startswith("prframe: error: ")
    assert message in done.err


def test_a_document_that_is_listed_twice(capfdbinary, tmp_path) -> None:
    twice = tmp_path / "twice.run"
    twice.write_text(2 * Path("old.run").read_text())
    done = run(capfdbinary, "evaluate", "qrels", twice)
    assert done.code == 65
    assert done.err.endswith("keep the best ones with --duplicates best.\n")


def test_warnings_in_the_words_of_the_shell(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "--frame", "frame.csv")
    assert done.code == 0
    assert "were ranked together. Use --by query for one ranking each" in done.err


FOLDS = "with --resampling cv for cross-validation (name repetitions before folds in --over)"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("evaluate --interval --by model --over fold", FOLDS),
        ("compare --over fold", FOLDS),
        (
            "compare --over fold --resampling cv",
            "--test randomization does not support: say --test t.",
        ),
        ("evaluate --by fold", "Use --by fold model for one ranking each, or"),
        (
            "evaluate --by fold model --positive 7 -m P@1",
            "with --positive; check lists the labels.",
        ),
        (
            "evaluate --by fold model -l 1 --label grade",
            "Say which labels are positive, for example -l 2 for grades of at least 2; if",
        ),
    ],
)
def test_every_option_that_is_named_is_one(words, told, capfdbinary, tmp_path) -> None:
    frame = tmp_path / "frame.csv"
    lines = [
        f"{fold},{model},{score},{(score + fold) % 2},{1 + score % 2}\n"
        for fold in range(4)
        for model in "ab"
        for score in range(4)
    ]
    frame.write_text("fold,model,score,label,grade\n" + "".join(lines))
    command, *more = words.split()
    done = run(capfdbinary, command, "--frame", frame, *more)
    assert told in done.err


def test_files_name_no_option_of_frames(capfdbinary, tmp_path) -> None:
    graded = tmp_path / "qrels"
    lines = Path("qrels").read_text().splitlines()
    fields = [line.split() for line in lines]
    graded.write_text("".join(f"{q} 0 {d} {1 + int(label)}\n" for q, _, d, label in fields))
    done = run(capfdbinary, "evaluate", graded, "old.run", "-J", "-m", "AP")
    assert "for example -l 2 for grades of at least 2. If there are none" in done.err
    assert "--positive" not in done.err
    table = run(capfdbinary, "check", "--frame", graded)
    assert "it has one column" in table.err
    assert "leave out --frame for TREC files" in table.err


def test_queries_that_a_model_lacks(capfdbinary, tmp_path) -> None:
    frame = tmp_path / "frame.csv"
    rows = [(q, m, s) for q in "123" for m in "ab" for s in (1, 2) if (q, m) != ("3", "b")]
    lines = [f"{q},{m},{s},{(s + ord(m)) % 2}\n" for q, m, s in rows]
    frame.write_text("query,model,score,label\n" + "".join(lines))
    words = ["compare", "--frame", frame, "--over", "query", "-m", "AP", "-f", "csv"]
    done = run(capfdbinary, *words)
    assert done.code == 65
    assert "or 'common' (what all have)" in done.err
    assert "--incomplete zero" in done.err
    for policy, n in (("common", 2), ("zero", 3)):
        done = run(capfdbinary, *words, "--incomplete", policy)
        names, values = (line.split(",") for line in done.out.splitlines())
        assert values[names.index("n")] == str(n)


def test_nothing_in_common_is_an_error(capfdbinary, tmp_path) -> None:
    other = tmp_path / "qrels"
    other.write_text("x 0 d1 1\n")
    message = "prframe: error: the runs and the qrels have no query in common; take other qrels, or mend ids.\n"
    for command in ("evaluate", "compare", "curve", "band", "test"):
        done = run(capfdbinary, command, other, "old.run", "new.run")
        assert (done.code, done.out) == (65, "")
        assert done.err.endswith(message)
    done = run(capfdbinary, "check", other, "old.run", "--strict", "-f", "csv")
    assert done.code == 1
    assert "file,warning,1,\"run and qrels have no query in common: the run has '100'" in done.out
    # With -c the queries that a run lacks count as 0.
    assert run(capfdbinary, "evaluate", other, "old.run", "-c", "-m", "AP").code == 0
