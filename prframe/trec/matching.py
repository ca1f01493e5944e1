"""Rankings, the judgments of their documents, and the judged documents that they lack."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe.errors import PrframeError, UnmatchedIdsWarning, warn
from prframe.trec import roles
from prframe.trec.grouping import Integers, codes, group

# How many places there are for each judgment.
_BYTES = 16
_PIECE = 1 << 18
# Multiplying by it spreads numbers over all bits.
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Rankings:
    """The rankings, their rows, and the judgments.

    Attributes
    ----------
    keys : DataFrame, one row per ranking
        The system columns and ``query_id``.
    query : the number of each ranking's query in the qrels, -1 where it has no judgments
    rows : DataFrame, one row per retrieved document, sorted by ranking
        ``ranking`` (its number), ``doc_id``, ``score``, ``label``, ``judged``.
    found : DataFrame, one row per row that has a judgment
        ``ranking``, ``judgment`` (row number in `qrels`).
    qrels : DataFrame, one row per judgment, sorted by query
        ``query`` (its number), ``doc_id``, ``label``, ``judgment``.
    """

    keys: pl.DataFrame
    query: Integers
    rows: pl.DataFrame
    found: pl.DataFrame
    qrels: pl.DataFrame

    def unretrieved(self) -> pl.DataFrame:
        """Return what was judged and not retrieved, as rows of the rankings.

        Think of all judgments of the first ranking's query, then all of the second's, and so on:
        this list has a flag for each that is retrieved, and no search is needed.
        """
        n_queries = int(self.query.max(initial=-1)) + 1
        judged = self.qrels["query"].to_numpy()
        edges = np.searchsorted(judged, np.arange(n_queries + 1))
        # A query numbered -1 has no judgments: its edges are those of an empty stretch.
        first, end = np.append(edges[:-1], 0)[self.query], np.append(edges[1:], 0)[self.query]
        size = end - first
        offset = np.cumsum(size) - size - first
        retrieved = np.zeros(int(size.sum()), dtype=np.bool_)
        retrieved[offset[self.found["ranking"].to_numpy()] + self.found["judgment"].to_numpy()] = (
            True
        )
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


def rankings(rows: pl.DataFrame, qrels: pl.DataFrame, queries: str, duplicates: str) -> Rankings:
    """Sort the rows of a run into rankings and give them their labels."""
    keys = rows.drop("doc_id", "score")
    groups = group(keys)
    rows = rows.select(pl.Series("ranking", groups.of_row), "doc_id", "score")
    if not groups.together:
        rows = rows[np.argsort(groups.of_row, kind="stable")]
    rows = _without_repeats(rows, groups.keys, duplicates)
    judged = qrels.select("query_id").unique(maintain_order=True)
    query = codes(groups.keys.select("query_id"), judged)
    if queries in {"qrels", "both"}:
        rows = rows.filter(pl.Series(query >= 0)[rows["ranking"]])
    table = (
        qrels.select(
            pl.Series("query", codes(qrels.select("query_id"), judged)), "doc_id", "label"
        )
        .sort("query", maintain_order=True)
        .with_row_index("judgment")
    )
    found = _judgments(rows, query, table)
    if table.height and not found.height:
        _warn_of_strangers(groups.keys, judged, rows, table)
    label = np.zeros(rows.height, dtype=np.int64 if table["label"].dtype.is_integer() else float)
    label[found["row"]] = found["label"]
    judged_rows = np.zeros(rows.height, dtype=np.bool_)
    judged_rows[found.filter(pl.col("label") >= 0)["row"]] = True
    rows = rows.with_columns(pl.Series("label", label), pl.Series("judged", judged_rows))
    all_keys = groups.keys
    if queries in {"all", "qrels"}:
        lacking = _lacking(groups.keys, judged)
        all_keys = pl.concat([all_keys, lacking])
        query = np.append(query, codes(lacking.select("query_id"), judged))
    return Rankings(all_keys, query, rows, found, table)


def _judgments(rows: pl.DataFrame, query: Integers, table: pl.DataFrame) -> pl.DataFrame:
    """Return the judgments of the rows that have one, with the numbers of these rows.

    Few documents are judged at all, so most rows are told apart by a look at one byte.
    """
    size = 1 << max(16, (_BYTES * table.height).bit_length())
    seen = np.zeros(size, dtype=np.bool_)
    seen[_places(table["doc_id"], table["query"].to_numpy(), size)] = True
    ranking = rows["ranking"].to_numpy()
    found = []
    # Piece by piece, which stays in the cache.
    for start in range(0, rows.height, _PIECE):
        documents = rows["doc_id"].slice(start, _PIECE)
        places = _places(documents, query[ranking[start : start + _PIECE]], size)
        found.append(start + np.flatnonzero(seen[places]))
    perhaps = np.concatenate([np.array([], dtype=np.int64), *found])
    ranking = ranking[perhaps]
    candidates = pl.DataFrame(
        {
            "row": perhaps,
            "ranking": ranking,
            "query": query[ranking],
            "doc_id": rows["doc_id"][perhaps],
        }
    )
    return candidates.join(table, on=["query", "doc_id"], how="inner", maintain_order="left")


def _places(documents: pl.Series, query: Integers, size: int) -> NDArray[np.uint64]:
    """Return a place in 0..size - 1 for each pair of query and document; size is a power of 2."""
    mixed = documents.hash().to_numpy() ^ (query.astype(np.uint64) * _ODD)
    return np.asarray(mixed & np.uint64(size - 1))


def _warn_of_strangers(
    keys: pl.DataFrame, judged: pl.DataFrame, rows: pl.DataFrame, table: pl.DataFrame
) -> None:
    """Say that run and qrels have no query in common, or no document of one."""
    if keys.join(judged, on="query_id", how="semi").is_empty():
        what, ours, theirs = "query", keys["query_id"], judged["query_id"]
    else:
        what = "document of a query"
        ours, theirs = rows["doc_id"], table["doc_id"]
    run = f"the run has {roles.examples(ours.head(2))}" if ours.len() else "the run has no rows"
    warn(
        f"run and qrels have no {what} in common: {run}, "
        f"the qrels have {roles.examples(theirs.head(2))}",
        UnmatchedIdsWarning,
    )


def _lacking(keys: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the keys of the rankings that systems should have, as the query is judged."""
    systems = keys.drop("query_id").unique(maintain_order=True)
    wanted = systems.join(judged, how="cross") if systems.width else judged
    return wanted.join(keys, on=keys.columns, how="anti", nulls_equal=True, maintain_order="left")


def _without_repeats(rows: pl.DataFrame, keys: pl.DataFrame, duplicates: str) -> pl.DataFrame:
    """Refuse, or leave out, documents that stand in a ranking already."""
    counts = rows.group_by("ranking").agg(pl.len() - pl.col("doc_id").n_unique())
    repeated = counts.filter(pl.col("len") > 0)
    if not repeated.height:
        return rows
    suspects = rows.with_row_index("row").filter(
        pl.col("ranking").is_in(repeated["ranking"].implode())
    )
    if duplicates == "best":
        best = suspects.sort("score", descending=True, maintain_order=True).unique(
            ["ranking", "doc_id"], keep="first"
        )
        keep = np.ones(rows.height, dtype=np.bool_)
        keep[suspects["row"]] = False
        keep[best["row"]] = True
        return rows.filter(pl.Series(keep))
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


def interleaved(rows: pl.DataFrame, others: pl.DataFrame, n: int) -> pl.DataFrame:
    """Put behind the rows of each of n rankings the others of that ranking, without sorting."""
    columns = others.columns
    if not others.height:
        return rows.select(columns)
    first, second = rows["ranking"].to_numpy(), others["ranking"].to_numpy()
    place = np.arange(second.size) + np.cumsum(np.bincount(first, minlength=n))[second]
    is_other = np.zeros(first.size + second.size, dtype=np.bool_)
    is_other[place] = True
    merged = {name: _merged(rows[name], others[name], is_other) for name in columns}
    return pl.DataFrame(merged)


def _merged(first: pl.Series, second: pl.Series, is_second: NDArray[np.bool_]) -> pl.Series:
    """Put the values of two columns into their places."""
    if first.dtype.is_numeric() or first.dtype == pl.Boolean:
        values = np.empty(is_second.size, dtype=first.to_numpy().dtype)
        values[is_second] = second.to_numpy()
        values[~is_second] = first.to_numpy()
        return pl.Series(values)
    place = np.cumsum(~is_second, dtype=np.int64) - 1
    place[is_second] = np.arange(first.len(), is_second.size)
    # A gather from many chunks takes several times as long.
    return pl.concat([first, second], rechunk=True)[place]
