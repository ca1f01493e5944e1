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
    counts = rows.select("count", "severity").iter_rows()
    told = [
        f"{kind} {count:,} ({severity})"
        for kind, (count, severity) in zip(told_kinds(rows), counts, strict=True)
    ]
    return f"What check reports: {wording.joined(told, 12)}."


def told_kinds(rows: pl.DataFrame) -> list[str]:
    """Name the kinds, of several rows of one kind with the cut-off or the metric of each."""
    kinds = rows["kind"].to_list()
    examples = rows["example"].to_list()
    return [
        kind if kinds.count(kind) == 1 else f"{kind} of {example.split(':')[0].split(',')[0]}"
        for kind, example in zip(kinds, examples, strict=True)
    ]
