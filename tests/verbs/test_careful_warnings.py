"""Warnings that a careful colleague would give: of tests against chance, of pairs, of thresholds."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats import APNull
from prframe.stats.null import Case
from prframe.verbs.against_chance.comonotone import log_tail
from prframe.verbs.comparison.options import model_pairs

LISTS = pl.DataFrame(
    {
        "query_id": np.repeat(["q1", "q2"], 5),
        "name": [f"d{i}" for i in range(10)],
        "score": np.tile([5.0, 4, 3, 2, 1], 2),
        "label": [1, 1, 0, 1, 0, 1, 0, 1, 0, 0],
        "relevant": np.repeat([9, 6], 5),
    }
)
TESTS = {
    "ap_test": lambda rows, **more: prframe.ap_test(rows, by="query_id", **more),
    "mean": lambda rows, **more: prframe.ap_test(rows, over="query_id", **more),
    "rank_test": lambda rows, **more: prframe.rank_test(rows, by="query_id", **more),
    "topk_test": lambda rows, **more: prframe.topk_test(rows, by="query_id", k=2, **more),
}
KINDS = [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]


def collected(result: Any) -> Any:
    return result.collect() if isinstance(result, pl.LazyFrame) else result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_positives_without_negatives_that_are_not_listed(test: Any, kind: Any) -> None:
    rows = kind(LISTS)
    with pytest.warns(prframe.UnlistedItemsWarning) as caught:
        collected(test(rows, n_pos="relevant"))
    assert len(caught) == 1
    assert "give the number of all negatives in n_neg=" in str(caught[0].message)
    collected(test(rows, n_pos="relevant", n_neg=1000))
    collected(test(rows))
    # All positives are listed.
    collected(
        test(kind(LISTS.with_columns(relevant=pl.sum("label").over("query_id"))), n_pos="relevant")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_means_of_rankings_that_share_items(kind: Any) -> None:
    shared = LISTS.with_columns(name=pl.Series([f"d{i % 5}" for i in range(9)] + ["other"]))
    rows = kind(shared)
    with pytest.warns(prframe.SharedItemsWarning) as caught:
        collected(prframe.ap_test(rows, over="query_id", item="name"))
    message = str(caught[0].message)
    assert len(caught) == 1
    assert message.startswith("4 of 6 items in 'name' are in several rankings of the mean")
    assert "dependence='comonotone'" in message
    assert "resampling='items'" in message
    with pytest.warns(prframe.SharedItemsWarning, match="items in 'doc_id' are in several"):
        collected(prframe.ap_test(kind(shared.rename({"name": "doc_id"})), over="query_id"))
    collected(prframe.ap_test(rows, over="query_id", item="name", dependence="comonotone"))
    collected(prframe.ap_test(rows, by="query_id", item="name"))
    collected(prframe.ap_test(kind(LISTS), over="query_id", item="name"))


def test_systems_that_rank_the_same_items_share_none() -> None:
    systems = pl.concat(LISTS.with_columns(system=pl.lit(name)) for name in "ab")
    prframe.ap_test(systems, by="system", over="query_id", item="name")


def every_ap(n: int, k: int) -> np.ndarray:
    ranks = np.array(list(combinations(range(1, n + 1), k)))
    return (np.arange(1, k + 1) / ranks).mean(axis=1)


def test_ap_that_rankings_have_are_not_doubted() -> None:
    for n in range(1, 7):
        for k in range(1, n + 1):
            values = pl.DataFrame({"ap": np.unique(every_ap(n, k)), "n": n, "n_pos": k})
            values.with_row_index("q").pr.ap_test(ap="ap", n="n", n_pos="n_pos", by="q")


@pytest.mark.parametrize(("ap", "n", "n_pos"), [(0.0, 10, 2), (0.05, 10, 2), (0.9, 10, 2)])
def test_ap_that_no_ranking_has(ap: float, n: int, n_pos: int) -> None:
    assert np.abs(every_ap(n, n_pos) - ap).min() > 1e-3
    known = pl.DataFrame({"ap": [ap, 1.0], "n": n, "n_pos": n_pos, "q": ["a", "b"]})
    with pytest.warns(prframe.UnlistedItemsWarning) as caught:
        known.pr.ap_test(ap="ap", n="n", n_pos="n_pos", by="q")
    assert [str(one.message) for one in caught] == [
        f"no ranking of n items with n_pos positives has the `ap` of 1 of 2 rankings, such as "
        f"{ap:g} of {n} items with {n_pos} positives, in groups ['a']: lists that are cut off may "
        "have, or n and n_pos count others. Give AP of all items; where it does not matter, "
        "ignore UnlistedItemsWarning."
    ]


def test_comonotone_means_of_several_shapes_are_counted() -> None:
    shapes = [(8, 2), (7, 2), (8, 3)]
    laws = [np.sort(every_ap(*shape)) for shape in shapes]
    # One point per step of all quantile functions.
    level = (np.arange(28 * 21 * 56) + 0.5) / (28 * 21 * 56)
    quantiles = [law[(level * law.size).astype(int)] for law in laws]
    mean = (2 * quantiles[0] + quantiles[1] + quantiles[2]) / 4
    cases = [Case(n, k, n, None) for n, k in (shapes[0], *shapes)]
    for value in (0.3, 0.45, 0.6, 0.99):
        upper, lower = (mean >= value - 1e-12).mean(), (mean <= value + 1e-12).mean()
        for expected, is_upper in ((upper, True), (lower, False)):
            found = np.exp(log_tail(cases, value, upper=is_upper))
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("sizes", [(3, 1, 2, 6), (1,) * 12])
def test_comonotone_means_of_one_shape_are_that_of_a_ranking(sizes: tuple[int, ...]) -> None:
    null = APNull(12, 3, ties=sizes)
    for value in (0.25, 0.4, 0.6):
        found = log_tail([Case(12, 3, 12, sizes)] * 2, value, upper=True)
        assert found == pytest.approx(float(null.logsf(value)), rel=1e-9)


def test_all_pairs_of_very_many_models() -> None:
    with pytest.warns(prframe.ManyPairsWarning, match="all 31,125 pairs of 250 models"):
        assert len(model_pairs(range(250), None)) == 31_125
    assert len(model_pairs(range(250), 3)) == 249
    assert len(model_pairs(range(200), None)) == 19_900


THRESHOLD = "P(threshold=0.5)"
SCORES = pl.DataFrame(
    {
        "query_id": np.repeat([1, 2], 4),
        "score": [0.9, 0.6, 0.4, 0.1, 0.3, 0.2, 0.1, 0.05],
        "label": [1, 0, 1, 0] * 2,
    }
)


def test_precision_where_nothing_reaches_the_threshold_is_undefined() -> None:
    why = f"{THRESHOLD.replace('(', '[(]').replace(')', '[)]')}: undefined, hence null, for 1 of 2"
    with pytest.warns(prframe.UndefinedMetricWarning, match=f"{why}.*no scores of at least 0.5"):
        found = SCORES.pr.evaluate([THRESHOLD, "SetP", "set_P"], by="query_id")
    assert found[THRESHOLD].to_list() == [0.5, None]
    assert found["SetP"].to_list() == found["set_P"].to_list() == [0.5, 0.5]
    with pytest.warns(prframe.UndefinedMetricWarning):
        means = SCORES.pr.evaluate(THRESHOLD, over="query_id")
    assert means.select("mean", "n", "n_undefined").row(0) == (0.5, 1, 1)
    filled = SCORES.pr.evaluate(THRESHOLD, over="query_id", undefined=0)
    assert filled.select("mean", "n").row(0) == (0.25, 2)
    expression = pl.col("score").pr.metric(THRESHOLD, "label")
    lists = SCORES.group_by("query_id", maintain_order=True).agg(expression)
    assert lists["score"].to_list() == [0.5, None]
    # trec_eval's set_P of a query without documents is 0.
    none = SCORES.with_columns(score=pl.lit(float("-inf")))
    assert none.pr.evaluate("set_P", by="query_id", positive=1)["set_P"].to_list() == [0, 0]


def test_intervals_and_comparisons_of_such_a_precision_are_undefined() -> None:
    low = pl.concat([SCORES.filter(query_id=2)] * 5).with_columns(high=1 - pl.col("score"))
    with pytest.warns(prframe.UndefinedMetricWarning):
        assert low.pr.interval(THRESHOLD)["estimate"].to_list() == [None]
    with pytest.warns(prframe.UndefinedMetricWarning):
        found = low.pr.compare(THRESHOLD, ["score", "high"], over=None, rng=1, n_resamples=99)
    row = found.select("difference", "mean_a", "mean_b", "p_value").row(0)
    assert row == (None, None, 0.5, None)


def test_items_without_queries_are_compared_on_the_same_items() -> None:
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({"id": range(60), "label": rng.random(60) < 0.4})
    rows = rows.with_columns(a=pl.Series(rng.normal(size=60)), b=pl.Series(rng.normal(size=60)))
    expected = rows.pr.compare("AP", ["a", "b"], over=None, item="id", rng=1, n_resamples=99)
    for kind in KINDS:
        found = prframe.compare(kind(rows), "AP", ["a", "b"], item="id", rng=1, n_resamples=99)
        assert list(collected(found)["n"]) == [60] or found["n"].to_pylist() == [60]
    assert rows.pr.compare("AP", ["a", "b"], item="id", rng=1, n_resamples=99).equals(expected)
    with pytest.raises(prframe.MissingColumnError, match="query_id"):
        rows.pr.compare("AP", ["a", "b"])


@pytest.mark.parametrize("options", [{}, {"simultaneous": False}, {"over": "q"}, {"prior": 0.1}])
def test_a_column_and_its_copy_have_the_same_curve(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    rows = pl.DataFrame({"q": np.arange(120) // 10, "a": rng.normal(size=120)})
    rows = rows.with_columns(label=pl.Series(np.arange(120) % 3 == 0), copy=2 * pl.col("a"))
    found = rows.pr.compare_curves(["a", "copy"], rng=1, n_resamples=99, recall=5, **options)
    for name in ("difference", "conf_low", "conf_high"):
        assert found[name].unique().to_list() == [0.0]
    assert found["p_value"].unique().to_list() == [1.0]
    other = rows.with_columns(copy=pl.Series(rng.normal(size=120)))
    drawn = other.pr.compare_curves(["a", "copy"], rng=1, n_resamples=99, recall=[0.5])
    p = drawn["p_value"].item()
    assert drawn["p_std_error"].item() == pytest.approx((p * (1 - p) / 99) ** 0.5)
