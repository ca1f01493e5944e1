"""Room for a misplaced item of each class in intervals of areas under the ROC curve."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.stats import RankedCells, RocArea, cells_from_scores
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import posterior_replicates, ranking_interval
from prframe.stats.rankings import PartialRocArea
from prframe.typing import Flags, Floats

AREAS = [RocArea(), PartialRocArea(1.0), PartialRocArea(0.3), PartialRocArea(0.3, "mcclish")]


def sample(n_pos: int, n_neg: int, seed: int = 3) -> RankedCells:
    label = np.arange(n_pos + n_neg) < n_pos
    return cells_from_scores(np.random.default_rng(seed).normal(label * 1.0).round(1), label)[0]


@pytest.mark.parametrize("size", [(20, 60), (300, 200), (7, 4)])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_low_end_of_auc_is_that_of_the_rank_test(size: tuple[int, int], alternative) -> None:
    """The mean rank of the positives is AUC on another scale."""
    n_pos, n_neg = size
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({"label": np.arange(n_pos + n_neg) < n_pos}).with_columns(
        score=pl.Series(rng.normal(size=n_pos + n_neg).round(1)) + pl.col("label") * 2
    )
    tested = prframe.rank_test(rows, confidence_level=0.9).row(0, named=True)
    share = n_pos / (n_pos + n_neg)
    expected = (tested["conf_low"] - share / 2) / (1 - share)
    level = 0.9 if alternative == "two-sided" else 0.95
    options = {"confidence_level": level, "alternative": alternative, "rng": 1}
    found = prframe.interval(rows, "AUC", **options)
    assert found["conf_low"].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("one", AREAS, ids=str)
def test_only_the_low_end_has_room(one: RocArea) -> None:
    cells = sample(20, 60)
    plain, found = (
        ranking_interval(cells, one, "bayesian-bootstrap", rng=4, room=room)
        for room in (False, True)
    )
    assert found.low != plain.low
    assert replace(found, low=plain.low) == plain


def of_edge(rng: np.random.Generator, label: Flags) -> Floats:
    """Even scores: 2 % of the negatives and 80 % of the positives are above an edge."""
    above = rng.random(label.size) < np.where(label, 0.8, 0.02)
    return above + rng.random(label.size)


def of_cauchy(rng: np.random.Generator, label: Flags) -> Floats:
    return 3 * label + rng.standard_cauchy(label.size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scores", "true"),
    [(of_edge, 0.89), (of_cauchy, stats.cauchy(3, 2).sf(0))],
)
def test_areas_that_few_items_decide_are_covered(
    scores: Callable[[np.random.Generator, Flags], Floats], true: float
) -> None:
    """Of 20 positives; the draws alone cover in .90 and .89 of all samples."""
    label, rng, number = np.arange(400) < 20, np.random.default_rng(5), 600
    missed = np.zeros(2)
    for at in range(number):
        if at % 20 == 0:
            weights = drawn_weights(1000, rng)
        cells, _ = cells_from_scores(scores(rng, label), label)
        [draws] = posterior_replicates(cells, [RocArea()], weights)
        for place, room in enumerate((False, True)):
            found = ranking_interval(cells, RocArea(), replicates=draws, room=room)
            missed[place] += not found.low <= true <= found.high
    # Two standard errors below .93.
    assert missed[1] <= number * 0.07 + 2 * np.sqrt(number * 0.07 * 0.93)
    assert missed[1] <= missed[0] - number * 0.01
