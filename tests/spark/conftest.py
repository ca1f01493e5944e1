"""The two frames of the tests of Spark: one in this process that is like Spark's, and Spark's own."""

import os
import shutil
from importlib.util import find_spec

import polars as pl
import pytest

from tests.spark.likeness import DataFrame as LikeSpark

# Either "classic" or "connect"; a process has sessions of one of them alone.
MODE = os.environ.get("PRFRAME_SPARK_MODE", "classic")


def lacking() -> str:
    """Say what Spark's tests lack here, nothing if they can run."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java"
    return ""


@pytest.fixture(scope="session")
def session():
    """Return a session of Spark with two workers."""
    if reason := lacking():
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if MODE == "connect":
        builder = builder.remote("local[2]")
    else:
        builder = builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "3")
    started = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    yield started
    started.stop()


@pytest.fixture(params=["like Spark", pytest.param("Spark", marks=pytest.mark.slow)])
def to_spark(request):
    """Return the function that makes a frame of a polars one."""
    if request.param == "like Spark":
        return lambda frame: LikeSpark.of(frame)
    session = request.getfixturevalue("session")

    def make(frame: pl.DataFrame):
        # Connect refuses a frame without rows.
        rows = frame if frame.height else frame.clear(1)
        made = session.createDataFrame(rows.to_arrow(compat_level=pl.CompatLevel.oldest()))
        # Spark takes all times of Arrow as instants.
        quoted = {name: f"`{name.replace('`', '``')}`" for name in frame.columns}
        for name, dtype in frame.schema.items():
            if dtype == pl.Datetime("us"):
                others = [quoted[other] for other in frame.columns if other != name]
                cast = f"CAST({quoted[name]} AS timestamp_ntz) AS {quoted[name]}"
                made = made.selectExpr(*others, cast)
        return made if frame.height else made.where("false")

    return make
