"""``python -m benchmarks.growth``: how the time of `evaluate` grows, beside other tools.

It writes the times, a row per tool and size, and draws them. Each is measured in a process of its
own, which also makes the data, and is ended after some seconds. A tool that has been ended is not
asked for larger sizes. Tools that are not installed are left out.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.fresh import compile_modules, run_task

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "guide"
TOOLS = ("prframe", "scikit-learn", "ir_measures", "ranx")
COLUMNS = ("axis", "tool", "rows", "groups", "models", "share", "first_seconds", "later_seconds")
COLUMNS += ("first_cpu", "later_cpu", "megabytes", "note")
_LABELS = {
    "rows": "rows, in groups of 1,000",
    "share": "share of positives",
    "groups": "groups",
    "models": "models",
}
_COLORS = ("#b3261e", "#3465a4", "#5c8a3a", "#8a6d3b")
# So many calls are timed after the first one of a process.
_LATER = 3


@dataclass(frozen=True)
class Size:
    """How much data there is: rows of all models, groups of each model, and share of positives."""

    rows: int
    groups: int
    models: int = 1
    share: float = 0.05


def axes(most_rows: int) -> dict[str, list[Size]]:
    """Return the sizes along each axis, from small to large."""
    sizes = [10**power for power in range(4, 9) if 10**power <= most_rows]
    rows = min(10**6, most_rows)
    middle = Size(rows, rows // 1_000)
    return {
        "rows": [Size(rows, rows // 1_000) for rows in sizes],
        "share": [replace(middle, share=share) for share in (0.001, 0.01, 0.1, 0.5)],
        "groups": [
            replace(middle, groups=10**power) for power in range(6) if 10 ** (power + 1) <= rows
        ],
        "models": [
            replace(middle, groups=max(1, rows // 100_000), models=models)
            for models in (1, 10, 100)
        ],
    }


def measured(most_rows: int, limit: float) -> Iterator[dict[str, object]]:
    """Measure every tool at all sizes of all axes."""
    for axis, sizes in axes(most_rows).items():
        for tool in TOOLS:
            for size in sizes:
                row = _row(axis, tool, size, limit)
                yield row
                if row["note"]:
                    break


def _row(axis: str, tool: str, size: Size, limit: float) -> dict[str, object]:
    """Measure a tool at one size."""
    of_process = run_task("peers.grow", {"tool": tool, **asdict(size)}, _LATER, limit)
    row: dict[str, object] = dict.fromkeys(COLUMNS, "")
    row |= {"axis": axis, "tool": tool, **asdict(size), "note": of_process.skipped}
    if not of_process.skipped:
        row["first_seconds"] = f"{of_process.first:.4g}"
        row["later_seconds"] = f"{median(of_process.later):.4g}"
        row["first_cpu"] = f"{of_process.cpu[0]:.4g}"
        row["later_cpu"] = f"{median(of_process.cpu[1:]):.4g}"
        row["megabytes"] = f"{of_process.peak_later - of_process.ready:.0f}"
    return row


def main() -> None:
    options = _options()
    compile_modules()
    options.folder.mkdir(parents=True, exist_ok=True)
    table = options.folder / "growth.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in measured(options.rows, options.limit):
            writer.writerow(row)
            file.flush()
            print(", ".join(f"{value}" for value in row.values()), file=sys.stderr, flush=True)
    draw(table, options.folder / "growth.svg")


def draw(table: Path, figure: Path) -> None:
    """Draw a panel per axis, and write it as SVG, always the same for the same table."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["later_cpu"]]
    # Drawing imports more than the process that starts others may hold.
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    page = Figure(figsize=(9, 6), layout="constrained")
    panels = page.subplots(2, 2, sharey=True).ravel()
    for panel, axis in zip(panels, _LABELS, strict=True):
        for tool, color in zip(TOOLS, _COLORS, strict=True):
            points = [
                (float(row[axis]), float(row["later_cpu"]))
                for row in rows
                if (row["axis"], row["tool"]) == (axis, tool)
            ]
            if points:
                panel.plot(*zip(*points, strict=True), marker="o", color=color, label=tool)
        panel.set(xscale="log", yscale="log", xlabel=_LABELS[axis], ylabel="seconds of CPU time")
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(color="#dddddd", linewidth=0.5)
    panels[0].legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "growth", "svg.fonttype": "none"}):
        page.savefig(figure, metadata={"Date": None})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument(
        "--rows",
        type=int,
        default=10**7,
        help="the most rows; 100000000 takes some 10 GB of memory",
    )
    parser.add_argument(
        "--limit", type=float, default=60, metavar="SECONDS", help="after which a process is ended"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where growth.csv and growth.svg are written"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
