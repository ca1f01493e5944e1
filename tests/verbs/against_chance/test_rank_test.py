"""The verb `rank_test`, against enumeration, SciPy, textbook formulas and simulation."""

from itertools import combinations
from math import inf, sqrt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray
from scipy import stats

import prframe
from prframe.stats import LinearRankNull, adjust_p_values, rank_statistic
from prframe.stats.intervals.ends import Confidence
from prframe.stats.score_functions import SCORE_GENERATING
from prframe.tie_policies import WITHOUT_LABELS
from tests.oracle import ORDERS, SCORES
from tests.strategies import Item, frame, items

# Ties at jumps have tests of their own.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.CoverageWarning"
)

SIDES = ("two-sided", "less", "greater")
PHIS = list(SCORES)
GROUPS = st.lists(items(max_size=7), min_size=1, max_size=3)
quiet = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def data(n: int = 150, seed: int = 1, digits: int = 1) -> pl.DataFrame:
    """Three groups, better than random, tied, the worst items not retrieved."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    score = np.round(rng.normal(size=n) + 0.7 * label, digits)
    return pl.DataFrame(
        {
            "q": np.sort(rng.choice(["a", "b", "c"], n)),
            "score": np.where(score < -0.8, -inf, score),
            "label": label,
        }
    )


def samples(
    n_pos: int, n_neg: int, seed: int, digits: int = 9, shift: float = 0.6
) -> tuple[NDArray[np.float64], NDArray[np.float64], pl.DataFrame]:
    """Scores of positives and negatives, and the frame of both."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=n_pos) + shift, digits)
    y = np.round(rng.normal(size=n_neg), digits)
    label = [True] * n_pos + [False] * n_neg
    return x, y, pl.DataFrame({"score": np.concatenate([x, y]), "label": label})


def row(rows: pl.DataFrame, **options: object) -> dict[str, float]:
    """Return the only row of a test."""
    return prframe.rank_test(rows, **options).row(0, named=True)


def naive_ranks(group: list[Item], ties: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Ranks from the worst item up, and which items are positive."""
    # What orders tied items comes first; Python's sort keeps it.
    ordered = sorted(ORDERS[ties](group) if ties in ORDERS else group, key=lambda x: -x.score)
    place = range(len(group), 0, -1) if ties != "group" else [0] * len(group)
    keys = [(x.score, 0 if x.score == -inf else p) for x, p in zip(ordered, place, strict=True)]
    levels = sorted(set(keys))
    rank = stats.rankdata([levels.index(key) for key in keys])
    return rank, np.array([x.label > 0 for x in ordered])


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("ties", WITHOUT_LABELS)
@settings(max_examples=30)
@given(groups=GROUPS)
def test_rows_by_enumeration(ties: str, groups: list[list[Item]]) -> None:
    rows = frame({str(i): group for i, group in enumerate(groups)}).drop("judged")
    options = {"by": "group", "phi": PHIS, "ties": ties, "item": "item"}
    found = {side: prframe.rank_test(rows, alternative=side, **options) for side in SIDES}
    keys = [(str(i), phi) for i in range(len(groups)) for phi in PHIS]
    assert found["less"].select("group", "phi").rows() == keys
    for i, (group, phi) in enumerate(keys):
        one = found["two-sided"].row(i, named=True)
        rank, positive = naive_ranks(groups[int(group)], ties)
        n, n_pos = rank.size, int(positive.sum())
        assert (one["n_pos"], one["n_neg"]) == (n_pos, n - n_pos)
        if not n_pos:
            assert all(
                one[name] is None for name in ("statistic", "null_std", "p_value", "method")
            )
            continue
        a = np.array([SCORES[phi](r / (n + 1), n) for r in rank.tolist()])
        all_sums = a[np.array(list(combinations(range(n), n_pos)))].sum(axis=1)
        w = a[positive].sum()
        above, below = (all_sums >= w - 1e-9).mean(), (all_sums <= w + 1e-9).mean()
        assert one["statistic"] == pytest.approx(w, abs=1e-12)
        assert one["null_mean"] == pytest.approx(all_sums.mean(), abs=1e-12)
        assert one["null_std"] == pytest.approx(all_sums.std(), abs=1e-7)
        if all_sums.std() > 1e-9:
            assert one["z"] == pytest.approx((w - all_sums.mean()) / all_sums.std(), abs=1e-9)
        assert one["p_value"] == pytest.approx(min(1.0, 2 * min(above, below)), rel=1e-9)
        assert found["greater"]["p_value"][i] == pytest.approx(above, rel=1e-9)
        assert found["less"]["p_value"][i] == pytest.approx(below, rel=1e-9)
        assert one["method"] == "exact"


@quiet
@pytest.mark.parametrize("ties", ["group", "order"])
@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 9), (3, 200), (None, 12)])
def test_totals_count_items_never_listed(ties: str, n_pos: int | None, n_neg: int) -> None:
    listed = pl.DataFrame({"score": [9.0, 8, 7, 7, 5], "label": [1, 0, 1, 0, 0]})
    more = (n_pos or 2) - 2, n_neg - 3
    rest = pl.DataFrame({"score": [-inf] * sum(more), "label": [1] * more[0] + [0] * more[1]})
    whole = pl.concat([listed, rest.cast(listed.schema)])
    short = prframe.rank_test(listed, phi=PHIS, ties=ties, n_pos=n_pos, n_neg=n_neg)
    assert short.equals(prframe.rank_test(whole, phi=PHIS, ties=ties))
    assert short["n_neg"][0] == n_neg


@quiet
@pytest.mark.parametrize("phi", sorted(SCORE_GENERATING))
@pytest.mark.parametrize("level", [0.6])
def test_rows_are_those_of_the_statistic(phi: str, level: float) -> None:
    rows = data(100)
    found = prframe.rank_test(rows, phi=phi, by="q", confidence_level=level)
    for i, (_, group) in enumerate(rows.group_by("q", maintain_order=True)):
        want, got = rank_statistic(group["score"], group["label"], phi), found.row(i, named=True)
        p_value, how = want.test()
        interval = want.interval(Confidence(level))
        numbers = {
            "statistic": want.statistic,
            "null_mean": want.null.mean(),
            "null_std": want.null.std(),
            "z": want.z,
            "p_value": p_value,
            "estimate": want.estimate,
            "std_error": interval.std_error,
            "conf_low": interval.low,
            "conf_high": interval.high,
        }
        known = {name: x for name, x in numbers.items() if not np.isnan(x)}
        assert {name: got[name] for name in known} == pytest.approx(known, rel=1e-12)
        assert all(got[name] is None for name in set(numbers) - set(known))
        assert got["method"] == how
        assert (got["conf_low"] is None) == (phi == "dcg")


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "bh", "by"])
def test_corrections_are_over_groups_and_functions(correction: str) -> None:
    empty = pl.DataFrame({"q": ["z"] * 2, "score": [1.0, 2.0], "label": [False] * 2})
    rows = pl.concat([data(), empty])
    with pytest.warns(prframe.UndefinedMetricWarning, match="rank_test: undefined"):
        found = prframe.rank_test(rows, by="q", phi=["mww", "median"], correction=correction)
    p_values = found["p_value"].to_list()
    assert p_values[6:] == [None, None]
    expected = [*adjust_p_values(np.array(p_values[:6]), correction), None, None]
    assert found["p_adjusted"].to_list() == expected


def test_what_is_undefined_is_said_once() -> None:
    rows = pl.DataFrame(
        {
            "q": [1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4],
            "score": [2, 1, 2, 1, 3, 2, 1, 4, 3, 2, 1],
            "label": [0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0],
        }
    )
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.rank_test(rows, by="q", phi=["mww", "logrank"])
    assert [str(w.message) for w in caught] == [
        "rank_test: undefined, so null or NaN, for 1 of 4 groups, which have no positives, in groups "
        "1",
        "std_error, conf_low, conf_high: undefined, so null or NaN, for 2 of 4 groups, which hold too "
        "little for an interval, or nothing that varies, in groups 2, 3",
    ]
    by_group = {q: rows_of.row(0, named=True) for (q,), rows_of in found.group_by("q")}
    numbers = [name for name in found.columns if name not in {"q", "phi", "n_pos", "n_neg"}]
    assert [by_group[1][name] for name in numbers] == [None] * len(numbers)
    # Positives alone have one ranking.
    assert (by_group[2]["p_value"], by_group[2]["null_std"], by_group[2]["z"]) == (1, 0, None)
    assert by_group[3]["p_value"] == pytest.approx(2 / 3)
    assert by_group[3]["estimate"] == pytest.approx(1 / 6 + 2 / 3)
    assert by_group[3]["std_error"] is None
    assert by_group[4]["std_error"] > 0


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("n_pos", "n_neg"), [(8, 11), (20, 15), (3, 60)])
def test_mann_whitney_without_ties(side: str, n_pos: int, n_neg: int) -> None:
    x, y, rows = samples(n_pos, n_neg, seed=n_pos)
    for method, theirs in (("exact", "exact"), ("normal", "asymptotic")):
        got = row(rows, alternative=side, method=method)
        want = stats.mannwhitneyu(x, y, alternative=side, method=theirs)
        assert got["p_value"] == pytest.approx(want.pvalue, rel=1e-12)
        rank_sum = got["statistic"] * (n_pos + n_neg + 1)
        assert rank_sum - n_pos * (n_pos + 1) / 2 == pytest.approx(want.statistic, rel=1e-12)
        assert got["method"] == method


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("digits", [1, 0])
def test_mann_whitney_with_ties(side: str, digits: int) -> None:
    for seed in range(5):
        x, y, rows = samples(30, 45, seed, digits, shift=0.2)
        want = stats.mannwhitneyu(x, y, alternative=side, method="asymptotic")
        got = row(rows, alternative=side, method="normal")
        assert got["p_value"] == pytest.approx(want.pvalue, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_mood(seed: int) -> None:
    x, y, rows = samples(31, 45, seed)
    want = stats.median_test(x, y, correction=False)
    assert row(rows, phi="median")["z"] ** 2 == pytest.approx(want.statistic * 75 / 76, rel=1e-12)


def test_van_der_waerden() -> None:
    x, y, rows = samples(14, 25, seed=3)
    a = stats.norm.ppf(stats.rankdata(np.concatenate([x, y])) / 40)
    between = 14 * a[:14].mean() ** 2 + 25 * a[14:].mean() ** 2
    got = row(rows, phi="van-der-waerden")
    assert got["z"] ** 2 == pytest.approx(38 * between / (a**2).sum(), rel=1e-12)


def test_savage_scores_are_those_of_the_logrank_test() -> None:
    x, y, _ = samples(20, 30, seed=4)
    rank = stats.rankdata(np.concatenate([x, y])).astype(int)
    savage = np.cumsum(1 / np.arange(50, 0, -1))
    null = LinearRankNull(savage, 20)
    want = stats.logrank(stats.CensoredData(x), stats.CensoredData(y))
    # At each time: those of x still at risk among all of them.
    at_risk = np.array([[(z >= t).sum() for z in (x, np.concatenate([x, y]))] for t in [*x, *y]])
    share = at_risk[:, 0] / at_risk[:, 1]
    observed_less_expected = want.statistic * sqrt((share * (1 - share)).sum())
    w = savage[rank[:20] - 1].sum()
    assert null.mean() == pytest.approx(20, rel=1e-12)
    assert null.mean() - w == pytest.approx(observed_less_expected, rel=1e-10)


def test_functions_of_the_user() -> None:
    def cube(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return u**3

    found = prframe.rank_test(data(), phi=[cube, "p-norm-push"])
    assert found["phi"].to_list() == ["cube", "p-norm-push(q=3)"]
    for name in ("statistic", "null_mean", "null_std", "p_value"):
        assert found[name][0] == pytest.approx(found[name][1], rel=1e-12)
    assert found["std_error"][0] == pytest.approx(found["std_error"][1], rel=0.05)


@pytest.mark.parametrize("method", ["normal", "saddlepoint"])
def test_p_values_end_at_the_smallest_normal_float(method: str) -> None:
    rows = pl.DataFrame({"score": range(4000), "label": [0] * 2000 + [1] * 2000})
    found = prframe.rank_test(rows, alternative="greater", method=method)
    assert found["p_value"].item() == float(np.finfo(np.float64).tiny)
