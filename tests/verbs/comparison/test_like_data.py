"""Models are compared on the same labels and positives, or the caller hears of it."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from tests.spark.likeness import DataFrame as LikeSpark

RNG = np.random.default_rng(5)
ITEMS = pl.DataFrame(
    {
        "query_id": np.repeat(np.arange(10), 20),
        "item": np.tile(np.arange(20), 10),
        "label": (RNG.random(200) < 0.3).astype(int),
    }
)
OLD, NEW = (
    ITEMS.with_columns(score=pl.Series(gain * ITEMS["label"] + RNG.normal(size=200)))
    for gain in (2.0, 1.0)
)
FLIPPED = pl.when(pl.col("query_id") == 3).then(1 - pl.col("label")).otherwise("label")
CUT = pl.col("score").rank(descending=True).over("query_id") <= 5
KINDS = [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.to_dict]


def both(new: pl.DataFrame = NEW, old: pl.DataFrame = OLD) -> pl.DataFrame:
    return pl.concat(
        [old.with_columns(model=pl.lit("old")), new.with_columns(model=pl.lit("new"))]
    )


@pytest.mark.parametrize("kind", [*KINDS, LikeSpark.of])
def test_labels_of_an_item_that_differ(kind: Any) -> None:
    rows = kind(both(NEW.with_columns(label=FLIPPED)))
    message = "`label` of an item must be the same for all models: 20 of \\d+ items differ"
    for ask in (
        lambda: prframe.compare(rows, "AP", item="item"),
        lambda: prframe.compare_curves(rows, over="query_id", item="item", recall=[0.5]),
    ):
        with pytest.raises(Exception, match=message):
            collected(ask())


def collected(result: Any) -> Any:
    way = getattr(result, "toArrow", getattr(result, "collect", None))
    return result if way is None else way()


def test_a_gate_fails_and_says_why() -> None:
    found = both().pr.compare(["AP", "nDCG"], baseline="old")
    with pytest.raises(prframe.GateError) as caught:
        prframe.gate(found, margin=0.01)
    row = found.row(0, named=True)
    assert str(caught.value).startswith(
        f"new is worse than old in AP: {row['mean_a']:.4f} against {row['mean_b']:.4f}, a "
        f"difference of {row['difference']:.4f}, by more than 0.01 (p_adjusted "
        f"{row['p_adjusted']:.2g}, n 10, randomization test)"
    )
    assert prframe.gate(found, margin=0.9) is found
    better = both().pr.compare("AP", baseline="new")
    assert prframe.gate(better) is better


@pytest.mark.parametrize("kind", KINDS)
def test_a_gate_of_rows_is_that_of_the_comparison(kind: Any) -> None:
    rows = kind(both())
    with pytest.raises(prframe.GateError, match="new is worse than old in AP"):
        prframe.gate(rows, "AP", baseline="old")
    passed = prframe.gate(rows, "AP", baseline="new")
    assert type(passed) is type(collected(prframe.compare(rows, "AP", baseline="new")))


def verdict(seed: int) -> str:
    """Return what gates say of shuffled rows."""
    shuffled = both().sample(fraction=1, shuffle=True, seed=seed)
    with pytest.raises(prframe.GateError, match="new is worse than old") as caught:
        prframe.gate(shuffled, "AP", baseline="old")
    prframe.gate(shuffled, "AP", baseline="new")
    return str(caught.value)


def test_a_gate_does_not_depend_on_the_order_of_rows() -> None:
    assert len({verdict(seed) for seed in range(3)}) == 1


UNDECIDED: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "no rows": (both().clear(), {"baseline": "old"}, "the frame has no rows"),
    "no baseline": (both(), {}, "a gate compares with one model; name it in baseline="),
    "labels": (
        both(NEW.with_columns(label=FLIPPED)),
        {"baseline": "old", "item": "item"},
        "`label` of an item must be the same",
    ),
    "positives": (both(NEW.filter(CUT)), {"baseline": "old"}, "different numbers of positives"),
    "a query": (
        both(NEW.filter(pl.col("query_id") != 3)),
        {"baseline": "old"},
        "groups of `over` ",
    ),
    "what is lacking": (
        both(),
        {"baseline": "old", "incomplete": "pairwise"},
        "a gate takes no incomplete='pairwise', under which a model passes by lacking",
    ),
    "one side": (both(), {"baseline": "old", "alternative": "greater"}, "can show no model to be"),
}


@pytest.mark.parametrize(("rows", "options", "message"), UNDECIDED.values(), ids=UNDECIDED)
def test_a_gate_that_cannot_decide(
    rows: pl.DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((prframe.PrframeError, prframe.PrframeWarning), match=message):
        prframe.gate(rows, "AP", **options)


def test_results_that_a_gate_refuses() -> None:
    every = pl.concat([both(), NEW.with_columns(model=pl.lit("mid"))]).pr.compare("AP")
    with pytest.raises(prframe.ArgumentError, match="name it in compare"):
        prframe.gate(every)
    with pytest.raises(prframe.ArgumentError, match="name it in compare"):
        prframe.gate(both().pr.compare("AP", baseline="old"), baseline="new")
    with pytest.raises(prframe.PrframeError, match="there are no rows to compare"):
        prframe.gate(every.clear())
    undefined = both().pr.compare("AP", baseline="old").with_columns(p_adjusted=None)
    with pytest.raises(prframe.PrframeError, match="the test of new and old in AP is undefined"):
        prframe.gate(undefined)


VERBS = {
    "evaluate": lambda rows: rows.pr.evaluate("AP", by="query_id"),
    "curve": lambda rows: rows.pr.curve(by="query_id"),
    "roc": lambda rows: rows.pr.roc(by="query_id"),
    "interval": lambda rows: rows.pr.interval("AP", by="query_id"),
    "means": lambda rows: rows.pr.interval("AP", by="model", over="query_id"),
    "band": lambda rows: rows.pr.band(by="query_id"),
    "compare": lambda rows: rows.pr.compare("AP"),
    "on items": lambda rows: rows.pr.compare("AP", over=None, by="query_id", item="item"),
    "curves": lambda rows: rows.pr.compare_curves(by="query_id", item="item"),
    "ap_test": lambda rows: rows.pr.ap_test(by="query_id"),
    "rank_test": lambda rows: rows.pr.rank_test(by="query_id"),
    "topk_test": lambda rows: rows.pr.topk_test(by="query_id"),
    "check": lambda rows: rows.pr.check(by="query_id"),
    "values": lambda rows: rows.pr.compare(values="score", over="item"),
}


@pytest.mark.parametrize("ask", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("kind", [pl.DataFrame.to_pandas])
@pytest.mark.filterwarnings("ignore::prframe.PooledRankingWarning")
def test_frames_without_rows_are_told_once(ask: Any, kind: Any) -> None:
    with pytest.warns(prframe.EmptyFrameWarning) as caught:
        found = collected(ask(kind(both().clear())))
    assert len(found) == 0
    assert [str(one.message) for one in caught] == [
        "the frame has no rows, so that the result says nothing; see whether what was read or "
        "filtered is empty, or ignore EmptyFrameWarning."
    ]


@pytest.mark.parametrize("make", [lambda rows: rows, pl.DataFrame.to_pandas, pl.DataFrame.lazy])
def test_what_a_gate_cannot_decide_is_an_error_and_no_warning(make) -> None:
    rows = pl.DataFrame(
        [(q, m, float(d), int(d < 2)) for q in range(8) for m in "ab" for d in range(4)],
        schema=["query_id", "model", "score", "label"],
        orient="row",
    )
    cut = rows.filter((pl.col("model") == "a") | (pl.col("score") > 0))
    options = {"model": "model", "over": "query_id", "baseline": "a"}
    for bad in (rows.clear(), cut):
        with pytest.raises(prframe.PrframeError, match=r"^the gate cannot decide: "):
            prframe.gate(make(bad), "AP", **options)


def test_a_loss_within_the_margin_passes_and_a_p_value_at_the_level_fails() -> None:
    found = both().pr.compare("AP", baseline="old", correction=None)
    loss = -found["difference"].item()
    assert loss > 0
    assert prframe.gate(found, margin=loss * 1.01).equals(found)
    level = 1 - 0.95
    at, above = (found.with_columns(p_value=pl.lit(p)) for p in (level, level * (1 + 1e-9)))
    assert prframe.gate(above).equals(above)
    with pytest.raises(prframe.GateError):
        prframe.gate(at)
    with pytest.raises(prframe.GateError):
        prframe.gate(found.with_columns(p_value=pl.lit(0.05)))


def test_a_test_that_is_nan_decides_nothing() -> None:
    found = both().pr.compare("AP", baseline="old")
    undefined = found.with_columns(p_value=np.nan, p_adjusted=np.nan, difference=-1.0)
    for rows in (undefined, undefined.to_pandas()):
        with pytest.raises(prframe.PrframeError, match="the gate cannot decide: the test of new"):
            prframe.gate(rows)
