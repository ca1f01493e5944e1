"""Far tails of AP with tie blocks of very different sizes, and levels next to no hit at all."""

from collections import Counter
from itertools import combinations
from math import comb, inf, isnan, nan

import numpy as np
import pytest
from scipy.special import gammaln

from prframe.stats import APNull

SMALL_AND_LARGE = [2, 1] * 100 + [98] * 200 + [100]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ties", "ap", "reference", "error"),
    [
        # Importance sampling of hits, with two standard errors or more as the tolerance.
        (SMALL_AND_LARGE, 0.5, -588.323, 0.02),
        (SMALL_AND_LARGE, 0.6, -733.402, 0.06),
        (SMALL_AND_LARGE, 0.8, -1062.786, 0.06),
        ([200] * 100, 0.5, -687.682, 0.02),
        ([200] * 100, 0.2, -317.335, 0.1),
    ],
)
def test_rare_tails_hold_most_ways_to_fill_blocks(
    ties: list[int], ap: float, reference: float, error: float
) -> None:
    assert APNull(20_000, 300, ties).logsf(ap) == pytest.approx(reference, abs=error)


def test_few_ways_to_fill_blocks_are_counted() -> None:
    ties, n_pos = [4, 395, 21, 125, 59], 346
    null = APNull(604, n_pos, ties)
    x = null.mean() + 12 * null.std()
    assert null.logsf(x) == pytest.approx(_filled(ties, n_pos, x), rel=1e-6)


def _filled(ties: list[int], n_pos: int, x: float) -> float:
    """Return log P(AP >= x) by all ways to fill five blocks."""
    ends, logs = np.cumsum(ties), []
    second, fourth = np.arange(ties[1] + 1)[:, None], np.arange(ties[3] + 1)
    for first in range(ties[0] + 1):
        for third in range(ties[2] + 1):
            fifth = n_pos - first - second - third - fourth
            hits = [first, second, third, fourth, np.clip(fifth, 0, ties[4])]
            above = np.cumsum(np.array(np.broadcast_arrays(*hits)), axis=0)
            total = sum(h * a / end for h, a, end in zip(hits, above, ends, strict=True))
            ways = sum(_log_comb(size, h) for size, h in zip(ties, hits, strict=True))
            is_counted = (fifth >= 0) & (fifth <= ties[4]) & (total >= n_pos * x * (1 - 1e-12))
            logs.append(np.logaddexp.reduce(np.where(is_counted, ways, -inf), axis=None))
    return float(np.logaddexp.reduce(logs) - _log_comb(sum(ties), n_pos))


def _log_comb(n: int, k: int | np.ndarray) -> np.ndarray:
    return gammaln(n + 1) - gammaln(np.asarray(k) + 1.0) - gammaln(n - np.asarray(k) + 1.0)


@pytest.mark.parametrize(("n", "n_pos", "depth"), [(8, 3, 3), (9, 2, 4), (10, 4, 6), (6, 2, 1)])
def test_critical_values_with_a_depth_are_least_values_as_rare(
    n: int, n_pos: int, depth: int
) -> None:
    ranks = combinations(range(1, n + 1), n_pos)
    counts = Counter(
        round(sum((i + 1) / r for i, r in enumerate(hits) if r <= depth) / n_pos, 12)
        for hits in ranks
    )
    null, total = APNull(n, n_pos, depth=depth), comb(n, n_pos)
    for q in np.linspace(0.0013, 0.9987, 60):
        rare = [x for x in counts if sum(counts[y] for y in counts if y >= x) <= total * q + 1e-9]
        expected, found = min(rare, default=nan), null.isf(q)
        assert (isnan(expected) and isnan(found)) or found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "n_pos", "depth", "ties"),
    [(10**6, 100, 10, None), (1000, 30, 1, None), (1000, 30, 2, None), (10**5, 20, 100, [50, 50])],
)
def test_any_hit_may_be_rare(n: int, n_pos: int, depth: int, ties: list[int] | None) -> None:
    null = APNull(n, n_pos, ties, depth=depth)
    level = (1 + float(np.exp(null.logsf(1 / (depth * n_pos))))) / 2
    assert null.isf(level) == pytest.approx(1 / (depth * n_pos), rel=1e-9)
    assert null.p_value(null.isf(level)) <= level


@pytest.mark.slow
def test_critical_values_of_walks_that_leap() -> None:
    # A path of fuller blocks is so likely under a slope that the tilted walk leaps there.
    n, n_pos, blocks = 250_605, 616, 2068
    ends = np.random.default_rng(1).choice(np.arange(1, n), blocks - 1, replace=False)
    null = APNull(n, n_pos, np.diff(np.sort(ends), prepend=0, append=n).tolist())
    critical = null.isf(0.01)
    tails = null.tails(critical)
    assert tails.method == "transform"
    assert tails.log_sf == pytest.approx(np.log(0.01), abs=1e-4)
    # Of 200,000 random rankings .01172 reach 2.5, and .00639 reach 2.8 standard deviations.
    assert 2.5 < (critical - null.mean()) / null.std() < 2.8


@pytest.mark.parametrize(
    ("n", "n_pos", "ties", "level"),
    [
        (80, 45, [61], 0.05),
        (63, 55, [15, 17], 0.05),
        (65, 36, [51], 0.05),
        (1050, 4, [662, 388], 0.9),
        (35, 21, [17], 0.9),
    ],
)
def test_critical_values_next_to_likely_ones(
    n: int, n_pos: int, ties: list[int], level: float
) -> None:
    depth = sum(ties)
    null = APNull(n, n_pos, ties, depth=None if depth == n else depth)
    assert null.sf(null.isf(level)) <= level * (1 + 1e-9)
