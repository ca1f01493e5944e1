"""Tests against random ranking of joined runs, whose rows are a part of a collection."""

import warnings

import polars as pl
import pytest

import prframe
from prframe import UnlistedItemsWarning, trec

RUN = pl.DataFrame({"query_id": "1", "doc_id": list("abcd"), "score": [4.0, 3.0, 2.0, 1.0]})
QRELS = pl.DataFrame({"query_id": "1", "doc_id": list("axy"), "label": [1, 1, 1]})
JOINED = trec.join(RUN, QRELS)
SENTENCE = (
    "the test compares with random rankings of the listed rows only. Some are not judged, so the "
    "collection is probably larger: pass its number of negatives as n_neg=. If all items are "
    "listed, drop the column 'judged', or ignore UnlistedItemsWarning."
)
TESTS = {
    "ap_test": lambda frame, **options: prframe.ap_test(frame, **options),
    "mean": lambda frame, **options: prframe.ap_test(frame, over="query_id", **options),
    "topk_test": lambda frame, **options: prframe.topk_test(frame, k=2, **options),
    "rank_test": lambda frame, **options: prframe.rank_test(frame, **options),
}


def collected(found):
    return found.collect() if isinstance(found, pl.LazyFrame) else found


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
@pytest.mark.parametrize(
    "kind", [pl.DataFrame, pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow]
)
def test_a_pool_is_no_collection(test, kind) -> None:
    with pytest.warns(UnlistedItemsWarning) as caught:
        collected(test(kind(JOINED)))
    assert [str(warning.message) for warning in caught] == [SENTENCE]


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
def test_what_the_sentence_leads_to(test) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert test(JOINED, n_neg=97).height == 1
        assert test(JOINED.drop("judged")).height == 1
