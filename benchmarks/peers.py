"""The same work done by other packages, each the way that is quickest from a polars frame.

Those that want nested dictionaries get items named by their position in the group: the strings
are made once, which spares the peer the cost of real identifiers.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias, Unpack

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED, Data, rows
from benchmarks.tasks import Work, means

Peer: TypeAlias = Callable[[pl.DataFrame], pl.DataFrame]
Nested: TypeAlias = dict[str, dict[str, float]]


def pytrec_eval() -> Peer:
    from pytrec_eval import RelevanceEvaluator  # noqa: PLC0415

    names = {"map": "AP", "ndcg_cut_10": "nDCG@10", "recip_rank": "RR", "P_10": "P@10"}

    def values(frame: pl.DataFrame) -> pl.DataFrame:
        run, relevant = nested(frame)
        found = RelevanceEvaluator(relevant, set(names)).evaluate(run)
        return table(found, pl.DataFrame(list(found.values())).rename(names))

    return values


def ranx(metrics: tuple[str, ...] = ("map", "ndcg@10", "mrr", "precision@10")) -> Peer:
    from ranx import (  # noqa: PLC0415
        Qrels,
        Run,
        evaluate as ranx_evaluate,
    )

    names = {"map": "AP", "ndcg@10": "nDCG@10", "mrr": "RR", "precision@10": "P@10"}

    def values(frame: pl.DataFrame) -> pl.DataFrame:
        run, relevant = nested(frame)
        theirs = Run.from_dict(run)
        ranx_evaluate(Qrels.from_dict(relevant), theirs, list(metrics))
        found = {names[name]: list(of.values()) for name, of in theirs.scores.items()}
        return table(theirs.scores["map"], pl.DataFrame(found))

    return values


def nested(frame: pl.DataFrame) -> tuple[Nested, dict[str, dict[str, int]]]:
    """Return group -> item -> score, and group -> item -> label."""
    lists = frame.group_by("group", maintain_order=True).agg(
        "score", pl.col("label").cast(pl.Int64)
    )
    items = [str(i) for i in range(lists["score"].list.len().max())]  # type: ignore[arg-type]
    run, relevant = {}, {}
    for group, scores, labels in lists.iter_rows():
        run[str(group)] = dict(zip(items, scores, strict=False))
        relevant[str(group)] = dict(zip(items, labels, strict=False))
    return run, relevant


def table(groups: Iterable[object], values: pl.DataFrame) -> pl.DataFrame:
    """Put the names of the groups beside their values."""
    return values.insert_column(0, pl.Series("group", list(groups)))


def polarbearings() -> Peer:
    from polarbearings import average_precision, ndcg_score  # noqa: PLC0415

    wanted = {
        "AP": average_precision("label", "score"),
        "nDCG@10": ndcg_score("label", "score", k=10),
    }
    return lambda frame: frame.group_by("group", maintain_order=True).agg(**wanted)


def scikit_learn() -> Peer:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    def values(frame: pl.DataFrame) -> pl.DataFrame:
        parts = frame.partition_by("group", as_dict=True)
        found = [
            average_precision_score(part["label"].to_numpy(), part["score"].to_numpy())
            for part in parts.values()
        ]
        return pl.DataFrame({"group": [group for (group,) in parts], "AP": found})

    return values


PEERS: dict[str, Callable[[], Peer]] = {
    peer.__name__: peer for peer in (polarbearings, pytrec_eval, ranx, scikit_learn)
}


def evaluate_by_peer(peer: str, **data: Unpack[Data]) -> Work:
    values = PEERS[peer]()
    frame = rows(**data)
    return Work(lambda: values(frame), means)


def scikit_learn_one_group(**data: Unpack[Data]) -> Work:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    frame = rows(**data)

    def call() -> float:
        return float(average_precision_score(frame["label"].to_numpy(), frame["score"].to_numpy()))

    return Work(call, lambda value: {"rows": 1, "AP": value})


def ir_measures() -> Peer:
    import ir_measures as measures  # noqa: PLC0415

    def values(frame: pl.DataFrame) -> pl.DataFrame:
        run, relevant = nested(frame)
        found = measures.iter_calc([measures.AP], relevant, run)
        return pl.DataFrame(
            [(one.query_id, one.value) for one in found], ["group", "AP"], orient="row"
        )

    return values


# Tools whose AP of every group of every model is timed on data that grow.
TOOLS: dict[str, Callable[[], Peer]] = {
    "prframe": lambda: lambda frame: prframe.evaluate(frame, "AP", by="group"),
    "scikit-learn": scikit_learn,
    "ir_measures": ir_measures,
    "ranx": lambda: ranx(("map",)),
}


def grow(tool: str, rows: int, groups: int, models: int, share: float) -> Work:
    """Compute AP of so many groups for each of the models, `rows` rows in all."""
    values = TOOLS[tool]()
    frame = _growing(rows, groups, models, share)
    if tool == "prframe":
        return Work(lambda: prframe.evaluate(frame, "AP", by=["model", "group"]), means)
    parts = frame.partition_by("model", maintain_order=True)
    return Work(lambda: pl.concat([values(part).select("AP") for part in parts]), means)


def _growing(rows: int, groups: int, models: int, share: float) -> pl.DataFrame:
    """Return rows in which the groups are the same for all models, and the scores differ."""
    rng = np.random.default_rng(SEED)
    of_model = rows // models
    label = rng.random(of_model) < share
    # Every group has a positive, so that all tools have a value.
    group = np.arange(of_model) * groups // of_model
    label[np.flatnonzero(np.diff(group, prepend=-1))] = True
    return pl.DataFrame(
        {
            "model": np.repeat(np.arange(models), of_model),
            "group": np.tile(group, models),
            "score": rng.random(of_model * models) + 0.2 * np.tile(label, models),
            "label": np.tile(label, models),
        }
    )
