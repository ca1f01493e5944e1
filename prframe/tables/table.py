"""The table as a value, and the ways to write it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe.tables import markup
from prframe.tables.latex import latex

if TYPE_CHECKING:
    from great_tables import GT


@dataclass(frozen=True)
class Cell:
    """A value with what is said of it.

    Attributes
    ----------
    text : str
        The value with the decimals of its metric.
    interval : str
        Its confidence interval in brackets, empty where there is none.
    marks : str
        What is raised after the value.
    is_best : bool
        Whether no value of the metric is printed as a larger one.
    """

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
            Names are escaped. Greek and a few other signs are set in mathematics. Every other sign
            that pdfLaTeX does not know is printed by LuaLaTeX and XeLaTeX, and by pdfLaTeX as its
            code point.
        """
        return latex(self, caption, label)

    def to_markdown(self) -> str:
        """Write the table in GitHub's Markdown, the caption below it."""
        return markup.markdown(self)

    def to_html(self) -> str:
        """Write the table as an HTML element without a style, the caption in it."""
        return markup.html(self)

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
        return markup.great_table(self)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return self.to_html()

    def __str__(self) -> str:
        """Return the table in Markdown."""
        return self.to_markdown()
