"""CPU seconds of `evaluate` on Spark, the JVM and its workers together, beside polars in process.

    python -m benchmarks.spark_times --folder FOLDER [--evaluator]

Needs the extra ``spark``, Java and psutil. Data are made once, as Parquet files in the folder.
`--evaluator` adds the mean AP of pyspark.ml's RankingEvaluator, on 1,000,000 rows, beside ours.
"""

import argparse
import time
from collections.abc import Callable
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--evaluator", action="store_true")
    parser.add_argument("--partitions", default="8")
    given = parser.parse_args()
    session = _session(given.partitions)
    _show("groups x rows", "subject", "CPU s", "wall s")
    _once(
        lambda: _run(
            prframe.evaluate(_read(session, _file(session, given.folder, 10, 10)), "AP", by="q")
        )
    )
    for shape in SHAPES:
        _compare(session, _file(session, given.folder, *shape), shape)
    if given.evaluator:
        path = _file(session, given.folder, *SMALL)
        _line(
            SMALL,
            "prframe on Spark, AP",
            lambda: _run(prframe.evaluate(_read(session, path), "AP", by="q")),
        )
        _line(SMALL, "RankingEvaluator, mean AP", lambda: _mean_ap(_read(session, path)))
    session.stop()


def _session(partitions: str) -> "SparkSession":
    from pyspark.sql import SparkSession  # noqa: PLC0415 - loaded where it is needed

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "2g").config("spark.log.level", "ERROR")
    return builder.config("spark.sql.shuffle.partitions", partitions).getOrCreate()


def _file(session: "SparkSession", folder: Path, groups: int, size: int) -> str:
    """Return the file of rankings of one size, a tenth of whose items are positive."""
    path = folder / f"{groups}x{size}.parquet"
    if not path.exists():
        rows = session.range(groups * size).selectExpr(
            f"id % {groups} AS q", "rand(1) AS score", "CAST(rand(2) < 0.1 AS INT) AS label"
        )
        rows.write.parquet(str(path))
    return str(path)


def _read(session: "SparkSession", path: str) -> "DataFrame":
    return session.read.parquet(path)


def _compare(session: "SparkSession", path: str, shape: tuple[int, int]) -> None:
    _line(
        shape,
        "prframe on Spark",
        lambda: _run(prframe.evaluate(_read(session, path), METRICS, by="q")),
    )
    rows = pl.scan_parquet(f"{path}/*.parquet")
    _line(shape, "prframe in process", lambda: prframe.evaluate(rows, METRICS, by="q").collect())


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


def _line(shape: tuple[int, int], subject: str, work: Callable[[], object]) -> None:
    cpu, wall = _once(work)
    _show(f"{shape[0]:,} x {shape[1]:,}", subject, f"{cpu:.1f}", f"{wall:.1f}")


def _once(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and the wall seconds of some work."""
    cpu, start = _cpu(), time.perf_counter()
    work()
    return _cpu() - cpu, time.perf_counter() - start


def _cpu() -> float:
    """Return the CPU seconds of this process and of all those below it."""
    this = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in [this, *this.children(recursive=True)])


def _show(*cells: str) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
