"""PR, ROC and PR-gain curves before they are drawn: panels, lines, bands, names and words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.points import (
    GAINS,
    Points,
    gain_points,
    have_areas,
    middles,
    pr_points,
    roc_points,
)
from prframe._preparation.results import Result, read
from prframe.errors import ArgumentError, PrframeError
from prframe.typing import Floats

Legend: TypeAlias = Literal["auto", "name"] | None
Chance: TypeAlias = float | Mapping[object, float] | None

MOST_PANELS = 24
EQUAL_F = (0.2, 0.4, 0.6, 0.8)
_MOST_TOLD = 8
_TOLD_LEVELS = (0.2, 0.5, 0.8)


@dataclass(frozen=True)
class Lines:
    """The curve of a group, or its curves, one for each value of a column `over`."""

    panel: object
    group: object
    curves: tuple[Points, ...]
    band: pl.DataFrame | None = None

    @property
    def name(self) -> str:
        """The name that stands in front of what is said of the lines."""
        names = [str(value) for value in (self.panel, self.group) if value is not None]
        return f"{', '.join(names)}: " if names else ""


@dataclass(frozen=True)
class CurvePicture:
    """What a picture of curves shows."""

    lines: list[Lines]
    color: str | None
    facet: str | None
    # The name of the area below the curves, where it is known.
    measure: str | None
    # What the picture shows, below it and in place of it.
    note: str
    text: str

    @property
    def groups(self) -> list[object]:
        """The groups that colours tell apart."""
        return list(dict.fromkeys(lines.group for lines in self.lines))

    @property
    def panels(self) -> dict[object, list[Lines]]:
        """The lines of each panel."""
        by_panel: dict[object, list[Lines]] = {}
        for lines in self.lines:
            by_panel.setdefault(lines.panel, []).append(lines)
        return by_panel

    def areas(self, legend: Legend) -> dict[object, str]:
        """Return what the legend says behind a name: areas of the groups of a single panel."""
        told = dict.fromkeys(self.groups, "")
        if legend == "auto" and self.measure is not None and len(self.panels) == 1:
            for lines in self.lines:
                if (area := lines.curves[0].area) is not None:
                    told[lines.group] = f", {self.measure} {wording.number(area)}"
        return told


def pr_picture(
    result: object, columns: Mapping[str, str | None], band: object = None
) -> CurvePicture:
    """Prepare PR curves; `columns` are those of the roles color, facet and over."""
    drawn = _defined(read(result, "curve"), "recall", "precision")
    shown = _roles(drawn, columns)
    banded = drawn if band is None else read(band, "band", "band")
    bands = _bands(banded, shown)
    lines = [
        Lines(panel, group, curves, bands.get((panel, group)))
        for panel, group, curves in _split(drawn, shown, pr_points)
    ]
    points = [part for each in lines for part in each.curves]
    areas_known = have_areas(points)
    notes = []
    if (over := shown["over"]) is not None:
        count = max(len(each.curves) for each in lines if each.panel == lines[0].panel)
        notes.append(f"{count} curves, their mean bold, their median dashed")
    if bands:
        notes.append(f"shaded: {wording.band_words(banded.facts())}")
    note = "; ".join(notes)
    told = [f"{each.name}{_pr_words(each, areas_known and over is None)}" for each in lines]
    text = _text("Precision-recall", lines, told)
    text = f"{text} {note[:1].upper()}{note[1:]}." if bands else text
    measure = "AP" if over is None and areas_known else None
    return CurvePicture(lines, shown["color"], shown["facet"], measure, note, text)


def roc_picture(result: object, columns: Mapping[str, str | None]) -> CurvePicture:
    """Prepare ROC curves."""
    drawn = _defined(read(result, "roc"), "fpr", "tpr")
    return _with_areas(drawn, columns, roc_points, ("ROC", "AUC"))


def gain_picture(result: object, columns: Mapping[str, str | None]) -> CurvePicture:
    """Prepare precision-recall-gain curves."""
    whole = read(result, "curve")
    if not set(GAINS) <= set(whole.rows.columns):
        raise PrframeError(
            "`result` must have the columns 'recall_gain' and 'precision_gain'. Make one by "
            "prframe.curve(frame, gain=True)."
        )
    drawn = _defined(whole, *GAINS)
    return _with_areas(drawn, columns, gain_points, ("Precision-recall-gain", "AUPRG"))


def _with_areas(
    drawn: Result,
    columns: Mapping[str, str | None],
    points_of: Callable[[pl.DataFrame], Points],
    names: tuple[str, str],
) -> CurvePicture:
    """Prepare curves of which the area below each is told, by the names of both."""
    shown = _roles(drawn, columns)
    lines = [Lines(*each) for each in _split(drawn, shown, points_of)]
    # The curves of one result have all their thresholds, or chosen levels.
    known = any(each.curves[0].is_whole for each in lines) or names[1] == "AUC"
    told = [f"{each.name}area {wording.number(each.curves[0].area)}." for each in lines]
    text = _text(names[0], lines, told if known else [])
    measure = names[1] if known else None
    return CurvePicture(lines, shown["color"], shown["facet"], measure, "", text)


def check_legend(legend: Legend) -> None:
    """Require a known kind of legend."""
    if legend is not None:
        checks.one_of("legend", legend, ("auto", "name"), in_order=True)


def chance_levels(panel: Sequence[Lines], chance: Chance) -> list[tuple[float, object]]:
    """Return the precisions of random rankings, each with its group, None of all groups."""
    if chance is None:
        return []
    if not isinstance(chance, Mapping):
        return [(checks.fraction("chance", chance), None)]
    named = [(lines.group if lines.group in chance else lines.panel, lines) for lines in panel]
    return [
        (checks.fraction("chance", chance[name]), lines.group)
        for name, lines in named
        if name in chance
    ]


def opacity_of(count: int) -> float:
    """Return how opaque each of many thin curves is."""
    return max(0.12, min(0.6, 20 / count))


def equal_f(level: float) -> tuple[Floats, Floats]:
    """Return recalls and precisions with an F1 of `level`."""
    recall = np.linspace(level / (2 - level), 1.0, 100)
    return recall, level * recall / (2 * recall - level)


def _roles(result: Result, columns: Mapping[str, str | None]) -> dict[str, str | None]:
    """Give each column `by` a role; the only one that is not named gets the colours."""
    named = {"color": None, "facet": None, "over": None, **columns}
    for argument, column in named.items():
        if column is not None and not result.keys:
            raise ArgumentError(
                f"`{argument}` must be a column by of the result, which has none; say "
                f"by={checks.brief(column)} where it is computed."
            )
        if column is not None and column not in result.keys:
            checks.one_of(argument, column, result.keys, in_order=True)
    rest = [key for key in result.keys if key not in named.values()]
    if len(rest) > 1 or (rest and named["color"] is not None):
        raise PrframeError(
            f"the result has the columns {checks.listed(result.keys, in_order=True)}, and "
            f"{checks.listed(rest, in_order=True)} must be named in color=, facet= or over=, or "
            "rows of one value be chosen."
        )
    return named | {"color": rest[0] if rest else named["color"]}


def _split(
    result: Result, shown: Mapping[str, str | None], points_of: Callable[[pl.DataFrame], Points]
) -> list[tuple[object, object, tuple[Points, ...]]]:
    """Return the panel, the group and the curves of each line, in the order of the rows."""
    facets = _parts(result.rows, shown["facet"])
    if len(facets) > MOST_PANELS:
        raise PrframeError(
            f"`facet` must have at most {MOST_PANELS} values; {shown['facet']!r} has "
            f"{len(facets)}. Choose some, or name a column of queries or folds in over=."
        )
    return [
        (panel, group, tuple(points_of(rows) for _, rows in _parts(part, shown["over"])))
        for panel, facet in facets
        for group, part in _parts(facet, shown["color"])
    ]


def _parts(frame: pl.DataFrame, column: str | None) -> list[tuple[object, pl.DataFrame]]:
    """Return each value of a column with its rows, in order."""
    if column is None:
        return [(None, frame)]
    return [(part[column][0], part) for part in frame.partition_by(column, maintain_order=True)]


def _defined(result: Result, x: str, y: str) -> Result:
    """Return the rows of a result that have a value."""
    rows = result.rows.drop_nulls([x, y])
    if rows.is_empty():
        raise PrframeError("the curves must have points; all of them are undefined.")
    return Result(rows, result.keys, result.back)


def _bands(
    result: Result, shown: Mapping[str, str | None]
) -> dict[tuple[object, object], pl.DataFrame]:
    """Return the band of each panel and group, none if the result has none."""
    if not {"conf_low", "conf_high"} <= set(result.rows.columns):
        return {}
    columns = {shown[role] for role in ("color", "facet")} - {None}
    if columns != set(result.keys):
        raise PrframeError(
            f"`band` must have the columns by of the curves, {checks.listed(columns)}; it has "
            f"{checks.listed(result.keys) or 'none'}."
        )
    rows = result.rows.drop_nulls(["conf_low", "conf_high"]).with_columns(
        pl.col("conf_low", "conf_high").clip(0, 1)
    )
    return {
        (panel, group): part.sort("recall")
        for panel, facet in _parts(rows, shown["facet"])
        for group, part in _parts(facet, shown["color"])
    }


def _pr_words(lines: Lines, has_area: bool) -> str:  # noqa: FBT001
    """Say in words and numbers what a PR curve, or the mean of several, shows."""
    points = lines.curves[0]
    before, end = f"mean of {len(lines.curves)} curves, ", 1.0
    if len(lines.curves) == 1:
        known = has_area and points.area is not None
        before, end = f"AP {wording.number(points.area)}, " if known else "", float(points.x[-1])
    levels = [level for level in _TOLD_LEVELS if level <= end] or [end]
    mean, _ = middles([(part.x, part.y) for part in lines.curves], np.array(levels))
    values = wording.joined([wording.number(value, 2) for value in mean])
    at = wording.joined([f"{level:.3g}" for level in levels])
    to = "" if end >= 1 else f", to recall {wording.number(end, 2)}"
    return f"{before}precision {values} at recall {at}{to}{_band_words(lines.band)}."


def _band_words(band: pl.DataFrame | None) -> str:
    """Say between which precisions a band lies at the levels of the text that it reaches."""
    if band is None or band.is_empty():
        return ""
    recall, *ends = (band[name].to_numpy() for name in ("recall", "conf_low", "conf_high"))
    levels = [level for level in _TOLD_LEVELS if recall[0] <= level <= recall[-1]]
    levels = levels or [float(recall[len(recall) // 2])]
    pairs = zip(*(np.interp(levels, recall, end) for end in ends), strict=True)
    bounds = [f"[{wording.number(low, 2)}, {wording.number(high, 2)}]" for low, high in pairs]
    return f", band {wording.joined(bounds)} at {wording.joined([f'{at:.3g}' for at in levels])}"


def _text(kind: str, drawn: Sequence[Lines], told: Sequence[str]) -> str:
    """Say what curves there are, and what the first ones show."""
    size, parts = len({lines.group for lines in drawn}), len({lines.panel for lines in drawn})
    of = f"{size} groups" if size > 1 else "one group"
    inside = f" in {parts} panels" if parts > 1 else ""
    more = f" {len(told) - _MOST_TOLD} more." if len(told) > _MOST_TOLD else ""
    return " ".join([f"{kind} curves of {of}{inside}.", *told[:_MOST_TOLD]]) + more
