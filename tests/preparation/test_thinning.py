"""Which points of a curve are drawn, and places that keep a distance."""

import numpy as np
import pytest

from prframe._preparation.points import middles, precision_at
from prframe._preparation.thinning import column_edges, kept_points


def naive_kept(x: np.ndarray, y: np.ndarray, edges: np.ndarray) -> list[int]:
    columns: dict[int, list[int]] = {}
    for place, value in enumerate(x):
        column = sum(value >= edge for edge in edges[1:-1])
        columns.setdefault(column, []).append(place)
    kept: set[int] = set()
    for places in columns.values():
        kept |= {places[0], places[-1]}
        kept |= {min(places, key=lambda place: y[place]), max(places, key=lambda place: y[place])}
    return sorted(kept)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("size", [50, 300])
def test_points_by_definition(size: int, log: bool) -> None:
    rng = np.random.default_rng(size)
    x = np.sort(rng.integers(0 if not log else 1, 40, size) / 40)
    y = rng.integers(0, 20, size) / 20
    edges = column_edges(1 / 40 if log else 0.0, 1.0, 7, log=log)
    # Equal values stand on one side of an edge, whatever its last bits.
    edges[1:-1] += 1e-9
    assert kept_points(x, y, edges).tolist() == naive_kept(x, y, edges)


def test_few_points_are_all_kept() -> None:
    x = np.linspace(0, 1, 20)
    assert kept_points(x, x, column_edges(0, 1, 10)).tolist() == list(range(20))


def test_a_million_points_become_a_few_thousand() -> None:
    x = np.linspace(0, 1, 1_000_000)
    y = np.random.default_rng(1).random(len(x))
    assert len(kept_points(x, y, column_edges(0, 1, 1200))) <= 4 * 1200


def test_edges_on_a_logarithmic_scale() -> None:
    assert column_edges(0.01, 1, 2, log=True) == pytest.approx([0.01, 0.1, 1])


def test_mean_and_median_of_steps() -> None:
    first = (np.array([0.5, 1.0]), np.array([1.0, 0.4]))
    second = (np.array([0.25, 0.5]), np.array([0.2, 0.6]))
    levels = np.array([0.0, 0.25, 0.3, 0.5, 0.75, 1.0])
    assert precision_at(*first, levels).tolist() == [1, 1, 1, 1, 0.4, 0.4]
    assert precision_at(*second, levels).tolist() == [0.2, 0.2, 0.6, 0.6, 0, 0]
    mean, median = middles([first, second, second], levels)
    assert mean == pytest.approx([1.4 / 3, 1.4 / 3, 2.2 / 3, 2.2 / 3, 0.4 / 3, 0.4 / 3])
    assert median.tolist() == [0.2, 0.2, 0.6, 0.6, 0, 0]
