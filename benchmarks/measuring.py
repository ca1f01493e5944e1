"""Runs the cases: round after round, every subject of a case in turn."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks.case import Case, Check, Results, Subject
from benchmarks.fresh import run_statement, run_task
from benchmarks.measurement import Answer, Measurement
from benchmarks.quiet import Patience


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


def run_check(check: Check) -> Answer | str:
    """Return the largest differences from a peer, or why there are none."""
    found = _run(check.subject)
    if found.skipped:
        return found.skipped
    for metric, difference in found.answer.items():
        assert difference <= check.tolerance, (check.subject.name, metric, difference)
    return found.answer


def _run(subject: Subject) -> Measurement:
    if subject.statement:
        return run_statement(subject.statement)
    return run_task(subject.task, subject.options, subject.later)


def _with(subject: Subject, options: dict[str, str]) -> Subject:
    return replace(subject, options=subject.options | options) if options else subject


def _assert_agreement(case: Case, results: Results) -> None:
    """Require that subjects which should find the same do so."""
    for agreement in case.agreements:
        one, other = (results[name][0] for name in (agreement.one, agreement.other))
        if one.skipped or other.skipped:
            continue
        for metric, value in one.answer.items():
            difference = abs(value - other.answer[metric])
            assert difference <= agreement.tolerance, (agreement, metric, difference)
