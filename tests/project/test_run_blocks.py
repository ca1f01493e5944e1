"""The script that runs the blocks of the documentation."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "run_blocks.py"
SHOWN = "```python\nprint(1 + 1)\n```\n\n```text\n{}\n```\n"
NEEDY = "```python\nimport {}\n```\n"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="runs a script of the documentation")


def ended(
    pages: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str
) -> int:
    """Run the script on pages in a folder, and return its exit code."""
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["run_blocks.py", *options, *pages])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return int(caught.value.code or 0)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("module", "extra"),
    [("sklearn.datasets", "learn"), ("prframe.plot", "plot"), ("prframe.chart", "chart")],
)
def test_a_page_without_its_extra_is_skipped(
    module: str, extra: str, write: bool, tmp_path, monkeypatch, capsys
) -> None:
    root = {"plot": "matplotlib", "chart": "altair", "learn": "sklearn"}[extra]
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, root, None)
    pages = {"first.md": SHOWN.format(9) + NEEDY.format(module), "second.md": SHOWN.format(2)}
    options = ["--write"] if write else []
    assert ended(pages, tmp_path, monkeypatch, *options) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"first.md is skipped: it needs the extra {extra}: ")
    assert last == "1 files: every block runs and prints what is shown"
    assert (tmp_path / "first.md").read_text() == pages["first.md"]


def test_what_no_extra_has_is_a_fault(tmp_path, monkeypatch) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        ended({"a.md": NEEDY.format("no_such_module")}, tmp_path, monkeypatch)


def test_differences_are_told(tmp_path, monkeypatch, capsys) -> None:
    pages = {"a.md": SHOWN.format(3), "b.md": SHOWN.format(2)}
    assert ended(pages, tmp_path, monkeypatch) == 1
    assert "a.md:2: the text shown is not what the block prints" in capsys.readouterr().out
