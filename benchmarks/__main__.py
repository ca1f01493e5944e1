"""``python -m benchmarks``: measure, print, and with ``--write`` keep the results."""

import argparse
import importlib.util
import sys

if importlib.util.find_spec("psutil") is None:
    sys.exit("The benchmarks need the extra bench: python -m pip install -e '.[bench]'")

from benchmarks import report, results
from benchmarks.cases import CASES, FULL, QUICK
from benchmarks.fresh import compile_modules, run_module
from benchmarks.measuring import Patience, run_case, run_check

# The studies are programs of their own, which print a section or more.
STUDIES = ("null_study", "coverage", "rank_study", "paired_study")


def main() -> None:
    options = _options()
    names = options.only or [*CASES, *STUDIES]
    keep = results.keep if options.write else lambda _: None
    patience = Patience(0.0 if options.quick else 60 * options.patience)
    compile_modules()
    for name in names:
        if name in STUDIES:
            _say(name)
            section = run_module(f"benchmarks.{name}", *["--quick"] * options.quick)
        else:
            case = CASES[name](QUICK if options.quick else FULL)
            measured = run_case(case, patience, _say)
            checks = {check.name: run_check(check) for check in case.checks}
            section = report.case_section(case, measured, checks)
            section += f"\n{report.targets([(case, measured)])}"
        print(section, flush=True)
        keep(section)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        choices=[*CASES, *STUDIES],
        metavar="NAME",
        nargs="+",
        help=f"run some alone: {', '.join([*CASES, *STUDIES])}",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument(
        "--write", action="store_true", help="keep each section in RESULTS.md as soon as it ends"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=5.0,
        metavar="MINUTES",
        help="time to spend on waiting for idle CPUs and on repeating what was disturbed",
    )
    options = parser.parse_args()
    if options.write and options.quick:
        parser.error("--write keeps results at full size")
    return options


def _say(progress: str) -> None:
    """Tell how far it is, apart from the results."""
    print(progress, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
