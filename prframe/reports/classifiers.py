"""The facts of a report on classifiers, that is on models that score the same kind of items."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from prframe import tables
from prframe._preparation import wording
from prframe._preparation.points import Points, pr_points, roc_points
from prframe.reports import sections
from prframe.reports.options import ALPHA, Options
from prframe.reports.page import Facts, distinct, plain
from prframe.typing import Floats
from prframe.verbs.comparison.compare import compare
from prframe.verbs.curves.band import band
from prframe.verbs.curves.curve import curve, roc
from prframe.verbs.intervals.interval import interval

METRICS = ("AP", "AUC")
# The rows have these columns, and before them those of segments, as `segment_column` names them.
MODEL, ITEM = "model", "item"
RECALLS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
MOST_SEGMENTS = 100
_COLUMNS = 300
_BINS = 40
_LEVELS = 61
_LEAST_POSITIVES = 3


def segment_column(number: int) -> str:
    """Return the name that the rows have for a column of segments."""
    return f"segment {number}"


@dataclass(frozen=True)
class Classifiers:
    """Scored and labelled items of several models, and the options of their report.

    `rows` has the columns ``model`` (String), ``score`` and ``label`` (Boolean), and perhaps
    ``item`` and columns of `segments`; `thresholds` are those asked for; `findings` is what
    `check` reports of the caller's frame.
    """

    rows: pl.DataFrame
    segments: tuple[str, ...]
    thresholds: tuple[float, ...]
    options: Options
    findings: pl.DataFrame

    def facts(self) -> Facts:
        """Return all facts but the title and the provenance."""
        table = tables.results(self.means, self.pairs, alpha=ALPHA)
        names = [line.name for line in table.lines]
        over = f"{self.n_items:,} items"
        parts = [sections.results(table, self.means, MODEL, {})]
        if self.pairs is not None:
            parts.append(sections.matrix(self.pairs, self.means, MODEL, names, over))
        shown = distinct(names)
        parts += [
            self.curves(names),
            self.threshold_table(names, shown),
            self.distributions(names, shown),
        ]
        if self.segments:
            parts.append(self.segment_table(names, shown))
        parts.append(sections.findings(self.findings))
        positives = int(self.rows["label"].sum())
        share = positives / max(1, self.rows.height)
        models = f"{len(names)} {'model' if len(names) == 1 else 'models'}"
        return {
            "title": f"{models}, {over}, {wording.percent(round(share, 3))} positive",
            "sentence": sections.outcome(table, self.means, self.pairs, "", over),
            "systems": shown,
            "sections": parts,
        }

    @property
    def n_items(self) -> int:
        """The largest number of items of a model."""
        return int(self.rows.group_by(MODEL).len()["len"].max() or 0)  # type: ignore[arg-type]

    @property
    def plain_rows(self) -> pl.DataFrame:
        """The rows with nothing but models, scores and labels."""
        return self.rows.select(MODEL, "score", "label")

    @property
    def shared(self) -> dict[str, Any]:
        """The arguments that all verbs take; the labels are Boolean already."""
        return {"ties": self.options.ties}

    @cached_property
    def means(self) -> pl.DataFrame:
        """The metrics of each model with their intervals."""
        metrics = list(self.options.metrics)
        rows = interval(self.plain_rows, metrics, by=MODEL, **self.shared, **self.options.enclosed)
        # The threshold of MaxF1 is no metric that models could be ranked by.
        return rows.filter(pl.col("metric").is_in(metrics))

    @cached_property
    def pairs(self) -> pl.DataFrame | None:
        """The comparisons of all pairs of models, if items are known and shared."""
        if ITEM not in self.rows.columns or self.rows[MODEL].n_unique() == 1:
            return None
        return compare(
            self.rows.select(MODEL, ITEM, "score", "label"),
            list(self.options.metrics),
            model=MODEL,
            over=None,
            item=ITEM,
            **self.shared,
            **self.options.compared,
        )

    def curves(self, names: Sequence[str]) -> Facts:
        """Return the PR and ROC curves with their bands."""
        level = self.options.level
        curves = curve(self.plain_rows, by=MODEL, **self.shared)
        rocs = roc(self.plain_rows, by=MODEL, **self.shared)
        pr_lines = [
            _line(names.index(model), pr_points(rows), rows, self._pr_band(model))
            for (model,), rows in curves.group_by(MODEL, maintain_order=True)
            if rows["recall"].null_count() == 0
        ]
        roc_lines = [
            _line(names.index(model), roc_points(rows), rows)
            for (model,), rows in rocs.group_by(MODEL, maintain_order=True)
            if rows["fpr"].null_count() + rows["tpr"].null_count() == 0
        ]
        return {
            "id": "curves",
            "kind": "charts",
            "title": "Curves",
            "note": "A name shows or hides its band. The band around a PR curve covers it at all "
            f"levels of recall at once with {level} confidence.",
            "charts": [
                {
                    "title": "Precision and recall",
                    "x": "recall",
                    "y": "precision",
                    "domain": [0, 1, 0, 1],
                    "steps": True,
                    "level": self._share(),
                    "lines": sorted(pr_lines, key=itemgetter("system")),
                },
                {
                    "title": "ROC",
                    "x": "false positive rate",
                    "y": "recall",
                    "domain": [0, 1, 0, 1],
                    "diagonal": True,
                    "lines": sorted(roc_lines, key=itemgetter("system")),
                },
            ],
        }

    def _share(self) -> float | None:
        """Return the share of positives, at which a random ranking stands, if all models agree."""
        shares = self.rows.group_by(MODEL).agg(pl.col("label").mean())["label"].unique()
        return float(shares.item()) if shares.len() == 1 else None

    @cached_property
    def _bands(self) -> dict[str, pl.DataFrame]:
        """The bands around the PR curves of models with enough positives, and with negatives."""
        n_pos = pl.col("label").sum().over(MODEL)
        rows = self.plain_rows.filter(n_pos >= _LEAST_POSITIVES, n_pos < pl.len().over(MODEL))
        if rows.is_empty():
            return {}
        bands = band(
            rows,
            by=MODEL,
            recall=np.linspace(0, 1, _LEVELS)[1:-1].tolist(),
            **self.shared,
            **self.options.enclosed,
        )
        return {model: part for (model,), part in bands.group_by(MODEL, maintain_order=True)}

    def _pr_band(self, model: str) -> list[list[float]] | None:
        """Return the lower and the upper edge of the band around a PR curve."""
        part = self._bands.get(model)
        if part is None:
            return None
        recall = part["recall"].to_list()
        return [recall, part["conf_low"].to_list(), recall, part["conf_high"].to_list()]

    def threshold_table(self, names: Sequence[str], shown: Sequence[str]) -> Facts:
        """Return what each model does at thresholds."""
        given = bool(self.thresholds)
        rows: list[tuple[int, list[str]]] = []
        curves = curve(self.plain_rows, by=MODEL, anchor=False, **self.shared)
        for (model,), part in curves.group_by(MODEL, maintain_order=True):
            chosen = self._given(part) if given else _at_recalls(part)
            of_model = self.rows.filter(pl.col(MODEL) == model)
            n, n_neg = of_model.height, int((~of_model["label"]).sum())
            place = names.index(model)
            rows += [(place, [shown[place], *_threshold_cells(row, n, n_neg)]) for row in chosen]
        levels = ", ".join(f"{level:g}" for level in RECALLS)
        of_levels = (
            f"The highest thresholds with a recall of at least {levels}, and the one with the "
            "largest F1."
        )
        return {
            "id": "thresholds",
            "kind": "table",
            "title": "Thresholds",
            "note": "At the thresholds that were asked for." if given else of_levels,
            "head": [
                *("model", "threshold", "flagged", "share flagged", "precision", "recall"),
                *("false positive rate", "F1"),
            ],
            "numbers": list(range(1, 8)),
            "choose": True,
            "rows": [cells for _, cells in sorted(rows, key=itemgetter(0))],
        }

    def _given(self, part: pl.DataFrame) -> list[dict[str, Any]]:
        """Return the last row of a curve at or above each threshold that was asked for."""
        last = part.row(-1, named=True)
        rows = []
        for threshold in self.thresholds:
            above = part.filter(pl.col("threshold") >= threshold)
            row = above.row(-1, named=True) if above.height else {
                **last, "k": 0, "tp": 0, "fp": 0, "recall": 0.0, "precision": None,
            }  # fmt: skip
            rows.append({**row, "threshold": threshold})
        return rows

    def distributions(self, names: Sequence[str], shown: Sequence[str]) -> Facts:
        """Return histograms of the scores of both classes, a chart per model."""
        charts: list[Facts] = []
        for model in names:
            rows = self.rows.filter(pl.col(MODEL) == model, pl.col("score").is_finite())
            if rows.is_empty():
                continue
            scores, label = rows["score"].cast(pl.Float64).to_numpy(), rows["label"].to_numpy()
            edges = _bin_edges(scores)
            shares = {
                name: np.histogram(scores[mask], edges)[0] / max(1, int(mask.sum()))
                for name, mask in (("positives", label), ("negatives", ~label))
            }
            most = max(float(share.max()) for share in shares.values())
            x = edges.tolist()
            charts.append(
                {
                    "title": shown[names.index(model)],
                    "x": "score",
                    "y": "share of the class",
                    "domain": [x[0], x[-1], 0, most],
                    "bars": True,
                    "lines": [
                        {"name": name, "x": x, "y": [*share.tolist(), float(share[-1])]}
                        for name, share in shares.items()
                    ],
                }
            )
        return {
            "id": "scores",
            "kind": "charts",
            "title": "Scores",
            "note": f"Where the scores of either class lie, in {_BINS} bins of one width.",
            "charts": charts,
        }

    def segment_table(self, names: Sequence[str], shown: Sequence[str]) -> Facts:
        """Return the metrics in each segment."""
        keys = [segment_column(number) for number in range(len(self.segments))]
        by, metrics = [*keys, MODEL], list(self.options.metrics)
        counts = self.rows.group_by(by, maintain_order=True).agg(
            n=pl.len(), pos=pl.col("label").sum()
        )
        segments = counts.select(keys).unique(maintain_order=True).sort(keys, nulls_last=True)
        kept = segments.head(MOST_SEGMENTS)
        counts = counts.join(kept, on=keys, how="semi", nulls_equal=True, maintain_order="left")
        enough = counts.filter(pl.col("pos") > 1, pl.col("pos") < pl.col("n"))
        known = self.rows.select(*by, "score", "label").join(
            enough, on=by, how="semi", nulls_equal=True, maintain_order="left"
        )
        cells: dict[tuple[Any, ...], str] = {}
        if known.height:
            ends = ("estimate", "conf_low", "conf_high")
            values = interval(known, metrics, by=by, **self.shared, **self.options.enclosed)
            for row in values.select(*by, "metric", *ends).iter_rows():
                estimate, low, high = map(wording.number, row[-3:])
                cells[row[:-3]] = f"{estimate} [{low}, {high}]"
        place = pl.col(MODEL).replace_strict(list(names), range(len(names)))
        found = counts.sort(*keys, place, nulls_last=True)
        lines = [
            [
                *map(plain, segment),
                shown[names.index(model)],
                f"{n:,}",
                f"{positives:,}",
                *(cells.get((*segment, model, metric), wording.NONE) for metric in metrics),
            ]
            for *segment, model, n, positives in found.iter_rows()
        ]
        left_out = segments.height - kept.height
        level = self.options.level
        return {
            "id": "segments",
            "kind": "table",
            "title": "Segments",
            "note": f"Metrics with {level} confidence intervals; a dash where a segment has fewer "
            f"than two positives or no negatives."
            + (f" {left_out:,} more segments are left out." if left_out else ""),
            "head": [*map(plain, self.segments), "model", "items", "positives", *metrics],
            "numbers": [len(self.segments) + number for number in range(1, 3 + len(metrics))],
            "rows": lines,
        }


def _bin_edges(scores: Floats) -> Floats:
    """Return the edges of bins of one width, of a single bin where floats tell none apart."""
    lowest, highest = float(scores.min()), float(scores.max())
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return np.histogram_bin_edges(scores, _BINS)
        except ValueError:
            return np.array([lowest, max(highest, np.nextafter(lowest, np.inf))])


def _line(
    system: int, points: Points, rows: pl.DataFrame, around: list[list[float]] | None = None
) -> Facts:
    """Return the points of a curve that the page draws."""
    x, y, kept = points.drawn(_COLUMNS)
    line: Facts = {
        "system": system,
        "x": x.tolist(),
        "y": y.tolist(),
        "band": around,
    }
    if rows.height == len(points.x):
        line["thresholds"] = rows["threshold"].cast(pl.Float64)[kept].to_list()
    return line


def _at_recalls(part: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a curve where recall first reaches levels, and that of the largest F1."""
    if part.is_empty() or part["recall"].null_count():
        return []
    recall: Floats = part["recall"].to_numpy()
    precision: Floats = part["precision"].to_numpy()
    total = precision + recall
    f1 = np.where(total > 0, 2 * precision * recall / np.where(total > 0, total, 1), 0.0)
    reached = (int(np.searchsorted(recall, level - 1e-12)) for level in RECALLS)
    places = {place for place in chain(reached, [int(f1.argmax())]) if place < part.height}
    return [part.row(place, named=True) for place in sorted(places)]


def _threshold_cells(row: dict[str, Any], n: int, n_neg: int) -> list[str]:
    """Return the cells of a threshold."""
    precision, recall = row["precision"], row["recall"]
    total = (precision or 0) + (recall or 0)
    f1 = 2 * precision * recall / total if precision is not None and recall and total else None
    return [
        f"{row['threshold']:.4g}".replace("-", "\N{MINUS SIGN}"),
        f"{row['k']:,}",
        f"{row['k'] / n:.1%}",
        wording.number(precision),
        wording.number(recall),
        wording.number(row["fp"] / n_neg if n_neg else None),
        wording.number(f1),
    ]
