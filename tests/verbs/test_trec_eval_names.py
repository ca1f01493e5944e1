"""Warnings about trec_eval's names under a tie policy that is not trec_eval's."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe

RUN = pl.DataFrame(
    {
        "query_id": ["q1"] * 3 + ["q2"] * 3,
        "doc_id": ["d1", "d2", "d3"] * 2,
        "score": [3.0, 2.0, 1.0, 2.0, 2.0, 1.0],
        "label": [1, 0, 0, 0, 1, 0],
    }
)
ITEM: dict[str, Any] = {"by": "query_id", "item": "doc_id"}
UNTIED = RUN.with_columns(score=pl.Series([3.0, 2.0, 1.0] * 2))


def texts(call: Callable[[], Any]) -> list[str]:
    """Return the texts of the warnings about tie policies."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
        if isinstance(result, pl.LazyFrame):
            result.collect()
    return [str(w.message) for w in caught if w.category is prframe.TiePolicyWarning]


def test_the_values_under_both_policies() -> None:
    assert texts(lambda: prframe.evaluate(RUN, ["AP", "P_1", "map"], **ITEM)) == [
        "'P_1' is trec_eval's name, but ties='group' does not rank equal scores as trec_eval does: "
        "it is 0.5 here and 1 by the names, in groups 'q2'. For its numbers pass ties='trec'. If "
        "ties='group' is meant, write 'P@1', or ignore TiePolicyWarning."
    ]
    by_trec = prframe.evaluate(RUN, "P_1", ties="trec", **ITEM)
    assert by_trec["P_1"].to_list() == [1.0, 1.0]


def test_the_range_without_names_of_documents() -> None:
    assert texts(lambda: prframe.evaluate(RUN, "map", by="query_id")) == [
        "'map' is trec_eval's name, but ties='group' does not rank equal scores as trec_eval does: "
        "it is 0.5 here and 0.5 to 1 by their order, in groups 'q2'. For its numbers pass "
        "ties='trec' and name the documents in item=. If ties='group' is meant, write 'AP', or "
        "ignore TiePolicyWarning."
    ]


def test_means_whose_digits_do_not_change() -> None:
    # By names one query gains what another loses.
    mirrored = RUN.filter(query_id="q2").with_columns(
        query_id=pl.lit("q3"), label=pl.Series([1, 0, 0])
    )
    rows = pl.concat([RUN, mirrored])
    by_trec, here = (
        prframe.evaluate(rows, "P@1", over="query_id", ties=ties, item="doc_id")["mean"].item()
        for ties in ("trec", "group")
    )
    assert by_trec == pytest.approx(here, abs=1e-12)
    assert not texts(lambda: prframe.evaluate(rows, "P_1", over="query_id", item="doc_id"))
    assert texts(lambda: prframe.evaluate(rows, "P_1", **ITEM))
    # The mean of one of two systems changes.
    two = pl.concat([rows.with_columns(s=pl.lit("a")), RUN.with_columns(s=pl.lit("b"))])
    options = {"by": "s", "over": "query_id", "item": "doc_id"}
    assert texts(lambda: prframe.evaluate(two, "P_1", **options))
    many = [UNTIED.with_columns(query_id=pl.col("query_id") + f" {i}") for i in range(6000)]
    assert not texts(lambda: prframe.evaluate(pl.concat([RUN, *many]), "P_1", over="query_id"))


@pytest.mark.parametrize("ties", ["group", "order", "expected", "best", "worst"])
def test_every_policy_but_that_of_trec_eval(ties: Any) -> None:
    # By names d2 comes before d1.
    rows = RUN if ties != "best" else RUN.with_columns(label=pl.Series([1, 0, 0, 1, 0, 0]))
    [text] = texts(lambda: prframe.evaluate(rows, "recip_rank", ties=ties, **ITEM))
    assert f"ties={ties!r} does not rank equal scores as trec_eval does: it is " in text
    assert not texts(lambda: prframe.evaluate(rows, "recip_rank", ties="trec", **ITEM))


@pytest.mark.parametrize(
    "name", ["map", "P_1", "P.1", "ndcg", "ndcg_cut_10", "map_cut_5", "recip_rank", "recall_1"]
)
def test_names_of_trec_eval(name: str) -> None:
    assert len(texts(lambda: prframe.evaluate(RUN, name, **ITEM))) == 1


@pytest.mark.parametrize(
    ("name", "own"), [("MAP", "map"), ("mAP", "map"), ("MRR", "recip_rank"), ("NDCG", "ndcg")]
)
def test_names_of_papers(name: str, own: str) -> None:
    [text] = texts(lambda: prframe.evaluate(RUN, name, **ITEM))
    assert text.startswith(f"{name!r} is what trec_eval calls {own!r}, but ties='group' does not")
    assert not texts(lambda: prframe.evaluate(RUN, name, ties="trec", **ITEM))
    assert not texts(lambda: prframe.evaluate(UNTIED, name, **ITEM))


@pytest.mark.parametrize(
    "name", ["AP", "P@1", "nDCG", "mrr", "Rprec", "num_ret", "num_rel", "set_P", "P_3"]
)
def test_other_names_and_metrics_that_do_not_depend_on_the_order(name: str) -> None:
    assert not texts(lambda: prframe.evaluate(RUN, name, **ITEM))


def test_ties_that_make_no_difference() -> None:
    same = RUN.with_columns(label=pl.Series([1, 0, 0, 1, 1, 0]))
    lost = RUN.with_columns(score=pl.Series([3.0, 2.0, 1.0, 3.0] + [-np.inf] * 2))
    for rows in (UNTIED, same, lost, RUN.with_columns(label=pl.Series([1, 0, 0, 0, 0, 1]))):
        for ties in ("group", "order", "best"):
            call = {"ties": ties, **ITEM}
            assert not texts(lambda: prframe.evaluate(rows, "map", **call)), call  # noqa: B023


def test_grades_that_are_tied() -> None:
    rows = RUN.with_columns(label=pl.Series([1, 0, 0, 2, 1, 0]))
    [text] = texts(lambda: prframe.evaluate(rows, ["map", "ndcg"], **ITEM))
    assert text.startswith("'ndcg' is trec_eval's name")


@pytest.mark.parametrize(
    "call",
    [
        lambda: prframe.evaluate(RUN.lazy(), "map", **ITEM),
        lambda: prframe.evaluate(RUN.to_pandas(), "map", **ITEM),
        lambda: prframe.evaluate(RUN[[0, 3, 1, 4, 2, 5]], "map", **ITEM),
        lambda: prframe.evaluate(RUN, "map", over="query_id", item="doc_id"),
        lambda: prframe.evaluate(RUN, "map", over="query_id"),
        lambda: prframe.evaluate(RUN.drop("query_id").tail(3), "map"),
        lambda: prframe.evaluate(
            RUN.with_columns(other=1.0), "map", score=["score", "other"], **ITEM
        ),
        lambda: prframe.interval(RUN, "map", over="query_id", item="doc_id"),
        lambda: prframe.interval(RUN, "map", n_resamples=50, **ITEM),
        lambda: prframe.compare(
            RUN.with_columns(other=1.0), "P_1", score=["score", "other"], item="doc_id"
        ),
    ],
)
def test_every_verb_warns_once(call: Callable[[], Any]) -> None:
    assert len(texts(call)) == 1


def test_large_rankings_are_not_ranked_again() -> None:
    n = (1 << 16) + 1
    rows = pl.DataFrame(
        {"score": np.arange(n) // 2, "label": np.arange(n) % 2, "doc_id": range(n)}
    )
    [text] = texts(lambda: prframe.evaluate(rows, "map", item="doc_id"))
    assert "as trec_eval does. For its numbers pass ties='trec'" in text


def test_names_are_not_theirs_where_items_cannot_be_sorted() -> None:
    rows = RUN.with_columns(doc_id=pl.struct("doc_id"))
    [text] = texts(lambda: prframe.evaluate(rows, "map", **ITEM))
    assert "it is 0.5 here and 0.5 to 1 by their order" in text


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
def test_rows_that_are_all_ignored_have_no_ties() -> None:
    rows = pl.DataFrame({"score": [1.0, 1.0], "label": [None, None], "judged": [True, True]})
    rows = rows.with_columns(pl.col("label").cast(pl.Int64))
    assert prframe.evaluate(rows, "bpref", ignore=[None], ties="order").height == 0
