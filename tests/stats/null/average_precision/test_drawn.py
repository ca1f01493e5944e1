"""Tails of tied groups from random rankings, plain and weighted."""

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.drawn import DrawnRankings

# Beyond five standard errors of the fewest draws that count (.022 of the tail).
FIVE_ERRORS = 0.11


def shapes(seed: int, number: int, largest: int) -> list[tuple[list[int], int, int]]:
    """Return random sizes of tie blocks, numbers of positives and of items."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(number):
        sizes = rng.integers(1, largest, rng.integers(3, 7))
        unlisted = int(rng.integers(0, 2) * rng.integers(1, 30))
        n = int(sizes.sum()) + unlisted
        found.append((sizes.tolist(), int(rng.integers(2, n - 1)), n))
    return found


def of(null: APNull, sizes: list[int]) -> DrawnRankings:
    items = Items(null.n, sum(sizes), np.cumsum(sizes))
    return DrawnRankings(items, null.n_pos, null.std() * null.n_pos)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "n_pos", "n"), shapes(1, 25, 12))
def test_tails_are_those_of_counting(sizes, n_pos, n):
    depth = sum(sizes) if sum(sizes) < n else None
    null = APNull(n, n_pos, ties=sizes, depth=depth, method="exact")
    drawn, settled = of(null, sizes), 0
    for z in (-4, -2.5, -1, 1, 2.5, 4, 6):
        x = null.mean() + z * null.std()
        low, high = null.support()
        if not low < x < high:
            continue
        tail = drawn.tail(x * n_pos * (1 - 1e-12), null.mean() * n_pos)
        if tail is not None:
            settled += 1
            assert tail.method == "monte-carlo"
            assert tail.log_reached == pytest.approx(null.logsf(x), abs=FIVE_ERRORS)
            assert np.exp(tail.log_reached) + np.exp(tail.log_missed) == pytest.approx(1)
            if z < 0:
                reached = np.nextafter(x, 0)
                assert tail.log_missed == pytest.approx(null.logcdf(reached), abs=FIVE_ERRORS)
    assert settled


# Blocks of single items about one of nearly all others, and one at the head: the inversion was off
# by up to 43 % of p, as an "estimate". The logarithms of p are those of ten million rankings.
LUMPY = [
    (392, 347, [1] * 8 + [376] + [1] * 8, 1.4),
    (2295, 2272, [2200, 40, 20, 15, 8, 5, 3, 2, 1, 1], 1.0),
    (83_777, 1296, [1] * 23 + [83_754], 3.0),
    (83_777, 1296, [1] * 23 + [83_754], 5.5),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos", "sizes", "z"), LUMPY)
def test_lumpy_groups_agree_with_other_draws(n, n_pos, sizes, z):
    null = APNull(n, n_pos, ties=sizes)
    x = null.mean() + z * null.std()
    rng, size = np.random.default_rng(7), 400_000
    # The hits of single items are drawn with those of the large block, in another order.
    order = np.argsort(sizes)[::-1]
    inside = np.empty((size, len(sizes)), dtype=np.int64)
    inside[:, order] = rng.multivariate_hypergeometric(np.array(sizes)[order], n_pos, size)
    ap = (inside * np.cumsum(inside, axis=1) / np.cumsum(sizes)).sum(axis=1) / n_pos
    share = float((ap >= x * (1 - 1e-12)).mean())
    error = ((1 - share) / share / size) ** 0.5
    assert null.sf(x) / share == pytest.approx(1, abs=4 * (error**2 + 0.022**2) ** 0.5)
    assert null.tails(x).method not in {"estimate", "bound"}


def test_draws_depend_on_the_value_alone():
    sizes = [1] * 8 + [376] + [1] * 8
    null = APNull(392, 347, ties=sizes)
    values = null.mean() + np.array([1.4, 4.0, 1.2]) * null.std()
    together = of(null, sizes)
    for x in values:
        tail = together.tail(x * 347, null.mean() * 347)
        assert tail == of(null, sizes).tail(x * 347, null.mean() * 347)


def test_what_draws_do_not_show_has_no_answer():
    # Beyond the largest T there is no ranking, and no slope whose mean of T is there.
    sizes = [5, 10, 5]
    null = APNull(20, 6, ties=sizes)
    assert of(null, sizes).tail(6.0, null.mean() * 6) is None
    # More numbers than a batch has are never drawn.
    many = np.ones(3_000_000, dtype=np.int64)
    items = Items(3_000_000, 3_000_000, np.cumsum(many))
    assert DrawnRankings(items, 1000, 1.0).tail(100.0, 5.0) is None
