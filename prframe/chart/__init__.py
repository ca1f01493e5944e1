"""Interactive pictures of results with Altair, for notebooks and pages."""

try:
    import altair as _alt  # noqa: F401, ICN001 - only to see whether it is there
except ImportError as error:
    raise ImportError(
        "prframe.chart needs altair 6.3 or later: pip install 'prframe[chart]'."
    ) from error

from prframe._preparation.colours import PALETTE, PALETTE_DARK
from prframe.chart.comparisons import groups, matrix
from prframe.chart.curves import curve, roc
from prframe.chart.differences import curve_difference, queries
from prframe.chart.distributions import ap_null, scores
from prframe.chart.parts import alt_text, style
from prframe.chart.summaries import check, interval

__all__ = [
    "PALETTE",
    "PALETTE_DARK",
    "alt_text",
    "ap_null",
    "check",
    "curve",
    "curve_difference",
    "groups",
    "interval",
    "matrix",
    "queries",
    "roc",
    "scores",
    "style",
]
