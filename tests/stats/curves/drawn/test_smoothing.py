"""Means of drawn curves over recall: against plain sums, and at the ends of curves."""

from collections.abc import Callable
from math import asin, ceil, exp, inf, pi, sin, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from prframe.stats.curves.drawn.roc_path import RocPath
from prframe.stats.curves.drawn.smoothing import Smoothing
from prframe.stats.rankings import cells_from_scores

LEVELS = np.array([0.001, 0.05, 0.31, 0.5, 0.95, 0.9999])
Floats = NDArray[np.float64]


def weights_of(recall: float, n_pos: int, *, rounded: bool = False) -> dict[float, float]:
    """The levels near a recall, and their normal weights, node by node."""
    spread = 1 / (2 * sqrt(n_pos))
    number = ceil(pi / spread)
    nodes = [sin((i + 0.5) * pi / 2 / number) ** 2 for i in range(number)]
    center = int(asin(sqrt(recall)) / (pi / 2 / number))
    near = nodes[max(center - 6, 0) : center + 7]
    if rounded:
        near = [round(node * 4096) / 4096 for node in near]
    apart = [(asin(sqrt(node)) - asin(sqrt(recall))) / spread for node in near]
    weights = [exp(-(x**2) / 2) for x in apart]
    return {node: w / sum(weights) for node, w in zip(near, weights, strict=True)}


# Nodes are rounded where that is little of the distance between them.
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(
    ("levels", "n_pos", "rounded"),
    [
        (LEVELS, 3, True),
        (LEVELS, 15, True),
        (LEVELS, 400, False),
        (LEVELS[2:4], 10_000, True),
        (LEVELS[2:4], 100_000, False),
    ],
)
def test_means_are_weighted_sums(levels: Floats, n_pos: int, rounded: bool, asked: bool) -> None:
    smoothing = Smoothing.of(levels, n_pos, rounded=asked)
    rounded = rounded and asked
    curves = np.random.default_rng(1).normal(size=(7, smoothing.nodes.size))
    found = smoothing.means(curves, np.ones(smoothing.nodes.size, np.bool_))
    for level, means in zip(levels, found.T, strict=True):
        expected = np.zeros(7)
        for node, weight in weights_of(float(level), n_pos, rounded=rounded).items():
            expected += weight * curves[:, np.abs(smoothing.nodes - node).argmin()]
        np.testing.assert_allclose(means, expected, rtol=1e-11)


def test_nodes_are_levels_near_those_asked_for() -> None:
    smoothing = Smoothing.of(np.array([0.5]), 100)
    np.testing.assert_allclose(smoothing.nodes, sorted(weights_of(0.5, 100)), rtol=1e-12)
    rounded = Smoothing.of(np.array([0.5]), 100, rounded=True).nodes
    assert (rounded * 4096 == np.rint(smoothing.nodes * 4096)).all()
    # So many levels have no more nodes than few positives tell apart.
    assert Smoothing.of(np.linspace(0.001, 0.999, 10_001), 25).nodes.size <= 2 * pi * 5 + 1
    assert ((smoothing.nodes > 0) & (smoothing.nodes < 1)).all()


def test_a_mean_is_as_wide_as_recall_is_uncertain() -> None:
    smoothing = Smoothing.of(np.array([0.2, 0.5]), 400)
    for recall, row in zip((0.2, 0.5), smoothing.weights.toarray(), strict=True):
        mean = row @ smoothing.nodes
        spread = np.sqrt(row @ (smoothing.nodes - mean) ** 2)
        assert mean == pytest.approx(recall, abs=2e-3)
        assert spread == pytest.approx(np.sqrt(recall * (1 - recall) / 400), rel=0.03)


def test_lines_stay_lines_and_constants_the_same() -> None:
    recall = np.linspace(0.2, 0.8, 13)
    smoothing = Smoothing.of(recall, 900)
    smoothed = np.ones(smoothing.nodes.size, np.bool_)
    alike = smoothing.means(np.full((2, smoothing.nodes.size), 3.0), smoothed)
    np.testing.assert_allclose(alike, 3.0)
    line = smoothing.means(smoothing.nodes[None], smoothed)
    np.testing.assert_allclose(line[0], recall, atol=1e-3)


def test_curves_that_end_are_not_smoothed_where_a_draw_has_ended() -> None:
    smoothing = Smoothing.of(LEVELS, 50)
    ends = np.array([0.4, 0.6])[:, None]
    drawn = np.where(smoothing.nodes > ends, -inf, 2.0)
    unsmoothed = np.where(ends < LEVELS, -inf, 7.0)
    found = smoothing.means(drawn, np.ones(smoothing.nodes.size, np.bool_), unsmoothed)
    np.testing.assert_allclose(found, np.where(LEVELS <= 0.4, 2.0, unsmoothed))


def test_a_curve_that_ends_at_once_stays_as_it_is() -> None:
    smoothing = Smoothing.of(LEVELS, 50)
    smoothed = np.ones(smoothing.nodes.size, np.bool_)
    nothing = np.full((3, smoothing.nodes.size), -inf)
    unsmoothed = np.full((3, LEVELS.size), -inf)
    found = smoothing.means(nothing, smoothed, unsmoothed)
    np.testing.assert_array_equal(found, unsmoothed)


def test_nodes_in_wide_blocks() -> None:
    smoothing = Smoothing.of(np.linspace(0.01, 0.99, 99), 100)
    # The standard deviation of recall is .05 at .5, and .03 at .1.
    first, last = np.array([0.08, 0.3, 0.47]), np.array([0.12, 0.45, 0.5])
    nodes = smoothing.nodes
    expected = (nodes >= 0.08) & (nodes <= 0.12) | (nodes >= 0.3) & (nodes <= 0.45)
    np.testing.assert_array_equal(smoothing.in_blocks(first, last), expected)
    assert not smoothing.in_blocks(np.array([]), np.array([])).any()
    assert smoothing.in_blocks(np.array([0.0]), np.array([1.0])).all()


def path_of(n_pos: int, passed: Callable[[int], int]) -> RocPath:
    """Return the path of a ranking with so many negatives above each positive, in rising order."""
    above = [passed(i) for i in range(n_pos)]
    score = np.array([-float(x) - i / (2 * n_pos) for i, x in enumerate(above)])
    negatives = -(np.arange(max(above) + 10) + 0.75)
    label = np.arange(score.size + negatives.size) < n_pos
    return RocPath.of(cells_from_scores(np.concatenate([score, negatives]), label)[0])


@pytest.mark.parametrize("n_pos", [20, 100, 1000])
def test_curves_are_not_smoothed_near_a_gap(n_pos: int) -> None:
    """Negatives in a gap between the scores of positives are passed all at once."""
    levels = np.linspace(0.01, 0.99, 99)
    smoothing = Smoothing.of(levels, n_pos)
    few, gap = n_pos // 10, 0.6
    path = path_of(n_pos, lambda i: i * few // n_pos + (40 * few if i >= gap * n_pos else 0))
    smoothed, spread = smoothing.smoothed(path), 1 / (2 * np.sqrt(n_pos))
    apart = np.abs(np.arcsin(np.sqrt(smoothing.nodes)) - np.arcsin(np.sqrt(gap))) / spread
    # A place is steep up to a standard deviation from the gap, and more than a step before it.
    assert not smoothed[apart < 1.9].any()
    assert smoothed[apart > 3.1].all()


@pytest.mark.parametrize("n_pos", [7, 100])
def test_what_is_smoothed_at_a_level_does_not_depend_on_others(n_pos: int) -> None:
    levels = np.linspace(0.01, 0.99, 99)
    path = path_of(n_pos, lambda i: 9 * i * (i % 5 == 0) + i)
    every = Smoothing.of(levels, n_pos)
    known = dict(zip(every.nodes.tolist(), every.smoothed(path).tolist(), strict=True))
    assert set(known.values()) == {True, False}
    for level in levels:
        alone = Smoothing.of(np.array([level]), n_pos)
        assert alone.smoothed(path).tolist() == [known[node] for node in alone.nodes.tolist()]


@pytest.mark.parametrize("n_pos", [20, 100, 1000])
@pytest.mark.parametrize("share", [0, 1, 10])
def test_curves_without_a_gap_are_smoothed(n_pos: int, share: int) -> None:
    """Between any two positives as many negatives stand."""
    smoothing = Smoothing.of(np.linspace(0.3, 0.9, 7), n_pos)
    path = path_of(n_pos, lambda i: share * i)
    assert smoothing.smoothed(path)[smoothing.nodes > 0.5].all()


def test_curves_are_smoothed_as_far_as_they_are_smoothed() -> None:
    smoothing = Smoothing.of(LEVELS, 50)
    rng = np.random.default_rng(2)
    drawn, unsmoothed = rng.normal(size=(4, smoothing.nodes.size)), rng.normal(size=(4, 6))
    smoothed = smoothing.nodes > 0.3
    part = smoothing.weights.toarray() @ smoothed
    assert part[0] == 0
    assert 0 < part[2] < 1
    found = smoothing.means(drawn, smoothed, unsmoothed)
    every = smoothing.means(drawn, np.ones_like(smoothed))
    np.testing.assert_allclose(found, part * every + (1 - part) * unsmoothed)
    np.testing.assert_array_equal(found[:, 0], unsmoothed[:, 0])


@pytest.mark.parametrize("end", [inf, 0.4])
@pytest.mark.parametrize("last", [0.0, 0.3])
def test_means_in_single_precision_are_the_same(last: float, end: float) -> None:
    smoothing = Smoothing.of(LEVELS, 50)
    smoothed = smoothing.nodes > last

    def curves(recall: Floats) -> Floats:
        drawn = np.outer([1.0, 2.0, -1.0], np.log(recall)) + np.cos(90 * recall)
        # All draws end, the first one before the others.
        return np.where(recall >= np.array([[1], [1.1], [1.2]]) * end, -inf, drawn)

    expected = smoothing.means(curves(smoothing.nodes), smoothed, curves(LEVELS))
    means = smoothing.single(smoothed, end)
    found = means.of(curves(means.points).T.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.T, expected, rtol=1e-5, atol=1e-6)
    assert np.isin(means.points, [*smoothing.nodes, *LEVELS]).all()
    # What has no weight is not drawn.
    assert np.isin(LEVELS, means.points).any() == (last > 0 or end < 1)
    np.testing.assert_allclose(means.weights.sum(axis=1), 1, rtol=1e-6)
