"""Files for the command."""

from pathlib import Path

import pytest

from tests.commands.shell import FRAME, write_files


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A folder with qrels, three runs, and a frame."""
    path = tmp_path_factory.mktemp("runs")
    write_files(path)
    (path / "frame.csv").write_text(FRAME)
    return path


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
