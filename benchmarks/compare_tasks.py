"""Comparisons of models over queries: what is timed, here and elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks.compare_peer import compared_by_ranx, ranx_objects
from benchmarks.comparisons import Runs, family, runs
from benchmarks.data import SEED
from benchmarks.measurement import Answer
from benchmarks.tasks import Work
from prframe.stats import paired_randomization

Floats: TypeAlias = NDArray[np.float64]

METRICS = ("AP", "nDCG@10")
# As ranx calls them, and what comes nearest here.
TESTS: dict[str, dict[str, Any]] = {
    "student": {"test": "t", "correction": None},
    "fisher": {"method": "sampled", "n_resamples": 1000, "correction": None},
    "convolution": {"correction": None},
}


def compare_models(metrics: Sequence[str], options: dict[str, Any], **size: int) -> Work:
    frame = runs(**size).labelled()
    return Work(lambda: compared(frame, metrics, options), _means)


def compare_few_values(systems: int, queries: int) -> Work:
    """Compare systems that find three relevant documents among 30, often at the same ranks."""
    rng, documents = np.random.default_rng(SEED), 30
    relevant = np.arange(documents) < 3
    worth = relevant * rng.normal(4, 0.5, (queries, 1))
    alike = rng.normal(size=(queries, documents))
    own = rng.normal(size=(systems, queries, documents))
    grade = 1 + 0.1 * np.arange(systems)[:, None, None] / systems
    score = grade * worth + 0.95 * alike + 0.31 * own
    model, query, _ = np.indices(score.shape)
    columns = {"system": model, "query_id": query, "score": score}
    frame = pl.DataFrame({name: values.ravel() for name, values in columns.items()})
    label = pl.Series("label", np.tile(relevant, systems * queries))
    return Work(lambda: compared(frame.with_columns(label), ["AP"], {}), _means)


def compare_items(items: int, prevalence: float, metric: str = "AP") -> Work:
    """Compare two models on the same items."""
    rng = np.random.default_rng(SEED)
    label = rng.random(items) < prevalence
    quality = label + rng.normal(size=items)
    scores = {name: quality + rng.normal(0, 0.5, items) for name in "ab"}
    frame = pl.DataFrame(scores | {"label": label})
    options: dict[str, Any] = {"score": ["a", "b"], "over": None, "rng": SEED}
    return Work(lambda: prframe.compare(frame, metric, **options), _means)


def compare_floor(metrics: Sequence[str], **size: int) -> Work:
    """Evaluate alone, the same rows."""
    frame = runs(**size).labelled()
    return Work(lambda: prframe.evaluate(frame, list(metrics), by=["system", "query_id"]))


def compare_arrays(law: str, draws: int, **size: int) -> Work:
    """Return the p-values of all pairs, from one value per system and query."""
    values = _values(**size)

    def call() -> Floats:
        pairs, rng = family(values), np.random.default_rng(SEED)
        if law == "convolution":
            tests = [paired_randomization(differences) for differences in pairs.sums.T]
            return np.array([one.p_value for one in tests])
        return pairs.max_t(draws, rng, "two-sided").p_values

    return Work(call, lambda found: {"rows": found.size, "p": float(found.mean())})


def _values(**size: int) -> Floats:
    """Return AP, a row per system."""
    found = prframe.evaluate(runs(**size).labelled(), "AP", by=["system", "query_id"])
    wide = found.pivot("system", index="query_id", values="AP")
    return wide.drop("query_id").to_numpy().T


def compare_named(folder: str, test: str) -> Work:
    """Compare by one of `TESTS`."""
    frame = Runs.read(folder).labelled()
    return Work(lambda: compared(frame, METRICS, TESTS[test]), _means)


def compare_by_ranx(folder: str, test: str) -> Work:
    made = Runs.read(folder)
    of_ranx = ranx_objects(made.retrieved, made.judged)
    return Work(lambda: compared_by_ranx(*of_ranx, test))


def compared(frame: pl.DataFrame, metrics: Sequence[str], options: dict[str, Any]) -> pl.DataFrame:
    """Compare all pairs of systems."""
    return prframe.compare(frame, list(metrics), model="system", **options)


def make_runs(folder: str, **size: int) -> Work:
    """Write runs and judgments to files."""

    made = runs(**size)
    return Work(lambda: made.write(folder))


def _means(found: pl.DataFrame) -> Answer:
    """Return the number of rows, and means that tell one result from another."""
    means = found.select(pl.col("mean_a", "p_value").mean()).row(0, named=True)
    return {"rows": found.height, **means}


TASKS: dict[str, Callable[..., Work]] = {
    task.__name__: task
    for task in (
        compare_arrays,
        compare_by_ranx,
        compare_few_values,
        compare_floor,
        compare_items,
        compare_models,
        compare_named,
        make_runs,
    )
}
