"""Lists that positives nearly fill, against enumeration, other methods and draws."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.full_lists import FullLists, log_full_lists

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
