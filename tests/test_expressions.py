"""Metrics as expressions: the numbers of `evaluate`, wherever polars takes an expression."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
import prframe.expressions
from prframe._engine import lists
from prframe.tie_policies import POLICIES
from tests.metrics.test_oracle import evaluate
from tests.oracle import Item
from tests.strategies import frame, items

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

SCORE = pl.col("score").pr
TAKEN = [ties for ties, policy in POLICIES.items() if not policy.then]
ALL_TIES = st.sampled_from(TAKEN)


def metrics(ties: str) -> dict[str, pl.Expr]:
    return {
        "AP": SCORE.ap("label", ties=ties),
        "AP@2": SCORE.ap("label", 2, ties=ties),
        "AUC": SCORE.auc("label", ties=ties),
        "P@2": SCORE.precision("label", 2, ties=ties),
        "R@2": SCORE.recall("label", 2, ties=ties),
        "RR": SCORE.rr("label", ties=ties),
        "RR@2": SCORE.rr("label", 2, ties=ties),
        "nDCG": SCORE.ndcg("label", ties=ties),
        "nDCG@2": SCORE.ndcg("label", 2, ties=ties),
    }


@pytest.mark.slow
@given(
    items(labels=st.sampled_from([0.0, 1.0, 3.0]), max_size=9),
    items(labels=st.sampled_from([0.0, 1.0, 3.0]), max_size=9),
    ALL_TIES,
)
def test_equal_evaluate_in_every_context(one: list[Item], two: list[Item], ties: str) -> None:
    data = frame({"a": one, "b": two})
    named = metrics(ties)
    expected = evaluate(data, list(named), by="group", ties=ties)
    grouped = data.group_by("group", maintain_order=True).agg(**named)
    assert_frame_equal(grouped, expected, abs_tol=1e-12)
    for engine in ("in-memory", "streaming"):
        lazy = data.lazy().group_by("group", maintain_order=True).agg(**named)
        assert_frame_equal(lazy.collect(engine=engine), expected, abs_tol=1e-12)
    over = data.select("group", **{name: value.over("group") for name, value in named.items()})
    assert_frame_equal(over.unique(maintain_order=True), expected, abs_tol=1e-12)
    alone = data.filter(group="a").select(**named)
    assert_frame_equal(alone, expected.head(1).drop("group"), abs_tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 30, 1 << 20])
def test_many_groups_have_the_bits_of_evaluate(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "_ROWS", rows)
    rng = np.random.default_rng(6)
    group = rng.integers(0, 9, 150)
    label = rng.integers(0, 3, 150) * (rng.random(150) < 0.4)
    score = np.round(rng.normal(size=150), 1)
    data = pl.DataFrame({"group": group, "score": score, "label": label})
    for ties in TAKEN:
        named = metrics(ties)
        grouped = data.group_by("group", maintain_order=True).agg(**named)
        assert grouped.equals(prframe.evaluate(data, list(named), by="group", ties=ties))
        holes = data.with_columns(score=pl.when(pl.col("group") % 7 > 0).then("score"))
        with_nulls = holes.group_by("group", maintain_order=True).agg(**named)
        whole = grouped.with_columns(pl.when(pl.col("group") % 7 > 0).then(pl.col(list(named))))
        assert with_nulls.equals(whole)


@pytest.mark.parametrize("bad", [None, float("nan")])
def test_missing_scores_and_labels_make_the_group_null(bad: float | None) -> None:
    data = pl.DataFrame(
        {
            "g": [1, 1, 2, 2, 3, 3],
            "score": [2.0, 1.0, bad, 1.0, 2.0, 1.0],
            "label": [1.0, 0.0, 1.0, 0.0, bad, 1.0],
        }
    )
    for name, value in metrics("group").items():
        result = data.group_by("g", maintain_order=True).agg(value.alias(name))[name]
        assert result.is_null().to_list() == [False, True, True], name


NAMES = ["AP", "AP@2", "AUC", "P@2", "R@2", "RR@2", "nDCG", "ERR@2", "RBP(p=0.5)", "Success@1"]
NAMES += ["AP(rel=2)", "nDCG(gain=exp)@2", "MaxF1", "Prec@0.5", "DCG", "SetF", "Rprec"]


@pytest.mark.parametrize("name", NAMES)
def test_any_metric_of_the_catalogue(name: str) -> None:
    rng = np.random.default_rng(1)
    data = pl.DataFrame(
        {"group": rng.integers(0, 9, 200), "score": rng.integers(0, 9, 200).astype(float)}
    ).with_columns(label=pl.Series(rng.integers(-1, 4, 200)))
    expected = prframe.evaluate(data, name, by="group")
    found = data.group_by("group", maintain_order=True).agg(SCORE.metric(name).alias(name))
    assert_frame_equal(found, expected, check_exact=True)


def test_a_missing_total_is_null() -> None:
    data = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 0], "n_pos": [None, 2]})
    assert data.select(SCORE.metric("R@1", n_pos="n_pos")).item() is None


def test_what_metric_refuses() -> None:
    refused: dict[str, dict[str, object]] = {
        "Bpref needs the column of judgments; use evaluate.": {"name": "Bpref"},
        "`n_pos` counts the positives of `positive`, not those of AP(rel=2); list the items with a "
        "score of -inf instead.": {"name": "AP(rel=2)", "n_pos": 3},
        "P needs a cut-off, for instance 'P@10'.": {"name": "P"},
    }
    for message, options in refused.items():
        with pytest.raises(prframe.PrframeError) as caught:
            SCORE.metric(**options)
        assert str(caught.value) == message
    with pytest.raises(prframe.PrframeError, match=r"^MaxF1 takes ties=.*; got 'expected'\.$"):
        SCORE.metric("MaxF1", ties="expected")
    data = pl.DataFrame({"score": [2.0, 1.0], "label": [1, 1]})
    with pytest.raises(prframe.PrframeError, match="must be at least what is present"):
        data.select(SCORE.metric("R@1", n_pos=1))


def test_labels_of_other_rows_than_the_scores_are_refused() -> None:
    data = pl.DataFrame({"g": [0, 0, 0, 1, 1, 1], "score": [3.0, 2.0, 1.0] * 2})
    data = data.with_columns(label=1, a=pl.Series([True, True, False, True, True, True]))
    data = data.with_columns(b=pl.Series([True] * 5 + [False]))
    call = pl.col("score").filter("a").pr.metric("AP", pl.col("label").filter("b"))
    with pytest.raises(prframe.PrframeError, match="`label` must have as many values as the"):
        data.group_by("g").agg(call)


def test_a_name_after_the_label_is_told() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        SCORE.metric("label", "nDCG@10")
    assert str(caught.value) == (
        "`metric` takes the name of the metric before the label: metric('nDCG@10', 'label')."
    )
    with pytest.raises(prframe.PrframeError, match="unknown metric 'labell'"):
        SCORE.metric("labell", "label")


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        (pl.col("flag"), "score", "`score` must be numeric; 'flag' is Boolean."),
        (pl.col("text"), "flag", "`score` must be numeric; 'text' is String."),
        (pl.col("day"), "flag", "`score` must be numeric; 'day' is Date."),
        (pl.col("score"), "day", "`label` must be boolean, numeric or string; 'day' is Date."),
        (
            pl.col("score"),
            "text",
            "`label` 'text' holds strings: pass a condition, for instance pl.col('text') == 'yes'.",
        ),
    ],
)
def test_what_verbs_refuse_is_refused(score, label, message) -> None:
    data = pl.DataFrame({"flag": [False, True], "score": [0.9, 0.8], "text": ["9", "8"]})
    data = data.with_columns(day=pl.date(2026, 1, 1), g=1)
    call = score.pr.ap(label)
    for act in (
        lambda: data.select(call),
        lambda: data.lazy().select(call).collect(),
        lambda: data.group_by("g").agg(call),
    ):
        with pytest.raises(prframe.PrframeError) as caught:
            act()
        assert str(caught.value).startswith(message)


def test_weights() -> None:
    rng = np.random.default_rng(0)
    n = 60
    data = pl.DataFrame({"g": rng.integers(0, 3, n), "score": rng.random(n).round(1)})
    data = data.with_columns(label=rng.integers(0, 2, n), w=rng.random(n) * rng.integers(0, 2, n))
    for name in ("AP", "AUC", "W", "MCC(threshold=0.5)", "MaxF1"):
        expected = data.pr.evaluate(name, by="g", weight="w").sort("g")[name].to_list()
        call = SCORE.metric(name, weight="w")
        grouped = data.group_by("g").agg(call).sort("g")["score"]
        streamed = data.lazy().group_by("g").agg(call).sort("g").collect(engine="streaming")
        over = data.select("g", call.over("g")).unique().sort("g")["score"]
        for found in (grouped, streamed["score"], over):
            assert found.to_list() == pytest.approx(expected)
    for weight, message in ((-1.0, "must be finite numbers"), ("x", "must be numeric; 'literal'")):
        with pytest.raises(prframe.PrframeError, match=message):
            data.select(SCORE.metric("AP", weight=pl.lit(weight)))
    with pytest.raises(prframe.PrframeError) as caught:
        SCORE.metric("P@5", weight="w")
    assert str(caught.value) == "P@5 takes no `weight`; leave it out."
