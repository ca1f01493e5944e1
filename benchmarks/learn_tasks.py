"""Rankers: what is timed, here and elsewhere."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.data import SEED
from benchmarks.tasks import Work
from prframe.learn import RankStatisticRanker

Floats: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]


def rank_statistic(rule: str, n: int, solver: str) -> Work:
    features, labels = _sample(rule, n)
    ranker = RankStatisticRanker("p-norm-push", rule, solver=solver, random_state=SEED)
    return Work(
        lambda: ranker.fit(features, labels),
        lambda found: {"criterion": found.criterion_, "iterations": found.n_iter_},
    )


def logistic(rule: str, n: int) -> Work:
    features, labels = _sample(rule, n)
    first, second = np.triu_indices(features.shape[1])

    def call() -> LogisticRegression:
        columns = features if rule == "linear" else features[:, first] * features[:, second]
        return LogisticRegression(max_iter=1000).fit(columns, labels)

    return Work(call)


def _sample(rule: str, n: int, d: int = 15) -> tuple[Floats, Labels]:
    """Draw two normal classes, by turns."""
    rng = np.random.default_rng(SEED)
    labels = np.arange(n) % 2
    features = rng.normal(size=(n, d))
    if rule == "linear":
        return features + 0.2 * labels[:, None], labels
    return features * np.where(labels, 1.2, 1.0)[:, None], labels


TASKS: dict[str, Callable[..., Work]] = {
    task.__name__: task for task in (logistic, rank_statistic)
}
