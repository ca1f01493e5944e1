"""What is timed: each task makes its data and returns the call to be timed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks.data import Data, rows, write_parquet
from benchmarks.fresh import Answer

Keys: TypeAlias = NDArray[np.uint64]
Engine: TypeAlias = Literal["auto", "streaming"]

METRICS = ("AP", "nDCG@10", "RR", "P@10")


@dataclass(frozen=True)
class Work:
    """The call to be timed, and what its result boils down to."""

    call: Callable[[], Any]
    answer: Callable[[Any], Answer] = lambda _: {}


def evaluate(metrics: Sequence[str] = METRICS, **data: Unpack[Data]) -> Work:
    frame = rows(**data)
    return Work(lambda: prframe.evaluate(frame, list(metrics), by="group"), means)


def evaluate_one_group(**data: Unpack[Data]) -> Work:
    frame = rows(**data)
    weight = "weight" if "weight" in frame.columns else None
    return Work(lambda: prframe.evaluate(frame, "AP", weight=weight), means)


def curve(**data: Unpack[Data]) -> Work:
    frame = rows(**data)
    return Work(lambda: prframe.curve(frame, by="group"), means)


def expression(**data: Unpack[Data]) -> Work:
    frame = rows(**data)
    ap = pl.col("score").pr.ap("label").alias("AP")  # type: ignore[attr-defined]
    return Work(lambda: frame.group_by("group", maintain_order=True).agg(ap), means)


def pack_and_sort(**data: Unpack[Data]) -> Work:
    frame = rows(**data)

    def call() -> Keys:
        keys = packed(frame)
        keys.sort()
        return keys

    return Work(call)


def sort_packed(**data: Unpack[Data]) -> Work:
    keys = packed(rows(**data))
    return Work(lambda: np.sort(keys))


def packed(frame: pl.DataFrame) -> Keys:
    """Return an unsigned integer per row that sorts by group, then by score to 32 bits."""
    keys = frame["group"].to_numpy().astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= frame["score"].to_numpy().astype(np.float32).view(np.uint32)
    return keys


def rank_positives(**data: Unpack[Data]) -> Work:
    """Do what AP cannot do without: sort all scores and those of positives, and search."""
    frame = rows(**data)
    scores, positive = frame["score"].to_numpy(), frame["label"].to_numpy()

    def call() -> NDArray[np.int64]:
        return np.searchsorted(np.sort(scores), np.sort(scores[positive]))

    return Work(call)


def sort_rows(**data: Unpack[Data]) -> Work:
    frame = rows(**data)
    return Work(lambda: frame.select(pl.all().sort_by("score", descending=True)))


def curve_of_one_group(recall: float | None = None, **data: Unpack[Data]) -> Work:
    frame = rows(**data)
    return Work(lambda: prframe.curve(frame, recall=recall), means)


def make_parquet(folder: str, **data: Unpack[Data]) -> Work:
    """Write files with row groups of usual and of large size."""

    def call() -> None:
        for row_group in (125_000, 1_000_000):
            write_parquet(_parquet(folder, row_group), row_group, **data)

    return Work(call)


def evaluate_parquet(folder: str, engine: Engine = "auto", row_group: int = 125_000) -> Work:
    values = _lazy_values(folder, row_group)
    return Work(lambda: values.collect(engine=engine), means)


def sink_parquet(folder: str) -> Work:
    values, output = _lazy_values(folder, 125_000), Path(folder) / "values.parquet"
    return Work(lambda: values.sink_parquet(output), lambda _: means(pl.read_parquet(output)))


def _lazy_values(folder: str, row_group: int) -> pl.LazyFrame:
    query: Any = pl.scan_parquet(_parquet(folder, row_group))
    values: pl.LazyFrame = query.pr.evaluate(list(METRICS), by="group")
    return values


def read_parquet(folder: str) -> Work:
    """Read every column in batches and add it up."""
    query = pl.scan_parquet(_parquet(folder, 125_000))

    def call() -> pl.DataFrame:
        batches = query.collect_batches(maintain_order=True)
        return pl.concat([batch.select(pl.all().sum()) for batch in batches])

    return Work(call)


def _parquet(folder: str, row_group: int) -> Path:
    return Path(folder) / f"{row_group}.parquet"


def means(frame: pl.DataFrame) -> Answer:
    """Return the number of rows and the mean of each floating-point column."""
    values = frame.select(pl.col(pl.Float64).exclude("threshold").mean())
    return {"rows": frame.height, **values.row(0, named=True)}
