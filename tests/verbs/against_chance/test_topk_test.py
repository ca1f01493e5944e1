"""The verb `topk_test`, against counting in plain Python and `evaluate`."""

from math import comb, inf

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe.stats import adjust_p_values
from tests.strategies import Item, frame, items

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

CUTOFFS = [1, 2, 3, 5, 9]
GROUPS = st.lists(items(), min_size=1, max_size=3)
quiet = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def chance_of_more(hits: int, n: int, n_pos: int, selected: int) -> float:
    ways = sum(comb(n_pos, x) * comb(n - n_pos, selected - x) for x in range(hits, selected + 1))
    return ways / comb(n, selected)


def ranked(group: list[Item]) -> list[Item]:
    """The retrieved items in order, as rows tied in score stand."""
    return sorted((x for x in group if x.score > -inf), key=lambda x: -x.score)


@pytest.mark.slow
@quiet
@given(GROUPS)
def test_rows_by_counting(groups: list[list[Item]]) -> None:
    data = frame({str(i): group for i, group in enumerate(groups)}).drop("judged")
    result = prframe.topk_test(data, by="group", k=CUTOFFS, ties="order")
    rows = result.rows(named=True)
    assert [(row["group"], row["k"]) for row in rows] == [
        (str(i), k) for i in range(len(groups)) for k in CUTOFFS
    ]
    for row in rows:
        group, k = groups[int(row["group"])], row["k"]
        n, n_pos = len(group), sum(x.label > 0 for x in group)
        top = ranked(group)[:k]
        hits = sum(x.label > 0 for x in top)
        assert row["hits"] == hits
        assert row["precision"] == pytest.approx(hits / k, rel=1e-15)
        if not n_pos:
            assert row["recall"] is row["null_mean"] is row["null_std"] is row["p_value"] is None
            continue
        assert row["recall"] == hits / n_pos
        assert row["p_value"] == pytest.approx(chance_of_more(hits, n, n_pos, len(top)), rel=1e-12)
        p = n_pos / n
        variance = p * (1 - p) * len(top) * (n - len(top)) / max(n - 1, 1) / k**2
        assert row["null_mean"] == pytest.approx(p * len(top) / k)
        assert row["null_std"] == pytest.approx(variance**0.5)


@pytest.mark.slow
@quiet
@given(GROUPS)
def test_ties_leave_hits_open_where_orders_differ(groups: list[list[Item]]) -> None:
    data = frame({str(i): group for i, group in enumerate(groups)}).drop("judged")
    found, best, worst = (
        prframe.topk_test(data, by="group", k=CUTOFFS, ties=ties)
        for ties in ("group", "best", "worst")
    )
    open_ = best["hits"] > worst["hits"]
    assert found["hits"].is_null().to_list() == open_.to_list()
    for name in ("hits", "conf_low", "conf_high", "p_value"):
        assert found.filter(open_)[name].null_count() == open_.sum()
        assert found.filter(~open_)[name].equals(best.filter(~open_)[name])
    for name, metric in {"precision": "P", "recall": "R"}.items():
        metrics = [f"{metric}@{k}" for k in CUTOFFS]
        values = prframe.evaluate(data, metrics, by="group", layout="long")["value"]
        assert found[name].equals(values)


def test_the_scale_of_recall() -> None:
    data = pl.DataFrame({"score": range(10, 0, -1), "label": [1, 1, 0, 1] + [0] * 6})
    precision, recall = (
        prframe.topk_test(data, k=[2, 4], measure=measure, alternative="two-sided")
        for measure in ("precision", "recall")
    )
    assert precision["p_value"].to_list() == recall["p_value"].to_list()
    ratio = (precision["recall"] / precision["precision"]).to_list()
    for name in ("null_mean", "null_std"):
        assert (recall[name] / precision[name]).to_list() == pytest.approx(ratio)
    ends = [recall.select("conf_low", "conf_high").row(i) for i in range(2)]
    assert ends[1][1] == 1.0
    for (low, high), hits in zip(ends, (2, 3), strict=True):
        want = prframe.stats.proportion_interval(hits, 3)
        assert (low, high) == (want.low, want.high)


@pytest.mark.parametrize("method", ["clopper-pearson", "jeffreys", "posterior"])
def test_intervals_of_precision(method: str) -> None:
    data = pl.DataFrame({"score": range(30, 0, -1), "label": [1, 0, 1] * 10})
    row = prframe.topk_test(data, method=method, confidence_level=0.8).row(0, named=True)
    want = prframe.stats.proportion_interval(row["hits"], 10, 0.8, method)
    assert (row["conf_low"], row["conf_high"], row["method"]) == (want.low, want.high, method)


def test_every_item_counts_retrieved_or_not() -> None:
    listed = pl.DataFrame(
        {"score": [2.0, 1.0] + [-inf] * 98, "label": [1, 1] + [1] * 3 + [0] * 95}
    )
    alone = prframe.topk_test(listed.head(2), k=[1, 2, 5], n_pos=5, n_neg=95)
    assert alone.equals(prframe.topk_test(listed, k=[1, 2, 5]))
    # Two are retrieved: beyond k = 2 the test stays that of two selected items.
    assert alone["p_value"].to_list() == pytest.approx([5 / 100, 20 / 9900, 20 / 9900])
    assert alone["null_mean"].to_list() == pytest.approx([0.05, 0.05, 0.02])


def test_what_is_undefined_is_said_once() -> None:
    data = pl.DataFrame(
        {"q": [1, 1, 2, 2, 3, 3], "score": [2, 1, 2, 1, 1, 1], "label": [1, 0, 0, 0, 1, 0]}
    )
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        result = prframe.topk_test(data, k=[1, 2], by="q")
    assert [str(w.message) for w in caught] == [
        "recall, null_mean, null_std, p_value: undefined, so null or NaN, for 1 of 3 groups, which "
        "have no positives, in groups 2",
        "hits, p_value, conf_low, conf_high: undefined, so null or NaN, for 1 of 3 groups, where tied "
        "items decide how many hits there are, in groups 3; order them with ties='order' or "
        "'trec', or see the range from 'worst' to 'best'",
    ]
    assert result["hits"].to_list() == [1, 1, 0, 0, None, 1]
    assert result["p_value"].to_list() == [0.5, 1.0, None, None, None, 1.0]
    with pytest.warns(prframe.UndefinedMetricWarning, match="conf_low, conf_high: undefined"):
        recall = prframe.topk_test(data.filter(q=2), k=1, measure="recall")
    assert recall.row(0, named=True)["conf_low"] is None


@quiet
@pytest.mark.parametrize("correction", ["bonferroni", "holm", "bh", "by"])
def test_corrections_are_over_groups_and_cutoffs(correction: str) -> None:
    """Rows without positives, and those whose hits depend on ties, do not count."""
    rows = pl.DataFrame(
        {
            "q": ["a"] * 6 + ["b"] * 4 + ["empty"] * 2,
            "score": [6.0, 5, 4, 3, 2, 1, 4, 3, 3, 1, 2, 1],
            "label": [1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0],
        }
    )
    found = prframe.topk_test(rows, by="q", k=[1, 2], correction=correction)
    plain = prframe.topk_test(rows, by="q", k=[1, 2])
    assert_frame_equal(found.drop("p_adjusted"), plain)
    assert found.columns[-2:] == ["method", "p_adjusted"]
    p_values = found["p_value"].to_list()
    assert p_values[3:] == [None] * 3
    expected = [*adjust_p_values(np.array(p_values[:3]), correction), *[None] * 3]
    assert found["p_adjusted"].to_list() == expected
