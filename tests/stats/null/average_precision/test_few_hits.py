"""Lists that are cut off and hold few positives, and blocks that hold nearly all of them."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.tails.plain.few_hits import FewHits
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved


def all_sums(depth: int, ends: list[int] | None, hits: int) -> np.ndarray:
    """T of all ways to place so many hits, by its definition."""
    end = np.arange(1, depth + 1)
    if ends is not None:
        end = np.repeat(ends, np.diff(ends, prepend=0))
    found = []
    for places in combinations(range(depth), hits):
        each = end[list(places)]
        found.append(sum((each <= one).sum() / one for one in each))
    return np.array(found, dtype=float)


@pytest.mark.parametrize("ends", [None, [3, 4, 9, 15], [15], [1, 2, 15]], ids=str)
@pytest.mark.parametrize(("n", "n_pos"), [(40, 5), (17, 2), (18, 4)])
def test_chances_of_few_hits_by_enumeration(n: int, n_pos: int, ends: list[int] | None) -> None:
    depth = 15
    few = FewHits(Retrieved(n, n_pos, depth), None if ends is None else np.array(ends), -48.0)
    fewest = max(0, n_pos - (n - depth))
    assert few.most == 2
    values = {hits: all_sums(depth, ends, hits) for hits in range(fewest, 3)}
    every = np.unique(np.concatenate(list(values.values())).round(10))
    for x in [*(every - 1e-9), *(every[1:] + every[:-1]) / 2, 3.0]:
        chances = {
            hits: comb(depth, hits) * comb(n - depth, n_pos - hits) / comb(n, n_pos)
            for hits in values
        }
        reached = sum(chance * (values[h] >= x).mean() for h, chance in chances.items())
        missed = sum(chance * (values[h] < x).mean() for h, chance in chances.items())
        assert few.tails(x) == pytest.approx((reached, missed), abs=1e-12)


def test_lists_that_must_hold_many_positives_have_no_few_hits() -> None:
    assert FewHits(Retrieved(20, 15, 15), None, -48.0).most == -1
    assert FewHits(Retrieved(10**6, 10**5, 10**4), None, -48.0).most == -1


@pytest.mark.parametrize(
    ("n", "n_pos", "depth"), [(5000, 5, 200), (1449, 4, 69), (10**6, 4, 200), (10**5, 60, 100)]
)
def test_p_values_of_one_hit_in_closed_form(n: int, n_pos: int, depth: int) -> None:
    null = APNull(n, n_pos, depth=depth)
    # Without a hit, and with one below the rank, AP is less. Two hits may be less, far down.
    none = np.prod((n - depth - np.arange(n_pos)) / (n - np.arange(float(n_pos))))
    one = n_pos / (n - depth - n_pos + 1) * none
    for rank in (depth // 2 + 1, depth * 2 // 3, depth - 2, depth):
        tails = null.tails(1 / (rank * n_pos))
        expected = 1 - none - (depth - rank) * one
        # Two hits earn at least 1 / depth + 2 / depth, which is more than 1 / rank.
        assert np.exp(tails.log_sf) == pytest.approx(expected, rel=2e-5)


@pytest.mark.parametrize("q", [0.001, 0.05, 0.127, 0.128, 0.13])
def test_critical_values_of_short_lists_keep_their_level(q: float) -> None:
    null = APNull(5000, 5, depth=200)
    critical = float(null.isf(q))
    assert null.sf_bounds(critical)[1] <= q * (1 + 1e-3)
    # The next smaller value is too likely, or nearly so.
    assert null.sf_bounds(critical * (1 - 1e-3))[1] >= q * (1 - 0.02)


def positives(rng: np.random.Generator, n: int, n_pos: int, draws: int) -> np.ndarray:
    """Ranks of the positives of random rankings, rising."""
    ranks = rng.integers(1, n + 1, (draws * 2, n_pos))
    ranks.sort(axis=1)
    return ranks[(np.diff(ranks, axis=1) > 0).all(axis=1)][:draws]


@pytest.mark.parametrize(
    ("n", "n_pos", "ties", "depth"),
    [
        (140, 7, [40] + [1] * 30, 70),
        (1465, 8, [1] * 121 + [1099] + [1] * 245, None),
        (3408, 7, [1] * 300 + [2898] + [1] * 210, None),
        (20_000, 10, [500] * 8 + [9000] + [400] * 10 + [3000], None),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value),
)
def test_large_blocks_beside_single_items_against_draws(
    n: int, n_pos: int, ties: list[int], depth: int | None
) -> None:
    null, draws = APNull(n, n_pos, ties, depth=depth), 200_000
    ranks = positives(np.random.default_rng(n), n, n_pos, draws)
    ends = np.cumsum(ties)
    block = np.searchsorted(ends, ranks)
    retrieved = block < ends.size
    end = np.append(ends, 1)[block]
    hits = np.zeros_like(ranks)
    for place in range(n_pos):
        hits[:, place] = (block <= block[:, [place]]).sum(axis=1)
    drawn = np.sort((np.where(retrieved, hits / end, 0.0)).sum(axis=1) / n_pos)
    for share in (0.01, 0.03, 0.1, 0.3, 0.7, 0.95):
        x = float(drawn[int(share * draws)])
        below = (drawn <= x * (1 + 1e-12)).mean()
        above = (drawn >= x * (1 - 1e-12)).mean()
        for found, expected in ((null.cdf(x), below), (null.sf(x), above)):
            error = np.sqrt(expected * (1 - expected) / draws)
            assert abs(found - expected) < 4 * error + 0.01 * expected


def design(kind: str, rng: np.random.Generator) -> APNull:
    """A random null distribution with few positives."""
    n, n_pos = int(10 ** rng.uniform(2, 4)), int(rng.integers(3, 8))
    if kind == "no ties":
        return APNull(n, n_pos)
    if kind == "short list":
        return APNull(n, n_pos, depth=int(np.clip(10 ** rng.uniform(1, np.log10(n)), 2, n)))
    if kind == "large block":
        block = int(n * rng.uniform(0.3, 0.9))
        above = int((n - block) * rng.random())
        return APNull(n, n_pos, [1] * above + [block] + [1] * (n - above - block))
    ends = np.unique((n * rng.random(int(rng.integers(5, 60))) ** 4).astype(int) + 1)
    return APNull(n, n_pos, np.diff(np.concatenate([[0], ends[ends < n], [n]])).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["no ties", "short list", "large block", "uneven blocks"])
@pytest.mark.parametrize("seed", range(6))
def test_few_positives_are_within_what_is_promised_of_their_bounds(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, len(kind)])
    null = design(kind, rng)
    values = np.unique(null.rvs(6, rng=seed))
    critical = [float(null.isf(q)) for q in 10 ** rng.uniform(-6, -0.3, 3)]
    for x in [*values[values > 0], *critical]:
        tails = null.tails(x)
        low, high = null.sf_bounds(x)
        # Draws have a standard error of up to 2.3 %. A single value that weighs up to 6 % of the
        # tail, as with a large block, may count half.
        share = 0.07 if tails.method == "monte-carlo" else 0.03 if "block" in kind else 0.01
        if tails.method != "estimate":
            assert low * (1 - share) <= np.exp(tails.log_sf) <= high * (1 + share)
