"""``python -m benchmarks.null_times [NAME ...]``: CPU seconds of one call of `ap_test`, by data.

Beside them those of `evaluate`, which gives AP and no p-value. Where AP is at hand, and for critical
values, there is no such call. Each is called twice, as the first call makes tables. To compare with another commit, run
the same file with its package first on PYTHONPATH.
"""

import sys
import time
import warnings
from functools import partial

import prframe
from benchmarks import null_tasks
from benchmarks.cases import FULL
from benchmarks.report import table
from benchmarks.tasks import Work

SIZES = {
    "distinct": {"groups": FULL.null_groups},
    "few_items": {"groups": FULL.null_small},
    "three_levels": {"groups": 50, "count": 3},
    "four_levels": {"groups": 50, "count": 4},
    "five_levels": {"groups": 50, "count": 5},
    "few_negatives": {"groups": 20},
    "tied_queries": {"systems": 4, "queries": FULL.null_tied},
    "rare_queries": {"systems": 3, "queries": 50, "tied": 1},
    "rare_tied_queries": {"systems": 3, "queries": 50, "tied": 7},
    "vaswani": {"runs": 1},
    "large": {"n": FULL.null_items},
    "far": {"n": FULL.null_items},
    "half": {"n": FULL.null_half},
}
# The tests of AP at hand, critical values, and the test of DCG.
OTHERS = {
    "1,800 values, one shape": partial(null_tasks.null_values, 300, 1, over=False),
    "1,800 values, 300 shapes": partial(null_tasks.null_values, 300, 300, over=False),
    "300 means, one shape": partial(null_tasks.null_values, 300, 1, over=True),
    "30 means, 30 shapes": partial(null_tasks.null_values, 30, 30, over=True),
    "isf(1e-4), 100 of 10^6": partial(null_tasks.null_quantile, 10**6, 100, 1e-4),
    "isf(1e-2), 9,997 of 10^4": partial(null_tasks.null_quantile, 10**4, 9_997, 1e-2),
    "isf(1e-20), 100 of 10^6": partial(null_tasks.null_quantile, 10**6, 100, 1e-20),
    "isf(1e-4), 1,000 of 10^6": partial(null_tasks.null_quantile, 10**6, 1_000, 1e-4),
    "isf(1e-20), 1,000 of 10^6": partial(null_tasks.null_quantile, 10**6, 1_000, 1e-20),
    "isf(1e-4), 10^4 of 10^6": partial(null_tasks.null_quantile, 10**6, 10**4, 1e-4),
    "isf(.01), 270 of 4,000 in four": partial(
        null_tasks.null_quantile, 4000, 270, 0.01, [1000] * 4
    ),
    "rank_test(dcg), 1,500 of 3 x 10^6": partial(null_tasks.rank_test, 3 * 10**6, 1_500, "dcg"),
}
# Data that are made by the function of another name.
_DATA = {"rare_tied_queries": "rare_queries"} | {
    f"{count}_levels": "levels" for count in ("three", "four", "five")
}


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in sys.argv[1:] or [*SIZES, *OTHERS]:
        if name in OTHERS:
            rows.append([name, "", *_twice(OTHERS[name]())])
            continue
        floor, test = (
            work(_DATA.get(name, name), **SIZES[name])
            for work in (null_tasks.null_floor, null_tasks.null_test)
        )
        rows.append([name, _seconds(floor), *_twice(test)])
    print(f"prframe {prframe.__version__}\n")
    print(table(["data", "evaluate, CPU s", "first, CPU s", "later, CPU s"], rows))


def _twice(work: Work) -> list[str]:
    return [_seconds(work), _seconds(work)]


def _seconds(work: Work) -> str:
    begin = time.process_time()
    work.call()
    return f"{time.process_time() - begin:.2f}"


if __name__ == "__main__":
    main()
