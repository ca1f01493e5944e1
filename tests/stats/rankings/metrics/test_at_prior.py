"""Metrics at another share of positives than that of the sample."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import AveragePrecision, CellStatistic, cells_from_scores
from prframe.stats.rankings import AtPrior, GainArea, LargestF1, SetStatistic

NAMES = ["AP", "AUPRC", "pAP", "Prec@0.5", "P(threshold=0.25)"]
# What `evaluate` knows at the prior of the sample alone.
FURTHER = [
    "F1(threshold=0.25)",
    "F(beta=2,threshold=0.25)",
    "MCC(threshold=0.25)",
    "MaxF1",
    "AUPRG",
    "R(at_precision=0.4)",
]


def sample(seed: int, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return binormal scores, a share of which is of positives."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < share
    return rng.normal(size=n) + 1.2 * label, label


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [0.05, 0.5])
def test_the_estimate_is_that_of_evaluate(name: str, prior: float) -> None:
    score, label = sample(1, 300, 0.2)
    data = pl.DataFrame({"score": np.round(score, 1), "label": label})
    value = prframe.evaluate(data, name, prior=prior).item()
    for method in ("auto", "logit-t"):
        row = prframe.interval(data, name, prior=prior, method=method, rng=1).to_dicts()[0]
        assert row["estimate"] == pytest.approx(value, abs=1e-12)
        assert row["conf_low"] < value < row["conf_high"]


@pytest.mark.parametrize("name", [*NAMES, *FURTHER])
def test_a_negative_that_counts_three_times_is_three_negatives(name: str) -> None:
    score, label = sample(8, 200, 0.3)
    data = pl.DataFrame({"score": np.round(score, 1), "label": label})
    tripled = pl.concat([data, *[data.filter(~pl.col("label"))] * 2])
    prior = label.sum() / tripled.height
    value = prframe.evaluate(tripled, name).item()
    for method in ("bayesian-bootstrap", "percentile"):
        options = {"prior": prior, "method": method, "rng": 1, "n_resamples": 200}
        found = prframe.interval(data, name, **options)
        assert found["estimate"][0] == pytest.approx(value, abs=1e-12)
        assert found["conf_low"][0] < value < found["conf_high"][0]
    if name == "MaxF1":
        wanted = prframe.interval(tripled, name, rng=1)["estimate"]
        assert found["estimate"].to_list() == pytest.approx(wanted.to_list())


@pytest.mark.parametrize(
    "statistic",
    [
        AveragePrecision(),
        LargestF1(),
        GainArea(),
        SetStatistic("precision"),
        SetStatistic("f", beta=2.0),
        SetStatistic("matthews"),
    ],
    ids=lambda statistic: statistic.name,
)
def test_the_influence_is_the_derivative(statistic: CellStatistic) -> None:
    score, label = sample(3, 80, 0.3)
    cells, _ = cells_from_scores(np.where(score > -0.5, score, -np.inf), label)
    metric, step = AtPrior(statistic, 0.6), 1e-5
    influence = metric.influence(cells)
    for side, number in enumerate((cells.pos, cells.neg)):
        for cell in np.flatnonzero(number):
            counts = [cells.pos.astype(float), cells.neg.astype(float)]
            counts[side][cell] += step
            slope = (metric.values(*counts) - metric.value(cells)) / step
            assert influence[side][cell] == pytest.approx(slope, abs=1e-5)


def test_a_comparison_has_the_values_of_evaluate() -> None:
    score, label = sample(4, 60, 0.3)
    noise = np.random.default_rng(4).normal(size=60)
    # Every query has positives.
    query = np.argsort(np.argsort(label, kind="stable")) % 6
    data = pl.DataFrame({"a": score, "b": score + noise, "label": label, "q": query})
    options = {"score": ["a", "b"], "prior": 0.5, "rng": 1}
    row = prframe.compare(data, "AP", over=None, n_resamples=200, **options).to_dicts()[0]
    values = [prframe.evaluate(data, "AP", model, prior=0.5).item() for model in "ab"]
    assert [row["mean_a"], row["mean_b"]] == pytest.approx(values)
    row = prframe.compare(data, "AP", over="q", **options).to_dicts()[0]
    values = [
        prframe.evaluate(data, "AP", model, by="q", prior=0.5)["AP"].mean() for model in "ab"
    ]
    assert [row["mean_a"], row["mean_b"]] == pytest.approx(values)
    mean = prframe.interval(data, "AP", "a", over="q", prior=0.5)
    assert mean["estimate"].item() == pytest.approx(values[0])
