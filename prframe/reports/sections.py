"""The sections of reports of both kinds, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from typing import Any

import polars as pl

from prframe._preparation import wording
from prframe.reports.options import ALPHA
from prframe.reports.page import Facts, isolated, plain
from prframe.tables.table import Table

# A difference of means that the page would not print is none.
_PRINTED = 0.0005
# Nobody reads a matrix of more systems.
MOST_IN_MATRIX = 60
_CHECK_MEANINGS = {
    "bad_n_neg": "totals of negatives that contradict the rows",
    "bad_n_pos": "totals of positives that contradict the rows",
    "bad_weight": "weights that are missing, negative or infinite",
    "duplicate_item": "items that stand twice in a ranking",
    "infinite_label": "labels that are infinite",
    "infinite_score": "scores that are infinite",
    "judged_items": "systems, and their judged share of the first 10 items, least first",
    "label_values": "distinct labels",
    "missing_label": "rows without a label",
    "missing_score": "rows without a score",
    "no_negatives": "groups without negatives, and no total of them",
    "no_positives": "groups in which nothing is positive",
    "not_retrieved": "items that were not retrieved",
    "only_positives": "groups in which everything is positive",
    "pooled_rankings": "rankings that are ranked together",
    "relevant_items": "queries, and how many relevant items each has",
    "tie_at_cutoff": "groups with a tie across a cut-off",
    "tie_range": "groups whose value depends on the order of ties",
    "tied_score": "rows that share a score",
}


def results(
    table: Table,
    intervals: pl.DataFrame,
    model: str,
    tie_ranges: Mapping[tuple[str, str], tuple[float, float]],
) -> Facts:
    """Return the table of results, a row per system in the order of the table."""
    ends = {(row[model], row["metric"]): row for row in intervals.iter_rows(named=True)}
    rows: list[Facts] = [
        {
            "system": place,
            "key": line.key,
            "cells": [
                {
                    "text": cell.text,
                    "interval": cell.interval,
                    "marks": cell.marks,
                    "best": cell.is_best and cell.text != wording.NONE,
                    "ends": [
                        ends[line.name, metric][name]
                        for name in ("estimate", "conf_low", "conf_high")
                    ],
                    "ties": _tie_range(tie_ranges.get((line.name, metric))),
                }
                for metric, cell in zip(table.metrics, line.cells, strict=True)
            ],
        }
        for place, line in enumerate(table.lines)
    ]
    lines = tuple(replace(line, name=plain(line.name)) for line in table.lines)
    note = table.caption
    if any(cell["ties"] for row in rows for cell in row["cells"]):
        note += " Where the order of ties matters, the smallest and the largest mean are given."
    return {
        "id": "results",
        "kind": "results",
        "title": "Results",
        "of": model,
        "metrics": list(table.metrics),
        "rows": rows,
        # A page whose script does not run shows the copy in HTML.
        "copies": {
            "CSV": table.to_frame().write_csv(),
            "LaTeX": table.to_latex(),
            "HTML": replace(table, lines=lines).to_html(),
        },
        "caption": table.caption,
        "note": note,
    }


def _tie_range(ends: tuple[float, float] | None) -> str:
    """Return the range of a mean over orders of ties, nothing where that is not seen."""
    if ends is None or ends[1] - ends[0] < _PRINTED:
        return ""
    return f"{wording.number(ends[0])} to {wording.number(ends[1])}"


def matrix(
    pairs: pl.DataFrame, intervals: pl.DataFrame, model: str, order: Sequence[str], n: str
) -> Facts:
    """Return the comparisons of all pairs of the first systems; `n` names what they are over."""
    place = {name: number for number, name in enumerate(order[:MOST_IN_MATRIX])}
    shown = pl.col("model_a").is_in(place) & pl.col("model_b").is_in(place)
    p_value = "p_adjusted" if "p_adjusted" in pairs.columns else "p_value"
    numbers = ["difference", "conf_low", "conf_high", p_value, "wins", "ties", "losses"]
    metrics = []
    for (metric,), rows in pairs.filter(shown).group_by("metric", maintain_order=True):
        means = intervals.filter(pl.col(model).is_in(place), metric=metric).sort(
            "estimate", descending=True, nulls_last=True, maintain_order=True
        )
        metrics.append(
            {
                "metric": metric,
                "order": [place[name] for name in means[model]],
                "means": dict(zip((str(place[m]) for m in means[model]), means["estimate"])),  # noqa: B905
                "pairs": [
                    [place[a], place[b], *values]
                    for a, b, *values in rows.select("model_a", "model_b", *numbers).iter_rows()
                ],
            }
        )
    first = pairs.row(0, named=True)
    facts: Any = {
        name: first[name] for name in ("test", "correction", "n_family") if first[name] is not None
    }
    words = wording.testing_words(facts, ALPHA, [first["method"] or ""])
    level = wording.percent(first["confidence_level"])
    return {
        "id": "comparison",
        "kind": "matrix",
        "title": "Comparison",
        "alpha": ALPHA,
        "metrics": metrics,
        "note": f"Row minus column over {n}: difference, {level} confidence interval, "
        f"{'adjusted ' if p_value == 'p_adjusted' else ''}p-value ({words}). "
        "Cells of pairs that differ significantly are coloured."
        + _left_out(order, intervals, metrics),
    }


def _left_out(
    order: Sequence[str], intervals: pl.DataFrame, metrics: Sequence[Mapping[str, Any]]
) -> str:
    """Return a sentence on the systems and metrics that the matrix leaves out, if any."""
    told = ""
    if len(order) > MOST_IN_MATRIX:
        told = f" The {MOST_IN_MATRIX} best of {len(order):,} systems are here."
    if len(metrics) < intervals["metric"].n_unique():
        told += f" Of so many systems only {metrics[0]['metric']} is compared."
    return told


def findings(report: pl.DataFrame) -> Facts:
    """Return what `check` has reported."""
    rows = [
        [
            row["severity"],
            row["kind"],
            f"{row['count']:,}",
            _CHECK_MEANINGS.get(row["kind"], row["kind"].replace("_", " ")),
            plain(row["example"], 300),
        ]
        for row in report.iter_rows(named=True)
    ]
    return {
        "id": "checks",
        "kind": "table",
        "title": "Checks",
        "note": "What is suspicious in the data, worst first.",
        "head": ["severity", "kind", "count", "of what", "example"],
        "numbers": [2],
        "rows": rows,
    }


def provenance(rows: Sequence[Sequence[str]]) -> Facts:
    """Return where the numbers come from."""
    return {
        "id": "provenance",
        "kind": "table",
        "title": "Provenance",
        "note": "The same data, options, seed and versions give the same page, byte for byte.",
        "head": ["what", "value"],
        "numbers": [],
        "rows": [[plain(cell, 300) for cell in row] for row in rows],
    }


def outcome(
    table: Table, means: pl.DataFrame, pairs: pl.DataFrame | None, kind: str, over: str
) -> str:
    """Return a sentence on which system is best and differs from which others."""
    metric = table.metrics[0]
    best = table.lines[0]
    order = [line.name for line in table.lines]
    values = dict(means.filter(metric=metric).select(means.columns[0], "estimate").iter_rows())
    if values[best.name] is None:
        return f"The {kind}{metric} over {over} is undefined."
    value = f"{best.cells[0].text} {best.cells[0].interval}".strip()
    name = isolated(best.name)
    if len(order) == 1:
        return f"{name} has {kind}{metric} {value} over {over}."
    tied = [other for other in order if _is_same(values[other], values[best.name])]
    if len(tied) > 1:
        text = best.cells[0].text
        return f"{_joined_names(tied)} have the highest {kind}{metric}, {text}, over {over}."
    told = f"{name} has the highest {kind}{metric}, {value}, over {over}."
    return told if pairs is None else told + _comparison(pairs, metric, order)


def _comparison(pairs: pl.DataFrame, metric: str, order: Sequence[str]) -> str:
    """Return a sentence on the systems that differ significantly from the first one."""
    p_value = "p_adjusted" if "p_adjusted" in pairs.columns else "p_value"
    a, b = pl.col("model_a"), pl.col("model_b")
    of_best = pairs.filter((a == order[0]) | (b == order[0]), metric=metric).select(
        pl.when(a == order[0]).then(b).otherwise(a),
        pl.col(p_value).le(ALPHA).fill_null(value=False),
    )
    is_different = dict(of_best.iter_rows())
    others = [name for name in order if name in is_different]
    different = [name for name in others if is_different[name]]
    alike = [name for name in others if not is_different[name]]
    if not alike:
        rest = "the other" if len(different) == 1 else "all others"
        return f" It differs significantly from {rest}." if different else ""
    if not different:
        return f" It does not differ significantly from {_joined_names(alike)}."
    told = f"{_joined_names(different)}, not from {_joined_names(alike)}"
    return f" It differs significantly from {told}."


def _is_same(value: float | None, other: float) -> bool:
    """Return whether two values differ only by rounding errors."""
    return value is not None and isclose(value, other, rel_tol=1e-12)


def _joined_names(systems: Sequence[str]) -> str:
    """Return names of systems as a list in a sentence."""
    return wording.joined([isolated(system) for system in systems])
