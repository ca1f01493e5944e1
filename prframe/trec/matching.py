"""Match rankings with the judgments of their documents, and find the judged ones they lack."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.frames import run_starts
from prframe.errors import PrframeError
from prframe.trec import doubts, roles

Integers = NDArray[np.int32]


@dataclass(frozen=True)
class Groups:
    """The groups of a frame's rows, numbered in order of first appearance.

    `keys` has a row per group, `of_row` the number of each row's group; `together` is whether the
    rows of every group are consecutive.
    """

    keys: pl.DataFrame
    of_row: Integers
    together: bool


def group(keys: pl.DataFrame) -> Groups:
    """Give groups their numbers; of consecutive rows with equal keys one alone is looked up."""
    starts = run_starts(keys.get_columns())
    firsts = keys[starts]
    distinct = firsts.unique(maintain_order=True)
    together = distinct.height == firsts.height
    number = np.arange(distinct.height, dtype=np.int32) if together else _codes(firsts, distinct)
    return Groups(distinct, np.repeat(number, np.diff(starts, append=keys.height)), together)


def _codes(rows: pl.DataFrame, table: pl.DataFrame) -> Integers:
    """Return for each row the number of the equal row of a table; -1 where there is none."""
    numbered = table.with_row_index("prframe: code")
    joined = rows.join(
        numbered, on=table.columns, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined["prframe: code"].cast(pl.Int32).fill_null(-1).to_numpy()


@dataclass(frozen=True)
class Rankings:
    """Rankings, their rows, and the judgments.

    Attributes
    ----------
    keys : DataFrame, one row per ranking
        The system columns and ``query_id``.
    query : Series, one number per ranking
        The number of its query among the judged ones, -1 if it is not judged.
    rows : DataFrame, one row per retrieved document, sorted by ranking
        ``ranking``, ``doc_id``, ``score``, and, if judged, ``label`` and ``judgment``.
    qrels : DataFrame, one row per judgment, sorted by query
        ``judgment`` (row number), ``query``, ``doc_id``, ``label``.
    """

    keys: pl.DataFrame
    query: pl.Series
    rows: pl.DataFrame
    qrels: pl.DataFrame

    def retrieved(self) -> pl.DataFrame:
        """Return the rows with the number of their ranking, their label, and if it is judged."""
        judged = (pl.col("label") >= 0).fill_null(value=False).alias("judged")
        label = pl.col("label").fill_null(0)
        return self.rows.select("ranking", "doc_id", "score", label, judged)

    def unretrieved(self) -> pl.DataFrame:
        """Return the judged documents that were not retrieved, as rows of the rankings."""
        ranking = pl.int_range(self.query.len(), dtype=pl.Int32, eager=True).alias("ranking")
        queries = pl.DataFrame([ranking, self.query.alias("query")])
        judged = queries.join(self.qrels, on="query", maintain_order="left_right")
        there = self.rows.select("ranking", "judgment")
        lost = judged.join(there, on=there.columns, how="anti", maintain_order="left")
        score, is_judged = pl.lit(-np.inf).alias("score"), (pl.col("label") >= 0).alias("judged")
        return lost.select("ranking", "doc_id", score, "label", is_judged)


def rankings(
    rows: pl.DataFrame,
    qrels: pl.DataFrame,
    queries: str,
    duplicates: str,
    without_rows: Sequence[str] = (),
) -> Rankings:
    """Sort the rows of a run into rankings and label them; `without_rows` are more systems."""
    groups = group(rows.drop("doc_id", "score"))
    # The ids of queries become like those of the qrels once there is only one for each ranking.
    groups = replace(groups, keys=groups.keys.cast({"query_id": qrels.schema["query_id"]}))
    keys = groups.keys
    rows = rows.select(pl.Series("ranking", groups.of_row), "doc_id", "score")
    if not groups.together:
        rows = rows[np.argsort(groups.of_row, kind="stable")]
    rows = _without_repeats(rows, keys, duplicates)
    judged = qrels.select("query_id").unique(maintain_order=True)
    query = pl.Series(_codes(keys.select("query_id"), judged))
    if queries in {"qrels", "both", "means"} and (query < 0).any():
        rows = rows.filter((query >= 0)[rows["ranking"]])
    number = pl.Series("query", _codes(qrels.select("query_id"), judged))
    table = qrels.select(number, "doc_id", "label").sort("query", maintain_order=True)
    table = table.with_row_index("judgment")
    rows = rows.with_columns(query[rows["ranking"]].alias("query")).join(
        table, on=["query", "doc_id"], how="left", maintain_order="left"
    )
    of_means = queries == "means"
    _warn_of_ids(keys, query, judged, rows, table, of_means=of_means)
    systems, expected = _systems(keys, without_rows), judged
    if of_means:
        present = keys.filter(query >= 0)
        expected = judged.join(present, on="query_id", how="semi", maintain_order="left")
        if systems.height > 1:
            doubts.warn_of_missing_queries(present, systems, expected.height)
    if queries in {"all", "qrels", "means"}:
        lacking = _lacking(keys, systems, expected)
        keys = pl.concat([keys, lacking], rechunk=True)
        query = query.append(pl.Series(_codes(lacking.select("query_id"), judged)))
    return Rankings(keys, query, rows, table)


def _warn_of_ids(  # noqa: PLR0913 - what has been matched
    keys: pl.DataFrame,
    query: pl.Series,
    judged: pl.DataFrame,
    rows: pl.DataFrame,
    table: pl.DataFrame,
    *,
    of_means: bool,
) -> None:
    """Warn of ids that run and qrels do not share, as a whole or for some systems."""
    matched = rows.filter(pl.col("judgment").is_not_null())["ranking"].unique()
    if not matched.len() and (rows.height or table.height):
        doubts.warn_of_strangers(keys, judged, rows, table)
    elif table.height:
        if not of_means:
            doubts.warn_of_systems(keys, query >= 0, "query")
        number = pl.int_range(query.len(), eager=True)
        has_match = number.is_in(matched.implode()).filter(query >= 0)
        doubts.warn_of_systems(keys.filter(query >= 0), has_match, "document of a query")
    doubts.warn_of_forms(keys["query_id"], judged["query_id"], "queries")
    doubts.warn_of_forms(rows["doc_id"], table["doc_id"], "documents")


def _systems(keys: pl.DataFrame, without_rows: Sequence[str]) -> pl.DataFrame:
    """Return the systems of rankings, and those without rows."""
    systems = keys.drop("query_id").unique(maintain_order=True)
    more = pl.DataFrame(dict.fromkeys(systems.columns, without_rows), schema=systems.schema)
    return pl.concat([systems, more]).unique(maintain_order=True) if more.height else systems


def _lacking(keys: pl.DataFrame, systems: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the keys of the rankings that systems lack although their query is judged."""
    pairs = systems.join(judged, how="cross") if systems.width else judged
    return pairs.join(keys, on=keys.columns, how="anti", nulls_equal=True, maintain_order="left")


def _without_repeats(rows: pl.DataFrame, keys: pl.DataFrame, duplicates: str) -> pl.DataFrame:
    """Return the rows without repeated documents of a ranking, or refuse these."""
    if duplicates == "keep":
        return rows
    counts = rows.group_by("ranking").agg(pl.len() - pl.col("doc_id").n_unique())
    repeated = counts.filter(pl.col("len") > 0)
    if not repeated.height:
        return rows
    if duplicates == "best":
        best = rows.sort("ranking", "score", descending=[False, True], maintain_order=True)
        return best.unique(["ranking", "doc_id"], keep="first", maintain_order=True)
    suspects = rows.filter(pl.col("ranking").is_in(repeated["ranking"].implode()))
    twice = suspects.filter(pl.struct("ranking", "doc_id").is_duplicated())
    shown = twice.unique(["ranking", "doc_id"], maintain_order=True).head(checks.SHOWN)
    places = keys[shown["ranking"]].with_columns(shown["doc_id"])
    raise PrframeError(
        "a ranking of the run must hold a document once: "
        f"{repeated['len'].sum()} of {rows.height} rows repeat another, "
        f"for instance {roles.examples(places.rows())}; drop the rows that do not count, "
        "keep the best ones with duplicates='best', "
        "or name the columns that tell the systems apart with system=."
    )
