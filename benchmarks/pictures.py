"""``python -m benchmarks.pictures``: how long a long curve takes to draw, and how large its files are.

``--quick`` takes fewer rows. The curve is computed before; the times are those of drawing alone.
"""

import argparse
import io
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import matplotlib as mpl
import matplotlib.pyplot as plt

import prframe
from benchmarks.data import rows
from benchmarks.report import table
from prframe import chart, plot

TITLE = """## pictures

A precision-recall curve of {count:,} rows, computed in {seconds:.2f} s of CPU time. Least seconds of \
{times} calls: drawing it once the curve is there, and writing it to memory. *Points*: those that are \
drawn, of which a chart has fewer than 5,000 rows.
"""
_TIMES = 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    count = 100_000 if parser.parse_args().quick else 10_000_000
    mpl.use("agg")
    frame = rows(groups=1, per_group=count, prevalence=0.2).drop("group")
    start = time.process_time()
    curve = prframe.curve(frame)
    seconds = time.process_time() - start
    print(TITLE.format(count=count, seconds=seconds, times=_TIMES), flush=True)
    header = ["picture", "seconds of CPU", "seconds of wall", "points", "kB"]
    drawn = [*_pictures(curve), *_charts(curve)]
    print(table(header, drawn), flush=True)


def _pictures(curve: object) -> Iterator[list[str]]:
    """Return a row per file that `prframe.plot` writes."""
    for kind in ("png", "svg", "pdf"):

        def draw(kind: str = kind) -> tuple[int, int]:
            file = io.BytesIO()
            with plot.style():
                ax = plot.curve(curve)
                ax.figure.savefig(file, format=kind, dpi=300)
            (line,) = ax.get_lines()
            plt.close(ax.figure)
            return len(line.get_xdata()), file.tell()

        yield _measured(f"plot.curve, {kind}", draw)


def _charts(curve: object) -> Iterator[list[str]]:
    """Return a row per file that `prframe.chart` writes."""
    kinds = ("json", "html", *(("svg", "png") if find_spec("vl_convert") else ()))
    for kind in kinds:

        def draw(kind: str = kind) -> tuple[int, int]:
            drawn = chart.curve(curve)
            file = io.BytesIO() if kind == "png" else io.StringIO()
            drawn.save(file, format=kind)
            return len(drawn.data.values), len(file.getvalue())

        yield _measured(f"chart.curve, {kind}", draw)


def _measured(name: str, draw: Callable[[], tuple[int, int]]) -> list[str]:
    """Draw several times, and return a row of the table."""
    wall, cpu = [], []
    for _ in range(_TIMES):
        starts = time.perf_counter(), time.process_time()
        points, size = draw()
        wall.append(time.perf_counter() - starts[0])
        cpu.append(time.process_time() - starts[1])
    return [name, f"{min(cpu):.2f}", f"{min(wall):.2f}", f"{points:,}", f"{size / 1000:.0f}"]


if __name__ == "__main__":
    main()
