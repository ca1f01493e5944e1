"""Match rankings with the judgments of their documents, and find the judged ones they lack."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from prframe import checks
from prframe.errors import PrframeError
from prframe.trec import doubts, roles
from prframe.trec.grouping import codes, group


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
        ``ranking``, ``doc_id``, ``score``, and ``label`` and ``judgment`` (row number in `qrels`),
        which are null without a judgment.
    qrels : DataFrame, one row per judgment, sorted by query
        ``judgment``, ``query``, ``doc_id``, ``label``.
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
        return judged.join(
            there, on=["ranking", "judgment"], how="anti", maintain_order="left"
        ).select(
            "ranking",
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
    groups = group(rows.drop("doc_id", "score"))
    # The ids of queries become like those of the qrels once there is only one for each ranking.
    groups = replace(groups, keys=groups.keys.cast({"query_id": qrels.schema["query_id"]}))
    keys = groups.keys
    rows = rows.select(pl.Series("ranking", groups.of_row), "doc_id", "score")
    if not groups.together:
        rows = rows[np.argsort(groups.of_row, kind="stable")]
    rows = _without_repeats(rows, keys, duplicates)
    judged = qrels.select("query_id").unique(maintain_order=True)
    query = pl.Series(codes(keys.select("query_id"), judged))
    if queries in {"qrels", "both", "means"} and (query < 0).any():
        rows = rows.filter((query >= 0)[rows["ranking"]])
    number = pl.Series("query", codes(qrels.select("query_id"), judged))
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
        query = query.append(pl.Series(codes(lacking.select("query_id"), judged)))
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
