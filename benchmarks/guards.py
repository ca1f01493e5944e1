"""``python -m benchmarks.guards``: the share of a call's time that its guards take, by data.

Two runs of a call differ by more than the guards cost. So the time within the guards is counted,
and divided by that of the same call. The least share of several calls is given, and the median.
"""

import functools
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from unittest.mock import patch

import polars as pl

import prframe
from benchmarks import data
from benchmarks.report import table
from prframe.verbs import _guards, _verb

CALLS = 7
METRICS = ["AP", "nDCG@10", "P@10", "RR"]
MANY = {"groups": 7000, "per_group": 1000, "prevalence": 0.05}


def frames() -> dict[str, pl.DataFrame]:
    """Return the rows of the case many-groups, without and with columns that the guards look at."""
    rows = data.rows(**MANY)
    return {
        "no column that tells rankings apart": rows,
        "a column `system` of one value": rows.with_columns(
            pl.Series("system", ["bm25"] * rows.height)
        ),
        "a column `fold` for each group": rows.with_columns(fold=pl.col("group") % 5),
        "names of folds": rows.with_columns(fold=pl.format("the fold {}", pl.col("group") % 5)),
        "rows in random order": rows.with_columns(fold=pl.col("group") % 5).sample(
            fraction=1, shuffle=True, seed=1
        ),
    }


def shares(rows: pl.DataFrame) -> list[float]:
    """Return the share of each call's time that passed within its guards."""
    values = []
    for _ in range(CALLS):
        with counted() as seconds:
            begin = time.perf_counter()
            prframe.evaluate(rows, METRICS, by="group")
            values.append(sum(seconds) / (time.perf_counter() - begin))
    return values


@contextmanager
def counted() -> Iterator[list[float]]:
    """Count the seconds of every guard of the calls within."""
    seconds: list[float] = []

    def timed(guard: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(guard)
        def call(*args: object, **options: object) -> object:
            begin = time.perf_counter()
            try:
                return guard(*args, **options)
            finally:
                seconds.append(time.perf_counter() - begin)

        return call

    pooled = _guards.PooledRankings
    with (
        patch.object(pooled, "of", timed(pooled.of)),
        patch.object(pooled, "warn", timed(pooled.warn)),
        patch.object(_verb, "warn_of", timed(_verb.warn_of)),
    ):
        yield seconds


def main() -> None:
    warnings.simplefilter("ignore")
    lines = []
    for name, rows in frames().items():
        measured = shares(rows)
        lines.append([name, f"{min(measured):.2%}", f"{median(measured):.2%}"])
    print(f"prframe {prframe.__version__}, polars {pl.__version__}\n")
    print(table(["7,000 groups of 1,000 rows, four metrics", "least", "median"], lines))


if __name__ == "__main__":
    main()
