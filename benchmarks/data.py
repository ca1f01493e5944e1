"""The rows that are measured: the same for the same options, on every run."""

from pathlib import Path
from typing import Literal, Required, TypeAlias, TypedDict, Unpack

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

Key: TypeAlias = Literal["integer", "string"]
Label: TypeAlias = Literal["boolean", "integer"]

SEED = 20260501


class Data(TypedDict, total=False):
    """Which rows to make.

    `shuffled` puts the same rows in random order; `decimals` rounds the scores, so that they tie;
    `weighted` adds a column `weight`.
    """

    groups: Required[int]
    per_group: Required[int]
    prevalence: Required[float]
    key: Key
    label: Label
    shuffled: bool
    decimals: int
    weighted: bool


def rows(**data: Unpack[Data]) -> pl.DataFrame:
    """Return `group`, `score` (uniform in [0, 1)) and `label`, each group in one stretch."""
    groups, per_group, prevalence = data["groups"], data["per_group"], data["prevalence"]
    rng = np.random.default_rng(SEED)
    frame = pl.DataFrame(
        {
            "group": np.repeat(np.arange(groups), per_group),
            "score": rng.random(groups * per_group),
            "label": rng.random(groups * per_group) < prevalence,
        }
    )
    if "decimals" in data:
        frame = frame.with_columns(pl.col("score").round(data["decimals"]))
    if data.get("weighted"):
        frame = frame.with_columns(weight=rng.random(frame.height) + 0.5)
    if data.get("label") == "integer":
        frame = frame.with_columns(pl.col("label").cast(pl.Int64))
    if data.get("key") == "string":
        frame = frame.with_columns("query-" + pl.col("group").cast(pl.String))
    if data.get("shuffled"):
        frame = frame[rng.permutation(frame.height)]
    return frame.rechunk()


def write_parquet(path: Path, row_group: int, **data: Unpack[Data]) -> None:
    """Write such rows by row groups, so that this takes little memory whatever the size."""
    groups, per_group, prevalence = data["groups"], data["per_group"], data["prevalence"]
    rng = np.random.default_rng(SEED)
    schema = pa.schema([("group", pa.int64()), ("score", pa.float64()), ("label", pa.bool_())])
    groups_at_once = max(1, row_group // per_group)
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, groups, groups_at_once):
            group = np.repeat(np.arange(first, min(first + groups_at_once, groups)), per_group)
            score, label = rng.random(group.size), rng.random(group.size) < prevalence
            writer.write_table(pa.table([group, score, label], schema=schema))
