"""Room for a misplaced item of each class in intervals of areas under the ROC curve."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from prframe.stats import AveragePrecision, RankedCells, RocArea, cells_from_scores
from prframe.stats.curves import drawn_weights
from prframe.stats.intervals import posterior_replicates, ranking_interval
from prframe.stats.rankings import Bedroc, PartialRocArea
from prframe.typing import Flags, Floats

AREAS = [RocArea(), PartialRocArea(1.0), PartialRocArea(0.3), PartialRocArea(0.3, "mcclish")]


def sample(n_pos: int, n_neg: int, seed: int = 3) -> RankedCells:
    label = np.arange(n_pos + n_neg) < n_pos
    return cells_from_scores(np.random.default_rng(seed).normal(label * 1.0).round(1), label)[0]


def with_weights(cells: RankedCells, first: float, second: float) -> tuple[Floats, Floats]:
    """The weights of cells with so much of either class where its most misplaced item is."""
    pos, neg = cells.pos / cells.n_pos * (1 - first), cells.neg / cells.n_neg * (1 - second)
    pos[np.flatnonzero(cells.pos).max()] += first
    neg[np.flatnonzero(cells.neg).min()] += second
    return pos, neg


@pytest.mark.parametrize("one", [RocArea(), PartialRocArea(0.5), PartialRocArea(0.2)], ids=str)
@pytest.mark.parametrize("size", [(20, 60), (300, 200)])
def test_the_area_of_the_sample_moves_as_by_weights_of_half_an_item(
    one: RocArea, size: tuple[int, int]
) -> None:
    cells, n = sample(*size), 4000
    value = one.value(cells)
    found = one.low_draws(cells, np.full(n, value))
    rng = np.random.default_rng(2)
    expected = [
        float(one.values(*with_weights(cells, *weights)))
        for weights in zip(*(rng.beta(0.5, m, n) for m in size), strict=True)
    ]
    levels = np.linspace(0.05, 0.95, 19)
    loss = value - np.quantile(found, levels), value - np.quantile(expected, levels)
    np.testing.assert_allclose(*loss, rtol=0.2, atol=0.02 * (value - np.mean(expected)))


@pytest.mark.parametrize("one", AREAS, ids=str)
@pytest.mark.parametrize("size", [(3, 4), (20, 60), (300, 200)])
def test_draws_become_less_and_no_less_than_the_least(one: RocArea, size: tuple[int, int]) -> None:
    cells = sample(*size)
    [draws] = posterior_replicates(cells, [one], drawn_weights(500, np.random.default_rng(3)))
    lower = one.low_draws(cells, draws)
    assert (lower <= draws).all()
    assert (lower < draws).any()
    assert lower.min() >= one.limits[0]
    # The mean weight of half a count is less than that of a whole one.
    assert (draws - lower).mean() < (one.limits[1] - one.limits[0]) * 4 / min(size)


def test_both_areas_of_the_whole_range_have_the_same_room() -> None:
    cells = sample(20, 60)
    draws = np.linspace(0.6, 0.9, 100)
    first, second = (one.low_draws(cells, draws) for one in AREAS[:2])
    np.testing.assert_allclose(first, second, rtol=1e-9)


def test_perfect_rankings_have_no_room() -> None:
    cells = RankedCells([5, 0, 0], [0, 9, 0])
    draws = np.linspace(0.7, 1, 50)
    np.testing.assert_array_equal(RocArea().low_draws(cells, draws), draws)


@pytest.mark.parametrize("one", AREAS, ids=str)
def test_only_the_low_end_has_room(one: RocArea) -> None:
    cells = sample(20, 60)
    plain, found = (
        ranking_interval(cells, one, "bayesian-bootstrap", rng=4, room=room)
        for room in (False, True)
    )
    assert found.low < plain.low
    assert replace(found, low=plain.low) == plain


@pytest.mark.parametrize("few", [1, 2, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_few_tied_items_of_a_class_have_intervals_by_draws(few: int, turned: bool) -> None:
    """A single positive has no variance, and a standard error took that for certainty."""
    pos, neg = np.zeros(40, dtype=int), np.full(40, 25)
    pos[8 : 8 + few] = 1
    cells = RankedCells(np.append(pos, 0), np.append(neg, 0))
    if turned:
        cells = RankedCells(cells.neg, cells.pos)
    for one in (RocArea(), AveragePrecision(), Bedroc(), PartialRocArea(0.5)):
        found = ranking_interval(cells, one, rng=1, n_resamples=200)
        assert found.method == "bayesian-bootstrap"
    found = ranking_interval(cells, RocArea(), rng=1)
    assert found.high - found.low > 0.2


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
