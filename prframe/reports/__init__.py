"""Reports: one page of results in a file of its own, of TREC runs or of classifiers."""

from prframe.reports.page import Report
from prframe.reports.reporting import report

__all__ = ["Report", "report"]
