"""Join runs with the judgments of humans, for some queries, and of a machine, for all."""

from typing import Any

import polars as pl

from prframe._engine import frames
from prframe._engine.rows import in_groups
from prframe._preparation.results import whole
from prframe.errors import PrframeError
from prframe.trec import roles, sources
from prframe.trec.joining import join
from prframe.trec.sources import AnyRuns, Qrels

_PAIR = ["query_id", "doc_id"]


def join_both(
    run: AnyRuns,
    qrels: Qrels,
    predicted: Qrels,
    **options: Any,  # noqa: ANN401 - those of `join`
) -> pl.DataFrame:
    """Return the rows of `join` by the machine's labels, in the column ``predicted``.

    The column ``label`` has those of humans, null for all documents of queries that they have not
    judged. As elsewhere, a document that a judge of its query does not list is not relevant.
    """
    human, machine = _judgments(qrels), _judgments(predicted)
    alone = human.join(machine, on="query_id", how="anti")["query_id"].unique().sort()
    if alone.len():
        raise PrframeError(
            "the machine must have judged every query of the qrels: it has no label for "
            f"{alone.len()}{in_groups([(query,) for query in alone])}; add its labels."
        )
    unlisted = human.join(machine, on=_PAIR, how="anti").with_columns(label=pl.lit(0))
    listed = pl.concat([machine, unlisted], how="vertical_relaxed")
    joined, _ = whole(join(run, listed, **options), "runs")
    rows = joined.rename({"label": "predicted"}).join(
        human, on=_PAIR, how="left", maintain_order="left"
    )
    is_judged = pl.col("query_id").is_in(human["query_id"].implode())
    label = pl.when(is_judged).then(pl.col("label").fill_null(0))
    return rows.with_columns(label).drop("judged")


def _judgments(qrels: Qrels) -> pl.DataFrame:
    """Return judgments under the names that results have."""
    frame, names = frames.named(sources.qrels_frame(qrels))
    found = roles.of_qrels(names)
    rows = frames.source(frame, found.columns).whole()
    return rows.select(query_id=found.query, doc_id=found.document, label=found.value)
