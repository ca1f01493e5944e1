"""Runs of several systems for the same queries, with judgments: the same on every run."""

import os
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.compare_peer import run_files
from benchmarks.data import SEED
from prframe import trec
from prframe.stats.paired_values.family import PairedFamily

Floats: TypeAlias = NDArray[np.float64]

# Documents of a query's pool, of which a system retrieves the best.
POOL = 1_000


@dataclass(frozen=True)
class Runs:
    """What systems retrieved, and what is relevant.

    Attributes
    ----------
    retrieved : DataFrame
        ``system``, ``query_id``, ``doc_id``, ``score``.
    judged : DataFrame
        ``query_id``, ``doc_id``, ``label`` 0, 1 or 2.
    """

    retrieved: pl.DataFrame
    judged: pl.DataFrame

    def labelled(self) -> pl.DataFrame:
        """Return the rows that `compare` takes."""
        return trec.join(self.retrieved, self.judged)

    @classmethod
    def read(cls, folder: str) -> "Runs":
        """Read what was written."""
        return cls(*(pl.read_parquet(path) for path in run_files(folder)))

    def write(self, folder: str) -> None:
        """Write files."""
        for frame, path in zip((self.retrieved, self.judged), run_files(folder), strict=True):
            frame.write_parquet(path)
        # What is still to be written to the disk would disturb the first round.
        os.sync()


def runs(systems: int, queries: int, documents: int) -> Runs:
    """Draw runs: queries differ in how hard they are, systems a little in how good they are.

    Systems come in families of four, whose errors are alike.
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
    return Runs(pl.concat(parts).rechunk(), _rows(judged, label=label[:, :200]))


def _rows(documents: NDArray[np.int64], **columns: NDArray[np.generic]) -> pl.DataFrame:
    """Return a row per query and document, with their names."""
    query = np.repeat(np.arange(len(documents)), documents.shape[1])
    named = pl.DataFrame({"query": query, "document": documents.ravel()}).select(
        query_id=pl.format("q{}", "query"), doc_id=pl.format("d{}-{}", "query", "document")
    )
    return named.with_columns(**{name: values.ravel() for name, values in columns.items()})


def family(values: Floats) -> PairedFamily:
    """Return the differences of all pairs of systems, from values of shape (n_systems, n_queries)."""
    first, second = np.array(list(combinations(range(len(values)), 2))).T
    differences = (values[first] - values[second]).T
    return PairedFamily(differences, np.ones_like(differences))
