"""Recorded tables are read as they stand, and each has the picture that fits it."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
DOCS = Path(__file__).parents[2] / "docs"
COVERING = """\
| scores | n | auto | wald |
| --- | --- | --- | --- |
| normal | 20 | 0.956 (0.021, 0.023) 0.343 | 0.865 (0.124, 0.011) 0.338 |
| beta | 30 | 1.000 (0.000, 0.000) 0.2 |  |
"""


@pytest.fixture
def recorded(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    yield import_module("recorded")
    for name in ("recorded", "recorded_pictures"):
        del sys.modules[name]


def test_tables_are_read(recorded):
    table = recorded.Table.of(COVERING)
    assert table.header == ["scores", "n", "auto", "wald"]
    assert table.column("scores") == ["normal", "beta"]
    read = recorded.recorded_pictures
    assert read.coverages(table) == {"auto": [0.956, 1.0], "wald": [0.865]}
    assert [read.number(cell) for cell in ("under 0.2 s", "2.80 (2.05 to 4.36)", "")] == [
        0.2,
        2.8,
        0,
    ]


@pytest.mark.slow
def test_pictures_show_what_the_tables_say(recorded):
    draw = recorded.recorded_pictures
    text = recorded.PATH.read_text(encoding="utf-8")
    tables = [recorded.Table.of(match[0]) for match in recorded._TABLE.finditer(text)]
    peers = draw.draw_peers(tables).axes[0]
    names = [label.get_text() for label in peers.get_yticklabels()]
    assert "pytrec_eval, whole / evaluate, whole" in names
    targets = next(table for table in tables if table.header[0] == "case")
    missed = sum(verdict == "missed" for verdict in targets.column("verdict"))
    axes = draw.draw_targets(targets).axes[0]
    assert [line.get_marker() for line in axes.lines].count("s") == missed > 0
    beyond = [line for line in axes.lines if line.get_marker() == "s" and line.get_xdata()[0] <= 1]
    assert not beyond


def test_tables_with_pictures_are_folded(recorded):
    assert recorded.folded(COVERING) == COVERING
    measured = COVERING.replace("| scores |", "| measured |")
    assert recorded.folded(measured).startswith("<details><summary>seconds and memory, 2 rows")


def test_versions_are_folded_below_the_day(recorded):
    section = recorded.with_pictures(
        "## x\n\nFast.\n\n*Measured on 2026-11-20, Linux, polars 2.1.0.*\n\n*Measured long ago.*\n"
    )
    assert section == (
        '## x\n\nFast.\n\n<details class="measured"><summary>measured on 2026-11-20</summary>\n\n'
        "Linux, polars 2.1.0.\n</details>\n\n*Measured long ago.*\n"
    )
