"""Few negatives among very many items, against counting, closed forms and draws."""

from math import comb, inf, log

import numpy as np
import pytest

from prframe.stats import APNull
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.counted import few_negatives
from prframe.stats.null.average_precision.tails.counted.counting import sparse_log_tails
from prframe.stats.null.average_precision.tails.counted.few_negatives import few_negatives_tail


@pytest.mark.parametrize("few", [2, 3])
@pytest.mark.parametrize(
    ("n", "depth"),
    [(4000, 4000), (4000, 1500), (4000, 3990), (3000, 600), (600, 600), (1000, 20)],
)
def test_cells_of_ranks_have_the_tails_of_ranks(
    few: int, n: int, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(few_negatives, "_COUNTED", {2: 0, 3: 0})
    items, n_pos = Items(n, depth), n - few
    null = APNull(n, n_pos, depth=depth)
    least, largest = null.support()
    far = largest - (largest - least) * np.geomspace(1e-8, 1.0, 12)
    drawn = np.asarray(null.rvs(20, rng=np.random.default_rng(few)))
    for x in [*drawn, *far]:
        target = float(x) * n_pos * (1 - 1e-12)
        tail, counted = (
            way(items, n_pos, target) for way in (few_negatives_tail, sparse_log_tails)
        )
        assert tail is not None
        assert counted is not None
        assert tail[:2] == pytest.approx(counted, abs=2e-4)


def test_one_negative_is_counted_among_any_number_of_items() -> None:
    n = 10**5
    null = APNull(n, n - 1)
    # With the negative at rank q, T is n - 1 - (1/(q + 1) + ... + 1/n).
    for below in (1, 10, 5000, 99_990):
        x = 1 - sum(1 / rank for rank in range(n - below + 1, n + 1)) / (n - 1)
        tails = null.tails(x)
        assert tails.method == "exact"
        assert tails.log_sf == pytest.approx(log((below + 1) / n), rel=1e-12)


@pytest.mark.parametrize("few", [2, 3])
@pytest.mark.parametrize("depth", [None, 10**6])
def test_tails_are_those_of_draws(few: int, depth: int | None) -> None:
    n, size = 3 * 10**6, 400_000
    rng = np.random.default_rng(few)
    rank = np.sort(rng.integers(1, n + 1, (size, few)), axis=1)
    end = n if depth is None else depth
    # The sum of 1/1 to 1/t is log t + .5772 + 1/(2 t) - ..., and ranks are large here.
    lost = 1 + np.log(end / rank) + (1 / end - 1 / rank) / 2 - np.arange(few) / rank
    lost = np.where(rank <= end, lost, 0.0).sum(axis=1)
    null = APNull(n, n - few, depth=depth)
    for share in (0.001, 0.02, 0.2, 0.5, 0.9, 0.999):
        lack = np.quantile(lost, share) + 1e-9
        if lack < 1e-6:
            # Nothing is lost.
            continue
        tails = null.tails((end - lack) / (n - few))
        assert tails.method == "lattice"
        found = (lost <= lack).mean()
        error = 4 * (found * (1 - found) / size) ** 0.5 + 1e-5
        assert np.exp(tails.log_sf) == pytest.approx(found, abs=error)
        assert np.exp(tails.log_cdf) == pytest.approx(1 - found, abs=error)


def test_the_best_rankings_are_as_rare_as_they_are() -> None:
    n = 10**6
    for few in (2, 3):
        null = APNull(n, n - few)
        assert null.logsf(1.0) == pytest.approx(-log(comb(n, few)), rel=1e-9)
        assert null.logsf(1.1) == -inf


@pytest.mark.parametrize("n", [5 * 10**5, 2 * 10**7])
@pytest.mark.parametrize("few", [1, 2, 3])
def test_critical_values_are_attained_by_their_levels(n: int, few: int) -> None:
    null = APNull(n, n - few)
    levels = np.array([0.2, 0.05, 1e-3])
    critical = null.isf(levels)
    assert (null.sf(critical) <= levels * (1 + 1e-9)).all()
    assert null.sf(critical) == pytest.approx(levels, rel=0.03 if few == 1 else 1e-3)
    assert (np.diff(critical) > 0).all()


@pytest.mark.parametrize(("n", "depth"), [(2 * 10**6, None), (10**6, 300), (10**6, 10**5)])
def test_two_positives_among_very_many_items(n: int, depth: int | None) -> None:
    null = APNull(n, 2, depth=depth)
    end = depth or n
    for x in (0.3, 1e-3, 1e-4, 1.1e-5):
        # Given the first rank a, the second b counts if 1/a + 2/b is at least 2 x.
        a = np.arange(1, min(end, int(2 / x)) + 1, dtype=float)
        lack = (2 * x - 1 / a) * (1 - 1e-12)
        most = np.minimum(2 / np.where(lack > 0, lack, np.inf), end)
        good = np.maximum(np.floor(np.where(lack > 1e-16, most, n) + 1e-9) - a, 0).sum()
        tails = null.tails(x)
        assert tails.method == "exact"
        assert tails.log_sf == pytest.approx(log(good / comb(n, 2)), abs=1e-9)
        assert tails.log_cdf <= np.log1p(-good / comb(n, 2)) + 2e-6
