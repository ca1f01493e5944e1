"""The command at a terminal: widths, and completion in shells."""

import shutil
import subprocess

import pytest

from tests.commands.shell import COMMAND, ENVIRONMENT, at_terminal, process

pytest.importorskip("pty", reason="there are no terminals of this kind here")

COMPARE = ["compare", "qrels", "old.run", "new.run", "-m", "AP", "--test", "sign"]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80])
def test_tables_fit_the_terminal(columns) -> None:
    done = at_terminal(*COMPARE, columns=columns)
    head, row, *rest = done.out.splitlines()
    assert max(map(len, [head, row, *rest])) <= columns
    assert head.startswith("metric  model_a  model_b  difference"[:columns])
    n_shown = len(head.split())
    *rest, ties = rest
    assert ties == "(ties: trec)"
    note = " ".join(rest)
    assert note.startswith(f"({22 - n_shown} more columns: ")
    assert note.endswith("; -f csv writes all)")
    assert done.code == 0


@pytest.mark.slow
def test_names_do_not_control_the_terminal(tmp_path) -> None:
    path = tmp_path / "evil.run"
    path.write_text("100 Q0 d1 1 2 \x1b]0;evil\x07\n")
    shown = at_terminal("evaluate", "qrels", path).out
    assert "\x1b" not in shown
    assert "\\x1b]0;evil\\x07" in shown


def test_binary_output_is_kept_from_terminals() -> None:
    done = at_terminal("evaluate", "qrels", "old.run", "-f", "parquet")
    message = "prframe: error: parquet is nothing for a terminal; name a file with -o\n"
    assert (done.code, done.out) == (2, message)


BASH = """
prframe() { :; }
eval "$SCRIPT"
complete -p prframe > /dev/null || exit 1
_complete() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
    COMPREPLY=()
    function_name=$(complete -p prframe | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    "$function_name" prframe "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    printf '%s\\n' "${COMPREPLY[@]}"
}
_complete prframe ev
echo --
_complete prframe evaluate --tie
echo --
_complete prframe evaluate --ties e
echo --
_complete prframe evaluate --frame fra
"""


@pytest.fixture(scope="module")
def _shtab() -> None:
    pytest.importorskip("shtab", reason="completion needs shtab")


@pytest.mark.usefixtures("_shtab")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_completion_in_bash() -> None:
    script = process("completion", "bash").out
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT | {"SCRIPT": script},
    )
    assert done.stdout.split("--\n")[0].split() == ["evaluate"]
    options, ties, files = done.stdout.split("\n--\n")[1:]
    assert options.split() == ["--ties"]
    assert ties.split() == ["expected"]
    assert files.split() == ["frame.csv"]


@pytest.mark.usefixtures("_shtab")
@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_completion_in_zsh() -> None:
    script = process("completion", "zsh").out
    code = 'autoload -Uz compinit && compinit -u && eval "$SCRIPT" && whence -w _shtab_prframe'
    done = subprocess.run(
        ["zsh", "-f", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT | {"SCRIPT": script},
    )
    assert done.stdout == "_shtab_prframe: function\n"


@pytest.mark.usefixtures("_shtab")
@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_completion_in_fish() -> None:
    script = process("completion", "fish").out
    code = 'echo $SCRIPT | source; complete -C "prframe ev"'
    done = subprocess.run(
        ["fish", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT | {"SCRIPT": script, "HOME": "/nowhere"},
    )
    assert done.stdout.startswith("evaluate\t")


def test_completion_without_shtab() -> None:
    code = "import sys; sys.modules['shtab'] = None; from prframe.commands.main import main; sys.exit(main())"
    words = [COMMAND[0], "-c", code, "completion", "bash"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 2
    assert done.stderr == (
        "prframe: error: completion needs shtab: python -m pip install 'prframe[completion]'\n"
    )
