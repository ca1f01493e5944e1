"""Runs the cases: round after round, every subject of a case in turn.

What other programs do is kept out of the measurements. Whether one counts is decided by the work
of others alone, never by its own result.
"""

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import psutil

from benchmarks.case import Case, Results, Subject
from benchmarks.fresh import Answer, Measurement, run_statement, run_task

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


def run_case(case: Case, patience: Patience, say: Callable[[str], None]) -> Results:
    """Measure a case; a slow drift of the machine then falls on all its subjects alike."""
    with tempfile.TemporaryDirectory() as folder:
        options = {}
        if case.prepare is not None:
            options = {"folder": folder}
            say(f"{case.name}: {case.prepare.name}")
            _run(_with(case.prepare, options))
        results: Results = {subject.name: [] for subject in case.subjects}
        for i in range(case.rounds):
            for subject in case.subjects:
                if i < (subject.rounds or case.rounds):
                    say(f"{case.name}: round {i + 1} of {case.rounds}, {subject.name}")
                    run = partial(_run, _with(subject, options))
                    results[subject.name].append(patience.measure(run))
    _assert_agreement(case, results)
    return results


def run_check(check: Subject) -> Answer | str:
    """Return the largest differences from a peer, or why there are none."""
    found = _run(check)
    if found.skipped:
        return found.skipped
    for metric, difference in found.answer.items():
        assert difference <= check.tolerance, (check.name, metric, difference)
    return found.answer


def _run(subject: Subject) -> Measurement:
    if subject.statement:
        return run_statement(subject.statement)
    return run_task(subject.task, subject.options, subject.later)


def _with(subject: Subject, options: dict[str, str]) -> Subject:
    return replace(subject, options=subject.options | options) if options else subject


def _assert_agreement(case: Case, results: Results) -> None:
    """Require that subjects which should find the same do so."""
    for subject in (one for one in case.subjects if one.agrees):
        one, other = (results[name][0] for name in (subject.name, subject.agrees))
        if one.skipped or other.skipped:
            continue
        for metric, value in one.answer.items():
            difference = abs(value - other.answer[metric])
            assert difference <= subject.tolerance, (subject, metric, difference)
