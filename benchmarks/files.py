"""From TREC files to metrics: the files, reading them, and the whole way here and elsewhere."""

import os
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks.data import SEED
from benchmarks.tasks import METRICS, Work, means

_FIELDS = {
    "query": pl.String,
    "iteration": pl.String,
    "document": pl.String,
    "rank": pl.Int64,
    "score": pl.Float64,
    "tag": pl.String,
}


def make_trec(folder: str, queries: int, documents: int, judged: int) -> Work:
    """Write a run, its first part, and judgments of which half are of retrieved documents."""
    return Work(lambda: _write(Path(folder), queries, documents, judged))


def _write(folder: Path, queries: int, documents: int, judged: int) -> None:
    rng = np.random.default_rng(SEED)
    half = judged // 2
    numbers = np.stack(
        [rng.choice(1_000_000, documents + half, replace=False) for _ in range(queries)]
    )
    scores = -np.sort(-30 * rng.random((queries, documents)), axis=1)
    run = pl.DataFrame(
        {
            "query": _named("q", np.repeat(np.arange(queries), documents)),
            "iteration": pl.repeat("Q0", queries * documents, eager=True),
            "document": _named("D", numbers[:, :documents].ravel()),
            "rank": np.tile(np.arange(1, documents + 1), queries),
            "score": scores.ravel(),
            "tag": pl.repeat("system", queries * documents, eager=True),
        }
    )
    retrieved = np.arange(half) * (documents // half)
    both = np.concatenate([retrieved, np.arange(documents, documents + half)])
    qrels = pl.DataFrame(
        {
            "query": _named("q", np.repeat(np.arange(queries), both.size)),
            "iteration": pl.repeat("0", queries * both.size, eager=True),
            "document": _named("D", numbers[:, both].ravel()),
            "label": rng.integers(0, 3, queries * both.size),
        }
    )
    seventh = queries // 7
    written = {
        "whole": run,
        "whole.qrels": qrels,
        "part": run.head(documents * seventh),
        "part.qrels": qrels.head(both.size * seventh),
    }
    for file, frame in written.items():
        frame.write_csv(
            folder / f"{file}.txt", separator=" ", include_header=False, float_precision=6
        )
    # What is still to be written to the disk would disturb the first round.
    os.sync()


def _named(letter: str, numbers: NDArray[np.int64]) -> pl.Series:
    """Return the names that stand for numbers."""
    return letter + pl.Series(numbers).cast(pl.String).str.zfill(7)


def read_run(folder: str) -> Work:
    return Work(lambda: prframe.trec.read_run(Path(folder) / "whole.txt"), _rows)


def read_csv(folder: str) -> Work:
    def call() -> pl.DataFrame:
        return pl.read_csv(
            Path(folder) / "whole.txt",
            separator=" ",
            has_header=False,
            quote_char=None,
            schema=_FIELDS,
        )

    return Work(call, _rows)


def _rows(frame: pl.DataFrame) -> dict[str, float]:
    return {"rows": frame.height, "score": frame["score"].sum()}


def files_to_metrics(folder: str, file: str) -> Work:
    def call() -> pl.DataFrame:
        run = prframe.trec.read_run(Path(folder) / f"{file}.txt")
        qrels = prframe.trec.read_qrels(Path(folder) / f"{file}.qrels.txt")
        return prframe.evaluate(
            prframe.trec.join(run, qrels, queries="both"),
            list(METRICS),
            by="query_id",
            ties="trec",
            float32=True,
            item="doc_id",
            undefined=0.0,
        )

    return Work(call, means)


def files_to_metrics_at_once(folder: str, file: str) -> Work:
    def call() -> pl.DataFrame:
        run, qrels = (Path(folder) / name for name in (f"{file}.txt", f"{file}.qrels.txt"))
        return prframe.trec.evaluate(run, qrels, list(METRICS), by_query=True).drop("system")

    return Work(call, means)


def files_to_metrics_by_peer(folder: str, file: str) -> Work:
    import ir_measures  # noqa: PLC0415

    measures = [ir_measures.parse_measure(name) for name in METRICS]

    def call() -> pl.DataFrame:
        run = ir_measures.read_trec_run(str(Path(folder) / f"{file}.txt"))
        qrels = ir_measures.read_trec_qrels(str(Path(folder) / f"{file}.qrels.txt"))
        found: dict[str, dict[str, float]] = {}
        for value in ir_measures.iter_calc(measures, qrels, run):
            found.setdefault(value.query_id, {})[str(value.measure)] = value.value
        return pl.DataFrame(list(found.values())).select(METRICS)

    return Work(call, means)
