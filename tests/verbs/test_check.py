"""The report on suspicious data."""

from math import inf

import polars as pl
import pytest

import prframe

DATA = pl.DataFrame(
    {
        "q": ["a", "a", "a", "b", "b", "c", "c", "c", "d"],
        "doc": [1, 2, 3, 1, 1, 1, 2, 3, 1],
        "score": [3.0, 2.0, 2.0, None, float("nan"), inf, -inf, -inf, 1.0],
        "label": [1, 0, 1, 0, 0, 1, 1, 1, None],
    }
)


def report(frame: pl.DataFrame, **options: object) -> dict[str, tuple[str, int, str]]:
    rows = prframe.check(frame, **options).rows()
    return {kind: rest for kind, *rest in rows}


def test_every_kind() -> None:
    assert report(DATA, by="q", item="doc", k=[1, 2]) == {
        "missing_score": ["error", 2, "in groups 'b'"],
        "missing_label": ["error", 1, "in groups 'd'"],
        "duplicate_item": ["error", 1, "in groups 'b'"],
        "no_positives": ["warning", 2, "in groups 'b', 'd'"],
        "only_positives": ["warning", 1, "in groups 'c'"],
        "tie_at_cutoff": ["warning", 1, "k = 2, in groups 'a'"],
        "tie_range": ["warning", 1, "P@2: 0.25 apart on average, 0.5 at most, in groups 'a'"],
        "infinite_score": ["warning", 1, "in groups 'c'"],
        "tied_score": ["info", 2, "in groups 'a'"],
        "not_retrieved": ["info", 2, "in groups 'c'"],
        "label_values": ["info", 3, "1: 5, 0: 3, None: 1"],
    }


def test_ties_that_move_no_digit_are_no_warning() -> None:
    # Of 10,000 items the best is a hit, and the last two are tied, a hit among them.
    label = [1, *[0] * 9_997, 1, 0]
    data = pl.DataFrame({"score": [*range(10_000, 1, -1), 2], "label": label})
    found = report(data.with_columns(pl.col("score").cast(pl.Float64)))
    assert found["tie_range"][:2] == ["info", 1]
    assert [found[kind][0] for kind in found] == sorted(
        (found[kind][0] for kind in found), key=["error", "warning", "info"].index
    )


def test_weights_and_totals() -> None:
    data = DATA.filter(pl.col("q").is_in(["a", "c"])).with_columns(
        w=pl.Series([1.0, -1.0, None, 1.0, 1.0, 1.0]), total=pl.Series([2, 2, 3, 3, 3, 3])
    )
    assert report(data, by="q", weight="w")["bad_weight"] == ["error", 2, "in groups 'a'"]
    found = report(data, by="q", n_pos="total", n_neg=0)
    assert found["bad_n_pos"] == ["error", 1, "in groups 'a'"]
    assert found["bad_n_neg"] == ["error", 1, "in groups 'a'"]
    halves = data.with_columns(total=pl.lit(1.5))
    assert report(halves, by="q", n_pos="total")["bad_n_pos"][0] == "error"


@pytest.mark.parametrize("verb", ["evaluate", "curve"])
def test_what_check_calls_an_error_the_verbs_refuse(verb: str) -> None:
    call = getattr(prframe, verb)
    metrics = {"metrics": "AP"} if verb == "evaluate" else {}
    for kind, rows in {
        "missing_score": DATA.filter(q="b"),
        "missing_label": DATA.filter(q="d"),
        "duplicate_item": DATA.filter(q="b").with_columns(score=1.0),
    }.items():
        assert report(rows, by="q", item="doc")[kind][0] == "error"
        with pytest.raises(prframe.PrframeError):
            call(rows, by="q", item="doc", **metrics)


def test_documents_without_item() -> None:
    run = pl.DataFrame(
        {
            "query_id": [1, 1, 2, 2],
            "docno": ["x", "y", "x", "z"],
            "score": [2.0, 1.0, 2.0, 1.0],
            "label": [1, 0, 1, 0],
        }
    )
    doubled = pl.concat([run, run])
    for frame in (doubled, doubled.lazy().collect().to_pandas()):
        found = prframe.check(frame, by="query_id")
        rows = {kind: rest for kind, *rest in pl.DataFrame(found).rows()}
        assert rows["duplicate_item"] == ["warning", 4, "'docno', in groups 1, 2"]
    assert report(doubled, by="query_id", item="docno")["duplicate_item"][0] == "error"
    assert "duplicate_item" not in report(run, by="query_id")
    # Several rankings together hold a document several times.
    assert report(run)["pooled_rankings"][0] == "error"
    assert "duplicate_item" not in report(run)


def test_documents_that_cannot_be_read_are_left_be() -> None:
    rows = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0], "doc_id": pl.Series([{1}, {2}])})
    assert rows.schema["doc_id"] == pl.Object
    assert "duplicate_item" not in report(rows)


def test_how_far_the_orders_of_ties_lie_apart() -> None:
    data = pl.DataFrame(
        {
            "q": [*"aaabbbbc"],
            "score": [1.0, 1.0, 1.0, 3.0, 2.0, 2.0, None, 1.0],
            "label": [1, 0, 0, 1, 1, 0, 1, None],
            "doc": [*"aabcdefg"],
        }
    )
    found = prframe.check(data, by="q", k=1, ties="trec", item="doc", n_pos=1)
    ranges = found.filter(kind="tie_range").select("count", "example").rows()
    # a: AP 1/3 to 1 and P@1 0 to 1; b: AP 5/6 to 1, P@1 is 1.
    assert ranges == [
        (2, "AP: 0.417 apart on average, 0.667 at most, in groups 'a', 'b'"),
        (1, "P@1: 0.5 apart on average, 1 at most, in groups 'a'"),
    ]
