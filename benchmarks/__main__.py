"""``python -m benchmarks``: measure, print, and with ``--write`` keep the results."""

import argparse
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.cases import CASES, FULL, QUICK
from benchmarks.fresh import compile_modules, run_module
from benchmarks.measuring import run_case, run_check
from benchmarks.quiet import Patience

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"


def main() -> None:
    options = _options()
    names = [options.only] if options.only else list(CASES)
    patience = Patience(0.0 if options.quick else 60 * options.patience)
    compile_modules()
    measured, sections = [], []
    for name in names:
        case = CASES[name](QUICK if options.quick else FULL)
        results = run_case(case, patience, _say)
        checks = {check.subject.name: run_check(check) for check in case.checks}
        measured.append((case, results))
        sections.append(report.case_section(case, results, checks))
        print(sections[-1], flush=True)
    summary = report.targets(measured)
    print(summary)
    if not options.only:
        for module in (
            "accuracy",
            "null_study",
            "pictures",
            "band_coverage",
            "curve_coverage",
            "mean_curve_coverage",
            "interval_coverage",
            "drawn_items",
            "rank_study",
            "rank_learning",
            "paired_study",
            "paired_runs",
        ):
            _say(module)
            sections.append(run_module(f"benchmarks.{module}", *["--quick"] * options.quick))
            print(sections[-1], flush=True)
    if options.write:
        parts = [report.PREFACE, report.environment(), report.COMMANDS, summary, *sections]
        RESULTS.write_text("\n".join(parts), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", choices=list(CASES), help="run one case")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument(
        "--patience",
        type=float,
        default=5.0,
        metavar="MINUTES",
        help="time to spend on waiting for idle CPUs and on repeating what was disturbed",
    )
    options = parser.parse_args()
    if options.write and (options.only or options.quick):
        parser.error("--write keeps the results of all cases at full size")
    return options


def _say(progress: str) -> None:
    """Tell how far it is, apart from the results."""
    print(progress, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
