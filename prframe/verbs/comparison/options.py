"""The arguments of verbs that compare models: the models, the items and the pairs."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, cast

import numpy as np
import polars as pl

from prframe import checks, hints
from prframe._engine.arguments import Arguments
from prframe.errors import ArgumentError, PrframeError
from prframe.tie_policies import BLOCKS
from prframe.typing import Columns, Schema
from prframe.verbs._plan import Accepts
from prframe.verbs._verb import score_columns


def model_arguments(
    score: Columns,
    label: str,
    shared: Any,  # noqa: ANN401
    *,
    model: str | None = None,
    cluster: str | None = None,
    judged: str | None = None,
) -> Arguments:
    """Check the shared arguments of a verb that compares models, and those that name models."""
    scores = [score] if isinstance(score, str) else _scores(score, model)
    args = Arguments(scores[0], label, judged=judged, **shared)
    column = None if len(scores) > 1 else "model" if model is None else model
    if column in args.keys:
        raise ArgumentError(
            f"`model` and `by` both name {column!r}; models are compared within a group."
        )
    return replace(args, cluster=cluster, model=column, further_scores=tuple(scores[1:]))


def require_items(name: str, args: Arguments) -> None:
    """Refuse rows of models that cannot be matched."""
    if not args.further_scores and args.item is None:
        raise ArgumentError(
            f"{name} matches the rows of models by their items; name their column with item=, or "
            "give the score columns of all models as a list in `score`."
        )


def on_same_items(name: str) -> Accepts:
    """Return the arguments under which each model ranks the same items."""
    return Accepts(name, whole_items="compares", ties=BLOCKS, clusters_of_items=True)


def _scores(score: Columns, model: str | None) -> list[str]:
    """Return the columns of scores, two or more, which alone tell the models apart."""
    scores = score_columns(score)
    if model is not None:
        raise ArgumentError(
            "`score` names a column for each model, and `model` a column that tells them; "
            "leave one of them out."
        )
    return scores


def with_models(args: Arguments, columns: Schema) -> Callable[[Schema], Schema]:
    """Put the columns ``model_a`` and ``model_b`` before those of a result."""

    def schema(source: Schema) -> Schema:
        dtype = pl.String() if args.model is None else source[args.model]
        return {"model_a": dtype, "model_b": dtype} | dict(columns)

    return schema


def model_pairs(models: Sequence[Any], baseline: object) -> list[tuple[int, int]]:
    """Return the pairs: every pair of models, or each other model with every baseline."""
    if not models:
        return []
    if len(models) == 1:
        raise PrframeError(f"a comparison takes two models or more; got {models[0]!r} alone.")
    if baseline is None:
        return list(combinations(range(len(models)), 2))
    baseline = checks.plain(baseline) if np.ndim(cast("Any", baseline)) == 0 else baseline
    several = isinstance(baseline, Iterable) and not isinstance(baseline, (str, bytes))
    listed = list(cast("Iterable[object]", baseline)) if several else [baseline]
    plain = [checks.plain(name) for name in listed]
    known = set(models)
    for name in plain:
        # pandas.NA has no truth value that a list could look for.
        if not isinstance(name, Hashable) or name not in known:
            hint = hints.did_you_mean(name, models)
            shown = checks.brief(list(models))
            raise PrframeError(f"`baseline` must name models out of {shown}; got {name!r}.{hint}")
    if not plain or len(set(plain)) == len(models) or len(set(plain)) < len(plain):
        raise PrframeError(
            "`baseline` must name one model or more, each once, and leave one to compare with; "
            f"got {checks.brief(baseline)}."
        )
    others = [i for i, name in enumerate(models) if name not in plain]
    return [(other, models.index(name)) for name in plain for other in others]
