"""Upper tails of lists with few negatives, which crowd at the end where AP is near 1."""

import numpy as np
import pytest
from scipy.special import digamma, gammaincc, gammaln

from prframe.stats import APNull
from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.stats.null.average_precision.likely_tails import lacks_of_negatives
from prframe.typing import Floats

# The accuracy that APNull promises, and a bit for what draws are off.
ACCURATE = 0.02


def drawn_log_tail(
    n: int, n_neg: int, lack: float, block: int = 1, queries: int = 1, size: int = 40_000
) -> tuple[float, float]:
    """Return log P(T of all queries falls short by at most a lack), and its relative error.

    Ranks of negatives are drawn so that log(n/rank) is nearly exponential with as many as are
    wanted at the end, and weighed. Tie blocks are all of one size.
    """
    rng = np.random.default_rng(n + n_neg)
    slope = max(n_neg * queries / lack, 1.0)
    rank = np.ceil(n * rng.random((size, queries, n_neg)) ** (1 / slope))
    rank = np.sort(np.clip(rank, 1, n), axis=2)
    log_chance = slope * np.log(rank / n) + np.log(-np.expm1(slope * np.log1p(-1 / rank)))
    weight = -log_chance.sum(axis=(1, 2)) - queries * (gammaln(n + 1) - gammaln(n - n_neg + 1))
    is_ranking = (np.diff(rank, axis=2) > 0).all(axis=(1, 2))
    good = is_ranking & (_lacks(n, rank, block).sum(axis=1) <= lack * (1 + 1e-9))
    largest = weight[good].max()
    chance = np.where(good, np.exp(np.minimum(weight - largest, 0.0)), 0.0)
    error = chance.std() / chance.mean() / size**0.5
    return float(largest + np.log(chance.mean())), float(error)


def _lacks(n: int, rank: Floats, block: int) -> Floats:
    """Return by how much T of each ranking falls short of the number of positives."""
    if block == 1:
        above = np.arange(rank.shape[2])
        return np.asarray((digamma(n + 1.0) - digamma(rank + 1.0) - above / rank).sum(axis=2))
    ends = block * np.arange(1, n // block + 1)
    rest = np.cumsum((block / ends)[::-1])[::-1]
    place = (rank.astype(np.int64) - 1) // block
    met = (place[..., None, :] <= place[..., :, None]).sum(axis=3)
    return np.asarray((rest[place] - met / ends[place]).sum(axis=2))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.03])
@pytest.mark.parametrize(
    ("n", "n_neg"), [(10**4, 20), (10**5, 20), (10**6, 50), (10**7, 10), (10**7, 20)]
)
def test_drawn_tails(n: int, n_neg: int, share: float) -> None:
    # Steps of 8 % of the ranks gave e^-76 instead of e^-59 among ten million.
    lack = share * n_neg
    log_tail, error = drawn_log_tail(n, n_neg, lack)
    tails = APNull(n, n - n_neg).tails(1 - lack / (n - n_neg))
    assert tails.log_sf == pytest.approx(log_tail, abs=ACCURATE + 4 * error)
    assert tails.method in {"gamma", "saddlepoint", "transform", "lattice"}


@pytest.mark.parametrize("share", [0.1, 0.03])
@pytest.mark.parametrize(("n", "n_neg", "block"), [(10**4, 20, 2), (10**5, 50, 100)])
def test_drawn_tails_with_ties(n: int, n_neg: int, block: int, share: float) -> None:
    lack = share * n_neg
    log_tail, error = drawn_log_tail(n, n_neg, lack, block)
    null = APNull(n, n - n_neg, ties=[block] * (n // block))
    log_sf = null.logsf(1 - lack / (n - n_neg))
    assert log_sf == pytest.approx(log_tail, abs=ACCURATE + 4 * error)


@pytest.mark.parametrize("share", [0.3, 0.1, 0.03])
@pytest.mark.parametrize(("n", "n_neg", "queries"), [(10**4, 20, 2), (10**5, 10, 5)])
def test_drawn_tails_of_means(n: int, n_neg: int, queries: int, share: float) -> None:
    # The last of these were bounds that lay below the tail.
    lack = share * n_neg * queries
    log_tail, error = drawn_log_tail(n, n_neg, lack, queries=queries)
    cases = Cases([Case(n, n - n_neg, n)] * queries)
    tail = cases.mean_tail(1 - lack / (n - n_neg) / queries)
    assert tail is not None
    assert tail.method == "saddlepoint"
    assert tail.log_reached == pytest.approx(log_tail, abs=ACCURATE + 4 * error)


@pytest.mark.parametrize(
    ("n_neg", "q"), [(2, 0.05), (3, 0.05), (3, 1e-6), (10, 1e-6), (20, 0.05), (20, 1e-20)]
)
def test_quantiles_are_met(n_neg: int, q: float) -> None:
    null = APNull(10**5, 10**5 - n_neg)
    x = null.isf(q)
    assert null.sf(x) <= q * (1 + 1e-9)
    # Single rankings have as large a chance as that where they are rare.
    assert null.sf(x - 1e-4 * (1 - x) - 1e-12) > q * 0.97


def test_lacks_of_negatives_have_a_gamma_distribution() -> None:
    levels = np.array([0.5, 1e-3, 1e-100])
    lack, slope = lacks_of_negatives(10**6, 20, levels)
    assert 1 - gammaincc(20, lack[:2]) == pytest.approx(levels[:2], rel=1e-9)
    more, _ = lacks_of_negatives(10**6, 20, levels[:2] * (1 + 1e-6))
    assert slope[:2] * (more - lack[:2]) == pytest.approx(1e-6, rel=1e-3)
    assert np.all(lack > 0)
