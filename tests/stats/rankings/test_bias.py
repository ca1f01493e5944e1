"""The known bias of the estimate of AP, which intervals correct for."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats.rankings import AveragePrecision
from prframe.stats.rankings.cells import cells_from_scores

LABELS = [1, 0, 1, 1, 0, 0, 1, 0]


def naive_bias(labels: list[int]) -> float:
    """Return the mean of TP / K - (TP - 1) / (K - 1) over the positives, 0 at rank 1."""
    parts, tp = [], 0
    for k, label in enumerate(labels, start=1):
        tp += label
        if label:
            parts.append(tp / k - ((tp - 1) / (k - 1) if k > 1 else 1))
    return sum(parts) / len(parts)


@pytest.mark.parametrize("labels", [LABELS, LABELS[::-1]])
def test_bias_is_the_naive_one(labels: list[int]) -> None:
    cells, _ = cells_from_scores(np.arange(8.0, 0, -1), np.array(labels) > 0)
    assert AveragePrecision().bias(cells) == pytest.approx(naive_bias(labels))


@pytest.mark.slow
def test_estimates_without_their_bias_are_nearer_to_the_population() -> None:
    """Normal scores of which 1 % is positive: AP of the population is .0422."""
    rng, samples, n = np.random.default_rng(1), 200, 2000
    label = rng.random(samples * n) < 0.01
    score, run = rng.normal(label), np.repeat(np.arange(samples), n)
    data = pl.DataFrame({"score": score, "label": label, "run": run})
    assert prframe.evaluate(data, "AP", by="run")["AP"].mean() > 0.058
    unbiased = []
    for part in data.partition_by("run"):
        cells, _ = cells_from_scores(part["score"].to_numpy(), part["label"].to_numpy())
        unbiased.append(AveragePrecision().value(cells) - AveragePrecision().bias(cells))
    assert np.mean(unbiased) == pytest.approx(0.0465, abs=0.004)
