"""``python -m benchmarks.null_times [NAME ...]``: CPU seconds of one call of `ap_test`, by data.

Beside them those of `evaluate`, which gives AP and no p-value. To compare with another commit, run
the same file with its package first on PYTHONPATH.
"""

import sys
import time
import warnings

import prframe
from benchmarks import null_tasks
from benchmarks.cases import FULL
from benchmarks.report import table
from benchmarks.tasks import Work

SIZES = {
    "distinct": {"groups": FULL.null_groups},
    "few_items": {"groups": FULL.null_small},
    "tied_queries": {"systems": 4, "queries": FULL.null_tied},
    "rare_queries": {"systems": 3, "queries": 50, "tied": 1},
    "rare_tied_queries": {"systems": 3, "queries": 50, "tied": 7},
    "vaswani": {"runs": 1},
    "large": {"n": FULL.null_items},
    "far": {"n": FULL.null_items},
    "half": {"n": FULL.null_half},
}
# Data that are made by the function of another name.
_DATA = {"rare_tied_queries": "rare_queries"}


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in sys.argv[1:] or SIZES:
        floor, test = (
            work(_DATA.get(name, name), **SIZES[name])
            for work in (null_tasks.null_floor, null_tasks.null_test)
        )
        rows.append([name, f"{_seconds(floor):.2f}", f"{_seconds(test):.2f}"])
    print(f"prframe {prframe.__version__}\n")
    print(table(["data", "evaluate, CPU s", "ap_test, CPU s"], rows))


def _seconds(work: Work) -> float:
    begin = time.process_time()
    work.call()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
