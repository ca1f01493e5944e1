"""CPU seconds of `evaluate` on Spark, the JVM and its workers together, beside polars in process.

    python -m benchmarks.spark_times --folder FOLDER [--cases groups evaluator one]

Needs the extra ``spark``, Java and psutil. Data are made once, as Parquet files in the folder.
The cases: many groups; the mean AP of pyspark.ml's RankingEvaluator on 1,000,000 rows beside ours;
one ranking of more and more rows, which are counted where they lie.
``--draw docs/guide/spark_growth.csv`` draws the figure of such a table again.
"""

import argparse
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import polars as pl
import psutil

import prframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHAPES = ((20_000, 1_000), (200_000, 20))
SMALL = (1_000, 1_000)
METRICS = ["AP", "nDCG@10", "RR"]
SHARE = 0.005
ROWS = (1_000_000, 3_000_000, 10_000_000, 20_000_000, 30_000_000, 100_000_000)
# Spark measures a batch after each row unless its size is unlimited, which is the largest number.
CONF = (
    "spark.sql.execution.arrow.maxBytesPerBatch=2147483647",
    "spark.sql.execution.arrow.maxRecordsPerBatch=100000",
)
# What is timed: the shape of the rankings, a name, and a call.
Timed: TypeAlias = tuple[tuple[int, int], str, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--draw", type=Path, metavar="TABLE", help="draw a table of growth alone")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["groups"])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help="those of one ranking")
    parser.add_argument("--conf", nargs="*", default=CONF, help="settings of Spark, KEY=VALUE")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw, given.draw.with_suffix(".svg"))
        return
    session = _session(given.conf)
    _show("groups x rows", "subject", "CPU s", "wall s", "MB shuffled")
    _once(_on_spark(session, _file(session, given.folder, 10, 10), by="q"))
    for case in given.cases:
        for shape, subject, work in CASES[case](session, given):
            shuffled = _shuffled(session)
            cpu, wall = _once(work)
            numbers = (cpu, wall, (_shuffled(session) - shuffled) / 1e6)
            _show(f"{shape[0]:,} x {shape[1]:,}", subject, *(f"{one:.1f}" for one in numbers))
    session.stop()


def draw(table: Path, figure: Path) -> None:
    """Draw a line, and write it as SVG, always the same for the same table."""
    rows = pl.read_csv(table).to_dicts()
    import matplotlib as mpl  # noqa: PLC0415 - loaded where it is needed
    from matplotlib.figure import Figure  # noqa: PLC0415 - loaded where it is needed

    page = Figure(figsize=(6, 3.5), layout="constrained")
    panel = page.subplots()
    points = [(row["rows"], row["cpu_seconds"]) for row in rows]
    panel.plot(*zip(*points, strict=True), marker="o", color="#b3261e")
    panel.set(xscale="log", yscale="log", xlabel="rows of one ranking", ylabel="CPU seconds")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="#dddddd", linewidth=0.5)
    with mpl.rc_context({"svg.hashsalt": "spark", "svg.fonttype": "none"}):
        page.savefig(figure, metadata={"Date": None})


def _groups(session: "SparkSession", given: argparse.Namespace) -> Iterator[Timed]:
    for shape in SHAPES:
        path = _file(session, given.folder, *shape)
        # Spark compiles its code while it runs, so that the first call takes longer.
        for call in ("first", "second"):
            yield shape, f"prframe on Spark, {call} call", _on_spark(session, path, by="q")
        yield shape, "prframe in process", _in_process(path, by="q")


def _evaluator(session: "SparkSession", given: argparse.Namespace) -> Iterator[Timed]:
    path = _file(session, given.folder, *SMALL)
    yield SMALL, "prframe on Spark, AP", _on_spark(session, path, ["AP"], by="q")
    yield SMALL, "RankingEvaluator, mean AP", lambda: _mean_ap(session.read.parquet(path))


def _one(session: "SparkSession", given: argparse.Namespace) -> Iterator[Timed]:
    for rows in given.rows:
        path = _file(session, given.folder, 1, rows, SHARE)
        yield (1, rows), "prframe on Spark", _on_spark(session, path)
        yield (1, rows), "prframe in process", _in_process(path)


def _on_spark(
    session: "SparkSession", path: str, metrics: Sequence[str] = METRICS, by: str | None = None
) -> Callable[[], object]:
    """Return the call that computes all rows of a result and keeps none."""

    def call() -> None:
        found = prframe.evaluate(session.read.parquet(path), list(metrics), by=by)
        found.write.format("noop").mode("overwrite").save()

    return call


def _in_process(path: str, by: str | None = None) -> Callable[[], object]:
    rows = pl.scan_parquet(f"{path}/*.parquet")
    return lambda: prframe.evaluate(rows, METRICS, by=by).collect()


def _file(
    session: "SparkSession", folder: Path, groups: int, size: int, share: float = 0.1
) -> str:
    """Return the file of rankings of one size, with a share of positives."""
    path = folder / f"{groups}x{size}.parquet"
    if not path.exists():
        label = f"CAST(rand(2) < {share} AS INT) AS label"
        rows = session.range(groups * size)
        rows.selectExpr(f"id % {groups} AS q", "rand(1) AS score", label).write.parquet(str(path))
    return str(path)


def _session(conf: Sequence[str]) -> "SparkSession":
    from pyspark.sql import SparkSession  # noqa: PLC0415 - loaded where it is needed

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
    for setting in conf:
        builder = builder.config(*setting.split("=", 1))
    return builder.config("spark.sql.shuffle.partitions", "8").getOrCreate()


def _mean_ap(frame: "DataFrame") -> float:
    """Return the mean AP as pyspark.ml computes it from arrays of items, which Spark sorts."""
    from pyspark.ml.evaluation import RankingEvaluator  # noqa: PLC0415 - loaded where it is needed

    frame.createOrReplaceTempView("rows")
    arrays = frame.sparkSession.sql(
        """
        SELECT transform(sort_array(collect_list(struct(score, item)), false), x -> x.item) AS prediction,
               collect_list(item) FILTER (WHERE label > 0) AS label
        FROM (SELECT *, CAST(row_number() OVER (PARTITION BY q ORDER BY score) AS DOUBLE) AS item FROM rows)
        GROUP BY q
        """
    )
    return RankingEvaluator(metricName="meanAveragePrecision").evaluate(arrays)


def _shuffled(session: "SparkSession") -> int:
    """Return the bytes that all stages have written for others."""
    context = session.sparkContext
    gateway = context._gateway
    none = gateway.new_array(gateway.jvm.double, 0)
    store = context._jsc.sc().statusStore()
    details = summaries = False
    stages = store.stageList(None, details, summaries, none, gateway.jvm.java.util.ArrayList())
    return sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))


def _once(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and the wall seconds of some work."""
    before, start = _cpu(), time.perf_counter()
    with _watched() as seconds:
        work()
    wall = time.perf_counter() - start
    return sum(after - before.get(process, 0.0) for process, after in seconds.items()), wall


@contextmanager
def _watched() -> Iterator[dict[tuple[int, float], float]]:
    """Note the CPU seconds of processes each second, as Spark ends workers that have no work."""
    seconds, is_done = _cpu(), threading.Event()

    def watch() -> None:
        while not is_done.wait(1):
            seconds.update(_cpu())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seconds
    finally:
        is_done.set()
        watcher.join()
        seconds.update(_cpu())


def _cpu() -> dict[tuple[int, float], float]:
    """Return the CPU seconds of this process and of each of those below it."""
    seconds, this = {}, psutil.Process()
    for process in [this, *this.children(recursive=True)]:
        with suppress(psutil.Error):
            seconds[process.pid, process.create_time()] = sum(process.cpu_times()[:2])
    return seconds


CASES: dict[str, Callable[["SparkSession", argparse.Namespace], Iterator[Timed]]] = {
    "groups": _groups,
    "evaluator": _evaluator,
    "one": _one,
}


def _show(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
