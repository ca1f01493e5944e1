"""The figure of CPU time on Spark against the rows of one ranking (`benchmarks.spark_times`).

Draw it again with ``python -m benchmarks.spark_figure docs/guide/spark_growth.csv``.
"""

import csv
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

_COLORS = {"range": "#b3261e", "broadcast": "#3465a4"}


def draw(table: Path, figure: Path) -> None:
    """Draw a line per plan, and write it as SVG, always the same for the same table."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = Figure(figsize=(6, 3.5), layout="constrained")
    panel = page.subplots()
    for plan, color in _COLORS.items():
        points = [
            (float(row["rows"]), float(row["cpu_seconds"])) for row in rows if row["plan"] == plan
        ]
        panel.plot(*zip(*points, strict=True), marker="o", color=color, label=plan)
    panel.set(xscale="log", yscale="log", xlabel="rows of one ranking", ylabel="CPU seconds")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="#dddddd", linewidth=0.5)
    panel.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "spark", "svg.fonttype": "none"}):
        page.savefig(figure, metadata={"Date": None})


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[1]).with_suffix(".svg"))
