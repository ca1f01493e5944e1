"""Work group by group, on all cores, with a progress bar where a person watches."""

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from math import ceil
from shutil import get_terminal_size
from threading import Event
from typing import TypeVar

import numpy as np
import polars as pl

from prframe import checks
from prframe._engine.hits import Hits
from prframe.errors import ArgumentError
from prframe.stats._batches import stop
from prframe.stats.rankings import RankedCells, cells_from_hits
from prframe.typing import Integers

Item = TypeVar("Item")
Result = TypeVar("Result")

# Fewer clusters that hold items of a class hardly show how much clusters differ.
LEAST_CLUSTERS = 40
# Work that is done within so many seconds shows no progress.
_PATIENCE_SECONDS = 2.0
# An interrupt is heard of within so many seconds, on every system.
_POLL_SECONDS = 0.2
# The allocator of the GNU C library keeps freed blocks of up to so many bytes, and no larger ones.
_LARGEST_KEPT = 31 << 20


def resamples(n_resamples: object, confidence_level: float) -> int:
    """Return a number of resamples that is large enough for some to lie beyond either end."""
    number = checks.number_of_draws(n_resamples)
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
    """Apply a computation to every group, in threads, and return the results in order."""
    groups = list(groups)
    _keep_freed_memory()
    workers = min(pl.thread_pool_size(), len(groups))
    if workers <= 1:
        return list(shown(map(compute, groups), len(groups), description))
    ended = Event()

    def stoppable(group: Item) -> Result:
        stop.set(ended)
        return compute(group)

    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = [pool.submit(stoppable, group) for group in groups]
            return list(shown(map(_waited_for, futures), len(groups), description))
        except BaseException:
            # After an error, or if the user interrupts, no further group is begun, and draws end.
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def each_shape(
    compute: Callable[[Item], Result],
    groups: Iterable[Item],
    shape: Callable[[Item], Hashable],
    description: str,
) -> list[Result]:
    """Return the result of every group in order, computed once for all groups of one shape."""
    groups = list(groups)
    shapes = list(map(shape, groups))
    of_shape = dict(zip(reversed(shapes), reversed(groups), strict=True))
    results = dict(zip(of_shape, each_group(compute, of_shape.values(), description), strict=True))
    return [results[key] for key in shapes]


def shape_of(cells: RankedCells) -> Hashable:
    """Return what cells have in common with those of equal counts."""
    return cells.pos.tobytes(), cells.neg.tobytes()


def _waited_for(future: "Future[Result]") -> Result:
    """Return a result, and let the user interrupt until it is there."""
    while not future.done():
        wait([future], timeout=_POLL_SECONDS)
    return future.result()


def _keep_freed_memory() -> None:
    """Let groups take over the memory of the groups before them, as glibc then keeps it."""
    np.empty(_LARGEST_KEPT, dtype=np.uint8)


def shown(results: Iterable[Result], total: int, description: str) -> Iterable[Result]:
    """Show the progress of the work, if somebody watches."""
    if not watched():
        return results
    # tqdm is imported here, because only people at a terminal need it.
    from tqdm import tqdm  # noqa: PLC0415

    size = get_terminal_size()
    bar: Iterable[Result] = tqdm(
        results,
        total=total,
        desc=description,
        unit="group",
        delay=_PATIENCE_SECONDS,
        leave=False,
        # A terminal that does not say how large it is would be shown nothing.
        ncols=size.columns,
        nrows=size.lines,
    )
    return bar


def watched() -> bool:
    """Return whether standard error is a terminal, or the session a notebook."""
    # A replacement of standard error may have no isatty, or be closed.
    with suppress(AttributeError, ValueError):
        if sys.stderr.isatty():
            return True
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return type(shell).__name__ == "ZMQInteractiveShell"


def group_cells(hits: Hits, above: Integers | None = None) -> Iterator[RankedCells]:
    """Yield the ranking of each group in cells; with `above` of the first so many items alone."""
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
