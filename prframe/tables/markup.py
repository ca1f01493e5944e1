"""The content of a table; in Markdown and HTML, and as an object of great_tables."""

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from great_tables import GT

_MARKDOWN_SIGNS = frozenset("\\`*_{}[]<>|~^$&#")


@dataclass(frozen=True)
class Cell:
    """A value with its confidence interval and marks; the best ones are printed largest."""

    text: str
    interval: str
    marks: str
    is_best: bool


@dataclass(frozen=True)
class Line:
    """A system: the letter that others refer to it by, its name, and a cell per metric."""

    key: str
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Content:
    """The caption of a table, and a cell for each system and metric."""

    caption: str
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def has_keys(self) -> bool:
        """Whether the lines have letters that marks refer to."""
        return any(line.key for line in self.lines)


def markdown(table: Content) -> str:
    """Write a table in GitHub's Markdown."""
    lead = [" "] if table.has_keys else []
    heads = [*lead, "System", *(_plain(metric) for metric in table.metrics)]
    rules = [*("---" for _ in lead), "---", *("---:" for _ in table.metrics)]
    rows = [
        [*([line.key] if lead else []), _plain(line.name), *map(_markdown_cell, line.cells)]
        for line in table.lines
    ]
    lines = [f"| {' | '.join(row)} |" for row in [heads, rules, *rows]]
    return "\n".join([*lines, "", _plain(table.caption), ""])


def _plain(text: str) -> str:
    """Escape the signs of Markdown and HTML."""
    signs = (f"\\{sign}" if sign in _MARKDOWN_SIGNS else sign for sign in " ".join(text.split()))
    return "".join(signs)


def _markdown_cell(cell: Cell) -> str:
    """Write a value, its marks and its interval."""
    value = f"**{cell.text}**" if cell.is_best else cell.text
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    return f"{value}{marks} {_plain(cell.interval)}".rstrip()


def html(table: Content) -> str:
    """Write a table as an HTML element."""
    corner = "<td></td>" if table.has_keys else ""
    metrics = "".join(f'<th scope="col">{escape(metric)}</th>' for metric in table.metrics)
    lines = "\n".join(
        f"<tr>{f'<td>{line.key}</td>' if table.has_keys else ''}"
        f'<th scope="row">{escape(line.name)}</th>'
        f"{''.join(f'<td>{html_cell(cell)}</td>' for cell in line.cells)}</tr>"
        for line in table.lines
    )
    return (
        f"<table>\n<caption>{escape(table.caption)}</caption>\n"
        f'<thead><tr>{corner}<th scope="col">System</th>{metrics}</tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody>\n</table>\n"
    )


def html_cell(cell: Cell) -> str:
    """Write a value, its marks and its interval."""
    value = f"<b>{cell.text}</b>" if cell.is_best else cell.text
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    interval = f" <small>{escape(cell.interval)}</small>" if cell.interval else ""
    return f"{value}{marks}{interval}"


def great_table(table: Content) -> "GT":
    """Return an object of great_tables."""
    try:
        from great_tables import GT, html as as_html  # noqa: PLC0415 - only this function needs it
    except ImportError as error:
        raise ImportError(
            "Table.gt() needs great_tables: pip install 'prframe[table]'."
        ) from error

    columns: dict[str, Any] = {}
    if table.has_keys:
        columns["key"] = [line.key for line in table.lines]
    columns["system"] = [escape(line.name) for line in table.lines]
    # Names of metrics are labels, since a column's own name may be read as something else.
    names = [f"metric_{number}" for number in range(len(table.metrics))]
    for number, name in enumerate(names):
        columns[name] = [html_cell(line.cells[number]) for line in table.lines]
    labels = {"key": "", "system": "System"} | {
        name: as_html(escape(metric)) for name, metric in zip(names, table.metrics, strict=True)
    }
    shown = GT(pl.DataFrame(columns)).fmt(str, columns=["system", *names])
    shown = shown.cols_label({name: labels[name] for name in columns})
    shown = shown.cols_align("right", columns=names)
    return shown.tab_source_note(as_html(escape(table.caption)))
