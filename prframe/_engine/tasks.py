"""Work on arrays, which a thread does while the calling thread reads the next rows.

The thread waits for none of polars' threads. These may wait for it, as a verb may be called inside
a function that polars calls.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
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


def results(tasks: Iterable[Task[T]]) -> Iterator[T]:
    """Yield the results of tasks in order; the work of one is done while the next one is made."""
    if pl.thread_pool_size() == 1:
        yield from map(Task.result, tasks)
        return
    with ThreadPoolExecutor(1, "prframe") as thread:
        begun = []
        for task in tasks:
            begun.append((thread.submit(task.work), task.finish))
            # While results are used, the rows of the last task would take memory.
            del task
            if len(begun) > 1:
                work, finish = begun.pop(0)
                yield finish(work.result())
                del work, finish
        for work, finish in begun:
            yield finish(work.result())


def prefetched(items: Iterator[T]) -> Generator[T]:
    """Yield items in order, of which a thread makes the next one while the last one is used."""
    end: Any = object()
    with ThreadPoolExecutor(1, "prframe") as thread:
        upcoming = thread.submit(next, items, end)
        while (item := upcoming.result()) is not end:
            upcoming = thread.submit(next, items, end)
            yield item
