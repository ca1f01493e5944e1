"""Intervals of perfect rankings reach the end of the range, whatever the rounding of the value."""

from contextlib import nullcontext

import polars as pl
import pytest

import prframe

ENDS = {"AUC": 1, "AP": 1, "AUPRG": 1, "BEDROC(alpha=20)": 1, "pAUC(max_fpr=0.2)": 0.2}
SIZES = [(n_pos, n_neg) for n_pos in (2, 3, 7) for n_neg in (9, 17, 37, 45)]


# AUPRG has no least value, no logit, and of a perfect ranking no standard error.
CASES = [
    (metric, method)
    for metric in ENDS
    for method in ("auto", "logit-t", "percentile")
    if (metric, method) != ("AUPRG", "logit-t")
]


@pytest.mark.parametrize(("metric", "method"), CASES)
def test_they_reach_the_end(metric: str, method: str) -> None:
    """The sums behind pAUC and BEDROC come to .20000000000000007 or .9999999999999999."""
    frame = pl.concat(
        pl.DataFrame(
            {"score": range(n_pos + n_neg, 0, -1), "at": f"{n_pos}, {n_neg}"}
        ).with_columns(label=pl.int_range(pl.len()) < n_pos)
        for n_pos, n_neg in SIZES
    )
    with pytest.warns() if method == "percentile" else nullcontext():
        rows = prframe.interval(frame, metric, by="at", method=method, n_resamples=100, rng=1)
    assert set(rows["estimate"]) == {ENDS[metric]}
    if method == "percentile":
        # All resamples are as perfect.
        assert rows["conf_high"].null_count() == rows.height
    else:
        assert set(rows["conf_high"]) == {ENDS[metric]}
        assert (rows["conf_low"] < rows["conf_high"]).all()
