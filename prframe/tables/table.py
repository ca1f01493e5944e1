"""A table of results as a value, which writes itself in Markdown, HTML and LaTeX."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe.tables.latex import latex

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
class Table:
    """A table of results, made by `results`.

    Attributes
    ----------
    caption : str
        What was done, in plain text.
    metrics : tuple of str
        The metrics, a column each.
    lines : tuple
        The systems, a line each.
    """

    caption: str
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]
    _rows: pl.DataFrame = field(repr=False)
    _back: Callable[[pl.DataFrame], Any] = field(repr=False)

    @property
    def has_keys(self) -> bool:
        """Whether the lines have letters that marks refer to."""
        return any(line.key for line in self.lines)

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Write the table as a LaTeX float with the rules of the package booktabs.

        Parameters
        ----------
        caption : str, optional
            LaTeX, in place of the caption that tells what was done.
        label : str, optional
            A label to refer to the table by.

        Returns
        -------
        str
            Names are escaped. Signs that pdfLaTeX does not know are printed by LuaLaTeX and
            XeLaTeX, and by pdfLaTeX as their code points.
        """
        return latex(self, caption, label)

    def to_markdown(self) -> str:
        """Write the table in GitHub's Markdown, the caption below it."""
        lead = [" "] if self.has_keys else []
        heads = [*lead, "System", *(_plain(metric) for metric in self.metrics)]
        rules = [*("---" for _ in lead), "---", *("---:" for _ in self.metrics)]
        rows = [
            [*([line.key] if lead else []), _plain(line.name), *map(_markdown_cell, line.cells)]
            for line in self.lines
        ]
        lines = [f"| {' | '.join(row)} |" for row in [heads, rules, *rows]]
        return "\n".join([*lines, "", _plain(self.caption), ""])

    def to_html(self) -> str:
        """Write the table as an HTML element without a style, the caption in it."""
        corner = "<td></td>" if self.has_keys else ""
        metrics = "".join(f'<th scope="col">{escape(metric)}</th>' for metric in self.metrics)
        lines = "\n".join(
            f"<tr>{f'<td>{line.key}</td>' if self.has_keys else ''}"
            f'<th scope="row">{escape(line.name)}</th>'
            f"{''.join(f'<td>{_html_cell(cell)}</td>' for cell in line.cells)}</tr>"
            for line in self.lines
        )
        return (
            f"<table>\n<caption>{escape(self.caption)}</caption>\n"
            f'<thead><tr>{corner}<th scope="col">System</th>{metrics}</tr></thead>\n'
            f"<tbody>\n{lines}\n</tbody>\n</table>\n"
        )

    def to_frame(self) -> Any:  # noqa: ANN401
        """Return the numbers, a row per system and metric, in the caller's kind of frame.

        The columns are ``key``, the column of systems, ``metric``, ``estimate``, ``conf_low``,
        ``conf_high``, ``marks`` and ``best``.
        """
        return self._back(self._rows)

    def gt(self) -> "GT":
        """Return the table as an object of great_tables, to be styled further.

        Raises
        ------
        ImportError
            If great_tables is not installed.
        """
        try:
            from great_tables import GT, html  # noqa: PLC0415 - only this method needs it
        except ImportError as error:
            raise ImportError(
                "Table.gt() needs great_tables: pip install 'prframe[table]'."
            ) from error

        # Names of metrics are labels, since a column's own name may be read as something else.
        labels: dict[str, Any] = {"key": "", "system": "System"}
        columns = {"key": [line.key for line in self.lines]} if self.has_keys else {}
        columns["system"] = [escape(line.name) for line in self.lines]
        for number, metric in enumerate(self.metrics):
            labels[f"metric_{number}"] = html(escape(metric))
            columns[f"metric_{number}"] = [_html_cell(line.cells[number]) for line in self.lines]
        names = list(columns)[1 + self.has_keys :]
        shown = GT(pl.DataFrame(columns)).fmt(str, columns=["system", *names])
        shown = shown.cols_label({name: labels[name] for name in columns})
        shown = shown.cols_align("right", columns=names)
        return shown.tab_source_note(html(escape(self.caption)))

    _repr_html_ = to_html
    __str__ = to_markdown


def _plain(text: str) -> str:
    """Escape the signs of Markdown and HTML."""
    signs = (f"\\{sign}" if sign in _MARKDOWN_SIGNS else sign for sign in " ".join(text.split()))
    return "".join(signs)


def _markdown_cell(cell: Cell) -> str:
    """Write a value, its marks and its interval."""
    value = f"**{cell.text}**" if cell.is_best else cell.text
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    return f"{value}{marks} {_plain(cell.interval)}".rstrip()


def _html_cell(cell: Cell) -> str:
    """Write a value, its marks and its interval."""
    value = f"<b>{cell.text}</b>" if cell.is_best else cell.text
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    interval = f" <small>{escape(cell.interval)}</small>" if cell.interval else ""
    return f"{value}{marks}{interval}"
