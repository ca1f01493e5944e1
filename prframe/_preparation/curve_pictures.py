"""Pictures of PR and ROC curves before they are drawn: their lines, bands, names and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from prframe import checks
from prframe._preparation import wording
from prframe._preparation.panels import Lines, Panel, Roles, groups, panels, roles
from prframe._preparation.points import (
    GAINS,
    Points,
    gain_points,
    have_areas,
    middles,
    pr_points,
    roc_points,
)
from prframe._preparation.results import Facts, Result, read
from prframe.errors import PrframeError

Legend: TypeAlias = Literal["auto", "name"] | None
Chance: TypeAlias = float | Mapping[object, float] | None
Bands: TypeAlias = Mapping[tuple[object, object], pl.DataFrame]

EQUAL_F = (0.2, 0.4, 0.6, 0.8)
_MOST_BANDS = 2
_MOST_TOLD = 8
_TOLD_LEVELS = (0.2, 0.5, 0.8)


@dataclass(frozen=True)
class CurvePicture:
    """What a picture of curves shows.

    Attributes
    ----------
    panels : list of Panel
    shown : Roles
    bands : mapping
        The rows of the band of each panel and group.
    low : float
        Where the horizontal axis begins, above 0 if it is logarithmic.
    measure : str or None
        The name of the area below the curves, None where it is not known.
    note : str
        What bands and bold lines are, empty if there are none.
    text : str
        What the picture shows, in words and numbers.
    """

    panels: list[Panel[Points]]
    shown: Roles
    bands: Bands
    low: float
    measure: str | None
    note: str
    text: str

    @property
    def groups(self) -> list[object]:
        """The groups that colours tell apart."""
        return groups(self.panels)

    def bands_of(self, panel: Panel[Points]) -> dict[object, pl.DataFrame]:
        """Return the band of each group of a panel, of which two do not hide each other."""
        there = {
            lines.group: self.bands[panel.value, lines.group]
            for lines in panel.lines
            if (panel.value, lines.group) in self.bands
        }
        if len(there) > _MOST_BANDS:
            raise PrframeError(
                f"{len(there)} bands in one panel hide each other; at most {_MOST_BANDS} may. "
                "Name the column of groups in facet=, or show differences with "
                "prframe.compare_curves."
            )
        return there

    def areas(self, legend: Legend) -> dict[object, str]:
        """Return what the legend says behind a name: areas of the groups of a single panel."""
        if legend != "auto" or self.measure is None or len(self.panels) > 1:
            return dict.fromkeys(self.groups, "")
        areas = {lines.group: lines.curves[0].area for lines in self.panels[0].lines}
        return {
            group: "" if area is None else f", {self.measure} {wording.number(area)}"
            for group, area in areas.items()
        }


def pr_picture(
    result: object,
    columns: Mapping[str, str | None],
    band: object = None,
    *,
    x_log: bool = False,
) -> CurvePicture:
    """Prepare PR curves; `columns` are those of the roles color, facet and over."""
    drawn = _defined(read(result, "curve"), "recall", "precision")
    shown = roles(drawn, columns["color"], columns["facet"], columns["over"])
    split = panels(drawn, shown, pr_points)
    banded = drawn if band is None else read(band, "band", "band")
    bands = _bands(banded, shown)
    points = _points_of(split)
    has_areas = have_areas(points)
    measure = "AP" if shown.over is None and has_areas else None
    notes = [_bold_note(split)] if shown.over is not None else []
    if bands:
        notes.append(f"shaded: {wording.band_words(banded.facts(Facts()))}")
    note = "; ".join(notes)
    text = _pr_text(split, shown, bands, has_areas=has_areas)
    if bands:
        text = f"{text} {note[:1].upper()}{note[1:]}."
    low = _least([part.x for part in points]) if x_log else 0.0
    return CurvePicture(split, shown, bands, low, measure, note, text)


def roc_picture(
    result: object, columns: Mapping[str, str | None], *, x_log: bool = False
) -> CurvePicture:
    """Prepare ROC curves."""
    drawn = _defined(read(result, "roc"), "fpr", "tpr")
    shown = roles(drawn, columns["color"], columns["facet"], None)
    split = panels(drawn, shown, roc_points)
    low = _least([part.x for part in _points_of(split)]) if x_log else 0.0
    text = _text("ROC", split, _told_areas(split, shown))
    return CurvePicture(split, shown, {}, low, "AUC", "", text)


def gain_picture(result: object, columns: Mapping[str, str | None]) -> CurvePicture:
    """Prepare precision-recall-gain curves."""
    whole = read(result, "curve")
    if not set(GAINS) <= set(whole.rows.columns):
        raise PrframeError(
            "`result` must have the columns 'recall_gain' and 'precision_gain'. Make one by "
            "prframe.curve(frame, gain=True)."
        )
    drawn = _defined(whole, *GAINS)
    shown = roles(drawn, columns["color"], columns["facet"], None)
    split = panels(drawn, shown, gain_points)
    # The curves of one result have all their thresholds, or chosen levels.
    has_areas = any(points.is_whole for points in _points_of(split))
    told = _told_areas(split, shown) if has_areas else []
    measure = "AUPRG" if has_areas else None
    text = _text("Precision-recall-gain", split, told)
    return CurvePicture(split, shown, {}, 0.0, measure, "", text)


def _told_areas(split: Sequence[Panel[Points]], shown: Roles) -> list[str]:
    """Return what is told of curves: the area below each."""
    return [
        f"{_called(panel, lines, shown)}area {wording.number(lines.curves[0].area)}."
        for panel in split
        for lines in panel.lines
    ]


def check_legend(legend: Legend) -> None:
    """Require a known kind of legend."""
    if legend is not None:
        checks.one_of("legend", legend, ("auto", "name"), in_order=True)


def chance_levels(panel: Panel[Points], chance: Chance) -> list[tuple[float, object]]:
    """Return the precisions of random rankings, each with its group, None of all groups."""
    if chance is None:
        return []
    if not isinstance(chance, Mapping):
        return [(checks.fraction("chance", chance), None)]
    levels = []
    for lines in panel.lines:
        named = lines.group if lines.group in chance else panel.value
        if named in chance:
            levels.append((checks.fraction("chance", chance[named]), lines.group))
    return levels


def opacity_of(count: int) -> float:
    """Return how opaque each of many thin curves is."""
    return max(0.12, min(0.6, 20 / count))


def equal_f(level: float, low: float) -> tuple[np.ndarray, np.ndarray]:
    """Return recalls and precisions with an F1 of `level`."""
    recall = np.linspace(max(level / (2 - level), low), 1.0, 200)
    return recall, level * recall / (2 * recall - level)


def _points_of(split: Sequence[Panel[Points]]) -> list[Points]:
    """Return the points of all curves."""
    return [points for panel in split for lines in panel.lines for points in lines.curves]


def _defined(result: Result, x: str, y: str) -> Result:
    """Return the rows of a result that have a value."""
    rows = result.rows.drop_nulls([x, y])
    if rows.is_empty():
        raise PrframeError("the curves must have points; all of them are undefined.")
    return Result(rows, result.keys, result.back)


def _least(values: Sequence[np.ndarray]) -> float:
    """Return the least positive value, at which a logarithmic scale begins."""
    least = [float(part[part > 0].min(initial=1.0)) for part in values]
    return min([*least, 0.1])


def _bands(result: Result, shown: Roles) -> Bands:
    """Return the band of each panel and group, none if the result has none."""
    if not {"conf_low", "conf_high"} <= set(result.rows.columns):
        return {}
    columns = {column for column in (shown.color, shown.facet) if column is not None}
    if columns != set(result.keys):
        raise PrframeError(
            f"`band` must have the columns by of the curves, {checks.listed(columns)}; it has "
            f"{checks.listed(result.keys) or 'none'}."
        )
    rows = result.rows.drop_nulls(["conf_low", "conf_high"]).with_columns(
        pl.col("conf_low", "conf_high").clip(0, 1)
    )
    defined = Result(rows, result.keys, result.back)
    split = panels(defined, shown, lambda part: part.sort("recall"))
    return {
        (panel.value, lines.group): lines.curves[0] for panel in split for lines in panel.lines
    }


def _bold_note(split: Sequence[Panel[Points]]) -> str:
    """Say what the lines of many curves are."""
    count = max(len(lines.curves) for lines in split[0].lines)
    return f"{count} curves, their mean bold, their median dashed"


def _pr_text(
    split: Sequence[Panel[Points]], shown: Roles, bands: Bands, *, has_areas: bool
) -> str:
    """Say in words and numbers what PR curves show."""
    told = []
    for panel in split:
        for lines in panel.lines:
            points, levels = lines.curves[0], np.array(_TOLD_LEVELS)
            if shown.over is None:
                is_known = has_areas and points.area is not None
                area = f"AP {wording.number(points.area)}, " if is_known else ""
                end = float(points.x[-1])
            else:
                area, end = f"mean of {len(lines.curves)} curves, ", 1.0
            mean, _ = middles([(part.x, part.y) for part in lines.curves], levels)
            values = wording.joined([wording.number(value, 2) for value in mean])
            to = "" if end >= 1 else f", to recall {wording.number(end, 2)}"
            between = _band_text(bands.get((panel.value, lines.group)))
            told.append(
                f"{_called(panel, lines, shown)}{area}precision {values} at recall 0.2, 0.5 and "
                f"0.8{to}{between}."
            )
    return _text("Precision-recall", split, told)


def _band_text(band: pl.DataFrame | None) -> str:
    """Say between which precisions a band lies at the levels of the text that it reaches."""
    if band is None or band.is_empty():
        return ""
    recall = band["recall"].to_numpy()
    levels = [level for level in _TOLD_LEVELS if recall[0] <= level <= recall[-1]]
    if not levels:
        levels = [float(recall[len(recall) // 2])]
    low, high = (
        np.interp(levels, recall, band[end].to_numpy()) for end in ("conf_low", "conf_high")
    )
    bounds = [
        f"[{wording.number(a, 2)}, {wording.number(b, 2)}]" for a, b in zip(low, high, strict=True)
    ]
    return f", band {wording.joined(bounds)} at {wording.joined([f'{at:.3g}' for at in levels])}"


def _text(kind: str, split: Sequence[Panel[Points]], told: Sequence[str]) -> str:
    """Say what curves there are, and what the first ones show."""
    size, parts = len(groups(split)), len(split)
    of = f"{size} groups" if size > 1 else "one group"
    inside = f" in {parts} panels" if parts > 1 else ""
    more = f" {len(told) - _MOST_TOLD} more." if len(told) > _MOST_TOLD else ""
    return " ".join([f"{kind} curves of {of}{inside}.", *told[:_MOST_TOLD]]) + more


def _called(panel: Panel[Points], lines: Lines[Points], shown: Roles) -> str:
    """Name a line in front of what is said of it."""
    names = [
        str(value)
        for value, column in ((panel.value, shown.facet), (lines.group, shown.color))
        if column is not None
    ]
    return f"{', '.join(names)}: " if names else ""
