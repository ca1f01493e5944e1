"""``python -m benchmarks``: measure, print, and with ``--write`` keep the results."""

import argparse
import sys
import tempfile
from dataclasses import replace

from benchmarks import report, results
from benchmarks.case import Case, Results, Subject
from benchmarks.cases import CASES
from benchmarks.fresh import Measurement, compile_modules, run_module, run_task

# The studies are programs of their own, which print a section or more.
STUDIES = ("null_study", "coverage", "rank_study", "paired_study")


def main() -> None:
    options = _options()
    keep = results.keep if options.write else lambda _: None
    compile_modules()
    for name in options.only or [*CASES, *STUDIES]:
        if name in STUDIES:
            section = run_module(f"benchmarks.{name}", *["--quick"] * options.quick)
        else:
            case = CASES[name](lambda full: max(5, full // 100) if options.quick else full)
            measured = run_case(replace(case, rounds=1) if options.quick else case)
            section = report.case_section(case, measured)
            section += f"\n{report.targets(case, measured)}"
        print(section, flush=True)
        keep(section)


def run_case(case: Case) -> Results:
    """Measure a case; a slow drift of the machine then falls on all its subjects alike."""
    results: Results = {subject.name: [] for subject in case.subjects}
    with tempfile.TemporaryDirectory() as folder:
        given = {"folder": folder} if case.prepare else {}
        if case.prepare:
            _run(case.prepare, given)
        for i in range(case.rounds):
            for subject in case.subjects:
                if i < (subject.rounds or case.rounds):
                    progress = f"{case.name}: round {i + 1} of {case.rounds}, {subject.name}"
                    print(progress, file=sys.stderr, flush=True)
                    results[subject.name].append(_run(subject, given))
    for subject in case.subjects:
        if subject.agrees:
            _assert_agreement(subject, results)
    return results


def _run(subject: Subject, given: dict[str, str]) -> Measurement:
    return run_task(subject.task, subject.options | given, subject.later)


def _assert_agreement(subject: Subject, results: Results) -> None:
    """Require that subjects which should find the same do so."""
    one, other = (results[name][0] for name in (subject.name, subject.agrees))
    if not (one.skipped or other.skipped):
        for metric, value in one.answer.items():
            difference = abs(value - other.answer[metric])
            assert difference <= subject.tolerance, (subject, metric, difference)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*CASES, *STUDIES]
    words = f"run some alone: {', '.join(names)}"
    parser.add_argument("--only", choices=names, metavar="NAME", nargs="+", help=words)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    words = "keep each section in RESULTS.md as soon as it ends"
    parser.add_argument("--write", action="store_true", help=words)
    options = parser.parse_args()
    if options.write and options.quick:
        parser.error("--write keeps results at full size")
    return options


if __name__ == "__main__":
    main()
