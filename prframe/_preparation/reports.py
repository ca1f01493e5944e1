"""What a check has reported, before it is drawn."""

import polars as pl

from prframe._preparation import wording
from prframe._preparation.results import read

SEVERITIES = ("error", "warning", "info")


def reported(report: object) -> pl.DataFrame:
    """Return the rows of a result of `check`."""
    return read(report, "check", "report").rows


def report_text(rows: pl.DataFrame) -> str:
    """Say in words and numbers what a check has reported."""
    told = [
        f"{kind} {count:,} ({severity})"
        for kind, count, severity in rows.select("kind", "count", "severity").iter_rows()
    ]
    return f"What check reports: {wording.joined(told, 12)}."
