"""Tables of results for papers, with letters and captions, and comparisons in sentences."""

from prframe.tables.building import results
from prframe.tables.comparisons import letters, sentences
from prframe.tables.table import Table

__all__ = ["Table", "letters", "results", "sentences"]
