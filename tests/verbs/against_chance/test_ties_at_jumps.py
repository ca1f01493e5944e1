"""Warnings where ties at a jump of phi leave its interval worthless, and none elsewhere."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import prframe


def scored(levels: int | None, seed: int = 3) -> pl.DataFrame:
    """Return normal scores of 100 positives and 100 negatives, cut into levels if told."""
    rng = np.random.default_rng(seed)
    label = np.repeat([True, False], 100)
    score = rng.normal(size=200) + label
    if levels:
        score = np.digitize(score, np.linspace(-2, 3, levels - 1)).astype(float)
    return pl.DataFrame({"score": score, "label": label})


def test_the_range_of_the_warning_is_that_of_the_recorded_coverage() -> None:
    """The record has the least, median and largest coverage of both functions with jumps."""
    record = (Path(__file__).parents[3] / "benchmarks" / "RESULTS.md").read_text()
    rows = re.findall(r"^\| (?:local-auc|median) \| 88 \| .* \| (.*) \|$", record, re.MULTILINE)
    shares = [float(share) for row in rows for share in row.split(", ")]
    assert len(shares) == 6
    with pytest.warns(prframe.CoverageWarning) as caught:
        prframe.rank_test(scored(5), phi="median")
    range_told = f"in {100 * min(shares):.0f} to {100 * max(shares):.0f} % of samples"
    assert range_told in str(caught[0].message)
