"""Batches of rows, which bound the memory of a computation, and end it if nobody wants it."""

from collections.abc import Iterator
from contextvars import ContextVar
from threading import Event

# Set by who waits for a thread, where the user has interrupted: loops of draws end then.
stop: ContextVar[Event | None] = ContextVar("stop", default=None)


def batches(total: int, width: int, held: int) -> Iterator[slice]:
    """Cut rows of `width` values into slices with at most `held` values, but at least one row."""
    rows, stopped = max(1, held // max(width, 1)), stop.get()
    for start in range(0, total, rows):
        if stopped is not None and stopped.is_set():
            raise KeyboardInterrupt
        yield slice(start, min(start + rows, total))


def batch_sizes(total: int, width: int, held: int) -> Iterator[int]:
    """Yield the numbers of rows of `batches`."""
    return (rows.stop - rows.start for rows in batches(total, width, held))
