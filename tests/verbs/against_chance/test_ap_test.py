"""The verb `ap_test`, against enumeration, simulation and its own statistics."""

from collections.abc import Sequence
from itertools import combinations
from math import comb, inf, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import prframe
from prframe.stats import APNull, ap_beta_sf, ap_normal_sf, ap_null_moments
from prframe.stats.null.average_precision.groups import Case, Cases
from tests.strategies import Item, frame, items

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

GROUPS = st.lists(items(), min_size=1, max_size=3)
quiet = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def average_precision(scores: Sequence[float], positives: Sequence[int], *, tied: bool) -> float:
    """AP of items ranked by score, best first, at which some are positive."""
    total = 0.0
    for place in positives:
        if scores[place] == -inf:
            continue
        rank = sum(s >= scores[place] for s in scores) if tied else place + 1
        total += sum(other < rank for other in positives) / rank
    return total / len(positives)


def tails(scores: list[float], observed: float, n_pos: int, *, tied: bool) -> tuple[float, float]:
    """P(AP >= observed) and P(AP <= observed) over all placements of the positives."""
    values = np.array(
        [
            average_precision(scores, chosen, tied=tied)
            for chosen in combinations(range(len(scores)), n_pos)
        ]
    )
    above, below = values >= observed - 1e-12, values <= observed + 1e-12
    return float(above.mean()), float(below.mean())


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("ties", ["group", "order"])
@given(groups=GROUPS)
def test_rows_by_enumeration(ties: str, groups: list[list[Item]]) -> None:
    data = frame({str(i): group for i, group in enumerate(groups)}).drop("judged")
    found = {
        side: prframe.ap_test(data, by="group", ties=ties, alternative=side)
        for side in ("greater", "less", "two-sided")
    }
    values = prframe.evaluate(data, "AP", by="group", ties=ties)["AP"]
    assert found["greater"]["ap"].equals(values.rename("ap"))
    for i, group in enumerate(groups):
        row = found["greater"].row(i, named=True)
        n_pos = sum(x.label > 0 for x in group)
        assert (row["n"], row["n_pos"]) == (len(group), n_pos)
        if not n_pos:
            assert all(row[name] is None for name in ("ap", "null_mean", "p_value", "method"))
            continue
        scores = [x.score for x in sorted(group, key=lambda x: -x.score)]
        above, below = tails(scores, row["ap"], n_pos, tied=ties == "group")
        assert row["p_value"] == pytest.approx(above, rel=1e-9)
        assert found["less"]["p_value"][i] == pytest.approx(below, rel=1e-9)
        both = min(1.0, 2 * min(above, below))
        assert found["two-sided"]["p_value"][i] == pytest.approx(both, rel=1e-9)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 9), (3, 20), (None, 12)])
def test_totals_count_items_never_listed(n_pos: int | None, n_neg: int) -> None:
    listed = pl.DataFrame({"score": [9.0, 8, 7, 7, 5], "label": [1, 0, 1, 0, 0]})
    more = (n_pos or 2) - 2, n_neg - 3
    rest = pl.DataFrame({"score": [-inf] * sum(more), "label": [1] * more[0] + [0] * more[1]})
    whole = pl.concat([listed, rest.cast(listed.schema)])
    columns = pl.exclude("method")
    short = prframe.ap_test(listed, n_pos=n_pos, n_neg=n_neg).select(columns)
    assert short.equals(prframe.ap_test(whole).select(columns))


def graded(queries: int = 12, seed: int = 0) -> pl.DataFrame:
    """Rankings of 120 items, better than random."""
    rng = np.random.default_rng(seed)
    label = rng.random((queries, 120)) < 0.12
    label[:, 0] = True
    score = rng.normal(size=label.shape) + 0.8 * label
    return pl.DataFrame(
        {"q": np.repeat(np.arange(queries), 120), "score": score.ravel(), "label": label.ravel()}
    )


@pytest.mark.slow
def test_methods_are_the_statistics() -> None:
    data = graded()
    rows = prframe.ap_test(data, by="q")
    n, n_pos, ap = (rows[name].to_numpy() for name in ("n", "n_pos", "ap"))
    moments = ap_null_moments(n, n_pos)
    np.testing.assert_allclose(rows["null_mean"], moments.mean, rtol=1e-12)
    np.testing.assert_allclose(rows["null_std"], np.sqrt(moments.variance), rtol=1e-12)
    np.testing.assert_allclose(rows["z"], (ap - moments.mean) / np.sqrt(moments.variance))
    normalized = (ap - moments.mean) / (1 - moments.mean)
    np.testing.assert_allclose(rows["normalized_ap"], normalized)
    p = {
        method: prframe.ap_test(data, by="q", method=method, rng=1)["p_value"].to_numpy()
        for method in (
            "auto",
            "lattice",
            "transform",
            "beta",
            "normal",
            "normal-delta",
            "monte-carlo",
        )
    }
    exact = [
        APNull(*case).sf(value)
        for *case, value in zip(n.tolist(), n_pos.tolist(), ap, strict=True)
    ]
    np.testing.assert_allclose(p["auto"], exact, rtol=2e-3)
    np.testing.assert_allclose(p["lattice"], p["transform"], rtol=5e-3)
    np.testing.assert_allclose(p["beta"], ap_beta_sf(ap, n, n_pos), rtol=1e-9)
    np.testing.assert_allclose(p["normal"], ap_normal_sf(ap, n, n_pos), rtol=1e-9)
    delta = ap_normal_sf(ap, n, n_pos, moments="delta")
    np.testing.assert_allclose(p["normal-delta"], delta, rtol=1e-9)
    error = np.sqrt(p["auto"] * (1 - p["auto"]) / 9999) + 1e-4
    assert (np.abs(p["monte-carlo"] - p["auto"]) < 5 * error).all()
    assert p["monte-carlo"].min() >= 1e-4


@pytest.mark.slow
def test_mean_by_simulation() -> None:
    data = graded(6, seed=5).filter(pl.int_range(pl.len()).over("q") < 20 + 13 * pl.col("q"))
    singles = prframe.ap_test(data, by="q")
    row = prframe.ap_test(data, over="q").row(0, named=True)
    sampled = prframe.ap_test(data, over="q", method="monte-carlo", n_resamples=40_000, rng=3)
    normal = prframe.ap_test(data, over="q", method="normal")["p_value"].item()
    assert (row["n_groups"], row["method"]) == (6, "saddlepoint")
    assert row["map"] == pytest.approx(singles["ap"].mean())
    assert row["null_mean"] == pytest.approx(singles["null_mean"].mean())
    assert row["null_std"] == pytest.approx(sqrt((singles["null_std"] ** 2).sum()) / 6)
    p = row["p_value"]
    assert sampled["p_value"].item() == pytest.approx(p, abs=5 * sqrt(p / 40_000) + 1e-4)
    assert normal != pytest.approx(p, rel=0.1)


def test_same_seed_same_numbers() -> None:
    data = graded()
    options = {"by": "q", "method": "monte-carlo", "n_resamples": 199, "rng": 7}
    rows = prframe.ap_test(data, **options)
    reversed_rows = prframe.ap_test(data.reverse(), **options).sort("q")
    assert rows.equals(reversed_rows)
    mean = {"over": "q", "method": "monte-carlo", "n_resamples": 199, "rng": 7}
    one, other = prframe.ap_test(data, **mean), prframe.ap_test(data.reverse(), **mean)
    assert one["p_value"].equals(other["p_value"])
    options["rng"] = 8
    assert not rows["p_value"].equals(prframe.ap_test(data, **options)["p_value"])


@pytest.mark.parametrize(("depth", "ties"), [(5, (2, 3)), (5, (3, 1, 1)), (4, (4,)), (0, None)])
@pytest.mark.filterwarnings("error")
def test_draws_with_ties_and_items_not_retrieved(depth: int, ties: tuple[int, ...] | None) -> None:
    n, n_pos = 8, 3
    scores = [-float(block) for block, size in enumerate(ties or ()) for _ in range(size)]
    scores += [-inf] * (n - depth)
    values = [
        average_precision(scores, chosen, tied=True) for chosen in combinations(range(n), n_pos)
    ]
    draws = Cases([Case(n, n_pos, depth, ties)]).draws(0, 20_000, seed=1)
    levels = np.unique(np.round(values, 9))
    assert np.isin(np.round(draws, 9), levels).all()
    for level in levels:
        chance = float(np.mean(np.asarray(values) >= level - 1e-9))
        error = sqrt(chance * (1 - chance) / draws.size)
        assert abs(np.mean(draws >= level - 1e-9) - chance) <= 5 * error


@pytest.mark.parametrize("method", ["normal", "beta", "normal-delta"])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_constant_ap_has_p_value_1(method: str, alternative: str) -> None:
    data = pl.DataFrame({"q": [1, 1], "score": [2.0, 1.0], "label": [1, 1]})
    options = {"method": method, "alternative": alternative}
    assert prframe.ap_test(data, **options)["p_value"].to_list() == [1]
    if method == "normal":
        assert prframe.ap_test(data, over="q", **options)["p_value"].to_list() == [1]


@pytest.mark.parametrize("won", [50, 65])
@pytest.mark.filterwarnings("error")
def test_means_on_a_lattice(won: int) -> None:
    # AP of two items of which one is positive is 1 or 1/2: their sum is binomial.
    q = np.repeat(np.arange(100), 2)
    label = np.where(q < won, np.tile([1, 0], 100), np.tile([0, 1], 100))
    data = pl.DataFrame({"q": q, "score": np.tile([2.0, 1.0], 100), "label": label})
    chance = sum(comb(100, k) for k in range(won, 101)) / 2**100
    found = prframe.ap_test(data, over="q", n_resamples=40_000, rng=1)["p_value"][0]
    assert abs(found - chance) < 5 * sqrt(chance * (1 - chance) / 40_000) + 1e-4


@pytest.mark.parametrize("ties", ["group", "order"])
def test_an_ap_of_0_is_as_likely_as_that_nothing_is_retrieved(ties: str) -> None:
    one = pl.DataFrame({"score": [-inf, -inf, -1.5], "label": [1, 1, 0]})
    data = pl.concat([one.with_columns(q=pl.lit(q)) for q in (1, 2)])
    found = prframe.ap_test(data, by="q", ties=ties, alternative="less")
    assert found["p_value"].to_list() == pytest.approx([1 / 3, 1 / 3])
    mean = prframe.ap_test(data, over="q", ties=ties, alternative="less", rng=1)
    assert mean["p_value"].to_list() == pytest.approx([1 / 9], rel=0.1)
