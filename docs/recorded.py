"""The recorded results of benchmarks and studies, by sections: pictures of their tables, which are folded."""

import re
from pathlib import Path

import recorded_pictures
from recorded_pictures import Table

PATH = Path(__file__).parent.parent / "benchmarks" / "RESULTS.md"

# The sections of a page of evidence; all others stand on the page of the benchmarks.
PAGES = {
    "coverage": [
        "default-coverage",
        "skewed-means",
        "clustered-means",
        "predicted-means",
        "interval-sizes",
        "few-clusters",
        "noise-coverage",
        "rank-coverage",
        "heavy-negatives",
        "threshold-coverage",
        "paired-items",
        "band-coverage",
        "band-clusters",
        "curve-coverage",
        "mean-curve-coverage",
        "level-coverage",
    ],
    "null": ["null-study", "copairs"],
    "tests": [
        "rank-accuracy",
        "paired-accuracy",
        "paired-size",
        "paired-skewness",
        "paired-designs",
        "paired-families",
    ],
    "learning": ["rank-experiments"],
}
# What a page calls a section that the record names after its command.
HEADINGS = {
    "default-coverage": "Default intervals of all metrics",
    "skewed-means": "Means of skewed values",
    "clustered-means": "Means over queries in clusters",
    "predicted-means": "Means with judgments by a model",
    "interval-sizes": "Samples of 20 to 20,000 positives",
    "few-clusters": "Rows in clusters",
    "noise-coverage": "Noisy labels",
    "rank-coverage": "Rank statistics W",
    "heavy-negatives": "Another prevalence",
    "threshold-coverage": "The threshold of the largest F1",
    "paired-items": "Two models on the same items",
    "band-coverage": "Bands of one curve",
    "band-clusters": "Bands of rows in clusters",
    "curve-coverage": "Bands of the difference of two curves",
    "mean-curve-coverage": "Bands of mean curves over queries",
    "level-coverage": "Single levels of recall",
}
_SECTION = re.compile(r"^## ", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|[^\n]*\n)+", re.MULTILINE)
# When a section was measured, and on which machine with which versions.
_MEASURED = re.compile(r"^\*Measured (?:on )?([^,*]+), ([^*]+)\*$", re.MULTILINE)
LONG = 6
# What tables have that are always folded, by the beginning of their headers.
FOLDED = {
    "| measured |": "seconds and memory",
    "| ratio |": "ratios",
    "| case |": "all targets",
}


def page(name: str) -> str:
    """Return the sections of a page, or those of no page for ``"benchmarks"``."""
    if not PATH.exists():
        return "No results have been recorded yet."
    before, *sections = _SECTION.split(PATH.read_text(encoding="utf-8"))
    elsewhere = {section for names in PAGES.values() for section in names}
    chosen = [f"## {section}" for section in sections if title(section) not in elsewhere]
    if name in PAGES:
        titled = {title(section): f"## {section}" for section in sections}
        chosen = [titled[section] for section in PAGES[name] if section in titled]
    start = [] if name in PAGES else [re.sub(r"\A#[^\n]*\n", "", before), beside_others(sections)]
    return "".join([*start, *map(with_pictures, chosen)])


def title(section: str) -> str:
    """Return the title of a section without its mark."""
    return section.removeprefix("## ").partition("\n")[0].strip()


def beside_others(sections: list[str]) -> str:
    """Return the picture of how many times as long other tools take."""
    tables = [Table.of(table[0]) for text in sections for table in _TABLE.finditer(text)]
    words = "How many times as long other tools take, from the tables of targets and ratios below"
    picture = recorded_pictures.drawn(
        "beside-others", words, lambda: recorded_pictures.draw_peers(tables)
    )
    return f"\n## Beside other tools\n\n{words}:\n{picture}\n"


def with_pictures(section: str) -> str:
    """Return a section whose tables are folded, each below its picture if one fits it.

    The versions with which it was measured are folded too.
    """
    tables = 0

    def shown(table: re.Match[str]) -> str:
        nonlocal tables
        tables += 1
        name = title(section).replace(" ", "-") + (f"-{tables}" if tables > 1 else "")
        return recorded_pictures.picture(Table.of(table[0]), name) + folded(table[0])

    name = title(section)
    text = _MEASURED.sub(_folded_versions, _TABLE.sub(shown, section))
    return text.replace(f"## {name}\n", f"## {HEADINGS.get(name, name)}\n", 1)


def _folded_versions(line: re.Match[str]) -> str:
    """Return the day of a measurement, and the machine and the versions within a fold."""
    return (
        f'<details class="measured"><summary>measured on {line[1]}</summary>\n\n{line[2]}\n'
        "</details>"
    )


def folded(table: str) -> str:
    """Return a table within a fold, unless it is short and no picture shows the same."""
    header, rows = table.partition("\n")[0], len(table.splitlines()) - 2
    words = next((words for start, words in FOLDED.items() if header.startswith(start)), "")
    if rows <= LONG and not words:
        return table
    return (
        f"<details><summary>{words or 'the table'}, {rows} rows</summary>\n\n{table}\n</details>\n"
    )
