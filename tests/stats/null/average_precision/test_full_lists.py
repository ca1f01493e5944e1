"""Lists that positives nearly fill, against enumeration, other methods and draws."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.counted.full_lists import FullLists, log_full_lists

TIES = [None, [1] * 12, [2, 3, 1, 4, 2], [12]]


def totals(depth: int, ties: list[int] | None, most: int) -> dict[int, np.ndarray]:
    """T of all lists with so many negatives, by their number."""
    sizes = np.ones(depth, dtype=int) if ties is None else np.array(ties)
    ends = np.cumsum(sizes)
    found = {}
    for number in range(most + 1):
        values = []
        for places in combinations(range(depth), number):
            label = np.ones(depth)
            label[list(places)] = 0
            positives = np.add.reduceat(label, ends - sizes)
            values.append(float((positives * np.cumsum(positives) / ends).sum()))
        found[number] = np.array(values)
    return found


@pytest.mark.parametrize("ties", TIES, ids=str)
def test_tails_are_those_of_all_lists(ties: list[int] | None) -> None:
    n, n_pos, depth = 40, 15, 12
    items = Items(n, depth, None if ties is None else np.cumsum(ties))
    own = FullLists(items, n_pos)
    lists = totals(depth, ties, 5)
    shares = {v: comb(n - depth, n_pos - depth + v) / comb(n, n_pos) for v in lists}
    for target in np.linspace(7.1, 11.9, 25):
        tails = own.tails(target, 10_000)
        assert tails is not None
        chance = sum((values >= target).sum() * shares[v] for v, values in lists.items())
        if not tails.lumpy[0]:
            assert tails.reached[0] == pytest.approx(np.log(chance), abs=0.02)
        auto = APNull(n, n_pos, ties, depth=depth).logsf(target / n_pos)
        assert auto == pytest.approx(np.log(chance), rel=1e-9)
        reached = sum((values >= target).sum() for values in lists.values())
        assert np.log(reached) <= log_full_lists(items, n_pos, target) + 1e-12


def test_lists_that_are_longer_or_further_from_full_are_left_to_others() -> None:
    assert FullLists(Items(100, 20), 19).tails(18.5, 10_000) is None
    assert log_full_lists(Items(100, 20), 19, 18.5) == np.inf
    assert FullLists(Items(100, 20), 30).tails(8.0, 10_000) is None
    assert FullLists(Items(1000, 500), 600).tails(400.0, 10_000) is None


@pytest.mark.parametrize("share", [0.5, 0.6, 0.7, 0.8, 0.9, 0.97])
@pytest.mark.parametrize("ties", [None, [1] * 20 + [2] + [1] * 30 + [2] * 2 + [1] * 44])
def test_other_methods_agree(share: float, ties: list[int] | None) -> None:
    auto = APNull(1796, 178, ties, depth=100)
    x = share * auto.support()[1]
    assert auto.method == "auto"
    transform = APNull(1796, 178, ties, depth=100, method="transform")
    assert auto.logsf(x) == pytest.approx(transform.logsf(x), abs=0.01)


def test_tails_fall_from_value_to_value() -> None:
    null = APNull(1796, 178, depth=100)
    x = np.linspace(0.2, 1.0, 120) * null.support()[1]
    assert (np.diff(null.logsf(x)) < 0).all()


@pytest.mark.parametrize(
    ("n", "n_pos", "ties"),
    [
        (1563, 1559, [2] * 781 + [1]),
        (1091, 1085, [1] * 200 + [691] + [1] * 200),
        (13_135, 13_129, [33] * 398 + [1]),
        (60, 54, [3] * 20),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value),
)
def test_few_negatives_among_tie_blocks_against_draws(n: int, n_pos: int, ties: list[int]) -> None:
    null = APNull(n, n_pos, ties)
    drawn = np.sort(null.rvs(20_000, rng=1))
    for share in (0.01, 0.3, 0.9, 0.995):
        x = float(drawn[int(share * drawn.size)])
        above = (drawn >= x * (1 - 1e-12)).mean()
        tails = null.tails(x)
        assert tails.method in {"lattice", "exact"}
        error = np.sqrt(above * (1 - above) / drawn.size)
        assert abs(np.exp(tails.log_sf) - above) < 4 * error + 0.01 * above
    critical = float(null.isf(1e-6))
    assert null.sf(critical) <= 1e-6
    # Among few items single rankings carry weight, and the next smaller value is further off.
    further = 1e-3 if n > 100 else 0.2
    assert null.sf(critical - further * (1 - critical)) > 1e-6


def test_small_chances_of_being_worse_keep_their_digits() -> None:
    n, n_pos, depth, points = 400, 390, 60, 20_000
    null = APNull(n, n_pos, depth=depth)
    x = 0.6 * depth / n_pos
    # A row for each number of negatives, with T of all lists on a grid, none of them subtracted.
    rows = np.zeros((11, points + 400))
    rows[0, 0] = 1.0
    for rank in range(1, depth + 1):
        after = np.zeros_like(rows)
        after[1:] += rows[:-1]
        for negatives in range(min(rank - 1, 10) + 1):
            place = (rank - negatives) / rank * points / depth
            whole, part = int(place), place % 1
            kept = rows[negatives, : rows.shape[1] - whole - 1]
            after[negatives, whole:-1] += (1 - part) * kept
            after[negatives, whole + 1 :] += part * kept
        rows = after
    below = np.arange(rows.shape[1]) * depth / points < n_pos * x
    worse = sum(
        row[below].sum() * comb(n - depth, n_pos - depth + v) / comb(n, n_pos)
        for v, row in enumerate(rows)
    )
    assert null.logcdf(x) == pytest.approx(np.log(worse), abs=0.01)
