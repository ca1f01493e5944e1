"""CPU seconds of `evaluate` on Spark, the JVM and its workers together, beside polars in process.

    python -m benchmarks.spark_times --folder FOLDER [--cases groups evaluator one growth]

Needs the extra ``spark``, Java and psutil. Data are made once, as Parquet files in the folder.
The cases: many groups; the mean AP of pyspark.ml's RankingEvaluator on 1,000,000 rows beside ours;
one ranking of many rows, by either plan, with the megabytes that are shuffled; one ranking of more
and more rows. ``--draw docs/guide/spark_growth.csv`` draws the figure of such a table again.
"""

import argparse
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import psutil

import prframe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SHAPES = ((20_000, 1_000), (200_000, 20))
SMALL = (1_000, 1_000)
METRICS = ["AP", "nDCG@10", "RR"]
ONE, SHARE = 20_000_000, 0.005
GROWTH = (1_000_000, 3_000_000, 10_000_000, 20_000_000, 30_000_000, 100_000_000)
PLANS = ("range", "broadcast")
SETTING = "spark.prframe.plan"
# Spark measures a batch after each row unless its size is unlimited, which is the largest number.
CONF = (
    "spark.sql.execution.arrow.maxBytesPerBatch=2147483647",
    "spark.sql.execution.arrow.maxRecordsPerBatch=100000",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--draw", type=Path, metavar="TABLE", help="draw a table of growth alone")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["groups"])
    parser.add_argument("--partitions", default="8")
    parser.add_argument("--rows", type=int, default=ONE, help="those of one ranking")
    parser.add_argument("--most", type=int, default=GROWTH[-1], help="rows of the last ranking")
    parser.add_argument("--conf", nargs="*", default=CONF, help="settings of Spark, KEY=VALUE")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw, given.draw.with_suffix(".svg"))
        return
    session = _session(given.partitions, given.conf)
    _show("groups x rows", "subject", "CPU s", "wall s", "MB shuffled")
    _once(
        lambda: _run(
            prframe.evaluate(_read(session, _file(session, given.folder, 10, 10)), "AP", by="q")
        )
    )
    for case in given.cases:
        CASES[case](session, given)
    session.stop()


def draw(table: Path, figure: Path) -> None:
    """Draw a line per plan, and write it as SVG, always the same for the same table."""
    rows = pl.read_csv(table).to_dicts()
    import matplotlib as mpl  # noqa: PLC0415 - loaded where it is needed
    from matplotlib.figure import Figure  # noqa: PLC0415 - loaded where it is needed

    page = Figure(figsize=(6, 3.5), layout="constrained")
    panel = page.subplots()
    for plan, color in zip(PLANS, ("#b3261e", "#3465a4"), strict=True):
        points = [(row["rows"], row["cpu_seconds"]) for row in rows if row["plan"] == plan]
        panel.plot(*zip(*points, strict=True), marker="o", color=color, label=plan)
    panel.set(xscale="log", yscale="log", xlabel="rows of one ranking", ylabel="CPU seconds")
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(color="#dddddd", linewidth=0.5)
    panel.legend(frameon=False)
    with mpl.rc_context({"svg.hashsalt": "spark", "svg.fonttype": "none"}):
        page.savefig(figure, metadata={"Date": None})


def _groups(session: "SparkSession", given: argparse.Namespace) -> None:
    for shape in SHAPES:
        _compare(session, _file(session, given.folder, *shape), shape)


def _evaluator(session: "SparkSession", given: argparse.Namespace) -> None:
    path, name = _file(session, given.folder, *SMALL), _named(SMALL)
    _line(
        session,
        name,
        "prframe on Spark, AP",
        lambda: _run(prframe.evaluate(_read(session, path), "AP", by="q")),
    )
    _line(session, name, "RankingEvaluator, mean AP", lambda: _mean_ap(_read(session, path)))


def _one(session: "SparkSession", given: argparse.Namespace) -> None:
    path = _ranking(session, given.folder, given.rows)
    for plan in PLANS:
        _planned(session, path, plan, f"1 x {given.rows:,}")
    rows = pl.scan_parquet(f"{path}/*.parquet")
    _line(
        session,
        f"1 x {given.rows:,}",
        "prframe in process",
        lambda: prframe.evaluate(rows, METRICS).collect(),
    )


def _growth(session: "SparkSession", given: argparse.Namespace) -> None:
    for rows in GROWTH:
        if rows <= given.most:
            path = _ranking(session, given.folder, rows)
            for plan in PLANS:
                _planned(session, path, plan, f"1 x {rows:,}")


def _planned(session: "SparkSession", path: str, plan: str, name: str) -> None:
    session.conf.set(SETTING, plan)
    _line(
        session,
        name,
        f"prframe on Spark, {plan}",
        lambda: _run(prframe.evaluate(_read(session, path), METRICS)),
    )
    session.conf.set(SETTING, "auto")


def _ranking(session: "SparkSession", folder: Path, rows: int) -> str:
    """Return the file of one ranking."""
    path = folder / f"1x{rows}.parquet"
    if not path.exists():
        _write(session.range(rows), path, "0 AS q", SHARE)
    return str(path)


def _write(ids: "DataFrame", path: Path, of_row: str, share: float) -> None:
    label = f"CAST(rand(2) < {share} AS INT) AS label"
    ids.selectExpr(of_row, "rand(1) AS score", label).write.parquet(str(path))


def _session(partitions: str, conf: Sequence[str] = CONF) -> "SparkSession":
    from pyspark.sql import SparkSession  # noqa: PLC0415 - loaded where it is needed

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
    for setting in conf:
        builder = builder.config(*setting.split("=", 1))
    return builder.config("spark.sql.shuffle.partitions", partitions).getOrCreate()


def _file(session: "SparkSession", folder: Path, groups: int, size: int) -> str:
    """Return the file of rankings of one size, a tenth of whose items are positive."""
    path = folder / f"{groups}x{size}.parquet"
    if not path.exists():
        _write(session.range(groups * size), path, f"id % {groups} AS q", 0.1)
    return str(path)


def _read(session: "SparkSession", path: str) -> "DataFrame":
    return session.read.parquet(path)


def _compare(session: "SparkSession", path: str, shape: tuple[int, int]) -> None:
    name = _named(shape)
    # Spark compiles its code while it runs, so that the first call takes longer.
    for call in ("first", "second"):
        _line(
            session,
            name,
            f"prframe on Spark, {call} call",
            lambda: _run(prframe.evaluate(_read(session, path), METRICS, by="q")),
        )
    rows = pl.scan_parquet(f"{path}/*.parquet")
    _line(
        session,
        name,
        "prframe in process",
        lambda: prframe.evaluate(rows, METRICS, by="q").collect(),
    )


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


def _run(frame: "DataFrame") -> None:
    """Compute all rows of a result and keep none."""
    frame.write.format("noop").mode("overwrite").save()


def _line(session: "SparkSession", name: str, subject: str, work: Callable[[], object]) -> None:
    shuffled = _shuffled(session)
    cpu, wall = _once(work)
    shuffled = _shuffled(session) - shuffled
    numbers = (f"{number:.1f}" for number in (cpu, wall, shuffled / 1e6))
    _show(name, subject, *numbers)


def _named(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} x {shape[1]:,}"


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


CASES: dict[str, Callable[["SparkSession", argparse.Namespace], None]] = {
    "groups": _groups,
    "evaluator": _evaluator,
    "one": _one,
    "growth": _growth,
}


def _show(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
