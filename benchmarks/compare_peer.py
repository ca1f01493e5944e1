"""Comparisons of models by ranx; nothing of prframe is imported."""

from pathlib import Path
from typing import Any

import polars as pl


def run_files(folder: str) -> tuple[Path, Path]:
    """Return where runs and judgments are."""
    return Path(folder) / "runs.parquet", Path(folder) / "qrels.parquet"


def ranx_objects(retrieved: pl.DataFrame, judged: pl.DataFrame) -> tuple[Any, list[Any]]:
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


def compared_by_ranx(qrels: Any, theirs: list[Any], test: str) -> Any:
    """Compare with ranx."""
    from ranx import compare  # noqa: PLC0415

    return compare(qrels, theirs, ["map", "ndcg@10"], stat_test=test)
