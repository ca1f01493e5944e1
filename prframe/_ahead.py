"""Iterators whose next item is made while the last one is used."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def one_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield items in their order, of which a thread makes the next while the last one is used.

    NumPy releases the interpreter while it draws and adds up. An item must not stand in memory
    that the next one uses again.
    """
    end = object()
    with ThreadPoolExecutor(1, "prframe") as thread:
        upcoming = thread.submit(next, items, end)
        while (item := upcoming.result()) is not end:
            upcoming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]
