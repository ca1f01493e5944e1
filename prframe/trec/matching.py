"""Match rankings with the judgments of their documents, and find the judged ones they lack."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.trec import doubts, roles
from prframe.trec.grouping import Integers, codes, group

Counts = NDArray[np.signedinteger]


@dataclass(frozen=True)
class Rankings:
    """Rankings, their rows, and the judgments.

    Attributes
    ----------
    keys : DataFrame, one row per ranking
        The system columns and ``query_id``.
    sizes : ndarray of int, one per ranking
        The number of its rows.
    first_judgments, n_judgments : ndarray of int, one per ranking
        Where the judgments of its query begin in `qrels`, and how many there are.
    rows : DataFrame, one row per retrieved document, sorted by ranking
        ``doc_id``, ``score``.
    matches : DataFrame, one row per row that has a judgment
        ``row`` and ``ranking`` (their numbers), ``judgment`` (row number in `qrels`), ``label``.
    qrels : DataFrame, one row per judgment, sorted by query
        ``doc_id``, ``label``.
    """

    keys: pl.DataFrame
    sizes: Counts
    first_judgments: Counts
    n_judgments: Counts
    rows: pl.DataFrame
    matches: pl.DataFrame
    qrels: pl.DataFrame

    def retrieved(self) -> pl.DataFrame:
        """Return the rows with the number of their ranking, their label, and if it is judged."""
        row, labels = self.matches["row"].to_numpy(), self.matches["label"].to_numpy()
        label, judged = (np.zeros(self.rows.height, dtype) for dtype in (labels.dtype, np.bool_))
        label[row], judged[row] = labels, labels >= 0
        ranking = np.repeat(np.arange(self.sizes.size, dtype=np.int32), self.sizes)
        return self.rows.select(
            pl.Series("ranking", ranking),
            "doc_id",
            "score",
            pl.Series("label", label),
            pl.Series("judged", judged),
        )

    def unretrieved(self) -> pl.DataFrame:
        """Return the judged documents that were not retrieved, as rows of the rankings.

        A list of flags stands for all judgments of the first ranking's query, then all of the
        second's, and so on. It marks the judgments whose documents were retrieved, so that no
        search is needed.
        """
        size = self.n_judgments
        offset = np.cumsum(size) - size - self.first_judgments
        retrieved = np.zeros(int(size.sum()), dtype=np.bool_)
        columns = ("ranking", "judgment")
        matched_ranking, matched_judgment = (self.matches[name].to_numpy() for name in columns)
        retrieved[offset[matched_ranking] + matched_judgment] = True
        place = np.flatnonzero(~retrieved)
        ranking = np.repeat(np.arange(size.size, dtype=np.int32), size)[place]
        judgments: pl.DataFrame = self.qrels[place - offset[ranking]]
        return judgments.select(
            pl.Series("ranking", ranking),
            "doc_id",
            pl.lit(-np.inf).alias("score"),
            "label",
            (pl.col("label") >= 0).alias("judged"),
        )


def rankings(
    rows: pl.DataFrame,
    qrels: pl.DataFrame,
    queries: str,
    duplicates: str,
    without_rows: Sequence[str] = (),
) -> Rankings:
    """Sort the rows of a run into rankings and give them their labels.

    `without_rows` are the names of further systems.
    """
    keys = rows.drop("doc_id", "score")
    groups = group(keys)
    # The ids of queries become like those of the qrels once there is only one for each ranking.
    groups = replace(groups, keys=groups.keys.cast({"query_id": qrels.schema["query_id"]}))
    rows = rows.select(pl.Series("ranking", groups.of_row), "doc_id", "score")
    if not groups.together:
        rows = rows[np.argsort(groups.of_row, kind="stable")]
    rows = _without_repeats(rows, groups.keys, duplicates)
    judged = qrels.select("query_id").unique(maintain_order=True)
    query = codes(groups.keys.select("query_id"), judged)
    systems = _systems(groups.keys, without_rows)
    of_means = queries == "means"
    if queries in {"qrels", "both", "means"} and (query < 0).any():
        rows = rows.filter(pl.Series(query >= 0)[rows["ranking"]])
    table = (
        qrels.select(
            pl.Series("query", codes(qrels.select("query_id"), judged)), "doc_id", "label"
        )
        .sort("query", maintain_order=True)
        .with_row_index("judgment")
    )
    matches = _judgments(rows, query, table)
    if not matches.height and (rows.height or table.height):
        doubts.warn_of_strangers(groups.keys, judged, rows, table)
    elif table.height:
        shared = query >= 0
        if not of_means:
            doubts.warn_of_systems(groups.keys, shared, "query")
        has_match = np.zeros(query.size, dtype=np.bool_)
        has_match[matches["ranking"].unique()] = True
        of_shared = groups.keys.filter(pl.Series(shared))
        doubts.warn_of_systems(of_shared, has_match[shared], "document of a query")
    doubts.warn_of_forms(groups.keys["query_id"], judged["query_id"], "queries")
    doubts.warn_of_forms(rows["doc_id"], table["doc_id"], "documents")
    all_keys, expected = groups.keys, judged
    if of_means:
        present = groups.keys.filter(pl.Series(query >= 0))
        expected = judged.join(present, on="query_id", how="semi", maintain_order="left")
        if systems.height > 1:
            doubts.warn_of_missing_queries(present, systems, expected.height)
    if queries in {"all", "qrels", "means"}:
        lacking = _lacking(groups.keys, systems, expected)
        all_keys = pl.concat([all_keys, lacking], rechunk=True)
        query = np.append(query, codes(lacking.select("query_id"), judged))
    n_judgments = np.bincount(table["query"].to_numpy())
    first_judgments = np.cumsum(n_judgments) - n_judgments
    # Numbers of another dtype would have a copy of the column made.
    numbers = np.arange(all_keys.height + 1, dtype=groups.of_row.dtype)
    # A query numbered -1 has no judgments: it is given the last of these numbers, a 0.
    return Rankings(
        all_keys,
        np.diff(np.searchsorted(rows["ranking"].to_numpy(), numbers)),
        np.append(first_judgments, 0)[query],
        np.append(n_judgments, 0)[query],
        rows.drop("ranking"),
        matches,
        table.select("doc_id", "label"),
    )


def _judgments(rows: pl.DataFrame, query: Integers, table: pl.DataFrame) -> pl.DataFrame:
    """Return the judgments of the rows that have one, with the numbers of these rows."""
    of_row = rows.select("ranking", "doc_id", query=pl.Series(query)[rows["ranking"]])
    return of_row.with_row_index("row").join(table, on=["query", "doc_id"], maintain_order="left")


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
