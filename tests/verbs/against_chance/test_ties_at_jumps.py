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


def test_ties_at_a_jump_are_told_once() -> None:
    frame = pl.concat(
        [scored(5).with_columns(q=pl.lit("coarse")), scored(None).with_columns(q=pl.lit("fine"))]
    )
    with pytest.warns(prframe.CoverageWarning) as caught:
        found = prframe.rank_test(frame, phi=["mww", "local-auc", "median"], by="q")
    assert [str(warning.message) for warning in caught] == [
        "local-auc(u0=0.9), median: a block of equal scores lies at the jump of phi, in groups "
        "['coarse'], and all of it counts as above, or all as below; the estimate and its interval "
        "are off: 95 % intervals covered in 30 to 95 % of samples of scores with five or ten "
        "levels. Take a phi without jumps, for example 'rtb', or scores that tell more items "
        "apart; if the p-value alone is wanted, ignore CoverageWarning."
    ]
    assert found.columns[-1] == "method"


@pytest.mark.parametrize("options", [{}, {"method": "t"}, {"method": "wald"}])
def test_intervals_by_errors_are_told_of_as_well(options: dict[str, str]) -> None:
    parts = [
        scored(5).with_columns(g=pl.lit("coarse")),
        scored(None).with_columns(g=pl.lit("fine")),
    ]
    metrics = ["AP", "W", "W(local-auc)", "W(median)"]
    with pytest.warns(prframe.CoverageWarning) as caught:
        found = prframe.interval(pl.concat(parts), metrics, by="g", rng=0, **options)
    assert [str(warning.message) for warning in caught] == [
        "W(local-auc), W(median): a block of equal scores lies at the jump of phi, in groups "
        "['coarse'], and all of it counts as above, or all as below; the estimate and its interval "
        "are off: 95 % intervals by 't' covered in 53 to 97 % of samples of scores with five or ten "
        "levels. Take a phi without jumps, for example 'W(rtb)', scores that tell more items apart, "
        "or method='percentile', which covered in 79 % of them at least; where it does not matter, "
        "ignore CoverageWarning."
    ]
    assert found.columns[-1] == "confidence_level"


@pytest.mark.parametrize("method", ["percentile", "bayesian-bootstrap"])
def test_intervals_by_draws_are_not(method: str) -> None:
    rows = prframe.interval(scored(5), "W(median)", method=method, n_resamples=50, rng=0)
    assert rows["conf_low"].null_count() == 0


def test_no_interval_has_nothing_to_be_told_of() -> None:
    level = scored(None).with_columns(score=1.0)
    metrics = ["W(median)", "W(dcg)"]
    for rows in (level, level.with_columns(label=False)):
        with pytest.warns(prframe.UndefinedMetricWarning) as caught:
            prframe.interval(rows, metrics, method="t")
        assert not any(each.category is prframe.CoverageWarning for each in caught)


def test_the_range_of_the_warning_is_that_of_the_recorded_coverage() -> None:
    """The guide has the coverage of both functions with jumps by the number of levels."""
    guide = Path(__file__).parents[3] / "docs" / "guide" / "rank_statistics.md"
    rows = re.findall(r"^\|.*\| (5|10) \| (\S+) \| (\S+) \|$", guide.read_text(), re.MULTILINE)
    shares = [float(share) for _, *both in rows for share in both]
    assert len(shares) == 12
    with pytest.warns(prframe.CoverageWarning) as caught:
        prframe.rank_test(scored(5), phi="median")
    range_told = f"in {100 * min(shares):.0f} to {100 * max(shares):.0f} % of samples"
    assert range_told in str(caught[0].message)
