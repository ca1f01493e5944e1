"""Totals that a user states cost no memory and no digits, however large they are."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.metrics import CATALOGUE

rng = np.random.default_rng(4)
FRAME = pl.DataFrame(
    {
        "score": rng.normal(size=40).round(2),
        "other": rng.normal(size=40).round(2),
        "label": (rng.random(40) < 0.3).astype(int),
        "judged": [True] * 40,
    }
)
QUERIES = FRAME.with_columns(query_id=pl.Series([1, 2] * 20))
TOTALS = [10**12]
METRICS = [str(metric.example()) for metric in CATALOGUE.values()]
MODELS = {"score": ["score", "other"], "rng": 1}
VERBS: dict[str, Callable[[int], Any]] = {
    "band": lambda n: prframe.band(FRAME, n_neg=n, rng=1, n_resamples=100),
    "asymptotic band": lambda n: prframe.band(
        FRAME, n_neg=n, method="asymptotic", simultaneous=False
    ),
    "topk_test": lambda n: prframe.topk_test(FRAME, k=[5, 10**8], n_neg=n),
    "ap_test": lambda n: prframe.ap_test(FRAME, n_neg=n),
    "compare": lambda n: prframe.compare(QUERIES, "nDCG", n_neg=n, **MODELS),
    **{
        f"rank_test, {phi}": lambda n, phi=phi: prframe.rank_test(FRAME, phi=phi, n_neg=n)
        for phi in ("mww", "logrank", "median", "van-der-waerden", "local-auc", "rtb")
    },
}


SLOW = {"band", "compare", "ap_test"}


def numbers(frame: pl.DataFrame) -> list[float]:
    """Return the finite and infinite numbers of a result; a NaN is none."""
    floats = [frame[name] for name in frame.columns if frame[name].dtype.is_float()]
    assert not any(column.is_nan().any() for column in floats)
    return [value for column in floats for value in column.drop_nulls()]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_neg", TOTALS)
def test_values_of_every_metric(metric: str, n_neg: int) -> None:
    value = prframe.evaluate(FRAME, metric, n_neg=n_neg).item()
    assert math.isfinite(value)


@pytest.mark.parametrize("metric", ["AP", "nDCG", "nDCG@1000000000", "DCG", "AUC", "R@10"])
def test_positives_that_are_not_listed(metric: str) -> None:
    table = prframe.interval(FRAME, metric, n_pos=10**9, n_neg=10**12, n_resamples=100, rng=1)
    assert len(numbers(table)) == 5


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize(
    "phi", ["mww", "logrank", "median", "van-der-waerden", "local-auc", "p-norm-push", "rtb"]
)
def test_ranks_of_positives_that_are_not_listed(phi: str) -> None:
    """Ten of forty items at the top are positive, where half would be by chance."""
    frame = FRAME.with_columns(label=pl.Series([1] * 10 + [0] * 30))
    table = prframe.rank_test(frame, phi=phi, n_pos=10**9, n_neg=10**9)
    assert len(numbers(table)) == 9
    assert table["z"].item() == pytest.approx(-(10**0.5), rel=1e-2)
    assert 0.0005 < table["p_value"].item() < 0.0025


@pytest.mark.parametrize("n_neg", TOTALS)
@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[pytest.mark.slow] * (verb in SLOW)) for verb in VERBS]
)
def test_verbs(verb: str, n_neg: int) -> None:
    assert all(math.isfinite(value) for value in numbers(VERBS[verb](n_neg)))


@pytest.mark.parametrize("verb", ["compare", "compare_curves"])
def test_items_that_are_matched_one_by_one(verb: str) -> None:
    options = {"metrics": "AUC", "over": None} if verb == "compare" else {}
    with pytest.raises(prframe.PrframeError) as caught:
        getattr(prframe, verb)(FRAME, n_neg=10**12, **MODELS, **options)
    n_neg = FRAME.filter(label=0).height
    assert str(caught.value) == (
        "models are compared on the same items item by item, and `n_neg` may add up to 10000000 "
        f"that are not listed; got {10**12 - n_neg}. Leave them out, which changes no metric of "
        "the ranks of listed positives, or take a smaller sample of items."
    )


@pytest.mark.parametrize("name", ["DCG", "nDCG", "BEDROC", "EF", "AUC", "AP"])
def test_values_at_random(name: str) -> None:
    value = CATALOGUE[name].at_random(n=10**12, n_pos=10)
    assert value is not None
    assert value > 0


@pytest.mark.parametrize("alpha", [0.01, 20, 500])
@pytest.mark.parametrize("best", [True, False])
def test_bedroc_stays_within_its_bounds(alpha: float, best: bool) -> None:
    name = f"BEDROC(alpha={alpha})"
    for n in (5, 50, 500):
        label = [1, 1] + [0] * (n - 2) if best else [0] * (n - 2) + [1, 1]
        frame = pl.DataFrame({"score": range(n, 0, -1), "label": label})
        for value in (
            prframe.evaluate(frame, name).item(),
            prframe.interval(frame, name, rng=1, n_resamples=50)["estimate"].item(),
        ):
            assert 0 <= value <= 1
            assert value == pytest.approx(float(best), abs=1e-12)


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@pytest.mark.parametrize("method", ["auto", "bayesian-bootstrap", "logit-t"])
def test_the_largest_f1_amid_next_to_no_negatives(method) -> None:
    """No warning of NumPy reaches the caller."""
    data = pl.DataFrame({"score": range(40), "label": [0, 1] * 20})
    row = prframe.interval(data, "MaxF1", n_pos=10**9, method=method).row(0, named=True)
    assert row["estimate"] == pytest.approx(4e-8, rel=1e-6)
    assert row["conf_low"] < row["estimate"] < row["conf_high"]


@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@pytest.mark.parametrize("n_pos", [10**5, pytest.param(10**6, marks=pytest.mark.slow), 10**12])
def test_means_far_below_those_at_random(n_pos: int) -> None:
    frame = FRAME.with_columns(query_id=pl.int_range(40) // 10)
    tested = {
        side: prframe.ap_test(frame, over="query_id", n_pos=n_pos, alternative=side)
        for side in ("greater", "less")
    }
    assert tested["greater"]["p_value"].item() == 1
    assert 0 < tested["less"]["p_value"].item() < 1e-4
    assert math.isfinite(tested["less"]["log10_p_value"].item())
