"""The command at a terminal."""

import pytest

from tests.commands.shell import at_terminal

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
