"""Warnings that a careful colleague would give: of tests against chance, of pairs, of thresholds."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.verbs.comparison.rows import model_pairs

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
    assert "Give the number of all negatives in n_neg=" in str(caught[0].message)
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
    assert message.startswith("4 of 6 items in 'name' are in several rankings, but")
    assert "dependence='comonotone'" in message
    with pytest.warns(prframe.SharedItemsWarning, match="items in 'doc_id' are in several"):
        collected(prframe.ap_test(kind(shared.rename({"name": "doc_id"})), over="query_id"))
    collected(prframe.ap_test(rows, over="query_id", item="name", dependence="comonotone"))
    collected(prframe.ap_test(rows, by="query_id", item="name"))
    collected(prframe.ap_test(kind(LISTS), over="query_id", item="name"))


def every_ap(n: int, k: int) -> np.ndarray:
    ranks = np.array(list(combinations(range(1, n + 1), k)))
    return (np.arange(1, k + 1) / ranks).mean(axis=1)


@pytest.mark.parametrize(("ap", "n", "n_pos"), [(0.0, 10, 2), (0.05, 10, 2), (0.9, 10, 2)])
def test_ap_that_no_ranking_has(ap: float, n: int, n_pos: int) -> None:
    assert np.abs(every_ap(n, n_pos) - ap).min() > 1e-3
    known = pl.DataFrame({"ap": [ap, 1.0], "n": n, "n_pos": n_pos, "q": ["a", "b"]})
    with pytest.warns(prframe.UnlistedItemsWarning) as caught:
        known.pr.ap_test(ap="ap", n="n", n_pos="n_pos", by="q")
    assert [str(one.message) for one in caught] == [
        f"no ranking of n items with n_pos positives has the `ap` of 1 of 2 rankings, such as "
        f"{ap:g} of {n} items with {n_pos} positives, in groups 'a': lists that are cut off may "
        "have, or n and n_pos count others. Give AP of all items; where it does not matter, "
        "ignore UnlistedItemsWarning."
    ]


THRESHOLD = "P(threshold=0.5)"
SCORES = pl.DataFrame(
    {
        "query_id": np.repeat([1, 2], 4),
        "score": [0.9, 0.6, 0.4, 0.1, 0.3, 0.2, 0.1, 0.05],
        "label": [1, 0, 1, 0] * 2,
    }
)


def test_precision_where_nothing_reaches_the_threshold_is_undefined() -> None:
    why = f"{THRESHOLD.replace('(', '[(]').replace(')', '[)]')}: undefined, so null or NaN, for 1 of 2"
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


@pytest.mark.parametrize("kind", [pl.DataFrame.clone, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
@pytest.mark.parametrize("lost", [{"missing": "drop"}, {"ignore": [0, 1]}, {"weight": "weight"}])
def test_rows_that_are_all_left_out(lost: Any, kind: Any) -> None:
    rows = pl.DataFrame({"query_id": [1, 2], "score": [np.nan, np.nan], "label": [0, 1]})
    rows = rows.with_columns(weight=0.0)
    if lost != {"missing": "drop"}:
        rows = rows.with_columns(score=1.0)
    for ask in (prframe.curve, partial(prframe.evaluate, metrics="AP")):
        with pytest.warns(prframe.EmptyFrameWarning, match="none of 2 rows counts") as caught:
            found = collected(ask(kind(rows), over="query_id", **lost))
        assert len(caught) == 1
        assert len(found) == 0


def test_all_pairs_of_very_many_models() -> None:
    with pytest.warns(prframe.ManyPairsWarning, match="all 31,125 pairs of 250 models"):
        assert len(model_pairs(range(250), None)) == 31_125
    assert len(model_pairs(range(250), 3)) == 249
    assert len(model_pairs(range(200), None)) == 19_900
