"""Tables of results for papers: letters, marks, intervals, and captions that say what was done."""

from prframe.tables.building import results
from prframe.tables.letter_display import letters
from prframe.tables.table import Table

__all__ = ["Table", "letters", "results"]
