"""Intervals and bands of 95 % cover in some of the settings that `benchmarks.coverage` studies."""

from itertools import islice

import pytest

coverage = pytest.importorskip("benchmarks.coverage", reason="a wheel has no benchmarks")

# The numbers of some small settings of a part, and the metrics if not all.
SETTINGS: dict[str, tuple[tuple[int, ...], list[str] | None]] = {
    "main": ((1, 8), None),
    "levels": ((2, 6), None),
    "priors": ((1, 5), None),
    "best threshold": ((1, 9), None),
    "clusters": ((3, 12), ["AP", "AUC"]),
    "means": ((57,), None),
    "queries": ((2, 12, 22), None),
    "pairs": ((4, 10), None),
    "bands": ((4, 16, 17), None),
    "cluster bands": ((8, 9), None),
    "differences": ((0, 2), None),
    "mean curves": ((2, 3), None),
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
@pytest.mark.parametrize("part", SETTINGS)
def test_they_cover(part: str) -> None:
    numbers, metrics = SETTINGS[part]
    for number in numbers:
        study = next(islice(coverage.PARTS[part](), number, None))
        for row in coverage.rows_of(study, 120, metrics):
            # Three standard errors below the least that is promised.
            assert row.coverage > 0.93 - 3 * (0.93 * 0.07 / len(row.found)) ** 0.5, row.cells()
