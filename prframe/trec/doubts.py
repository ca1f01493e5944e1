"""What in a run and its judgments is likely to be a mistake: one warning of each kind."""

from collections.abc import Sequence

import polars as pl

from prframe import checks
from prframe.errors import (
    MissingQueriesWarning,
    NormalizationWarning,
    RankOrderWarning,
    UnmatchedIdsWarning,
    UnretrievedWarning,
    warn,
)
from prframe.trec import roles

_RANK, _SCORE = "prframe: rank", "prframe: score"


def warn_of_strangers(
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


def warn_of_systems(keys: pl.DataFrame, known: pl.Series, what: str) -> None:
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


def warn_of_missing_queries(keys: pl.DataFrame, systems: pl.DataFrame, n_judged: int) -> None:
    """Warn of systems that lack judged queries; `keys` are those of the rankings they have."""
    names, number = systems.columns, n_judged - pl.col("len").fill_null(0).cast(pl.Int64)
    there = keys.group_by(names).len()
    lacking = systems.join(there, on=names, how="left", nulls_equal=True, maintain_order="left")
    lacking = lacking.with_columns(len=number).filter(pl.col("len") > 0)
    if lacking.height:
        numbers = zip(_names(lacking.drop("len")), lacking["len"], strict=False)
        listed = [f"{name!r} {number}" for name, number in numbers]
        more = lacking.height - len(listed)
        warn(
            f"{lacking.height} of {systems.height} runs lack some of the {n_judged} judged "
            f"queries that others have, which count as 0: {', '.join(listed)}"
            f"{f', and {more} more runs' if more else ''}",
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


def warn_of_forms(run: pl.Series, judged: pl.Series, role: str) -> None:
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
