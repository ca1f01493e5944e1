"""Interactive pictures of results with Altair, for notebooks and pages."""

from typing import TYPE_CHECKING

try:
    import altair as _alt  # noqa: F401, ICN001 - only to see whether it is there
except ImportError as error:
    raise ImportError(
        "prframe.chart needs altair 6.3 or later: pip install 'prframe[chart]'."
    ) from error

from prframe import hints as _hints
from prframe._preparation.colours import PALETTE, PALETTE_DARK
from prframe.chart.curves import curve, roc
from prframe.chart.intervals import interval
from prframe.chart.parts import alt_text, style

__all__ = ["PALETTE", "PALETTE_DARK", "alt_text", "curve", "interval", "roc", "style"]

if not TYPE_CHECKING:  # Type checkers know the names above, and report any other.

    def __getattr__(name: str) -> object:
        """Refuse a name that is not there, and say which picture may be meant."""
        raise AttributeError(_hints.of_module(__name__, name, __all__))
