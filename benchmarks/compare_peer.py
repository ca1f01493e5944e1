"""Comparisons of models by ranx; nothing of prframe is imported."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

# What ranx makes: qrels, runs, reports.
Theirs: TypeAlias = Any


def run_files(folder: str) -> tuple[Path, Path]:
    """Return where runs and judgments are."""
    return Path(folder) / "runs.parquet", Path(folder) / "qrels.parquet"


def ranx_objects(retrieved: pl.DataFrame, judged: pl.DataFrame) -> tuple[Theirs, list[Theirs]]:
    """Return what ranx takes, by way of nested dictionaries, which is quickest."""
    from ranx import Qrels, Run  # noqa: PLC0415

    qrels = Qrels.from_dict(_nested(judged, "label"))
    parts = retrieved.partition_by("system", as_dict=True).items()
    return qrels, [Run.from_dict(_nested(rows, "score"), name=name) for (name,), rows in parts]


def _nested(rows: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Return query -> document -> value."""
    lists = rows.group_by("query_id", maintain_order=True).agg("doc_id", value)
    return {
        query: dict(zip(documents, values, strict=True))
        for query, documents, values in lists.iter_rows()
    }


def compared_by_ranx(
    qrels: Theirs, theirs: list[Theirs], test: str, metrics: Sequence[str] = ("map", "ndcg@10")
) -> Theirs:
    """Compare all pairs of runs."""
    from ranx import compare  # noqa: PLC0415

    return compare(qrels, theirs, list(metrics), stat_test=test)
