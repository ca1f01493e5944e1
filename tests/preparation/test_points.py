"""Which points of a curve are drawn."""

import numpy as np
import pytest

from prframe._preparation.points import kept_points


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


@pytest.mark.parametrize("size", [50, 300])
def test_points_by_definition(size: int) -> None:
    rng = np.random.default_rng(size)
    x = np.sort(rng.integers(0, 40, size) / 40)
    y = rng.integers(0, 20, size) / 20
    edges = np.linspace(0, 1, 8)
    # Equal values stand on one side of an edge, whatever its last bits.
    edges[1:-1] += 1e-9
    assert kept_points(x, y, edges).tolist() == naive_kept(x, y, edges)
