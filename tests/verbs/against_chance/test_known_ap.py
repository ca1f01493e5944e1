"""The test of average precisions at hand."""

from itertools import combinations, product
from math import comb, log, log10
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.draws import RANDOM_RANKINGS
from prframe.stats.null import Case, Cases
from prframe.verbs.against_chance.drawn_means import are_asked, confirm

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


@pytest.mark.slow
def test_replicates_that_are_each_others_positives() -> None:
    # The AP of replicates share items: "independent" rejects too often, "comonotone" does not.
    replicates, controls, repetitions = 6, 40, 1500
    items = replicates + controls
    rows = []
    for group in range(repetitions):
        points = RNG.normal(size=(items, 12))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        near = points @ points.T
        for query in range(replicates):
            others = np.delete(np.arange(items), query)
            order = np.argsort(-near[query, others])
            ranks = np.flatnonzero(others[order] < replicates) + 1
            rows.append((group, query, average_precision(tuple(ranks))))
    known = pl.DataFrame(rows, schema=["group", "query", "ap"], orient="row")
    options: dict[str, Any] = {"ap": "ap", "n_pos": replicates - 1, "n": items - 1}
    rejected = {
        dependence: prframe.ap_test(
            known, by="group", over="query", dependence=dependence, **options
        )["p_value"]
        .le(0.05)
        .mean()
        for dependence in ("independent", "comonotone")
    }
    error = (0.05 * 0.95 / repetitions) ** 0.5
    assert rejected["independent"] > 0.05 + 4 * error
    assert rejected["comonotone"] < 0.05 + 3 * error


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


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows.lazy(),
        lambda rows: rows.to_pandas(),
        lambda rows: rows.to_arrow(),
        lambda rows: rows.to_dict(as_series=False),
    ],
    ids=["lazy", "pandas", "pyarrow", "dict"],
)
def test_every_kind_of_frame(make: Any) -> None:
    found = prframe.ap_test(make(frame()), by="compound", over="plate", **KNOWN)
    if isinstance(found, pl.LazyFrame):
        found = found.collect()
    values = found["p_value"]
    values = values.to_pylist() if hasattr(values, "to_pylist") else values
    expected = prframe.ap_test(frame(), by="compound", over="plate", **KNOWN)["p_value"]
    assert list(map(float, values)) == pytest.approx(expected.to_list())


REFUSED = {
    "several rankings of a mean": (
        frame(plate=[1, 1, 1]),
        {"by": "compound", "over": "plate"},
        "a row is a ranking, and 2 of 3 rows share 'compound', 'plate', in groups [('a', 1)]; test "
        "the mean of these rankings with over=, or name in over= or by= what tells them apart.",
    ),
    "missing last": (
        frame(),
        {"missing": "last"},
        "missing='last' is for scores; values at hand that are missing are refused, or left out "
        "with missing='drop'.",
    ),
    "no totals": (
        frame(),
        {"n_pos": None},
        "with `ap`, give the number of positives of each ranking in n_pos=, and either that of "
        "items in n= or that of negatives in n_neg=.",
    ),
    "two totals": (
        frame(),
        {"n_neg": 4},
        "with `ap`, give the number of positives of each ranking in n_pos=, and either that of "
        "items in n= or that of negatives in n_neg=.",
    ),
    "n without ap": (
        frame(),
        {"ap": None},
        "`n` counts the items of rankings whose AP is at hand; name the column of AP with ap=. "
        "Totals of rankings that are cut off are given by n_pos= and n_neg=.",
    ),
    "n of nothing": (frame(), {"n": 0}, "`n` must be a whole number >= 1; got 0."),
    "dependence of one": (
        frame(),
        {"dependence": "comonotone"},
        "`dependence` is one between the rankings of a mean; name these with over=.",
    ),
}


@pytest.mark.parametrize(("data", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals(data: pl.DataFrame, options: dict[str, Any], message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.ap_test(data, **KNOWN | options)
    assert str(caught.value) == message


@pytest.mark.slow
def test_means_next_to_the_best_have_a_p_value() -> None:
    """Where the sum is neither counted nor smooth, it is inverted, or has a bound."""
    sizes = [22, 13, 40, 13, 5, 7, 159, 9, 5, 23, 30, 7], [12, 3, 13, 9, 4, 2, 2, 2, 2, 5, 5, 2]
    spread = [4, 12, 34, 15, 12, 128, 282], [1, 2, 31, 3, 2, 53, 18]
    more = [10, 7, 34, 65, 25], [8, 6, 1, 25, 18]
    for (n, n_pos), worse in ((sizes, 6), ([a + b for a, b in zip(spread, more, strict=True)], 1)):
        k = n_pos[worse]
        ap = [1.0] * len(n)
        ap[worse] = (k - 1 + k / (k + 1)) / k
        rows = pl.DataFrame({"q": range(len(n)), "ap": ap, "n_pos": n_pos, "n": n})
        found = prframe.ap_test(rows, ap="ap", n_pos="n_pos", n="n", over="q")
        best = -sum(log10(comb(*size)) for size in zip(n, n_pos, strict=True))
        assert best < found["log10_p_value"].item() < best / 2


WORST = [
    ([22, 13, 40, 13, 5, 7, 159, 9, 5, 23, 30, 7], [12, 3, 13, 9, 4, 2, 2, 2, 2, 5, 5, 2]),
    ([19] * 3, [11] * 3),
    ([236] * 5, [1] * 5),
    ([1_000] * 4, [1] * 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_pos"), WORST, ids=["mixed", "alike", "236", "1000"])
def test_means_next_to_the_worst_are_no_rarer_than_one_ranking(n, n_pos) -> None:
    """The worst mean has the chance of one ranking, and the next one that of several."""
    hits = [list(range(m - k, m)) for m, k in zip(n, n_pos, strict=True)]
    single = -sum(log(comb(m, k)) for m, k in zip(n, n_pos, strict=True))

    def p_value() -> tuple[float, str]:
        ap = [
            sum((i + 1) / (rank + 1) for i, rank in enumerate(ranks)) / len(ranks)
            for ranks in hits
        ]
        frame = pl.DataFrame({"q": range(len(n)), "ap": ap, "n_pos": n_pos, "n": n})
        options = {"ap": "ap", "n_pos": "n_pos", "n": "n", "over": "q", "alternative": "less"}
        row = prframe.ap_test(frame, **options).row(0, named=True)
        return row["log10_p_value"] * log(10), row["method"]

    log_p, method = p_value()
    assert method == "exact"
    assert log_p == pytest.approx(single, rel=1e-9)
    hits[0][0] -= 1
    log_p, method = p_value()
    assert log_p > single
    assert method != "lattice"


@pytest.mark.parametrize("more", [2e-6, pytest.param(1e-4, marks=pytest.mark.slow)])
def test_estimates_of_means_give_way_to_draws_that_contradict_them(more: float) -> None:
    # One query of four items, whose AP is .5 at rank 2, and a large one that adds very little: on a
    # lattice the mean is at the value that carries weight, and all of its weight would count.
    frame = pl.DataFrame({"q": [0, 1], "ap": [0.5, more], "n_pos": [1, 3], "n": [4, 10**7]})
    found = prframe.ap_test(frame, ap="ap", n_pos="n_pos", n="n", over="q", rng=1)
    alone = prframe.ap_test(frame, ap="ap", n_pos="n_pos", n="n", by="q")["p_value"][1]
    # Rank 1, or rank 2 and the large query as good.
    expected = (1 + alone) / 4
    assert found["method"].item() == "monte-carlo"
    error = (expected * (1 - expected) / RANDOM_RANKINGS) ** 0.5
    assert found["p_value"].item() == pytest.approx(expected, abs=5 * error)


def test_estimates_that_draws_confirm_stay() -> None:
    assert not confirm((log(0.5), "estimate"), 0.27, 9_999)
    assert not confirm((log(0.003), "estimate"), 0.04, 9_999)
    assert confirm((log(0.05), "estimate"), 0.052, 9_999)
    assert not confirm((log(0.05), "bound"), 0.05, 9_999)
    assert not confirm(None, 0.05, 9_999)


def test_draws_are_asked_where_they_tell() -> None:
    few, many = Cases([Case(10**6, 5, 10**6)] * 10), Cases([Case(10**6, 500, 10**6)] * 1_000)
    assert are_asked(few, (log(0.05), "estimate"), 9_999)
    # So few draws are as good that they do not tell, or there would be too many of them.
    assert not are_asked(few, (log(1e-4), "estimate"), 9_999)
    assert not are_asked(many, (log(0.05), "estimate"), 9_999)
    assert not are_asked(few, (log(0.05), "lattice"), 9_999)
    assert are_asked(many, None, 9_999)
    assert are_asked(many, (log(0.05), "bound"), 9_999)
    assert not are_asked(many, (log(1e-5), "bound"), 9_999)
