"""Metrics of cells that are known by their values alone."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.metrics import CATALOGUE, parse_metric
from prframe.stats import AveragePrecision, RocArea, cells_from_scores
from prframe.stats.rankings import (
    CellStatistic,
    GainArea,
    PartialAveragePrecision,
    PartialRocArea,
    SetBalancedAccuracy,
    SetMatthews,
    SetSpecificity,
)

NAMES = [
    *(str(one.example()) for one in CATALOGUE.values() if not one.without_cells),
    *("AP@7", "nDCG@5", "DCG@3", "RR@4", "RBP(p=0.5)@3", "Success@3", "R(at_precision=0.6)"),
    *('pAUC(max_fpr=0.3,scale="mcclish")', "pAP(max_recall=0.25)", 'W("logrank")'),
]


def ranking(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with ties and unretrieved items, and labels of both classes."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 9, n).astype(float)
    score[score == 0] = -np.inf
    return score, np.append(rng.random(n - 2) < 0.4, [True, False])


@pytest.mark.parametrize("name", [name for name in NAMES if parse_metric(name).threshold is None])
@pytest.mark.parametrize("seed", range(6))
def test_cells_agree_with_the_catalogue(name: str, seed: int) -> None:
    score, label = ranking(seed)
    value = prframe.evaluate(pl.DataFrame({"score": score, "label": label}), name).item()
    cells, _ = cells_from_scores(score, label)
    assert parse_metric(name).cell_statistic().value(cells) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("counted", "known"),
    [
        (PartialAveragePrecision(max_recall=1.0), AveragePrecision()),
        (PartialRocArea(max_fpr=1.0), RocArea()),
    ],
)
def test_the_whole_of_a_partial_area(counted: CellStatistic, known: CellStatistic) -> None:
    cells, _ = cells_from_scores(*ranking(3, 200))
    assert counted.value(cells) == pytest.approx(known.value(cells), abs=1e-12)
    # Small changes of the counts give the derivative that is known in closed form.
    pairs = zip(
        counted.influence(cells), known.influence(cells), (cells.pos, cells.neg), strict=True
    )
    for mine, theirs, number in pairs:
        assert mine[number > 0] == pytest.approx(theirs[number > 0], abs=1e-7)


@pytest.mark.parametrize("metric", [SetSpecificity(), SetBalancedAccuracy(), SetMatthews()])
def test_the_influence_of_metrics_of_a_table(metric: CellStatistic) -> None:
    cells, _ = cells_from_scores(*ranking(4, 200))
    influence, step = metric.influence(cells), 1e-5
    for side in (0, 1):
        for cell in range(cells.pos.size):
            counts = [cells.pos.astype(float), cells.neg.astype(float)]
            counts[side][cell] += step
            slope = (metric.values(*counts) - metric.value(cells)) / step
            assert influence[side][cell] == pytest.approx(slope, abs=1e-5)


def test_the_area_of_gains_of_the_authors_example() -> None:
    # These are the labels of the test in the authors' program, whose algorithm gives this area.
    label = [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1]
    cells, _ = cells_from_scores(range(25, 0, -1), label)
    assert GainArea().value(cells) == pytest.approx(0.4324621035742319, abs=1e-12)
    best, _ = cells_from_scores(range(25, 0, -1), sorted(label, reverse=True))
    assert GainArea().value(best) == pytest.approx(1.0)
    tied, _ = cells_from_scores([1.0] * 25, label)
    assert GainArea().value(tied) == pytest.approx(0.0, abs=1e-12)


def test_the_recall_at_a_precision_has_no_influence_as_its_threshold_varies() -> None:
    """A fixed threshold would leave out most of the variance that resamples show."""
    rng = np.random.default_rng(8)
    label = rng.random(600) < 0.3
    data = pl.DataFrame({"score": rng.normal(size=600) + label, "label": label})
    data = data.with_columns(cluster=pl.int_range(600) // 2)
    metric = "R(at_precision=0.6)"
    for method in ("wald", "logit", "logit-t", "bca"):
        with pytest.raises(prframe.PrframeError, match="its threshold jumps"):
            prframe.interval(data, metric, method=method)
    plain = prframe.interval(data, metric, rng=1)
    clustered = prframe.interval(data, metric, cluster="cluster", rng=1)
    assert clustered["method"].item() == "percentile"
    assert clustered["std_error"].item() == pytest.approx(plain["std_error"].item(), rel=0.2)
    with pytest.raises(prframe.PrframeError, match="its threshold jumps"):
        prframe.compare(
            data.with_columns(other=-pl.col("score")),
            metric,
            score=["score", "other"],
            over=None,
            interval="bca",
        )
