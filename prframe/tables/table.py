"""A table of results as a value, which writes itself in Markdown, HTML and LaTeX."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from great_tables import GT

_MARKDOWN_SIGNS = frozenset("\\`*_{}[]<>|~^$&#")
# Signs as LaTeX prints them.
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{''}",
    # A star or a bracket after the end of a row would be read as its option.
    "*": "{*}",
    "[": r"{[}",
    "]": r"{]}",
    "-": "{-}",
    "`": r"\textasciigrave{}",
    "'": r"{'}",
    "\N{EN DASH}": "--",
    "—": "---",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
    "†": r"\ensuremath{\dagger}",
    "‡": r"\ensuremath{\ddagger}",
    "±": r"\ensuremath{\pm}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "→": r"\ensuremath{\to}",
    "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}",
    "∞": r"\ensuremath{\infty}",
    "√": r"\ensuremath{\surd}",
    "∑": r"\ensuremath{\sum}",
    "²": r"\ensuremath{^{2}}",
    "³": r"\ensuremath{^{3}}",
}
_GREEK_LETTERS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩµ"
_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega mu"
)
_GREEK = dict(zip(_GREEK_LETTERS, _GREEK_NAMES.split(), strict=True))
# pdfLaTeX prints these letters, which end with the Latin letters of its usual encodings.
_LAST_KNOWN, _FIRST_LETTER = "ž", "À"
_UNKNOWN_TO_OT1 = frozenset("÷ÐðÞþđĐŊŋĄąĘęĮįŲųħĦŧŦŀĿĸŉĲĳ")
_KNOWN_SIGNS = frozenset("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}“”…")
_ANY_SIGN = (
    "% LuaLaTeX and XeLaTeX print the first argument, and pdfLaTeX the second.\n"
    r"\providecommand{\prframesign}[2]{\ifdefined\Umathchar#1\else#2\fi}"
)


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
        return _latex(self, caption, label)

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


def _latex(table: Table, caption: str | None, label: str | None) -> str:
    """Write a table as a float."""
    body = _body(table)
    text = escaped(table.caption) if caption is None else caption
    uses_signs = r"\prframesign" in body + text
    head = [r"% This table needs \usepackage{booktabs}.", *([_ANY_SIGN] if uses_signs else [])]
    named = [] if label is None else [rf"\label{{{label}}}"]
    lines = [*head, r"\begin{table}", r"\centering", rf"\caption{{{text}}}", *named]
    return "\n".join([*lines, r"\setlength{\tabcolsep}{4pt}", body, r"\end{table}", ""])


def escaped(text: str) -> str:
    """Return plain text as LaTeX that prints it."""
    return "".join(_sign(sign) for sign in text)


def _sign(sign: str) -> str:
    """Return LaTeX that prints one character."""
    if sign in _ESCAPED:
        return _ESCAPED[sign]
    if sign in _GREEK:
        return rf"\ensuremath{{\{_GREEK[sign]}}}"
    if sign.isspace() or not sign.isprintable():
        return " "
    is_letter = _FIRST_LETTER <= sign <= _LAST_KNOWN and sign not in _UNKNOWN_TO_OT1
    if sign.isascii() or is_letter or sign in _KNOWN_SIGNS:
        return sign
    return rf"\prframesign{{{sign}}}{{[U+{ord(sign):04X}]}}"


def _body(table: Table) -> str:
    """Write the rows between the rules."""
    per_metric = r"r@{}l@{\ }l"
    lead = "ll" if table.has_keys else "l"
    heads = ["", "System", *(rf"\multicolumn{{3}}{{c}}{{{escaped(m)}}}" for m in table.metrics)]
    rows = [[line.key, escaped(line.name), *map(_latex_cell, line.cells)] for line in table.lines]
    # Without keys their column is left out.
    head, *lines = (rf"{' & '.join(row[not table.has_keys :])} \\" for row in [heads, *rows])
    begin = rf"\begin{{tabular}}{{{lead}{per_metric * len(table.metrics)}}}"
    end = [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([begin, r"\toprule", head, r"\midrule", *lines, *end])


def _latex_cell(cell: Cell) -> str:
    """Write a value, its marks and its interval as three columns."""
    value = escaped(cell.text)
    bold = rf"\textbf{{{value}}}" if cell.is_best else value
    marks = rf"\textsuperscript{{{escaped(cell.marks)}}}" if cell.marks else ""
    interval = rf"{{\footnotesize {escaped(cell.interval)}}}" if cell.interval else ""
    return f"{bold} & {marks} & {interval}"
