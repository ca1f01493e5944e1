"""``python -m benchmarks.compare_process PACKAGE TEST FOLDER``: from files to p-values, once."""

import sys

import polars as pl


def main() -> None:
    package, test, folder = sys.argv[1:]
    # Each process imports what it needs.
    if package == "ranx":
        from benchmarks.compare_peer import (  # noqa: PLC0415
            compared_by_ranx,
            ranx_objects,
            run_files,
        )

        compared_by_ranx(*ranx_objects(*map(pl.read_parquet, run_files(folder))), test)
    else:
        from benchmarks.compare_tasks import METRICS, TESTS, compared  # noqa: PLC0415
        from benchmarks.comparisons import Runs  # noqa: PLC0415

        compared(Runs.read(folder).labelled(), METRICS, TESTS[test])


if __name__ == "__main__":
    main()
