"""Walks with merged states: towards enumerated tails, and many side by side."""

from itertools import combinations
from math import comb, log

import numpy as np
import pytest

from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.merged import crowds
from prframe.stats.null.average_precision.tails.merged.walk import Rounding, Walk, walked
from prframe.stats.null.average_precision.tails.mergers import Merger, merged_tails


def counted(items: Items, n_pos: int, target: float) -> int:
    """Count the rankings whose T reaches a target, one by one."""
    ends = np.arange(1, items.depth + 1) if items.ends is None else items.ends
    good = 0
    for ranks in combinations(range(1, items.n + 1), n_pos):
        retrieved = np.array([rank for rank in ranks if rank <= items.depth])
        at = ends[np.searchsorted(ends, retrieved)]
        good += sum(np.count_nonzero(at <= end) / end for end in at.tolist()) >= target
    return good


@pytest.mark.parametrize(
    "items",
    [Items(9, 9), Items(9, 6), Items(9, 9, np.array([1, 2, 5, 9])), Items(9, 7, np.array([3, 7]))],
)
def test_walks_that_count_side_by_side_equal_enumeration(items: Items) -> None:
    asked = [
        (n_pos, target - 1e-9) for n_pos in (1, 2, 4) for target in (0.2, 0.5, 1.0, 7 / 6, 2.5)
    ]
    tails = walked([Walk(items, n_pos, target, is_counted=True) for n_pos, target in asked])
    for tail, (n_pos, target) in zip(tails, asked, strict=True):
        good = counted(items, n_pos, target)
        assert tail.is_exact
        assert tail.reached == pytest.approx(log(good / comb(9, n_pos)) if good else -np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ["mean", "low", "high"])
def test_walks_side_by_side_are_those_of_each_alone(rounding: Rounding) -> None:
    shapes = [
        (Items(200, 200), 9, 1.5, True, 50.0),
        (Items(60, 40), 20, 6.0, False, 200.0),
        (Items(60, 60, np.array([1, 5, 6, 30, 60])), 7, 3.0, True, 20.0),
        (Items(3000, 3000), 5, 2.1, True, 100.0),
        (Items(5, 5), 1, 0.5, False, 100.0),
    ]
    walks = [
        Walk(items, n_pos, target, 0.1, 1.0, most, rounding, is_fine=fine)
        for items, n_pos, target, fine, most in shapes
    ]
    for walk, tails in zip(walks, walked(walks), strict=True):
        alone = walk.tails()
        assert tails[:3] == pytest.approx(alone[:3], rel=1e-10, abs=1e-10)
        assert tails[3:] == alone[3:]


def test_more_walks_than_go_side_by_side_keep_their_order() -> None:
    targets = np.linspace(0.1, 2.9, 150).tolist()
    walks = [Walk(Items(12, 12), 3, target, is_counted=True) for target in targets]
    reached = [tails.reached for tails in walked(walks)]
    assert reached == sorted(reached, reverse=True)
    assert reached == pytest.approx([walk.tails().reached for walk in walks])


@pytest.mark.parametrize("sizes", [(30,) * 10, (1, 2, 4, 9, 20, 44, 90, 130)])
def test_walks_over_large_blocks_keep_few_states_and_remain_bounds(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    items = Items(300, 300, np.cumsum(sizes))
    target = 21.0
    free = Walk(items, 40, target, 0.02, 0.5, most=500).tails()
    assert not free.is_widened
    monkeypatch.setattr(crowds, "_MOST_TERMS", 5e4)
    for rounding in ("low", "mean", "high"):
        kept = Walk(items, 40, target, 0.02, 0.5, 500, rounding).tails()
        assert kept != free
        if rounding == "low":
            assert kept.reached <= free.reached
        elif rounding == "high":
            assert np.logaddexp(kept.reached, kept.left_out) >= free.reached
        else:
            assert kept.reached == pytest.approx(free.reached, abs=0.15)


def test_tails_that_depend_on_the_width_of_cells_are_estimates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = Items(300, 300, np.cumsum([1, 2, 4, 9, 20, 44, 90, 130]))

    def merger(cell: float) -> Merger:
        """Return walks of two widths."""
        wide, narrow = (Walk(items, 40, 21.0, width, 0.5, 50) for width in (2 * cell, cell))
        return Merger(wide, narrow)

    assert [tail.method for tail in merged_tails([merger(0.02)])] == ["lattice"]
    assert [tail.method for tail in merged_tails([merger(0.6)])] == ["estimate"]
    # Cells so wide that all states of a number of hits are one give the same tail twice.
    monkeypatch.setattr(crowds, "_MOST_TERMS", 10.0)
    assert [tail.method for tail in merged_tails([merger(0.02)])] == ["estimate"]
