"""Keeps what other programs do out of the measurements.

Whether a measurement counts is decided by the work of others alone, never by its own result.
"""

import resource
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import psutil

from benchmarks.measurement import Measurement

T = TypeVar("T")

# How many CPUs others may keep busy, on average, before a measurement is repeated.
TOLERATED = 0.2


class Patience:
    """Waits for idle CPUs and repeats disturbed measurements until the time for that is spent."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def measure(self, measure: Callable[[], Measurement]) -> Measurement:
        """Return an undisturbed measurement, or the last one when patience has run out."""
        while True:
            self._wait()
            start = time.perf_counter()
            found, others = _with_others(measure)
            if others <= TOLERATED or self._left <= 0:
                return replace(found, others=others)
            self._left -= time.perf_counter() - start

    def _wait(self) -> None:
        """Wait until others leave the CPUs alone."""
        while self._left > 0:
            _, others = _with_others(lambda: time.sleep(0.5))
            if others <= TOLERATED:
                return
            self._left -= 0.5


def _with_others(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of some work, and how many CPUs others kept busy meanwhile."""
    start, busy, own = time.perf_counter(), _busy(), _own()
    result = work()
    others = (_busy() - busy) - (_own() - own)
    return result, max(0.0, others / (time.perf_counter() - start))


def _busy() -> float:
    """Return the seconds that all CPUs together have spent on anything."""
    spent = psutil.cpu_times()._asdict()
    # Time of guests is part of the user's; waiting for a disk is idle.
    idle = ("idle", "iowait", "guest", "guest_nice")
    return float(sum(seconds for kind, seconds in spent.items() if kind not in idle))


def _own() -> float:
    """Return the CPU seconds of this program and of the processes that it has run."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
