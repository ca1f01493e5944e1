"""``python -m benchmarks.spark_times ... | python -m benchmarks.results spark-times``: keep what was measured.

RESULTS.md is a file of sections, each with the day and the versions it was measured with. What is
measured anew takes the place of the section of the same title, and its rows of the table of targets
those of the same case, so that one case can be measured without all others.
"""

import os
import re
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import report

PATH = Path(__file__).resolve().parent / "RESULTS.md"
_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)
# Versions of these are always given, those of other tools where the text has them.
_PACKAGES = ("polars", "numpy")
_PEERS = ("scikit-learn", "pytrec_eval-terrier", "ir_measures", "ranx", "polarbearings", "copairs")


def keep(text: str, path: Path = PATH) -> None:
    """Put each section of a text in the file, with the day and the versions."""
    kept = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    path.write_text(renewed(kept, text, measured_with(text)), encoding="utf-8")


def renewed(kept: str, text: str, measured: str) -> str:
    """Return a file of results whose sections are those of the text, where it has them."""
    preface, sections = _sections(kept)
    for title, section in _sections(text)[1].items():
        if title == "Targets":
            sections[title] = _merged(sections.get(title, ""), section)
        else:
            sections[title] = f"{section}\n\n{measured}"
    parts = [preface, *(f"## {title}\n\n{section}" for title, section in sections.items())]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _sections(text: str) -> tuple[str, dict[str, str]]:
    """Return what is above the first section, and the sections by title."""
    preface, *parts = _SECTION.split(text)
    texts = (part.strip("\n") for part in parts[1::2])
    return preface, dict(zip(parts[::2], texts, strict=True))


def _merged(kept: str, new: str) -> str:
    """Return the table of targets: the rows of the cases that were measured now, and all others."""
    old, now = _rows(kept), _rows(new)
    cases = list(dict.fromkeys(row[0] for row in [*old, *now]))
    measured = {row[0] for row in now}
    both = [row for row in old if row[0] not in measured] + now
    return report.table(report.TARGETS, (row for case in cases for row in both if row[0] == case))


def _rows(section: str) -> list[list[str]]:
    lines = (line for line in section.splitlines() if line.startswith("| "))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines][2:]


def measured_with(text: str = "") -> str:
    """Return a line with the day; of times also with the CPUs and the versions."""
    peers = [peer for peer in _PEERS if re.split(r"[-.]", peer)[0] in text]
    versions = [
        f"{package} {found}" for package in (*_PACKAGES, *peers) if (found := _version(package))
    ]
    machine = [f"{os.cpu_count()} CPUs{_processor()}", *versions] if " call" in text else []
    return f"*Measured on {', '.join([str(datetime.now(tz=UTC).date()), *machine])}.*\n"


def _processor() -> str:
    """Return the name of the processor in brackets, where Linux gives it."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    names = re.findall(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return f" ({names[0]})" if names else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    given = sys.stdin.read()
    keep(f"## {sys.argv[1]}\n\n{given}" if sys.argv[1:] else given)
