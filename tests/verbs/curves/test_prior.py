"""Bands in a population with another share of positives than that of the sample."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.special import logit, ndtr, ndtri

from prframe.stats import pr_curve_difference, pr_posterior

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


def precision_of(recall: NDArray[np.float64], distance: float, prior: float) -> Any:
    """Return the precision of a binormal population."""
    fpr = ndtr(ndtri(recall) - distance)
    return prior * recall / (prior * recall + (1 - prior) * fpr)


@pytest.mark.slow
def test_bands_cover_the_curve_of_the_other_population() -> None:
    """Samples that are half positive tell about a population of which a tenth is."""
    rng, samples, levels = np.random.default_rng(6), 300, np.linspace(0.1, 0.9, 9)
    covered = {"band": 0, "difference": 0}
    true = [precision_of(levels, distance, 0.1) for distance in (1.5, 1.0)]
    for _ in range(samples):
        label = rng.random(100) < 0.5
        scores = [distance * label + rng.normal(size=100) for distance in (1.5, 1.0)]
        draws = {"n_resamples": 300, "rng": rng, "prior": 0.1}
        band = pr_posterior(scores[0][label], scores[0][~label], levels, **draws).band()
        covered["band"] += ((band.low <= true[0]) & (true[0] <= band.high)).all()
        compared = pr_curve_difference(*scores, label, levels, **draws)
        inside = (compared.low <= true[0] - true[1]) & (true[0] - true[1] <= compared.high)
        covered["difference"] += inside.all()
    assert min(covered.values()) / samples > 0.95 - 3 * (0.05 * 0.95 / samples) ** 0.5
