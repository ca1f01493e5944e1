"""Match rankings with the judgments of their documents, and warn of what is likely a mistake."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from prframe import checks
from prframe._engine.frames import run_starts
from prframe.errors import (
    MissingQueriesWarning,
    NormalizationWarning,
    PrframeError,
    RankOrderWarning,
    UnmatchedIdsWarning,
    UnretrievedWarning,
    warn,
)
from prframe.trec import roles

Integers = NDArray[np.int32]
_RANK, _SCORE = "prframe: rank", "prframe: score"


@dataclass(frozen=True)
class Groups:
    """Groups of rows: their keys, the number of each row's group, if all are consecutive."""

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
            _warn_of_missing_queries(present, systems, expected.height)
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
        _warn_of_strangers(keys, judged, rows, table)
    elif table.height:
        if not of_means:
            _warn_of_systems(keys, query >= 0, "query")
        number = pl.int_range(query.len(), eager=True)
        has_match = number.is_in(matched.implode()).filter(query >= 0)
        _warn_of_systems(keys.filter(query >= 0), has_match, "document of a query")
    _warn_of_forms(keys["query_id"], judged["query_id"], "queries")
    _warn_of_forms(rows["doc_id"], table["doc_id"], "documents")


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
        "or keep the best ones with duplicates='best'. "
        "If these are several systems, name the columns that tell them apart with system=."
    )


def _warn_of_strangers(
    keys: pl.DataFrame, judged: pl.DataFrame, rows: pl.DataFrame, table: pl.DataFrame
) -> None:
    """Warn that run and qrels have no query in common, or no document of a common query."""
    if keys.join(judged, on="query_id", how="semi").is_empty():
        kind, run_ids, qrels_ids = "query", keys["query_id"], judged["query_id"]
    else:
        kind = "document of a query"
        run_ids, qrels_ids = rows["doc_id"], table["doc_id"]
    run, judgments = (
        roles.examples(ids.head(2)) if ids.len() else "no rows" for ids in (run_ids, qrels_ids)
    )
    warn(
        f"run and qrels have no {kind} in common: the run has {run}, the qrels have {judgments}",
        UnmatchedIdsWarning,
    )


def _warn_of_systems(keys: pl.DataFrame, known: pl.Series, what: str) -> None:
    """Warn of systems none of whose rankings is known to have something, unlike others."""
    names = keys.columns[:-1]
    if not names:
        return
    systems = keys.select(names).unique(maintain_order=True)
    with_some = keys.filter(known).select(names)
    strange = systems.join(
        with_some, on=names, how="anti", nulls_equal=True, maintain_order="left"
    )
    if strange.height:
        warn(
            f"{strange.height} of {systems.height} systems have no {what} in common with the "
            f"qrels: {roles.examples(_names(strange))}",
            UnmatchedIdsWarning,
        )


def _warn_of_missing_queries(keys: pl.DataFrame, systems: pl.DataFrame, n_judged: int) -> None:
    """Warn of systems that lack judged queries; `keys` are those of the rankings they have."""
    names, number = systems.columns, n_judged - pl.col("len").fill_null(0).cast(pl.Int64)
    there = keys.group_by(names).len()
    lacking = systems.join(there, on=names, how="left", nulls_equal=True, maintain_order="left")
    lacking = lacking.with_columns(len=number).filter(pl.col("len") > 0)
    if lacking.height:
        numbers = zip(_names(lacking.drop("len")), lacking["len"], strict=False)
        listed = [f"{name!r} lacks {number} of {n_judged}" for name, number in numbers]
        more = lacking.height - len(listed)
        warn(
            f"{lacking.height} of {systems.height} runs lack judged queries, which count as 0 in "
            f"their means: {', '.join(listed)}{f', and {more} more runs' if more else ''}",
            MissingQueriesWarning,
        )


def warn_of_unretrieved(score: pl.Series) -> None:
    """Warn of documents of a run that count as not retrieved."""
    if score.dtype.is_float() and (number := (score == -float("inf")).sum()):
        warn(
            f"{number} of {score.len()} rows of the run have the score -inf, which stands for "
            "documents that were not retrieved, so that they are not ranked. If -inf is the "
            "logarithm of 0, clip the scores from below; if they were not retrieved, drop them, "
            "or ignore UnretrievedWarning.",
            UnretrievedWarning,
        )


def _names(systems: pl.DataFrame) -> Sequence[object]:
    """Return the names of the first systems, tuples where several columns tell them apart."""
    shown = systems.head(checks.SHOWN)
    return shown.to_series().to_list() if shown.width == 1 else shown.rows()


def warn_of_ranks(keys: pl.DataFrame, rank: pl.Series, score: pl.Series) -> None:
    """Warn of two rows of a ranking that follow each other, but not by their ranks."""
    # Scores that 32-bit floats cannot tell apart are ties, as in trec_eval.
    rows = keys.with_columns(
        rank.cast(pl.Float64).alias(_RANK), score.cast(pl.Float32).alias(_SCORE)
    )
    same = pl.all_horizontal(
        pl.col(name).eq_missing(pl.col(name).shift()) for name in keys.columns
    )
    against = pl.col(_RANK).diff() * pl.col(_SCORE).diff()
    contradicts = same & (against > 0) & against.is_not_nan()
    place = rows.lazy().select(pl.arg_where(contradicts).first()).collect().item()
    if place is not None:
        (low, high), (worse, better) = (
            column.slice(place - 1, 2).to_list() for column in (rank, score)
        )
        warn(
            "the ranks of the run contradict its scores, which alone decide: for query "
            f"{keys['query_id'][place]!r} rank {low:.0f} has the score {worse:g}, and rank "
            f"{high:.0f} the score {better:g}. If the ranks are right, write their negatives as "
            "scores.",
            RankOrderWarning,
        )


def _warn_of_forms(run: pl.Series, judged: pl.Series, role: str) -> None:
    """Warn of ids that are equal once their Unicode is normalised, of which one is judged."""
    if judged.dtype != pl.String or run.dtype != pl.String:
        return
    marked = judged.filter(_is_marked(judged))
    if not marked.len():
        return
    ids = pl.concat([marked, run.filter(_is_marked(run))]).unique(maintain_order=True)
    forms = pl.DataFrame({"id": ids, "form": ids.str.normalize("NFC")})
    alike = (
        forms.group_by("form", maintain_order=True).agg("id").filter(pl.col("id").list.len() > 1)
    )
    if alike.height:
        shown = " and ".join(ascii(text) for text in alike["id"][0])
        warn(
            f"{alike.height} ids of {role} occur in several forms of Unicode, such as {shown}, "
            "and count as different. Normalise them, for example with str.normalize('NFC').",
            NormalizationWarning,
        )


def _is_marked(ids: pl.Series) -> pl.Series:
    """Return which ids have characters that are not ASCII."""
    return ids.str.len_bytes() != ids.str.len_chars()
