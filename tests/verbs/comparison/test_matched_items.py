"""Rankings of several models, matched item by item: against a naive construction."""

from collections.abc import Iterable
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from prframe import PrframeError
from prframe._engine.frames import source
from prframe.verbs.comparison.on_items import PairedGroup, PairedRows, paired_rows
from prframe.verbs.comparison.rows import model_arguments, on_same_items, require_items
from tests.refusals import refusals
from tests.strategies import SCORES

pytestmark = pytest.mark.filterwarnings("ignore::prframe.NoNegativesWarning")

MODELS = ["b", "a", "c"]
Row = tuple[str, str, int, float | None, int, str]
COLUMNS = ["g", "model", "item", "score", "label", "cluster"]


def long(rows: Iterable[Row]) -> pl.DataFrame:
    schema = [pl.String, pl.String, pl.Int64, pl.Float64, pl.Int64, pl.String]
    return pl.DataFrame(list(rows), schema=dict(zip(COLUMNS, schema, strict=True)), orient="row")


@st.composite
def frames(draw: st.DrawFn, scores: st.SearchStrategy[Any] = SCORES) -> pl.DataFrame:
    """Groups of items that all of three models scored, in any order of rows."""
    rows = []
    for group in draw(st.sampled_from(["x", "xy", "yx"])):
        for item in range(draw(st.integers(1, 5))):
            label, cluster = draw(st.integers(0, 2)), draw(st.sampled_from("uvw"))
            rows += [(group, m, item, draw(scores), label, cluster) for m in MODELS]
    return long(draw(st.permutations(rows)))


def matched(frame: object, score: Any = "score", **options: Any) -> PairedRows:
    incomplete = options.pop("incomplete", "raise")
    own = {name: options.pop(name) for name in ("model", "cluster") if name in options}
    if isinstance(score, str):
        options.setdefault("item", "item")
    args = model_arguments(score, "label", options, **own)
    require_items("verb", args)
    on_same_items("verb").check(args)
    return paired_rows(source(frame, args.columns), args, incomplete=incomplete)


def naive_level(scores: dict[int, float | None]) -> dict[int, int]:
    """Number what was retrieved from the worst score up."""
    values = sorted({s for s in scores.values() if s not in {None, -inf}})
    return {item: values.index(s) + 1 if s in values else 0 for item, s in scores.items()}


def naive(frame: pl.DataFrame, models: list[str]) -> dict[str, list[tuple[Any, ...]]]:
    """Return for each group its items in order: levels, whether positive, cluster."""
    groups: dict[str, list[tuple[Any, ...]]] = {}
    rows = frame.rows(named=True)
    for group in {row["g"]: None for row in rows}:
        own = [row for row in rows if row["g"] == group]
        facts = {row["item"]: (row["label"] > 0, row["cluster"]) for row in own}
        level = [
            naive_level({row["item"]: row["score"] for row in own if row["model"] == m})
            for m in models
        ]
        clusters = sorted({cluster for _, cluster in facts.values()})
        groups[group] = [
            (*(one.get(item, 0) for one in level), positive, clusters.index(cluster))
            for item, (positive, cluster) in sorted(facts.items())
        ]
    return groups


def listed(group: PairedGroup) -> list[tuple[Any, ...]]:
    """Return the items of a group as rows like those of `naive`."""
    return list(
        zip(
            *group.level.tolist(),
            group.positive.tolist(),
            [0] * group.positive.size if group.cluster is None else group.cluster.tolist(),
            strict=True,
        )
    )


def assert_same(found: PairedRows, expected: PairedRows) -> None:
    assert found.models == expected.models
    assert found.keys.equals(expected.keys)
    assert len(found.groups) == len(expected.groups)
    for one, other in zip(found.groups, expected.groups, strict=True):
        assert (one.level == other.level).all()
        assert (one.positive == other.positive).all()
        assert (one.cluster is None) is (other.cluster is None)
        assert one.cluster is None or (one.cluster == other.cluster).all()


@given(frame=frames())
def test_long_is_the_naive_construction(frame: pl.DataFrame) -> None:
    found = matched(frame, by="g", cluster="cluster")
    order = sorted(set(frame["model"]))
    assert found.models == order
    expected = naive(frame, order)
    assert found.keys["by0"].to_list() == sorted(expected)
    assert [listed(group) for group in found.groups] == [expected[key] for key in sorted(expected)]


@given(frame=frames(), named=st.booleans())
def test_wide_is_long(frame: pl.DataFrame, named: bool) -> None:
    wide = frame.pivot("model", index=["g", "item", "label", "cluster"], values="score")
    options: dict[str, Any] = {"by": "g", "cluster": "cluster"}
    found = matched(wide, MODELS, **options, **({"item": "item"} if named else {}))
    expected = naive(frame, MODELS)
    assert found.models == MODELS
    assert found.keys["by0"].to_list() == sorted(set(wide["g"]))
    for key, group in zip(found.keys["by0"], found.groups, strict=True):
        items = expected[key]
        if not named:
            # By levels, then label, and so on.
            items = sorted(items)
        assert listed(group) == items


@given(frame=frames(), seed=st.integers(0, 9))
def test_the_order_of_wide_rows_does_not_matter(frame: pl.DataFrame, seed: int) -> None:
    wide = frame.pivot("model", index=["g", "item", "label", "cluster"], values="score")
    alone = wide.filter(g=wide["g"][0])
    shuffled = alone.sample(fraction=1, shuffle=True, seed=seed)
    options: dict[str, Any] = {"cluster": "cluster"}
    assert_same(matched(shuffled, MODELS, **options), matched(alone, MODELS, **options))


def some(n: int = 40, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "g": np.sort(rng.choice(["x", "y"], n)),
            "item": rng.permutation(n),
            "label": rng.integers(0, 3, n),
            "cluster": rng.choice(["u", "v", "w"], n),
            "a": rng.integers(0, 6, n).astype(float),
            "b": rng.normal(size=n),
        }
    )


WIDE = some()
LONG = WIDE.unpivot(
    ["a", "b"], index=["g", "item", "label", "cluster"], variable_name="model", value_name="score"
)


def test_without_groups_and_without_rows() -> None:
    found = matched(LONG)
    (group,) = found.groups
    assert listed(group) == [
        (*row[:-1], 0) for row in naive(LONG.with_columns(g=pl.lit("x")), ["a", "b"])["x"]
    ]
    assert matched(LONG.clear(), by="g").groups == []
    assert matched(LONG.clear()).models == []
    assert matched(WIDE.clear(), ["a", "b"]).groups == []


def test_incomplete_items() -> None:
    rows: list[Row] = [
        ("x", "a", 1, 0.5, 1, "u"),
        ("x", "a", 2, 0.4, 0, "u"),
        ("x", "a", 3, -inf, 0, "u"),
        ("x", "b", 2, 0.9, 0, "u"),
        ("x", "b", 3, 0.9, 0, "u"),
        ("x", "b", 4, 0.3, 1, "u"),
        ("y", "a", 1, 0.5, 1, "u"),
    ]
    last = matched(long(rows), by="g", incomplete="last")
    x, y = last.groups
    assert x.level.tolist() == [[2, 1, 0, 0], [0, 2, 2, 1]]
    assert x.positive.tolist() == [True, False, False, True]
    assert y.level.tolist() == [[1], [0]]
    common = matched(long(rows), by="g", incomplete="common")
    x, y = common.groups
    assert common.keys["by0"].to_list() == ["x", "y"]
    assert x.level.tolist() == [[1, 0], [1, 1]]
    assert y.level.shape == (2, 0)
    with pytest.raises(PrframeError) as caught:
        matched(long(rows), by="g")
    assert str(caught.value) == (
        "every model must have every item: of 5 items 'a' lacks 1, 'b' lacks 2, in groups "
        "'x', 'y'; take these as not retrieved with incomplete='last', or compare what all "
        "models have with incomplete='common'."
    )


def test_missing_scores() -> None:
    holes = WIDE.head(4).with_columns(a=pl.Series([None, 1.0, nan, 2.0]))
    (last,) = matched(holes, ["a", "b"], missing="last", item="item").groups
    assert sorted(last.level[0]) == [0, 0, 1, 2]
    assert sorted(last.level[1]) == [1, 2, 3, 4]
    (common,) = matched(holes, ["a", "b"], missing="drop", incomplete="common").groups
    assert common.level.shape == (2, 2)
    with pytest.raises(PrframeError, match="of 4 items 'a' lacks 2; take"):
        matched(holes, ["a", "b"], missing="drop")
    # A model whose rows all drop out is still one that lacks items.
    gone = LONG.with_columns(score=pl.when(pl.col("model") == "a").then(pl.col("score")))
    with pytest.raises(PrframeError, match="of 40 items 'b' lacks 40; take"):
        matched(gone, missing="drop")


def test_totals_count_what_any_model_lists() -> None:
    rows: list[Row] = [("x", "a", 1, 0.5, 1, "u"), ("x", "b", 2, 0.5, 1, "u")]
    (group,) = matched(long(rows), n_pos=3, incomplete="last").groups
    assert group.level.tolist() == [[1, 0, 0], [0, 1, 0]]
    with pytest.raises(PrframeError) as caught:
        matched(long(rows), n_pos=1, incomplete="last")
    assert str(caught.value) == (
        "`n_pos` must be at least what all models list together: 1 given, 2 present; count what "
        "is listed as well."
    )


def test_categories_are_sorted_as_text() -> None:
    named = LONG.with_columns(item="i" + pl.col("item").cast(pl.String))
    back = named.reverse().with_columns(pl.col("item", "model").cast(pl.Categorical))
    found = matched(back.sort(pl.col("model").cast(pl.String), maintain_order=True), by="g")
    expected = matched(named, by="g")
    assert found.models == expected.models
    for key, group in zip(expected.keys["by0"], expected.groups, strict=True):
        own = found.groups[found.keys["by0"].to_list().index(key)]
        assert (own.level == group.level).all()


test_errors = refusals(
    {
        "`score` names the column 'z', which the frame does not have; its columns are 'g', "
        "'item', 'label', 'cluster', 'a', 'b'.": lambda: matched(WIDE, ["a", "z"]),
        "incomplete='common' leaves items out, which `n_pos` and `n_neg` count; leave these out, "
        "or take incomplete='last'.": lambda: matched(LONG, n_neg=99, incomplete="common"),
        "`model` 'model' must not contain nulls or NaN: 80 of 80 rows, in groups "
        "'x', 'y'; name these models, or drop the rows.": lambda: matched(
            LONG.with_columns(model=None), by="g"
        ),
        "`model` 'model' must not contain nulls or NaN: 80 of 80 rows; name these models, or drop "
        "the rows.": lambda: matched(LONG.with_columns(model=None)),
        "`item` 'item' must not contain nulls, by which rows are matched: 2 of 80 rows, in groups "
        "'a', 'b'; name these items, or drop the rows.": lambda: matched(
            LONG.with_columns(item=pl.col("item").replace(7, None))
        ),
        "`item` 'item' must name each item once: 1 repeated row, in groups 'b'; drop the "
        "duplicates, or name the columns that keep rankings apart with by=.": lambda: matched(
            pl.concat([LONG, LONG.tail(1)])
        ),
        f"`label` of an item must be the same for all models: 1 of 40 items differ, the first is "
        f"{WIDE['item'][5]}; mend these rows.": lambda: matched(
            LONG.with_columns(label=pl.col("label") + 3 * (pl.int_range(80).is_in([3, 70])))
            .with_columns(label=pl.when(pl.int_range(80) == 5).then(0).otherwise("label"))
            .with_columns(label=pl.when(pl.int_range(80) == 45).then(1).otherwise("label"))
        ),
        "`n_pos` must be the same for all models of a group: 1 of 1 groups differ; mend these "
        "rows.": lambda: matched(
            LONG.with_columns(total=pl.when(model="a").then(90).otherwise(91)), n_pos="total"
        ),
    }
)


def test_clusters_must_agree() -> None:
    moved = LONG.with_columns(
        cluster=pl.when(pl.int_range(80) == 9).then(pl.lit("z")).otherwise("cluster")
    )
    with pytest.raises(PrframeError, match="`cluster` of an item must be the same"):
        matched(moved, cluster="cluster")
