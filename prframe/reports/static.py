"""What a page says where its script does not run: its sentence and its table of results."""

from collections.abc import Mapping
from html import escape
from typing import Any

from prframe._preparation import wording

# The script shows the other lines of so long a table at a click.
_MOST_LINES = 60


def description(facts: Mapping[str, Any]) -> str:
    """Return what the page tells, for programs that list pages."""
    return escape(facts["sentence"])


def static_core(facts: Mapping[str, Any]) -> str:
    """Return the main finding and the results as HTML, which the script draws anew."""
    results, *others = facts["sections"]
    missing = wording.joined([part["title"] for part in others], most=len(others))
    sections = "section" if len(others) == 1 else "sections"
    return (
        f'<h1>{escape(facts["title"])}</h1>\n<p class="lead">{escape(facts["sentence"])}</p>\n'
        f"<h2>{escape(results['title'])}</h2>\n{_results(results, facts['systems'])}\n"
        f'<p class="note">{escape(results["note"])}</p>\n'
        f'<noscript><p class="note">The {sections} {escape(missing)} of this page, and its '
        "charts, are drawn by the script within it, which does not run here. Any browser that "
        "runs scripts shows them, without a network.</p></noscript>"
    )


def _results(results: Mapping[str, Any], systems: list[str]) -> str:
    """Return the table of results, of many systems the first ones."""
    heads = "".join(
        f'<th scope="col">{escape(name)}</th>' for name in [results["of"], *results["metrics"]]
    )
    rows, n_rows = results["rows"][:_MOST_LINES], len(results["rows"])
    lines = "\n".join(
        f'<tr><th scope="row">{_key(row["key"])}<bdi>{escape(systems[row["system"]])}</bdi></th>'
        f"{''.join(map(_cell, results['metrics'], row['cells']))}</tr>"
        for row in rows
    )
    table = (
        f'<table class="results stacked">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody>\n</table>"
    )
    left_out = f'\n<p class="note">The first {len(rows)} of {n_rows:,} are here.</p>'
    return table + (left_out if n_rows > len(rows) else "")


def _key(key: str) -> str:
    """Return the letter by which other systems refer to one."""
    return f'<span class="key">{escape(key)}</span> ' if key else ""


def _cell(metric: str, cell: Mapping[str, Any]) -> str:
    """Return a value with its marks, its interval, and how far ties move it."""
    value = escape(cell["text"])
    kind, value = (' class="best"', f"<b>{value}</b>") if cell["best"] else ("", value)
    marks = f"<sup>{escape(cell['marks'])}</sup>" if cell["marks"] else ""
    interval = f" <small>{escape(cell['interval'])}</small>" if cell["interval"] else ""
    ties = f' <small class="ties">ties: {escape(cell["ties"])}</small>' if cell["ties"] else ""
    return f'<td data-head="{escape(metric)}"{kind}><div>{value}{marks}{interval}{ties}</div></td>'
