"""From TREC files to metrics: the files, reading them, and the whole way here and elsewhere."""

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks import trec_eval
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


def make_odd_files(folder: str, queries: int, documents: int, megabytes: int) -> Work:
    """Write a run without and with infinite scores, and files that hold no rows at all."""
    return Work(lambda: _write_odd(Path(folder), queries, documents, megabytes))


def _write_odd(folder: Path, queries: int, documents: int, megabytes: int) -> None:
    _write(folder, queries, documents, 2)
    lines = (folder / "whole.txt").read_text().splitlines()
    for row in np.linspace(0, len(lines) - 1, 10).astype(int).tolist():
        fields = lines[row].split(" ")
        lines[row] = " ".join([*fields[:4], "-inf", fields[5]])
    (folder / "infinite.txt").write_text("\n".join(lines) + "\n")
    with gzip.open(folder / "zeros.gz", "wb", 1) as zipped:
        for _ in range(megabytes):
            zipped.write(bytes(1_000_000))
    for name, line in (("blank.txt", b"\n"), ("one_line.txt", b"d")):
        with (folder / name).open("wb") as file:
            for _ in range(megabytes):
                file.write(line * 1_000_000)
    os.sync()


def _named(letter: str, numbers: NDArray[np.int64]) -> pl.Series:
    """Return the names that stand for numbers."""
    return letter + pl.Series(numbers).cast(pl.String).str.zfill(7)


def read_run(folder: str) -> Work:
    return Work(lambda: prframe.trec.read_run(Path(folder) / "whole.txt"), _rows)


def read_odd(folder: str, file: str) -> Work:
    def call() -> pl.DataFrame | None:
        try:
            return prframe.trec.read_run(Path(folder) / file)
        except prframe.PrframeError:
            return None

    return Work(call, lambda rows: {"rows": -1 if rows is None else rows.height})


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


def files_to_metrics_by_ir_measures(folder: str, file: str) -> Work:
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


def files_to_metrics_by_trec_eval(folder: str, file: str) -> Work:
    names = {
        "num_q": "rows",
        "map": "AP",
        "ndcg_cut.10": "nDCG@10",
        "recip_rank": "RR",
        "P.10": "P@10",
    }

    def call() -> list[float]:
        qrels, run = (str(Path(folder) / name) for name in (f"{file}.qrels.txt", f"{file}.txt"))
        return list(trec_eval.means(qrels, run, list(names)).values())

    return Work(call, lambda values: dict(zip(names.values(), values, strict=True)))


TASKS = {
    task.__name__: task
    for task in (
        files_to_metrics,
        files_to_metrics_at_once,
        files_to_metrics_by_ir_measures,
        files_to_metrics_by_trec_eval,
        make_odd_files,
        make_trec,
        read_csv,
        read_odd,
        read_run,
    )
}
