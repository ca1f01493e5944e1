"""The null distribution of AP: what is timed, here and elsewhere."""

import os
import tempfile
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

import prframe
from benchmarks import rankings
from benchmarks.data import SEED
from benchmarks.measurement import Answer
from benchmarks.tasks import Work, means
from prframe.stats import ap_null_moments

Floats: TypeAlias = NDArray[np.float64]

# p = .01 for 25 positives among 500 items.
RARE = (500, 25, 0.12278)
_TOTALS = {"n_pos": "n_pos", "n_neg": "n_neg"}


def null_moments(pairs: int) -> Work:
    n, n_pos = _pairs(pairs)
    return Work(lambda: ap_null_moments(n, n_pos))


def harmonic_numbers(pairs: int) -> Work:
    """Compute what no formula for mean and variance can do without."""
    from scipy.special import psi, zeta  # noqa: PLC0415

    n = _pairs(pairs)[0] + 1.0
    return Work(lambda: (psi(n), zeta(2.0, n)))


def _pairs(pairs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers of items up to a million, and of positives among them."""
    rng = np.random.default_rng(SEED)
    n = rng.integers(1, 1_000_000, pairs)
    return n, rng.integers(1, n + 1)


def null_test(data: str, **size: int) -> Work:
    frame, options = _frame(data, **size)
    return Work(lambda: prframe.ap_test(frame, **options), _tested)


def null_floor(data: str, **size: int) -> Work:
    """Compute AP alone, of the same rows."""
    frame, options = _frame(data, **size)
    if over := options.pop("over", None):
        options["by"] = [options["by"], over]
    return Work(lambda: prframe.evaluate(frame, "AP", **options), means)


def _frame(data: str, **size: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return rows, and how they are told to the verbs."""
    if data == "vaswani":
        options = {"ties": "trec", "item": "doc_id", **_TOTALS}
        return rankings.vaswani(**size), {"by": ["system", "query_id"], **options}
    if data == "tied_queries":
        return rankings.tied_queries(**size), {"by": "system", "over": "group"}
    if data == "rare":
        return rankings.rare(*RARE), {"by": "group"}
    frame: pl.DataFrame = getattr(rankings, data)(*size.values())
    return frame, {"by": "group", **(_TOTALS if data == "retrieved" else {})}


def _tested(found: pl.DataFrame) -> Answer:
    p_values = found["p_value"].drop_nulls()
    return {"rows": found.height, "log10 p": float(p_values.log10().mean())}  # type: ignore[arg-type]


def null_test_by_copairs(data: str, draws: int, **size: int) -> Work:
    """From the same frame to p-values: rank, AP, and Monte Carlo for each number of positives.

    The package keeps what it has drawn in the home directory: every call gets one of its own.
    """
    frame, _ = _frame(data, **size)
    from copairs import compute  # noqa: PLC0415

    return Work(lambda: copairs_p_values(compute, frame, draws, SEED))


def copairs_p_values(compute: ModuleType, frame: pl.DataFrame, draws: int, seed: int) -> Floats:
    ranked = frame.sort("group", "score", descending=[False, True])
    counts = ranked.group_by("group", maintain_order=True).len()["len"].to_numpy()
    labels = ranked["label"].cast(pl.UInt32).to_numpy()
    ap, sizes = compute.ap_contiguous(labels, counts.astype(np.int64))
    home = os.environ.get("HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        found = compute.p_values(ap, sizes, draws, seed, progress_bar=False)
    if home is not None:
        os.environ["HOME"] = home
    return np.asarray(found, dtype=np.float64)


TASKS: dict[str, Callable[..., Work]] = {
    task.__name__: task
    for task in (
        harmonic_numbers,
        null_floor,
        null_moments,
        null_test,
        null_test_by_copairs,
    )
}
