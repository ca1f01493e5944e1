"""Work on arrays, which a thread does while the calling thread reads the next rows.

The thread waits for none of polars' threads. These may wait for it, as a verb may be called inside
a function that polars calls.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

T = TypeVar("T")
R = TypeVar("R")


class Task(NamedTuple, Generic[T]):
    """A computation: work that a thread may do, and what the calling thread makes of it."""

    work: Callable[[], Any]
    finish: Callable[[Any], T]

    def result(self) -> T:
        """Return the result, computed by the calling thread alone."""
        return self.finish(self.work())

    def then(self, compute: Callable[[T], R]) -> "Task[R]":
        """Return the task whose result is computed from that of this one."""
        return Task(self.work, lambda done: compute(self.finish(done)))


@contextmanager
def results(tasks: Iterable[Task[T]]) -> Iterator[Iterator[T]]:
    """Give the results of tasks in order; the work of one is done while the next one is made."""
    if pl.thread_pool_size() == 1:
        yield map(Task.result, tasks)
        return
    pool = ThreadPoolExecutor(1, "prframe")
    try:
        yield _one_behind(tasks, pool)
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def prefetched(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Give items, of which a thread makes the next one while the caller uses the last one."""
    if pl.thread_pool_size() == 1:
        yield items
        return
    with closing(prefetching(items)) as made:
        yield made


def prefetching(items: Iterator[T]) -> Generator[T]:
    """Yield items in their order, of which a thread makes the next while the last one is used.

    An item must not stand in memory that the next one uses again.
    """
    end = object()
    with ThreadPoolExecutor(1, "prframe") as thread:
        upcoming = thread.submit(next, items, end)
        while (item := upcoming.result()) is not end:
            upcoming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]


def _one_behind(tasks: Iterable[Task[T]], pool: ThreadPoolExecutor) -> Iterator[T]:
    """Yield the result of each task when the work of the next one has been handed to a thread."""
    begun: deque[tuple[Future[Any], Callable[[Any], T]]] = deque()
    for task in tasks:
        begun.append((pool.submit(task.work), task.finish))
        # While results are used, the rows of the last task would take memory.
        del task
        if len(begun) > 1:
            yield _finished(*begun.popleft())
    while begun:
        yield _finished(*begun.popleft())


def _finished(work: Future[Any], finish: Callable[[Any], T]) -> T:
    """Wait for the work of a task and return its result, keeping nothing else in memory."""
    return finish(work.result())
