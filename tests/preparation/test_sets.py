"""Sets of systems that are not told apart, and their letters."""

from itertools import chain, combinations

import numpy as np
import pytest

from prframe._preparation.sets import Comparison, covering_cliques, letter


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


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("share", [0, 0.3, 0.6, 0.9, 1])
def test_cliques_by_definition(size: int, share: float) -> None:
    for seed in range(3):
        alike = drawn_graph(size, share, seed)
        assert set(covering_cliques(alike)) <= naive_cliques(alike)


@pytest.mark.parametrize("size", [*range(2, 13), 20, 27, 40, 60])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 1])
def test_pairs_share_a_set_exactly_if_they_are_alike(size: int, share: float) -> None:
    alike = drawn_graph(size, share, size)
    cliques = covering_cliques(alike)
    shared = {pair for members in cliques for pair in combinations(sorted(members), 2)}
    assert shared == {(a, b) for a, b in combinations(range(size), 2) if b in alike[a]}
    assert set().union(*cliques) == set(range(size))


def test_few_sets_cover_a_graph_with_exponentially_many() -> None:
    # Twenty triples, no two of one triple alike, have 3^20 maximal cliques.
    alike = [frozenset(b for b in range(60) if b // 3 != a // 3) for a in range(60)]
    cliques = covering_cliques(alike)
    shared = {pair for members in cliques for pair in combinations(sorted(members), 2)}
    assert len(shared) == 60 * 57 / 2
    assert len(cliques) < 60


def test_a_row_of_overlapping_sets_has_a_letter_each() -> None:
    alike = [frozenset(b for b in range(6) if 0 < abs(a - b) <= 2) for a in range(6)]
    assert [sorted(members) for members in covering_cliques(alike)] == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
    ]


def test_letters_can_be_joined() -> None:
    assert [letter(number) for number in (0, 25, 26, 51, 52, 103, 104)] == [
        *("a", "z", "A", "Z", "a2", "Z2", "a3"),
    ]


def test_cells_are_coloured_by_the_difference() -> None:
    differences = {(0, 1): 0.1, (0, 2): -0.4, (1, 2): 0.2, (2, 3): 0.0, (0, 3): None}
    rows = {pair: {"difference": difference} for pair, difference in differences.items()}
    apart = frozenset(frozenset(pair) for pair in ((0, 1), (0, 2), (2, 3)))
    shades = Comparison(list("abcd"), [None] * 4, rows, apart).shades()
    assert shades == {
        (0, 1): pytest.approx(0.25 + 0.75 / 4),
        (0, 2): -1.0,
        (1, 2): 0.0,
        (2, 3): 0.0,
        (0, 3): 0.0,
    }
    assert Comparison([], [], {}, frozenset()).shades() == {}
