"""Pictures of results with matplotlib, for papers and slides."""

from typing import TYPE_CHECKING

try:
    import matplotlib as _mpl  # noqa: F401, ICN001 - only to see whether it is there
except ImportError as error:
    raise ImportError(
        "prframe.plot needs matplotlib 3.11 or later: pip install 'prframe[plot]'."
    ) from error

from prframe import hints as _hints
from prframe._preparation.colours import PALETTE, PALETTE_DARK
from prframe.plot.comparisons import groups, interval, matrix
from prframe.plot.curves import curve, gain, roc
from prframe.plot.differences import curve_difference, queries
from prframe.plot.distributions import ap_null, scores
from prframe.plot.figures import alt_text, style

__all__ = [
    "PALETTE",
    "PALETTE_DARK",
    "alt_text",
    "ap_null",
    "curve",
    "curve_difference",
    "gain",
    "groups",
    "interval",
    "matrix",
    "queries",
    "roc",
    "scores",
    "style",
]

if not TYPE_CHECKING:  # Type checkers know the names above, and report any other.

    def __getattr__(name: str) -> object:
        """Refuse a name that is not there, and say which picture may be meant."""
        raise AttributeError(_hints.of_module(__name__, name, __all__))
