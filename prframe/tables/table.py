"""The table as a value, which writes itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from prframe.tables import markup
from prframe.tables.latex import latex
from prframe.tables.markup import Content

if TYPE_CHECKING:
    from great_tables import GT


@dataclass(frozen=True)
class Table(Content):
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

    _rows: pl.DataFrame = field(repr=False)
    _back: Callable[[pl.DataFrame], Any] = field(repr=False)

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
