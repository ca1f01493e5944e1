"""Tests of two ROC curves against numbers of pROC 1.18.0 (R), for scores that a formula makes."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import paired_rank_test

# The items 0 to 119, of which 44 are positive; the scores b have ties.
ITEM = np.arange(120)
LABEL = (ITEM * 37) % 11 < 4
SCORES = {
    "a": ((ITEM**2 * 7 + 3 * ITEM) % 101) / 10 + 3 * LABEL,
    "b": np.floor(((ITEM**3 * 5 + 11 * ITEM) % 89) / 8) + 4 * LABEL,
}


def compared(metric: str, test: str) -> dict[str, float]:
    """Return the row of the comparison of a with b."""
    rows = pl.concat(
        pl.DataFrame({"model": model, "item": ITEM, "score": score, "label": LABEL})
        for model, score in SCORES.items()
    )
    found = prframe.compare(rows, metric, model="model", over=None, item="item", test=test, rng=1)
    return found.row(0, named=True)


def test_delongs_test_is_that_of_proc() -> None:
    # The numbers are of roc.test with the method delong, for the curves of a and of b.
    found = compared("AUC", "delong")
    expected = {
        "mean_a": 0.761064593301435,
        "mean_b": 0.765101674641148,
        "statistic": -0.0696447928142788,
        "p_value": 0.944476383962067,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    # Its interval, to which `compare` adds room for items that the sample lacks.
    statistic = paired_rank_test(SCORES["a"], SCORES["b"], LABEL)
    ends = np.array([statistic.conf_low, statistic.conf_high]) / (1 - LABEL.mean())
    assert ends == pytest.approx([-0.117649796788466, 0.109575634109040], rel=1e-12)
    assert found["conf_low"] < ends[0] < ends[1] < found["conf_high"]


def test_partial_areas_and_their_bootstrap_test_are_those_of_proc() -> None:
    # The same with partial.auc = c(1, 0.8), and method = "bootstrap", boot.n = 20000.
    found = compared("pAUC(max_fpr=0.2)", "bootstrap")
    corrected = {
        model: (1 + (found[f"mean_{model}"] - 0.02) / (0.2 - 0.02)) / 2 for model in SCORES
    }
    assert corrected == pytest.approx({"a": 0.6642909, "b": 0.6995481}, abs=1e-7)
    # pROC divides by the standard deviation of resamples; ours are ranked. Both draw.
    assert found["p_value"] == pytest.approx(0.532, abs=0.03)
