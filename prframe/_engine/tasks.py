"""Work on arrays, which a thread does while the calling thread reads the next rows.

A thread of our own never asks polars for anything that polars' threads do. A verb may be called
inside a function that polars calls from its threads, and if all of these waited for a thread that
waits for polars, all would wait for ever.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, Generic, NamedTuple, TypeVar

import polars as pl

from prframe._ahead import one_ahead

T = TypeVar("T")
R = TypeVar("R")


class Task(NamedTuple, Generic[T]):
    """A computation whose work on arrays may be done by a thread.

    Attributes
    ----------
    work : callable
        The work, which waits for none of polars' threads.
    finish : callable
        What makes the result of what the work returned; the calling thread does this.
    """

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
    """Give the results of tasks in order; the work of one is done while the next one is made.

    The thread ends with the context, whatever is raised within it.
    """
    if pl.thread_pool_size() == 1:
        yield map(Task.result, tasks)
        return
    pool = ThreadPoolExecutor(1, "prframe")
    try:
        yield _one_behind(tasks, pool)
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def made_ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """Give items, of which a thread makes the next one while the caller uses the last one.

    To make an item must wait for none of polars' threads. The thread ends with the context.
    """
    if pl.thread_pool_size() == 1:
        yield items
        return
    with closing(one_ahead(items)) as made:
        yield made


def _one_behind(tasks: Iterable[Task[T]], pool: ThreadPoolExecutor) -> Iterator[T]:
    """Yield the result of each task when the work of the next one has been handed to a thread.

    More tasks at a time would take more memory.
    """
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
    """Wait for the work of a task and return its result."""
    return finish(work.result())
