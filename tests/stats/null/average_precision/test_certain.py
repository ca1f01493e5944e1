"""Values at and beyond the ends of what AP can be with tie blocks."""

from itertools import product
from math import comb, log, prod

import numpy as np
import pytest
from scipy.special import gammaln

from prframe.stats import APNull

# Items, positives, sizes of the tie blocks of the retrieved items, and of those that are not.
SHAPES = [
    ((4, 4, 4), 0, 3),
    ((1, 5, 2, 3), 0, 4),
    ((5, 1, 4), 0, 7),
    ((3, 2, 5), 3, 6),
    ((2, 4), 4, 9),
    ((4, 3), 6, 3),
    ((6,), 3, 4),
]


def enumerated(sizes: tuple[int, ...], below: int, n_pos: int) -> tuple[np.ndarray, np.ndarray]:
    """Return AP and chance of every way to spread positives over blocks."""
    ends = np.cumsum(sizes)
    values, chances = [], []
    for inside in product(*(range(size + 1) for size in sizes)):
        hits = np.cumsum(inside)
        rest = n_pos - int(hits[-1])
        if 0 <= rest <= below:
            ways = [comb(size, j) for size, j in zip(sizes, inside, strict=True)]
            values.append(float((np.array(inside) * hits / ends).sum()) / n_pos)
            chances.append(prod(ways) * comb(below, rest) / comb(sum(sizes) + below, n_pos))
    return np.array(values), np.array(chances)


@pytest.mark.parametrize(("sizes", "below", "n_pos"), SHAPES)
@pytest.mark.parametrize("method", ["auto", "transform"])
def test_the_ends_of_tied_ap_are_those_of_enumeration(sizes, below, n_pos, method):
    values, chances = enumerated(sizes, below, n_pos)
    n = sum(sizes) + below
    null = APNull(n, n_pos, ties=sizes, depth=sum(sizes), method=method)
    low, high = null.support()
    assert (low, high) == pytest.approx((values.min(), values.max()), rel=1e-13)
    assert null.sf(high) == pytest.approx(chances[values >= high * (1 - 1e-12)].sum(), rel=1e-10)
    assert null.sf(high * (1 + 1e-9)) == 0
    assert null.sf(low) == null.sf(low * (1 - 1e-9)) == 1
    assert low == 0 or null.cdf(low * (1 - 1e-9)) == 0


def test_values_below_all_rankings_are_reached_without_a_walk():
    # No slope leads to such a value, so that walks had cells of no width, with a RuntimeWarning.
    null = APNull(811, 218, ties=[1, 14, 150, 189, 54, 166, 237])
    low, high = null.support()
    assert null.sf(low) == null.sf(0.97 * low) == 1
    assert null.cdf(0.97 * low) == 0
    assert null.sf(high * 1.001) == 0


def test_the_ends_of_many_positives_are_found():
    sizes = [50_000] * 20
    null = APNull(1_000_000, 500_000, ties=sizes)
    low, high = null.support()
    assert high == 1
    # Positives are spread so that those of a block and those above cost the same.
    shares = np.linspace(0, 1, 20)
    some = np.rint(500_000 * shares / shares.sum()).astype(int)
    hits = np.cumsum(some)
    assert 0.32 < low <= float((some * hits / np.cumsum(sizes)).sum()) / hits[-1]


def test_values_next_to_the_best_ranking_have_cells_of_some_width():
    sizes = [603, *[1] * 51]
    null = APNull(654, 621, ties=sizes)
    # The last of 621 positives one rank further down, and a value that some more rankings have.
    second = (620 + 621 / 622) / 621
    values = np.array([620.675198852098 / 621, second, 1.0])
    logs = null.logsf(values)
    log_all = float(gammaln(655) - gammaln(622) - gammaln(34))
    assert logs[1] == pytest.approx(log(2) - log_all, abs=0.1)
    assert logs[2] == pytest.approx(-log_all, rel=1e-12)
    # Tilted draws of rankings give -100.38, with a standard error of .08.
    assert logs[0] == pytest.approx(-100.38, abs=0.3)
