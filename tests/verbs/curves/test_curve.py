"""Curves equal the naive walk down the thresholds; options and orders of rows."""

import warnings
from math import inf

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from polars.testing import assert_frame_equal

import prframe
from prframe.tie_policies import NO_MEAN, WITHOUT_LABELS
from tests.oracle import Group, Item
from tests.strategies import frame, items, weighted

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

TIES = st.sampled_from(["group", "order"])


@pytest.fixture(autouse=True)
def _undefined_is_fine() -> None:
    warnings.simplefilter("ignore", prframe.UndefinedMetricWarning)


@given(items(), items(), TIES, st.booleans(), st.booleans(), st.sampled_from([None, 0.3]))
def test_equals_the_naive_curve(
    one: list[Item],
    two: list[Item],
    ties: str,
    interpolate: bool,
    include: bool,
    prior: float | None,
) -> None:
    drawn = prframe.curve(
        frame({"a": one, "b": two}),
        by="group",
        ties=ties,
        interpolate=interpolate,
        include_unretrieved=include,
        prior=prior,
        anchor=True,
    )
    for name, group in (("a", one), ("b", two)):
        naive = Group(
            group, ties, include_unretrieved=include, prior=prior, interpolate=interpolate
        )
        rows = drawn.filter(group=name)
        points = [(tp, fp, precision) for tp, fp, precision in naive.points()]
        assert rows.select("tp", "fp").rows() == [(tp, fp) for tp, fp, _ in points]
        assert rows["precision"].to_list() == pytest.approx([p for _, _, p in points], abs=1e-12)
        blocks = naive.blocks()
        assert rows["threshold"].to_list() == [inf] + [block[0].score for block in blocks]
        assert rows["k"].to_list() == np.cumsum([0, *map(len, blocks)]).tolist()
        n_pos = naive.total(positive=True)
        wanted = [tp / n_pos if n_pos else None for tp, _, _ in points]
        assert rows["recall"].to_list() == pytest.approx(wanted, abs=1e-12)


@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
@given(weighted(), TIES)
def test_weighted_counts(group: list[Item], ties: str) -> None:
    listed = [item for item in group if item.weight > 0]
    naive = Group(listed, ties)
    rows = prframe.curve(frame({"a": group}), weight="weight", ties=ties)
    points = naive.points() if listed else []
    np.testing.assert_allclose(
        rows.select("tp", "fp", "precision").to_numpy(),
        np.array(points).reshape(-1, 3),
        atol=1e-12,
    )


@given(items(), TIES)
def test_roc_counts(group: list[Item], ties: str) -> None:
    naive = Group(group, ties)
    rows = prframe.roc(frame({"a": group}), ties=ties)
    assert rows.select("tp", "fp").rows() == [(tp, fp) for tp, fp, _ in naive.points()]
    for column, count, positive in (("tpr", "tp", True), ("fpr", "fp", False)):
        total = naive.total(positive=positive)
        wanted = [value / total if total else None for value in rows[count]]
        assert rows[column].to_list() == pytest.approx(wanted)


@given(items(), TIES, st.booleans())
def test_input_order_tells_each_row_its_threshold(
    group: list[Item], ties: str, include: bool
) -> None:
    data = frame({"a": group, "b": group[::-1]})
    options = {"by": "group", "ties": ties, "include_unretrieved": include}
    rows = prframe.curve(data, **options, order="input")
    assert rows["group"].equals(data["group"])
    by_rank = prframe.curve(data, **options, anchor=False)
    shown = rows.drop_nulls("k")
    assert shown.height == (data.height if include else (data["score"] > -inf).sum())
    assert set(shown.rows()) == set(by_rank.rows())
    retrieved = rows.with_columns(data["score"]).drop_nulls("k")
    assert (retrieved["threshold"] == retrieved["score"]).all()


def test_input_order_of_shuffled_groups_and_left_out_rows() -> None:
    data = pl.DataFrame(
        {
            "row": [0, 1, 2, 3, 4],
            "query": ["a", "b", "a", "b", "a"],
            "score": [0.1, 0.9, 0.5, None, 0.7],
            "label": [1, 1, 0, 1, -9],
        }
    )
    rows = prframe.curve(data, by="query", ignore=-9, missing="drop", order="input")
    assert rows["query"].to_list() == ["a", "b", "a", "b", "a"]
    assert rows["k"].to_list() == [2, 1, 1, None, None]
    assert rows["recall"].to_list() == [1.0, 1.0, 0.0, None, None]


@given(items(), TIES, st.booleans(), st.booleans())
def test_recall_levels(group: list[Item], ties: str, interpolate: bool, include: bool) -> None:
    levels = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
    options = {"ties": ties, "interpolate": interpolate, "include_unretrieved": include}
    rows = prframe.curve(frame({"a": group}), recall=levels, anchor=True, **options)
    naive = Group(group, ties, include_unretrieved=include, interpolate=interpolate)
    n_pos = naive.total(positive=True)
    assert rows["recall"].to_list() == levels
    for level, (tp, precision) in zip(levels, rows.select("tp", "precision").rows(), strict=True):
        if not n_pos:
            assert (tp, precision) == (None, None)
            continue
        reached = [(t, p) for t, _, p in naive.points() if t >= level * n_pos - 1e-9]
        assert tp == (reached[0][0] if reached else None)
        assert precision == pytest.approx(reached[0][1] if reached else 0.0)


@given(
    weighted(),
    st.sampled_from(NO_MEAN),
    st.sampled_from([None, 0.3]),
    st.booleans(),
)
def test_precision_at_recall_levels_is_a_metric(
    group: list[Item], ties: str, prior: float | None, is_weighted: bool
) -> None:
    levels = [0.0, 0.1, 0.3, 1 / 3, 0.5, 0.7, 1.0]
    options = {"ties": ties, "prior": prior, "item": "item"}
    if is_weighted and ties in WITHOUT_LABELS:
        options["weight"] = "weight"
    data = frame({"a": group})
    drawn = prframe.curve(data, recall=levels, **options)["precision"].to_list()
    values = prframe.evaluate(data, [prframe.Prec @ level for level in levels], **options)
    assert [column.to_list() for column in values] == ([[p] for p in drawn] or [[]] * len(levels))


def test_one_recall_level() -> None:
    data = pl.DataFrame({"score": [3, 2, 1], "label": [1, 0, 1]})
    assert prframe.curve(data, recall=0.5).equals(prframe.curve(data, recall=[0.5]))


@pytest.mark.parametrize("number", [11, np.int64(11)])
def test_a_number_of_recall_levels(number: int) -> None:
    data = pl.DataFrame({"score": range(20, 0, -1), "label": [1, 0] * 10})
    levels = [i / 10 for i in range(11)]
    found = prframe.curve(data, recall=number)
    assert found.equals(prframe.curve(data, recall=levels))
    assert found["recall"].to_list() == levels
    assert prframe.curve(data, recall=2)["recall"].to_list() == [0.0, 1.0]
    band = prframe.band(data, recall=number, n_resamples=50, rng=1)
    assert band["recall"].to_list() == levels[1:-1]
    assert band.equals(prframe.band(data, recall=levels[1:-1], n_resamples=50, rng=1))
    wide = data.with_columns(other=-pl.col("score"))
    options = {"score": ["score", "other"], "n_resamples": 50, "rng": 1}
    compared = prframe.compare_curves(wide, recall=number, **options)
    assert compared["recall"].to_list() == levels[1:-1]


@given(items(), items(), items(), TIES, st.booleans())
def test_recall_levels_of_groups_are_those_of_each_alone(
    one: list[Item], two: list[Item], three: list[Item], ties: str, anchor: bool
) -> None:
    levels, groups = [0.0, 0.2, 0.5, 1.0], {"a": one, "b": two, "c": three}
    options = {"recall": levels, "ties": ties, "anchor": anchor, "by": "group"}
    found = prframe.curve(frame(groups), **options)
    alone = [prframe.curve(frame({name: each}), **options) for name, each in groups.items()]
    assert_frame_equal(found, pl.concat(alone), check_exact=True)


def test_recall_levels_are_exact() -> None:
    # .07 * 100 is a little more than 7 in floats.
    levels = [i / 100 for i in range(101)]
    data = pl.DataFrame({"score": range(200, 0, -1), "label": [1, 0] * 100})
    assert prframe.curve(data, recall=levels)["tp"].to_list() == list(range(101))
    at_level = prframe.evaluate(data, [prframe.Prec @ level for level in levels]).row(0)
    assert at_level == pytest.approx([1.0, *(tp / (2 * tp - 1) for tp in range(1, 101))])


def test_recall_levels_of_a_group_in_which_nothing_is_retrieved() -> None:
    data = pl.DataFrame({"score": [-inf, -inf], "label": [1, 0]})
    rows = prframe.curve(data, recall=[0.0, 0.5], anchor=False)
    assert rows["precision"].to_list() == [0.0, 0.0]
    assert rows["k"].to_list() == [None, None]


@given(items(), TIES)
def test_the_anchor_is_the_first_row(group: list[Item], ties: str) -> None:
    data = frame({"a": group, "b": group})
    for draw in (prframe.curve, prframe.roc):
        with_anchor = draw(data, by="group", ties=ties)
        without = draw(data, by="group", ties=ties, anchor=False)
        opening = with_anchor.filter(pl.col("k") == 0)
        assert opening["threshold"].to_list() == [inf, inf]
        assert_frame_equal(with_anchor.filter(pl.col("k") > 0), without)


EXACT = r"scores are taken as 64-bit floats, which must hold them exactly; .* such as"


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128, pl.Decimal(18, 0)])
@pytest.mark.parametrize("make", [lambda frame: frame, pl.DataFrame.lazy, pl.DataFrame.to_pandas])
def test_thresholds_that_floats_cannot_hold_are_refused(dtype, make) -> None:
    big = pl.Series("score", [2**59, 2**59 + 1, 2**59 + 2], dtype=pl.Int64).cast(dtype)
    data = pl.DataFrame([big, pl.Series("label", [0, 1, 0])])
    if make is pl.DataFrame.to_pandas and dtype == pl.Int128:
        pytest.skip("pandas has no such integers")
    frame = make(data)
    for draw in (prframe.curve, prframe.roc, lambda f: prframe.interval(f, "MaxF1")):
        with pytest.raises(prframe.PrframeError, match=EXACT):
            prframe.evaluate(pl.DataFrame(draw(frame).lazy().collect()), "AP")
    # Ranks are exact.
    assert pl.from_dataframe(prframe.evaluate(data, "AP")).item() == 0.5
    fits = data.with_columns(pl.col("score") - big.min()) if dtype != pl.UInt64 else None
    if fits is not None:
        assert prframe.curve(fits)["threshold"].to_list() == [inf, 2.0, 1.0, 0.0]


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Int8, pl.UInt64, pl.Decimal(10, 2)])
def test_dtypes_of_the_score(dtype: pl.DataType) -> None:
    data = pl.DataFrame({"score": pl.Series([3, 1, 2, 1]).cast(dtype), "label": [1, 0, 0, 1]})
    assert prframe.curve(data)["k"].to_list() == [0, 1, 2, 4]


def test_interpolated_curves_have_no_opening_point() -> None:
    # The first item is negative: at recall 0 the interpolated precision is that of IPrec@0.
    data = pl.DataFrame({"score": [3.0, 2.0, 1.0], "label": [0, 1, 1]})
    assert prframe.curve(data)["k"].to_list() == [0, 1, 2, 3]
    assert prframe.curve(data, interpolate=True)["k"].to_list() == [1, 2, 3]
    assert prframe.curve(data, interpolate=True, anchor=True)["k"].to_list() == [0, 1, 2, 3]
    at_zero = prframe.curve(data, interpolate=True, recall=[0.0])["precision"].item()
    assert at_zero == prframe.evaluate(data, "IPrec@0").item() == pytest.approx(2 / 3)
