"""``python -m benchmarks.spark_times ... | python -m benchmarks.results spark-times``: keep what was measured.

RESULTS.md is a file of sections, each with the day and the versions it was measured with. What is
measured anew takes the place of the section of the same title, and its rows of the table of targets
those of the same case, so that one case can be measured without all others.
"""

import re
import sys
from pathlib import Path

from benchmarks import report

PATH = Path(__file__).resolve().parent / "RESULTS.md"
_SECTION = re.compile(r"^(?=## )", re.MULTILINE)
_TARGETS = "Targets"


def keep(text: str, path: Path = PATH) -> None:
    """Put each section of a text in the file, with the day and the versions."""
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(renewed(kept, text, report.measured_with(text)), encoding="utf-8")


def renewed(kept: str, text: str, measured_with: str) -> str:
    """Return a file of results whose sections are those of the text, where it has them."""
    sections = _by_title(kept)
    for title, section in _by_title(text).items():
        if title == _TARGETS:
            sections[title] = _merged(sections.get(title, ""), section)
        else:
            sections[title] = f"{section.rstrip()}\n\n{measured_with}\n"
    return "\n".join(
        [
            report.PREFACE,
            report.COMMANDS,
            *(f"{section.rstrip()}\n" for section in sections.values()),
        ]
    )


def _by_title(text: str) -> dict[str, str]:
    """Return the sections of a text, without what is written anew each time."""
    _, *sections = _SECTION.split(text)
    titles = [section.partition("\n")[0].removeprefix("## ").strip() for section in sections]
    return {
        title: section
        for title, section in zip(titles, sections, strict=True)
        if title not in ("Commands", "Environment")
    }


def _merged(kept: str, new: str) -> str:
    """Return the table of targets: the rows of the cases that were measured now, and all others."""
    rows = _rows(kept)
    cases = list(dict.fromkeys(row[0] for row in [*rows, *_rows(new)]))
    measured = {row[0] for row in _rows(new)}
    both = [row for row in rows if row[0] not in measured] + _rows(new)
    header = ["case", "what", "first call", "later calls", "target", "verdict"]
    ordered = (row for case in cases for row in both if row[0] == case)
    return f"## {_TARGETS}\n\n" + report.table(header, ordered)


def _rows(section: str) -> list[list[str]]:
    lines = (line for line in section.splitlines() if line.startswith("| "))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[2:]


if __name__ == "__main__":
    measured = sys.stdin.read()
    keep(f"## {sys.argv[1]}\n\n{measured}" if sys.argv[1:] else measured)
