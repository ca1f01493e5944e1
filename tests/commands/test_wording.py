"""Messages name the options of the shell, and not the arguments of Python."""

import pytest

from prframe.commands.exits import in_shell_words
from tests.commands.shell import run

FLAGS = {"over": "--over", "test": "--test", "positive": "-l", "k": "-k", "rng": "--seed"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("name them with over=, or", "name them with --over, or"),
        ("say test='t', with", "say --test t, with"),
        ("take test='t' or 'hall'.", "take --test t or 'hall'."),
        ("for instance positive='yes'.", "for instance -l yes."),
        ("say test=' t;u', or", "say --test ' t;u', or"),
        ("an integer for rng=0 (k=3)", "an integer for --seed 0 (-k 3)"),
        ("on the same items (over=None) or", "on the same items (no --over) or"),
        ("on the same items say over=None.", "on the same items leave out --over."),
        (
            "rng must be a whole number >= 0 or a numpy.random.Generator; got -1.",
            "rng must be a whole number >= 0; got -1.",
        ),
        ("groups of `over` and `k`", "groups of --over and -k"),
        ("say positive=[...], or", "say -l [...], or"),
        (
            "for instance ('1', 'd'); drop the rows that do not count, keep the best ones with "
            "duplicates='best', or name the columns that tell the systems apart with system=.",
            "for instance ('1', 'd'); drop the rows that do not count.",
        ),
        ("ask for 'P@1', or ignore TiePolicyWarning.", "ask for 'P@1'."),
        # Calls, names of metrics, paths and what has no option are left as they are.
        ("use evaluate('AP', over=..., geometric_mean=True)", None),
        ("P(threshold=0.5) and R(k=3)@5", None),
        ("there is no file 'runs/over=3/k=4.run'", None),
        ("say undefined=0 or `undefined`", None),
    ],
)
def test_arguments_become_options(message, expected) -> None:
    assert in_shell_words(message, FLAGS) == (message if expected is None else expected)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["evaluate", "--frame", "frame.csv", "--label", "nope"],
            65,
            "--label names the column 'nope', which the frame does not have;",
        ),
        (
            ["compare", "--frame", "frame.csv", "--score", "score", "other", "--test", "t"],
            2,
            "--test on the same items (no --over) must be one of",
        ),
        (
            [
                *("compare", "--frame", "frame.csv", "--over", "query"),
                *("--score", "score", "other", "--test", "delong"),
            ],
            2,
            "got 'delong'; to compare on the same items leave out --over.",
        ),
        (
            ["evaluate", "qrels", "old.run", "-m", "AP,nDCG@10"],
            2,
            "not ',' at character 3. Put spaces between metrics.\n",
        ),
        (
            ["report", "qrels", "old.run", "--depth", "0", "-o", "page.html"],
            2,
            "--depth must be a whole number >= 1; got 0.",
        ),
        (
            ["report", "qrels", "old.run", "-l", "9", "-o", "page.html"],
            65,
            "or say with -l which labels are relevant.",
        ),
        (
            ["report", "qrels", "old.run", "--thresholds", "1", "-o", "page.html"],
            2,
            "--thresholds does not go with QRELS; leave it out.",
        ),
    ],
)
def test_errors_in_the_words_of_the_shell(words, code, message, capfdbinary) -> None:
    done = run(capfdbinary, *words)
    assert done.code == code
    assert done.err.startswith("prframe: error: ")
    assert message in done.err


def test_warnings_in_the_words_of_the_shell(capfdbinary) -> None:
    done = run(capfdbinary, "evaluate", "--frame", "frame.csv")
    assert done.code == 0
    assert "stands in neither --by nor --over. For a ranking each say --by query" in done.err


def test_queries_that_a_model_lacks(capfdbinary, tmp_path) -> None:
    frame = tmp_path / "frame.csv"
    rows = [(q, m, s) for q in "123" for m in "ab" for s in (1, 2) if (q, m) != ("3", "b")]
    lines = [f"{q},{m},{s},{(s + ord(m)) % 2}\n" for q, m, s in rows]
    frame.write_text("query,model,score,label\n" + "".join(lines))
    words = ["compare", "--frame", frame, "--over", "query", "-m", "AP", "-f", "csv"]
    done = run(capfdbinary, *words)
    assert done.code == 65
    assert "what all have with 'common'" in done.err
    assert "--incomplete pairwise" in done.err
    for policy, n in (("common", 2), ("zero", 3)):
        done = run(capfdbinary, *words, "--incomplete", policy)
        names, values = (line.split(",") for line in done.out.splitlines())
        assert values[names.index("n")] == str(n)


def test_nothing_in_common_is_an_error(capfdbinary, tmp_path) -> None:
    other = tmp_path / "qrels"
    other.write_text("x 0 d1 1\n")
    message = "prframe: error: the runs and the qrels have no query in common; mend their ids.\n"
    for command in ("evaluate", "compare", "curve", "band", "test", "check"):
        done = run(capfdbinary, command, other, "old.run", "new.run")
        assert (done.code, done.out) == (65, "")
        assert done.err.endswith(message)
    # With -c the queries that a run lacks count as 0.
    assert run(capfdbinary, "evaluate", other, "old.run", "-c", "-m", "AP").code == 0
