"""Totals that a user states cost no memory and no digits, however large they are."""

import math
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.metrics import CATALOGUE
from prframe.stats import parse_phi
from prframe.stats.score_functions import mean_score
from prframe.stats.tie_expectations import discount_sum, discount_sums, interpolated_discount_sum

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
TOTALS = [10**9, 10**12]
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


@pytest.mark.parametrize("method", ["auto", "percentile"])
@pytest.mark.parametrize("n_neg", TOTALS)
def test_intervals_of_every_metric_of_counts(n_neg: int, method: str) -> None:
    known = [str(metric.example()) for metric in CATALOGUE.values() if not metric.without_cells]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)
        table = prframe.interval(FRAME, known, n_neg=n_neg, method=method, n_resamples=100, rng=1)
    assert len(numbers(table)) >= 4 * len(known)


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
    "verb",
    [pytest.param(verb, marks=[pytest.mark.slow] * (verb in SLOW)) for verb in VERBS],
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
        "models are compared on the same items item by item, and `n_neg` may add up to 100000000 "
        f"that are not listed; got {10**12 - n_neg}. Leave them out, which changes no metric of "
        "the ranks of listed positives, or take a smaller sample of items."
    )


@pytest.mark.parametrize("name", ["DCG", "nDCG", "BEDROC", "EF", "AUC", "AP"])
def test_values_at_random(name: str) -> None:
    value = CATALOGUE[name].at_random(n=10**12, n_pos=10)
    assert value is not None
    assert value > 0


def test_mean_discount_at_random() -> None:
    value = prframe.DCG.at_random(n=10**12, n_pos=10)
    assert value == pytest.approx(10 * discount_sum([10**12])[0] / 10**12)


def test_discounts_between_whole_ranks() -> None:
    for largest in (10, 100_000):
        ranks = np.linspace(0, largest, 7)
        expected = np.interp(ranks, np.arange(largest + 1), discount_sums(largest))
        np.testing.assert_allclose(interpolated_discount_sum(ranks), expected, rtol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("k", [65_537, 70_000, 10**6, 2 * 10**7])
def test_the_sum_of_discounts_is_the_exact_one(k: int) -> None:
    exact = math.fsum((1 / np.log2(np.arange(2, k + 2, dtype=np.float64))).tolist())
    assert discount_sum([k])[0] == pytest.approx(exact, rel=2e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "phi",
    [
        *("mww", "logistic", "logrank", "median", "van-der-waerden", "local-auc", "p-norm-push"),
        *("dcg", "dcg(k=1000000)", "rtb", "local-auc(u0=0.5)"),
    ],
)
def test_means_of_scores_are_the_exact_ones(phi: str) -> None:
    n = 4_000_000
    function = parse_phi(phi).of_size(n)
    for first, last in ((1, n), (1, 2_000_000), (2_000_001, n), (2_700_000, n)):
        values = function(np.arange(first, last + 1) / (n + 1))
        scale = np.ptp(values) or 1.0
        expected = math.fsum(values.tolist()) / values.size
        assert abs(mean_score(function, first, last, n) - expected) < 1e-12 * scale, (first, last)


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


def test_draws_of_bedroc_do_not_depend_on_what_is_not_listed() -> None:
    """With so many negatives below, the metric has come to its limit."""
    spread = [
        prframe.interval(
            FRAME,
            "BEDROC(alpha=0.01)",
            n_neg=n_neg,
            n_pos=20,
            rng=1,
            n_resamples=200,
            method="bayesian-bootstrap",
        )["std_error"].item()
        for n_neg in (10**9, 10**12, 10**15)
    ]
    assert spread == pytest.approx([spread[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("metric", ["AP", "AP@1", "pAP", "R(at_precision=0.5)"])
def test_rates_too_small_for_single_precision(metric: str) -> None:
    """The more negatives there are below, the smaller the rates, and nothing else changes."""
    ends = [
        prframe.interval(FRAME, metric, n_neg=n_neg, rng=1, n_resamples=200)["conf_high"].item()
        for n_neg in (10**12, 2**52)
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


def test_odds_too_small_for_single_precision() -> None:
    """No logarithm of 0 is taken; nearly all positives are not listed, and precision is 0 there."""
    found = prframe.band(FRAME, n_pos=2**52, rng=1, n_resamples=200)
    assert not any(numbers(found.select("precision", "conf_low", "conf_high")))


def test_an_area_of_few_among_very_many_positives() -> None:
    """AP is the smaller, the more positives are not listed."""
    ends = [
        prframe.interval(FRAME, "AP", n_pos=n_pos, rng=1, n_resamples=200)["conf_high"].item()
        * n_pos
        for n_pos in (10**9, 10**11)
    ]
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)


def test_a_precision_of_nothing_has_no_interval() -> None:
    options: dict[str, Any] = {"metrics": ["P(threshold=99)", "R(threshold=99)"]}
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        precision, recall = prframe.interval(FRAME, **options).rows(named=True)
    assert [str(warning.message) for warning in caught] == [
        "P(threshold=99): undefined, hence null, for 1 of 1 groups, which have no positives or no "
        "scores of at least 99"
    ]
    assert all(precision[name] is None for name in ("estimate", "std_error", "conf_low"))
    assert recall["conf_high"] < 0.5


# In single precision the share of negatives is 0.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("metric", ["AP", "MaxF1", "pAUC", "Prec@0.5"])
def test_intervals_take_no_memory(metric: str) -> None:
    tracemalloc.start()
    prframe.interval(FRAME, metric, n_pos=2**52, rng=1, n_resamples=200)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 400e6


@pytest.mark.parametrize("method", ["auto", "bayesian-bootstrap", "logit-t"])
def test_the_largest_f1_amid_next_to_no_negatives(method) -> None:
    """Draws have no negatives left there; no warning of NumPy reaches the caller."""
    data = pl.DataFrame({"score": range(40), "label": [0, 1] * 20})
    row = prframe.interval(data, "MaxF1", n_pos=10**9, method=method).row(0, named=True)
    assert row["estimate"] == pytest.approx(4e-8, rel=1e-6)
    if method == "bayesian-bootstrap":
        assert row["conf_low"] is None
    else:
        assert row["conf_low"] < row["estimate"] < row["conf_high"]
