"""Bands in a population with another share of positives than that of the sample."""

import numpy as np
import polars as pl
import pytest
from scipy.special import logit

LEVELS = [0.2, 0.45, 0.7]
FEW = {"recall": LEVELS, "n_resamples": 200, "rng": 1}


def rows(n: int = 120, seed: int = 4) -> pl.DataFrame:
    """Two models' scores of the same items, in parts and clusters."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    scores = {name: d * label + rng.normal(size=n) for name, d in (("a", 1.2), ("b", 0.8))}
    frame = pl.DataFrame({**scores, "label": label, "part": np.arange(n) % 6})
    return frame.with_columns(user=pl.int_range(pl.len()) // 3)


DATA = rows()
ENDS = ["precision", "conf_low", "conf_high"]


def naive_precision(tp: int, fp: int, n_pos: int, n_neg: int, prior: float) -> float:
    """Precision at a prior, by its definition."""
    true, false = tp * prior / n_pos, fp * (1 - prior) / n_neg
    return true / (true + false)


def test_the_curve_is_the_naive_one() -> None:
    found = DATA.pr.band("a", prior=0.05, **FEW)
    n_pos = DATA["label"].sum()
    for level, precision in zip(LEVELS, found["precision"], strict=True):
        threshold = DATA.filter("label")["a"].sort(descending=True)[
            int(np.ceil(level * n_pos)) - 1
        ]
        fp = DATA.filter(~pl.col("label") & (pl.col("a") >= threshold)).height
        expected = naive_precision(level * n_pos, fp, n_pos, DATA.height - n_pos, 0.05)
        assert precision == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cluster", [None, "user"])
@pytest.mark.parametrize("simultaneous", [True, False])
def test_a_prior_moves_the_log_odds_of_a_band(cluster: str | None, simultaneous: bool) -> None:
    options = FEW | {"cluster": cluster, "simultaneous": simultaneous}
    low, high = (
        DATA.pr.band("a", prior=prior, **options)[ENDS].to_numpy() for prior in (0.1, 0.6)
    )
    open_ends = high < 1
    np.testing.assert_array_equal(open_ends, low < 1)
    moved = logit(high[open_ends]) - logit(low[open_ends])
    np.testing.assert_allclose(moved, logit(0.6) - logit(0.1), rtol=1e-4)
