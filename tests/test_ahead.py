"""Iterators whose next item is made while the last one is used."""

import threading

import pytest

from prframe._ahead import one_ahead


def test_an_error_reaches_the_caller_in_its_turn():
    def items():
        yield 1
        raise ValueError("none are left")

    ahead = one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="none are left"):
        next(ahead)


def test_the_thread_ends_with_a_caller_that_stops_early():
    # Threads of other tests may end meanwhile.
    before = set(threading.enumerate())
    ahead = one_ahead(iter(range(100)))
    assert next(ahead) == 0
    ahead.close()
    assert set(threading.enumerate()) <= before
