"""Tables in LaTeX that compile."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prframe.tables.table import Cell, Table

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


def latex(table: "Table", caption: str | None, label: str | None) -> str:
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


def _body(table: "Table") -> str:
    """Write the rows between the rules."""
    per_metric = r"r@{}l@{\ }l"
    lead = "ll" if table.has_keys else "l"
    heads = ["", "System", *(rf"\multicolumn{{3}}{{c}}{{{escaped(m)}}}" for m in table.metrics)]
    rows = [[line.key, escaped(line.name), *map(_cell, line.cells)] for line in table.lines]
    # Without keys their column is left out.
    head, *lines = (rf"{' & '.join(row[not table.has_keys :])} \\" for row in [heads, *rows])
    begin = rf"\begin{{tabular}}{{{lead}{per_metric * len(table.metrics)}}}"
    end = [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([begin, r"\toprule", head, r"\midrule", *lines, *end])


def _cell(cell: "Cell") -> str:
    """Write a value, its marks and its interval as three columns."""
    value = escaped(cell.text)
    bold = rf"\textbf{{{value}}}" if cell.is_best else value
    marks = rf"\textsuperscript{{{escaped(cell.marks)}}}" if cell.marks else ""
    interval = rf"{{\footnotesize {escaped(cell.interval)}}}" if cell.interval else ""
    return f"{bold} & {marks} & {interval}"
