"""Values that Spark computes while an executor is killed, beside those of polars.

    python tests/spark/killed_worker.py FOLDER

It prints a line for each call: the plan, where rows were when the executor was killed, and whether
the values are equal. The folder keeps a mark of each kill, so that there is one of each.
"""

import os
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import prframe

N = 20_000
RNG = np.random.default_rng(1)
DATA = pl.DataFrame(
    {
        "query": RNG.integers(0, 3, N),
        "score": RNG.normal(size=N).round(3),
        "label": RNG.integers(0, 2, N),
    }
)


def mortal(frame, mark: Path):
    """Return the same rows; the first executor that has handed a partition on is killed."""
    path = str(mark)

    def pass_on(batches):
        import psutil

        yield from batches
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        above = psutil.Process().parents()
        executor = next(process for process in above if process.name() == "java")
        os.kill(executor.pid, signal.SIGKILL)

    words = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
    return frame.mapInArrow(pass_on, words)


def session(folder: Path):
    """Return a session with two executors, which write nothing but in the folder."""
    import pyspark
    from pyspark.sql import SparkSession

    home = folder / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    (home / "work").unlink(missing_ok=True)
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local-cluster[2,1,512]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "4",
        "spark.local.dir": str(folder),
        "spark.log.level": "OFF",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    spark = session(folder)
    frame = spark.createDataFrame(DATA.to_arrow()).repartition(4)
    expected = prframe.evaluate(DATA, ["AP", "AUC"], by="query").sort("query")

    def report(plan: str, where: str, result, mark: Path) -> None:
        values = pl.DataFrame(pl.from_arrow(result.toArrow())).sort("query")
        assert mark.exists()
        outcome = "equal" if values.equals(expected) else f"{values}"
        sys.stdout.write(f"{plan} {where} {outcome}\n")

    spark.conf.set("spark.prframe.plan", "range")
    mark = folder / "before"
    rows = mortal(frame, mark)
    report("range", "before", prframe.evaluate(rows, ["AP", "AUC"], by="query"), mark)
    mark = folder / "after"
    values = prframe.evaluate(frame, ["AP", "AUC"], by="query")
    report("range", "after", mortal(values, mark), mark)
    spark.stop()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
