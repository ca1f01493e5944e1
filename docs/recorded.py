"""The recorded results of benchmarks and studies, by sections, with long tables folded."""

import re
from pathlib import Path

PATH = Path(__file__).parent.parent / "benchmarks" / "RESULTS.md"

# The sections of a page of evidence; all others stand on the page of the benchmarks.
PAGES = {
    "coverage": [
        "band-coverage",
        "band-clusters",
        "curve-coverage",
        "interval-coverage",
        "interval-ap",
        "interval-top",
        "interval-draws",
        "rank-coverage",
        "paired-coverage",
    ],
    "null": ["null-accuracy", "null-study"],
    "tests": [
        "rank-accuracy",
        "paired-accuracy",
        "paired-size",
        "paired-families",
        "paired-criterion",
        "paired-power",
        "paired-stability",
    ],
    "learning": ["rank-learning"],
}
_SECTION = re.compile(r"^## ", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|[^\n]*\n)+", re.MULTILINE)
LONG = 12


def page(name: str) -> str:
    """Return the sections of a page, or those of no page for ``"benchmarks"``."""
    if not PATH.exists():
        return "No results have been recorded yet."
    before, *sections = _SECTION.split(PATH.read_text(encoding="utf-8"))
    elsewhere = {section for names in PAGES.values() for section in names}
    chosen = [
        f"## {section}"
        for section in sections
        if (title(section) in PAGES[name] if name in PAGES else title(section) not in elsewhere)
    ]
    start = [] if name in PAGES else [re.sub(r"\A#[^\n]*\n", "", before)]
    return _TABLE.sub(folded, "".join([*start, *chosen]))


def title(section: str) -> str:
    """Return the title of a section without its mark."""
    return section.partition("\n")[0].strip()


def folded(table: re.Match[str]) -> str:
    """Return a table, within a fold if it is long or lists raw seconds."""
    rows = table[0].splitlines()
    if len(rows) - 2 <= LONG and not rows[0].startswith("| measured |"):
        return table[0]
    words = "seconds and memory" if rows[0].startswith("| measured |") else "the table"
    return f"<details><summary>{words}, {len(rows) - 2} rows</summary>\n\n{table[0]}\n</details>\n"
