"""Sets of systems that are not told apart, and their letters."""

from itertools import chain, combinations

import numpy as np
import pytest

from prframe._preparation.sets import covering_cliques


def drawn_graph(size: int, share: float, seed: int) -> list[frozenset[int]]:
    rng = np.random.default_rng(seed)
    near = np.triu(rng.random((size, size)) < share, 1)
    near |= near.T
    return [frozenset(np.flatnonzero(row).tolist()) for row in near]


def naive_cliques(alike: list[frozenset[int]]) -> set[frozenset[int]]:
    nodes = range(len(alike))
    sets = chain.from_iterable(combinations(nodes, size) for size in range(1, len(alike) + 1))
    complete = [frozenset(s) for s in sets if all(b in alike[a] for a, b in combinations(s, 2))]
    return {s for s in complete if not any(s < other for other in complete)}


@pytest.mark.parametrize("size", [1, 3, 9])
@pytest.mark.parametrize("share", [0, 0.6, 0.9, 1])
def test_cliques_by_definition(size: int, share: float) -> None:
    for seed in range(3):
        alike = drawn_graph(size, share, seed)
        assert set(covering_cliques(alike)) <= naive_cliques(alike)


@pytest.mark.parametrize("size", [2, 40])
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_pairs_share_a_set_exactly_if_they_are_alike(size: int, share: float) -> None:
    alike = drawn_graph(size, share, size)
    cliques = covering_cliques(alike)
    shared = {pair for members in cliques for pair in combinations(sorted(members), 2)}
    assert shared == {(a, b) for a, b in combinations(range(size), 2) if b in alike[a]}
    assert set().union(*cliques) == set(range(size))
