"""The known bias of the estimate of AP."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from prframe import PrframeError

pytestmark = pytest.mark.filterwarnings("ignore:fewer than 40 clusters:prframe.CoverageWarning")

LABELS = [1, 0, 1, 1, 0, 0, 1, 0]
DATA = pl.DataFrame({"score": range(8, 0, -1), "label": LABELS})
FEW = {"n_resamples": 100, "rng": 1}


def naive_bias(labels: list[int], weight: float = 1.0) -> float:
    """Return the mean of TP / K - (TP - 1) / (K - 1) over the positives, 0 at rank 1.

    A negative counts so many times as `weight` says.
    """
    parts, tp, k = [], 0.0, 0.0
    for label in labels:
        tp, k = tp + label, k + (1.0 if label else weight)
        if label:
            parts.append(tp / k - ((tp - 1) / (k - 1) if k > 1 else 1.0))
    return sum(parts) / len(parts)


def test_bias_is_the_naive_one() -> None:
    found = DATA.pr.interval(["AP", "AUC"], bias=True, **FEW)
    assert found["bias"].to_list() == [pytest.approx(naive_bias(LABELS)), None]
    assert found.drop("bias").equals(DATA.pr.interval(["AP", "AUC"], **FEW))
    at_prior = DATA.pr.interval("AP", bias=True, prior=0.2, **FEW)
    # What few negatives of another weight add is not known.
    assert at_prior["bias"].item() is None


def test_groups_clusters_and_methods() -> None:
    groups = pl.concat(
        [
            DATA.with_columns(q=pl.lit("a")),
            DATA.with_columns(pl.col("label").reverse(), q=pl.lit("b")),
        ]
    ).with_columns(user=pl.int_range(pl.len()))
    expected = [naive_bias(LABELS), naive_bias(LABELS[::-1])]
    for options in ({}, {"method": "logit-t"}, {"cluster": "user"}):
        found = groups.pr.interval("AP", by="q", bias=True, **options, **FEW)
        assert found["bias"].to_list() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"bias": True, "over": "q"},
            "`bias` is of the sample that one ranking is; a mean over groups has none. Leave out "
            "bias=True, or `over`.",
        ),
        ({"bias": "AP"}, "`bias` must be True or False; got 'AP'."),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        DATA.with_columns(q=1).pr.interval("AP", **options)
    assert str(caught.value) == message


@pytest.mark.slow
def test_estimates_without_their_bias_are_nearer_to_the_population() -> None:
    """Normal scores of which 1 % is positive: AP of the population is .0422."""
    rng, samples, n = np.random.default_rng(1), 200, 2000
    label = rng.random(samples * n) < 0.01
    score, run = rng.normal(label), np.repeat(np.arange(samples), n)
    data = pl.DataFrame({"score": score, "label": label, "run": run})
    found = data.pr.interval("AP", by="run", bias=True, method="logit-t")
    assert found["estimate"].mean() > 0.058
    assert (found["estimate"] - found["bias"]).mean() == pytest.approx(0.0465, abs=0.004)
