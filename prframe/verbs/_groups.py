"""Work group by group, on all cores, with a progress bar where a person watches."""

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import ceil
from typing import TypeVar

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.hits import Hits
from prframe.errors import ArgumentError
from prframe.stats.rankings import RankedCells, cells_from_hits
from prframe.typing import Integers

Item = TypeVar("Item")
Result = TypeVar("Result")

# Fewer clusters that hold items of a class hardly show how much clusters differ.
LEAST_CLUSTERS = 40
# Work that is done within so many seconds shows no progress.
_PATIENCE_SECONDS = 2.0
# The allocator of the GNU C library keeps freed blocks of up to so many bytes, and no larger ones.
_LARGEST_KEPT = 31 << 20


def resamples(n_resamples: object, confidence_level: float) -> int:
    """Return a number of resamples that is large enough for some to lie beyond either end."""
    number = checks.whole_number("n_resamples", n_resamples, at_least=1)
    least = ceil(2 / (1 - confidence_level) - 1e-9)
    if number < least:
        raise ArgumentError(
            f"`n_resamples` must be at least {least} for confidence_level={confidence_level:g}, "
            f"so that some lie beyond either end; got {number}."
        )
    return number


def each_group(
    compute: Callable[[Item], Result], groups: Iterable[Item], description: str
) -> list[Result]:
    """Apply a computation to every group and return the results in order.

    NumPy releases the interpreter while it draws and sorts, so that threads can share the work.
    """
    groups = list(groups)
    _keep_freed_memory()
    workers = min(pl.thread_pool_size(), len(groups))
    if workers <= 1:
        return list(_shown(map(compute, groups), len(groups), description))
    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(_shown(pool.map(compute, groups), len(groups), description))
        except BaseException:
            # After an error, or if the user interrupts, no further group is begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _keep_freed_memory() -> None:
    """Let groups take over the memory of the groups before them.

    The allocator of the GNU C library gives large blocks back to the system, which has to clear
    each page of the next one, until it has seen a block of this size freed. The block is never
    written to, so that it costs nothing.
    """
    np.empty(_LARGEST_KEPT, dtype=np.uint8)


def _shown(results: Iterable[Result], total: int, description: str) -> Iterable[Result]:
    """Show the progress of the work, if somebody watches."""
    if not _watched():
        return results
    # tqdm is imported here, because only people at a terminal need it.
    from tqdm import tqdm  # noqa: PLC0415

    bar: Iterable[Result] = tqdm(
        results, total=total, desc=description, unit="group", delay=_PATIENCE_SECONDS, leave=False
    )
    return bar


def _watched() -> bool:
    """Tell whether standard error is a terminal, or the session a notebook."""
    # A replacement of standard error may have no isatty, or be closed.
    with suppress(AttributeError, ValueError):
        if sys.stderr.isatty():
            return True
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def group_cells(hits: Hits, above: Integers | None = None) -> Iterator[RankedCells]:
    """Yield the ranking of each group, cut into cells.

    With `above`, the first so many items of each group are taken as retrieved, and no others.
    """
    names = ("tp_start", "tp_end", "fp_start", "fp_end")
    table, sizes = hits.table, hits.totals
    if above is not None:
        table = table.filter(table["end"] <= pl.Series(above).gather(table["group"]))
        sizes = sizes.with_columns(n=pl.Series(above))
    columns = [table[name].to_numpy() for name in names]
    group = table["group"].to_numpy()
    bounds = np.searchsorted(group, np.arange(sizes.height + 1))
    totals = sizes.select("n", "n_pos", "n_neg").rows()
    for (n, n_pos, n_neg), low, high in zip(totals, bounds, bounds[1:], strict=False):
        yield cells_from_hits(*(c[low:high] for c in columns), n=n, n_pos=n_pos, n_neg=n_neg)
