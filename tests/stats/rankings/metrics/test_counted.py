"""Metrics of cells that are known by their values alone."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.metrics import CATALOGUE, parse_metric
from prframe.stats import (
    cells_from_scores,
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
@pytest.mark.parametrize("seed", range(2))
def test_cells_agree_with_the_catalogue(name: str, seed: int) -> None:
    score, label = ranking(seed)
    value = prframe.evaluate(pl.DataFrame({"score": score, "label": label}), name).item()
    cells, _ = cells_from_scores(score, label)
    assert parse_metric(name).cell_statistic().value(cells) == pytest.approx(value, abs=1e-12)
