"""Pictures of the tables of recorded results: seconds, ratios to other tools, targets, misses of intervals."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prframe import plot

FOLDER = "guide/drawn"
HERE = Path(__file__).parent
# Other tools, by the names with which their subjects begin.
PEERS = ("pytrec_eval", "polarbearings", "ranx", "scikit", "ir_measures", "copairs", "logistic")
CALLS = ("first call", "later calls")
LEAST_MISSES = 0.001
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COVERAGE = re.compile(r"([01]\.\d{3}) \(")


class Table(NamedTuple):
    """A table of Markdown: its header and its rows, as cells of text."""

    header: list[str]
    rows: list[list[str]]

    @classmethod
    def of(cls, text: str) -> "Table":
        """Return the table that some lines are."""
        header, _, *rows = (
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in text.splitlines()
        )
        return cls(header, rows)

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        place = self.header.index(name)
        return [row[place] for row in self.rows]


def picture(table: Table, name: str) -> str:
    """Return the picture of a table as Markdown, or nothing for a table that no picture fits."""
    if table.header[0] == "measured":
        return drawn(
            name, f"Seconds of first and later calls, {name}", lambda: draw_seconds(table)
        )
    if "verdict" in table.header and table.header[0] == "case":
        return drawn(name, "Each result as a share of its target", lambda: draw_targets(table))
    if covering := coverages(table):
        words = f"How often each method misses, a point per setting, {name}"
        return drawn(name, words, lambda: draw_misses(covering))
    return ""


def drawn(name: str, words: str, draw: Callable[[], Figure]) -> str:
    """Draw a picture on a light and on a dark ground, and return the Markdown that shows it."""
    (HERE / FOLDER).mkdir(exist_ok=True)
    parts = []
    for ground, dark in (("light", False), ("dark", True)):
        path = f"{FOLDER}/recorded-{name}-{ground}.svg"
        with plot.style(dark=dark):
            mpl.rcParams["svg.fonttype"] = "path"
            mpl.rcParams["svg.hashsalt"] = "prframe"
            figure = draw()
            figure.savefig(HERE / path, metadata={"Date": None})
            plt.close(figure)
        parts.append(f"```{{image}} /{path}\n:alt: {words}\n:class: only-{ground}\n```\n")
    return "\n".join(["", *parts, ""])


def axes_of(names: list[str], label: str) -> tuple[Figure, Axes]:
    """Return axes with a line for each name, the first on top, and a logarithmic scale."""
    figure = Figure(figsize=(7.6, 0.7 + 0.21 * len(names)), layout="constrained")
    axes = figure.subplots()
    axes.set_yticks(range(len(names)), names)
    axes.set(xscale="log", xlabel=label, ylim=(len(names) - 0.5, -0.5))
    axes.grid(axis="x", alpha=0.3, linewidth=0.5)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return figure, axes


def draw_seconds(table: Table) -> Figure:
    """Draw the seconds of the first call, hollow, and of later calls, filled, of each subject."""
    figure, axes = axes_of(table.column("measured"), "seconds")
    for place, (subject, first, later) in enumerate(
        zip(*map(table.column, ("measured", "first call, s", "later calls, s")), strict=True)
    ):
        color = "C1" if subject.startswith(PEERS) else "C0"
        for seconds, face in ((first, "none"), (later, color)):
            if value := number(seconds):
                axes.plot(value, place, "o", color=color, markerfacecolor=face, markersize=5)
    ends = axes.get_xlim()
    axes.set_xlim(min(ends[0], ends[1] / 10), ends[1])
    axes.set_title("hollow: first call of a process; filled: later calls", loc="left")
    return figure


def draw_peers(tables: list[Table]) -> Figure:
    """Draw how many times as long other tools take, from the tables of targets and of ratios."""
    columns = {"case": ("what", *CALLS), "ratio": ("ratio", *CALLS)}
    measured = [
        row
        for table in tables
        if table.header[0] in columns
        for row in zip(*map(table.column, columns[table.header[0]]), strict=True)
    ]
    rows = [
        (name, later or first)
        for name, first, later in measured
        if name.startswith(PEERS) and " / " in name and (later or first)
    ]
    figure, axes = axes_of([name for name, _ in rows], "times as long, the other tool")
    for place, (_, ratio) in enumerate(rows):
        values = [float(value) for value in _NUMBER.findall(ratio)]
        axes.plot([min(values), max(values)], [place, place], color="C0", linewidth=1)
        axes.plot(values[0], place, "o", color="C0", markersize=5)
    axes.axvline(1, color="C1", linewidth=1)
    return figure


def draw_targets(table: Table) -> Figure:
    """Draw each result as a share of its target, 1 being what is aimed at and less being better."""
    names = [f"{row[0]}: {row[1].removeprefix('seconds of ')}" for row in table.rows]
    figure, axes = axes_of(names, "share of the target; below 1 it is met")
    for place, row in enumerate(table.rows):
        value, target = number(row[3] or row[2]), number(row[4])
        share = target / value if row[4].startswith("at least") else value / target
        missed = row[5] == "missed"
        axes.plot(
            share, place, "s" if missed else "o", color="C1" if missed else "C0", markersize=5
        )
    axes.axvline(1, color="C1", linewidth=1)
    axes.set_title("circles: met, at first or later; squares: missed", loc="left")
    return figure


def coverages(table: Table) -> dict[str, list[float]]:
    """Return the coverages in the columns all of whose cells state one."""
    columns = {name: [cell for cell in table.column(name) if cell] for name in table.header}
    return {
        name: [float(_COVERAGE.match(cell)[1]) for cell in cells]  # type: ignore[index]
        for name, cells in columns.items()
        if cells and all(map(_COVERAGE.match, cells))
    }


def draw_misses(covering: dict[str, list[float]]) -> Figure:
    """Draw how often the intervals of each method miss, a point per setting of the study."""
    figure, axes = axes_of([*covering], "share of samples missed; .05 is promised")
    for place, values in enumerate(covering.values()):
        misses = [max(1 - value, LEAST_MISSES) for value in values]
        heights = [place + 0.5 * (rank / len(misses) - 0.5) for rank in range(len(misses))]
        axes.plot(misses, heights, "o", color="C0", alpha=0.4, markersize=3, markeredgewidth=0)
    axes.axvline(0.05, color="C1", linewidth=1)
    axes.set_xlim(LEAST_MISSES * 0.8, 1)
    return figure


def number(cell: str) -> float:
    """Return the first number of a cell, 0 if there is none."""
    match = _NUMBER.search(cell)
    return float(match[0]) if match else 0.0
