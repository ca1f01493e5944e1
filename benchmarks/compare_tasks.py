"""Comparisons of models over queries: runs of several systems, and what is timed here and elsewhere."""

from typing import Any

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED
from benchmarks.fresh import Answer
from benchmarks.tasks import Work
from prframe import trec
from prframe.typing import Floats, Integers

# Documents of a query's pool, of which a system retrieves the best.
POOL = 1_000
METRICS = ["AP", "nDCG@10"]


def runs(systems: int, queries: int, documents: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw what systems retrieve, and judgments 0, 1 or 2.

    Queries differ in how hard they are, systems a little in how good they are. Systems come in
    families of four, whose errors are alike.
    """
    rng = np.random.default_rng(SEED)
    number = np.exp(rng.normal(np.log(20), 0.8, queries)).round().clip(2, 150).astype(int)
    label = np.zeros((queries, POOL), dtype=np.int64)
    for row, some in zip(label, number, strict=True):
        row[:some] = rng.integers(1, 3, some)
    worth = (label > 0) * rng.normal(2.0, 0.7, (queries, 1)) + 0.3 * (label > 1)
    families = rng.normal(size=(systems // 4 + 1, queries, POOL))
    parts = []
    for system in range(systems):
        error = 0.8 * families[system // 4] + 0.6 * rng.normal(size=(queries, POOL))
        score = (1 + 0.01 * system) * worth + error
        best = np.argsort(-score, axis=1)[:, :documents]
        rows = _rows(best, score=np.take_along_axis(score, best, axis=1))
        parts.append(rows.select(pl.lit(f"system {system:02d}").alias("system"), pl.all()))
    judged = np.tile(np.arange(200), (queries, 1))
    return pl.concat(parts).rechunk(), _rows(judged, label=label[:, :200])


def _rows(documents: Integers, **columns: Floats | Integers) -> pl.DataFrame:
    """Return a row per query and document, with their names."""
    query = np.repeat(np.arange(len(documents)), documents.shape[1])
    named = pl.DataFrame({"query": query, "document": documents.ravel()}).select(
        query_id=pl.format("q{}", "query"), doc_id=pl.format("d{}-{}", "query", "document")
    )
    return named.with_columns(**{name: values.ravel() for name, values in columns.items()})


def compare_few_values(systems: int, queries: int) -> Work:
    """Compare systems that find three relevant documents among 30, often at the same ranks."""
    rng, documents = np.random.default_rng(SEED), 30
    relevant = np.arange(documents) < 3
    worth = relevant * rng.normal(4, 0.5, (queries, 1))
    alike = rng.normal(size=(queries, documents))
    own = rng.normal(size=(systems, queries, documents))
    grade = 1 + 0.1 * np.arange(systems)[:, None, None] / systems
    score = grade * worth + 0.95 * alike + 0.31 * own
    model, query, _ = np.indices(score.shape)
    columns = {"system": model, "query_id": query, "score": score}
    frame = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    label = pl.Series("label", np.tile(relevant, systems * queries))
    return _compared(frame.with_columns(label), ["AP"])


def compare_items(items: int, prevalence: float, metric: str = "AP") -> Work:
    """Compare two models on the same items."""
    rng = np.random.default_rng(SEED)
    label = rng.random(items) < prevalence
    quality = label + rng.normal(size=items)
    scores = {name: quality + rng.normal(0, 0.5, items) for name in "ab"}
    frame = pl.DataFrame(scores | {"label": label})
    return _compared(frame, metric, model=None, score=["a", "b"], over=None, rng=SEED)


def compare_runs(test: str, **size: int) -> Work:
    """Compare by a test, without a correction, as ranx does."""
    frame = trec.join(*runs(**size))
    return _compared(frame, METRICS, correction=None, test=test)


def compare_by_ranx(test: str, **size: int) -> Work:
    from ranx import Qrels, Run, compare  # noqa: PLC0415

    retrieved, judged = runs(**size)
    qrels = Qrels.from_dict(_nested(judged, "label"))
    parts = retrieved.partition_by("system", as_dict=True).items()
    theirs = [Run.from_dict(_nested(rows, "score"), name=name) for (name,), rows in parts]
    return Work(lambda: compare(qrels, theirs, ["map", "ndcg@10"], stat_test=test))


def _nested(rows: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Return query -> document -> value: from such dictionaries ranx makes its objects quickest."""
    lists = rows.group_by("query_id", maintain_order=True).agg("doc_id", value)
    return {
        query: dict(zip(documents, values, strict=True))
        for query, documents, values in lists.iter_rows()
    }


def _compared(frame: pl.DataFrame, metrics: str | list[str], **options: Any) -> Work:
    options = {"model": "system"} | options
    return Work(lambda: prframe.compare(frame, metrics, **options), _means)


def _means(found: pl.DataFrame) -> Answer:
    """Return the number of rows, and means that tell one result from another."""
    means = found.select(pl.col("mean_a", "p_value").mean()).row(0, named=True)
    return {"rows": found.height, **means}
