"""The figure of how time grows, drawn from the table that ``benchmarks.growth`` writes.

Draw it again with ``python -m benchmarks.growth_figure docs/guide/growth.csv``.
"""

import csv
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_LABELS = {
    "rows": "rows, in groups of 1,000",
    "share": "share of positives",
    "groups": "groups",
    "models": "models",
}
_COLORS = {
    "prframe": "#b3261e",
    "scikit-learn": "#3465a4",
    "ir_measures": "#5c8a3a",
    "ranx": "#8a6d3b",
}


def draw(table: Path, figure: Path) -> None:
    """Draw a panel per axis, and write it as SVG, always the same for the same table."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["later_cpu"]]
    page = Figure(figsize=(9, 6), layout="constrained")
    panels = page.subplots(2, 2, sharey=True).ravel()
    for panel, axis in zip(panels, _LABELS, strict=True):
        _draw_axis(panel, axis, [row for row in rows if row["axis"] == axis])
    panels[0].legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none"}):
        page.savefig(figure, metadata={"Date": None})


def _draw_axis(panel: Axes, axis: str, rows: list[dict[str, str]]) -> None:
    for tool, color in _COLORS.items():
        points = [
            (float(row[axis]), float(row["later_cpu"])) for row in rows if row["tool"] == tool
        ]
        if points:
            panel.plot(*zip(*points, strict=True), marker="o", color=color, label=tool)
    panel.set(xscale="log", yscale="log", xlabel=_LABELS[axis], ylabel="seconds of CPU time")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="#dddddd", linewidth=0.5)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[1]).with_suffix(".svg"))
