"""AP of every group of every model, here and elsewhere, on data that grow."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl

import prframe
from benchmarks.data import SEED
from benchmarks.measurement import Answer
from benchmarks.peers import nested
from benchmarks.tasks import Work

# From the rows of one model to the AP of its groups.
Tool: TypeAlias = Callable[[pl.DataFrame], list[float]]


def grow(tool: str, rows: int, groups: int, models: int, share: float) -> Work:
    """Compute AP of so many groups for each of the models, `rows` rows in all."""
    values = TOOLS[tool]()
    frame = _frame(rows, groups, models, share)
    if tool == "prframe":
        of_all = partial(prframe.evaluate, frame, "AP", by=["model", "group"])
        return Work(of_all, lambda result: _mean(result["AP"].to_list()))
    parts = frame.partition_by("model", maintain_order=True)
    return Work(lambda: [value for part in parts for value in values(part)], _mean)


def _frame(rows: int, groups: int, models: int, share: float) -> pl.DataFrame:
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


def _mean(values: list[float]) -> Answer:
    return {"groups": len(values), "AP": float(np.mean(values))}


def _prframe() -> Tool:
    return lambda rows: prframe.evaluate(rows, "AP", by="group")["AP"].to_list()


def _scikit_learn() -> Tool:
    from sklearn.metrics import average_precision_score  # noqa: PLC0415

    def values(rows: pl.DataFrame) -> list[float]:
        return [
            float(average_precision_score(part["label"].to_numpy(), part["score"].to_numpy()))
            for part in rows.partition_by("group")
        ]

    return values


def _ir_measures() -> Tool:
    import ir_measures  # noqa: PLC0415

    def values(rows: pl.DataFrame) -> list[float]:
        run, relevant = nested(rows)
        return [each.value for each in ir_measures.iter_calc([ir_measures.AP], relevant, run)]

    return values


def _ranx() -> Tool:
    from ranx import Qrels, Run, evaluate  # noqa: PLC0415

    def values(rows: pl.DataFrame) -> list[float]:
        run, relevant = nested(rows)
        theirs: Any = Run.from_dict(run)
        evaluate(Qrels.from_dict(relevant), theirs, "map")
        return [float(value) for value in theirs.scores["map"].values()]

    return values


TOOLS: dict[str, Callable[[], Tool]] = {
    "prframe": _prframe,
    "scikit-learn": _scikit_learn,
    "ir_measures": _ir_measures,
    "ranx": _ranx,
}
TASKS: dict[str, Callable[..., Work]] = {"grow": grow}
