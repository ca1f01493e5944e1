"""The test of precomputed average precisions."""

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from tests.refusals import refusals

KNOWN: dict[str, Any] = {"ap": "ap", "n_pos": "n_pos", "n": "n"}
RNG = np.random.default_rng(4)


def average_precision(positives: tuple[int, ...]) -> float:
    """Return AP of positives at ranks that count from 1."""
    return float(np.mean([(i + 1) / rank for i, rank in enumerate(positives)]))


def all_values(n: int, n_pos: int) -> list[float]:
    """Return AP of every ranking."""
    return [average_precision(ranks) for ranks in combinations(range(1, n + 1), n_pos)]


def frame(**columns: object) -> pl.DataFrame:
    """Return three rankings of two compounds, with other columns in place of theirs."""
    known = {
        "compound": ["a", "a", "b"],
        "plate": [1, 2, 1],
        "ap": [1.0, 5 / 6, 0.5],
        "n_pos": [2, 2, 3],
        "n": [10, 10, 12],
    }
    return pl.DataFrame(known | columns)


def test_single_values_against_all_rankings() -> None:
    found = prframe.ap_test(frame(), **KNOWN)
    assert found.columns[:3] == ["n", "n_pos", "ap"]
    for row in found.rows(named=True):
        values = np.array(all_values(row["n"], row["n_pos"]))
        assert row["p_value"] == pytest.approx(np.mean(values >= row["ap"] - 1e-12), rel=1e-12)
        assert row["null_mean"] == pytest.approx(values.mean(), rel=1e-12)
        assert row["null_std"] == pytest.approx(values.std(), rel=1e-12)


@pytest.mark.slow
def test_values_are_those_of_the_scores() -> None:
    n = 40
    rows = pl.DataFrame(
        {
            "g": np.repeat(range(30), n),
            "score": RNG.normal(size=30 * n),
            "label": RNG.random(30 * n) < 0.2,
        }
    )
    for options in ({}, {"alternative": "less"}, {"alternative": "two-sided", "correction": "bh"}):
        expected = prframe.ap_test(rows, by="g", **options)
        found = prframe.ap_test(
            expected.select("g", "ap", "n_pos", "n"), by="g", **KNOWN, **options
        )
        assert found.equals(expected)
        negatives = expected.select("g", "ap", "n_pos", n_neg=pl.col("n") - pl.col("n_pos"))
        columns = {"ap": "ap", "n_pos": "n_pos", "n_neg": "n_neg"}
        assert prframe.ap_test(negatives, by="g", **columns, **options).equals(expected)
    means = prframe.ap_test(rows, over="g")
    found = prframe.ap_test(expected.select("g", "ap", "n_pos", "n"), over="g", **KNOWN)
    assert found.equals(means)


def test_means_against_all_pairs_of_rankings() -> None:
    found = prframe.ap_test(frame(), by="compound", over="plate", **KNOWN)
    sums = [a + b for a, b in product(all_values(10, 2), repeat=2)]
    share = np.mean(np.array(sums) >= 11 / 6 - 1e-12)
    assert share == pytest.approx(3 / comb(10, 2) ** 2, rel=1e-12)
    assert found["p_value"].to_list() == pytest.approx(
        [share, np.mean(np.array(all_values(12, 3)) >= 0.5 - 1e-12)], rel=1e-12
    )
    assert found["n_groups"].to_list() == [2, 1]


@pytest.mark.filterwarnings("ignore::prframe.UnlistedItemsWarning")
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_comonotone_means(alternative: str) -> None:
    options: dict[str, Any] = {"over": "plate", "dependence": "comonotone"}
    # AP of one shape are the same quantile: their mean is tested as one AP.
    alike = frame().filter(compound="a")
    found = prframe.ap_test(alike, alternative=alternative, **KNOWN, **options)
    single = pl.DataFrame({"ap": [11 / 12], "n_pos": [2], "n": [10]})
    expected = prframe.ap_test(single, alternative=alternative, **KNOWN)
    same = ["null_mean", "null_std", "z", "p_value", "log10_p_value", "method"]
    for name in same:
        assert found[name][0] == (
            expected[name][0] if name == "method" else pytest.approx(expected[name][0], rel=1e-12)
        )
    # Of different shapes the quantiles of all are averaged.
    different = pl.DataFrame({"q": [1, 2], "ap": [0.7, 0.8], "n_pos": [2, 3], "n": [9, 8]})
    options["over"] = "q"
    row = prframe.ap_test(different, alternative=alternative, **KNOWN, **options).row(
        0, named=True
    )
    levels = (np.arange(252_000) + 0.5) / 252_000
    quantiles = [
        np.quantile(all_values(n, n_pos), levels, method="inverted_cdf")
        for n_pos, n in ((2, 9), (3, 8))
    ]
    means = np.mean(quantiles, axis=0)
    above, below = np.mean(means >= 0.75 - 1e-12), np.mean(means <= 0.75 + 1e-12)
    exact = {"greater": above, "less": below, "two-sided": min(1, 2 * min(above, below))}
    assert row["p_value"] == pytest.approx(exact[alternative], abs=1e-5)
    assert row["method"] == "exact"
    assert row["null_mean"] == pytest.approx(means.mean(), rel=1e-4)


def test_rankings_without_positives() -> None:
    data = frame(ap=[1.0, float("nan"), None], n_pos=[2, 0, 0])
    with pytest.warns(prframe.UndefinedMetricWarning, match="for 2 of 3 groups"):
        found = prframe.ap_test(data, **KNOWN, correction="holm")
    assert found["p_value"].null_count() == found["p_adjusted"].null_count() == 2
    assert found["p_adjusted"][0] == pytest.approx(1 / 45)


@pytest.mark.slow
def test_counts_of_small_integers_do_not_overflow() -> None:
    data = pl.DataFrame({"ap": [0.5, 0.2], "n_pos": [10, 20], "n_neg": [250, 240]})
    columns = {"ap": "ap", "n_pos": "n_pos", "n_neg": "n_neg"}
    expected = prframe.ap_test(data, **columns)
    small = data.with_columns(pl.col("n_pos", "n_neg").cast(pl.UInt8))
    assert prframe.ap_test(small, **columns).equals(expected)
    assert expected["n"].to_list() == [260, 260]


def test_missing_values_can_be_left_out() -> None:
    data = frame(ap=[1.0, None, 0.5])
    found = prframe.ap_test(data, **KNOWN, missing="drop")
    assert found["ap"].to_list() == [1.0, 0.5]


# What is said of a call, in part.


test_refusals = refusals(
    {
        "a row is a ranking, and 2 of 3 rows share 'compound', 'plate', in groups ('a', 1);": (
            frame(plate=[1, 1, 1]),
            {"by": "compound", "over": "plate"},
        ),
        "missing='last' is for scores; precomputed": (frame(), {"missing": "last"}),
        "with `ap`, give the number of positives of each": (frame(), {"n_pos": None}),
        "either that of items in n= or that of negatives in": (frame(), {"n_neg": 4}),
        "name the column of AP with ap=": (frame(), {"ap": None}),
        "`n` must be a whole number >= 1; got 0.": (frame(), {"n": 0}),
        "`dependence` is one between the rankings of a mean; name these with over=.": (
            frame(),
            {"dependence": "comonotone"},
        ),
    },
    lambda data, options: prframe.ap_test(data, **KNOWN | options),
    whole=False,
)
