"""Estimates with their intervals, a row each, before they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.results import Result, one_metric, read, with_one_key
from prframe._preparation.sets import comparison, largest_first, letters_of
from prframe.errors import PrframeError

Estimate = tuple[float | None, float | None, float | None]

_NUMBERS = ("estimate", "conf_low", "conf_high")


@dataclass(frozen=True)
class ForestPanel:
    """The rows of a metric: estimate, lower and upper limit, None if unknown, and letters."""

    value: Any
    estimates: dict[Any, Estimate]
    letters: dict[Any, str]


@dataclass(frozen=True)
class Forest:
    """What a picture of intervals shows."""

    panels: list[ForestPanel]
    # What has a row, from top to bottom.
    names: list[Any]
    is_of_differences: bool
    # What the intervals and the letters are, and what the picture shows, in words.
    note: str
    text: str

    def label(self, panel: ForestPanel) -> str:
        """Return what the scale of a panel measures."""
        return f"difference of {panel.value}" if self.is_of_differences else str(panel.value)


def forest(  # noqa: PLR0913
    result: object, *, y: str | None, facet: str, letters: object, sort: str | None, alpha: float
) -> Forest:
    """Prepare a picture of a result of `interval` or `compare`."""
    checks.one_of("sort", sort, ("estimate", None), in_order=True)  # type: ignore[arg-type]
    drawn, y, is_of_differences = _estimates(result, y)
    checks.columns_exist({y: "y", facet: "facet"}, drawn.rows.columns)
    parts = drawn.rows.partition_by(facet, maintain_order=True)
    names = _rows_in_order(parts[0], drawn.rows, y, sort)
    known, raised, words = drawn.facts(), dict[str, dict[Any, str]](), ""
    if letters is not None:
        if is_of_differences:
            raise PrframeError(
                "`letters` are of systems, and the rows here are differences of two; leave them "
                "out, or draw a result of interval()."
            )
        paired = read(letters, "compare", "letters")
        raised = _letters(paired, [part[facet][0] for part in parts], names, alpha)
        testing = wording.testing_words(paired.facts(), alpha, paired.methods())
        words = f"; without a shared letter: significantly different ({testing})"
    panels = [
        ForestPanel(
            part[facet][0],
            {row[0]: row[1:] for row in part.select(y, *_NUMBERS).iter_rows()},
            raised.get(part[facet][0], {}),
        )
        for part in parts
    ]
    intervals = (
        "no intervals" if wording.are_unknown(drawn.rows) else wording.interval_words(known)
    )
    note = f"{intervals}{words}"
    made = Forest(panels, names, is_of_differences, note, "")
    text = " ".join(f"{made.label(panel)} with {note}: {_told(panel, names)}." for panel in panels)
    return Forest(panels, names, is_of_differences, note, text[:1].upper() + text[1:])


def _estimates(result: object, y: str | None) -> tuple[Result, str, bool]:
    """Return estimates, the column that names them, and whether they are differences."""
    try:
        compared = read(result, "compare")
    except PrframeError:
        drawn = read(result, "interval")
        if y is None:
            drawn, y = with_one_key(drawn, "result", "has a row of the picture per value")
        return drawn, y, False
    compared.require_one_group("result")
    pair = pl.format("{} \N{MINUS SIGN} {}", *(pl.col(f"model_{s}").cast(pl.String) for s in "ab"))
    rows = compared.rows.with_columns(pair=pair, estimate="difference")
    return Result(rows, (), compared.back), y or "pair", True


def _rows_in_order(first: pl.DataFrame, rows: pl.DataFrame, y: str, sort: str | None) -> list[Any]:
    """Return what has a row, from top to bottom."""
    names = rows[y].unique(maintain_order=True).to_list()
    if sort is None:
        return names
    estimates = dict(first.select(y, "estimate").iter_rows())
    return sorted(names, key=lambda name: largest_first(estimates.get(name)))


def _letters(
    paired: Result, metrics: Sequence[str], systems: Sequence[Any], alpha: float
) -> dict[str, dict[Any, str]]:
    """Return the letters of the systems for each metric."""
    letters = {}
    for metric in metrics:
        compared = comparison(paired, one_metric(paired.rows, metric, "letters"), alpha)
        compared.require("letters", systems)
        letters[metric] = dict(zip(compared.models, letters_of(compared), strict=True))
    return letters


def _told(panel: ForestPanel, names: Sequence[Any]) -> str:
    """Say what the rows of a panel are."""
    words = []
    for name in names:
        if name not in panel.estimates:
            continue
        estimate, low, high = panel.estimates[name]
        bounds = f" [{wording.number(low)}, {wording.number(high)}]"
        letters = f" {panel.letters[name]}" if name in panel.letters else ""
        is_bounded = low is not None or high is not None
        words.append(f"{name} {wording.number(estimate)}{bounds if is_bounded else ''}{letters}")
    return wording.joined(words, 10)
