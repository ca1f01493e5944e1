"""Bits: a group has the same values alone and among others, and counts are divided correctly."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe._engine.rows import computed

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)

SIZES = [*range(1, 60), 98, 103, 107, 161, 187, 196, 197, 206, 214, 237, 239, 249, 253, 322, 399]


def rows(n_pos: int, n_neg: int = 2) -> pl.DataFrame:
    """Return a ranking in which negatives stand after the first and the last positive."""
    label = [True, *[False] * n_neg, *[True] * (n_pos - 1)]
    return pl.DataFrame({"label": label, "score": range(len(label), 0, -1)})


@pytest.fixture(scope="module")
def groups() -> pl.DataFrame:
    """Return rankings with various numbers of positives."""
    return pl.concat([rows(n).with_columns(group=pl.lit(n)) for n in SIZES])


@pytest.mark.slow
@pytest.mark.parametrize("draw", [prframe.curve, prframe.roc])
@pytest.mark.parametrize("anchor", [True, False])
def test_curves_of_a_group_alone_and_among_others(
    draw: Callable[..., pl.DataFrame], anchor: bool, groups: pl.DataFrame
) -> None:
    among = draw(groups, by="group", anchor=anchor)
    alone = [
        draw(part, anchor=anchor).with_columns(group=pl.lit(key)).select(among.columns)
        for (key,), part in groups.group_by("group", maintain_order=True)
    ]
    assert pl.concat(alone).equals(among)
    ends = among.group_by("group", maintain_order=True).last()
    last = "recall" if "recall" in among.columns else "tpr"
    assert ends[last].to_list() == [1.0] * len(SIZES)


@pytest.mark.slow
def test_metrics_of_a_group_alone_and_among_others(groups: pl.DataFrame) -> None:
    names = ["AP", "AUC", "P@5", "P@10", "P@49", "R@7", "nDCG", "RR", "MaxF1", "AP11", "Lift@3"]
    among = prframe.evaluate(groups, names, by="group")
    alone = [
        prframe.evaluate(part, names) for _, part in groups.group_by("group", maintain_order=True)
    ]
    assert pl.concat(alone).equals(among.drop("group"))


def test_precision_is_the_nearest_float_to_the_quotient() -> None:
    ranked = pl.concat([rows(n, 0).with_columns(group=pl.lit(n)) for n in range(1, 60)])
    for k in (3, 5, 6, 7, 10, 20, 49):
        values = prframe.evaluate(ranked, f"P@{k}", by="group")[f"P@{k}"]
        assert values.to_list() == [min(n, k) / k for n in range(1, 60)]
    one = pl.DataFrame({"label": [True] * 3 + [False] * 7, "score": range(10, 0, -1)})
    both = pl.concat([one.with_columns(group=pl.lit(name)) for name in "ab"])
    assert prframe.evaluate(both, "P@10", by="group")["P@10"].to_list() == [0.3, 0.3]


def test_columns_of_one_row_are_computed_as_others_are() -> None:
    table = pl.DataFrame({"count": [3], "total": [10]})
    share = pl.col("count") / pl.col("total")
    assert computed(table, share=share).rows() == [(0.3,)]
    assert computed(pl.concat([table, table]), share=share).rows() == [(0.3,), (0.3,)]
    repeated = table.select("count").with_columns(total=pl.lit(10))[[0, 0, 0]]
    assert computed(repeated, share=share).rows() == [(0.3,)] * 3
    assert computed(table.clear(), share=share).height == 0


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["group", "expected"])
def test_tied_blocks_alone_and_among_others(ties: str) -> None:
    rng = np.random.default_rng(5)
    parts = [
        pl.DataFrame(
            {
                "group": np.full(n, group),
                "score": rng.integers(0, 3, n),
                "label": rng.integers(0, 4, n) * (rng.random(n) < 0.3),
            }
        )
        for group, n in enumerate(rng.integers(1, 90, 150).tolist())
    ]
    names = ["RR", "RR@7", "ERR", "ERR@5", "Success@5", "nDCG", "AP", "RBP"]
    options: dict[str, Any] = {"ties": ties, "undefined": -1.0}
    among = prframe.evaluate(pl.concat(parts), names, by="group", **options)
    alone = pl.concat([prframe.evaluate(part, names, **options) for part in parts])
    assert alone.equals(among.drop("group"))


def test_a_refusal_of_some_of_many_groups() -> None:
    number = np.arange(200_000)
    bad = (number == 100_000) | (number == 199_995)
    frame = pl.DataFrame(
        {"group": number, "score": 1.0, "label": True, "total": np.where(bad, 0, 3)}
    )
    with pytest.raises(prframe.PrframeError, match=r"in groups 100000, 199995"):
        prframe.evaluate(frame, "AP", by="group", n_pos="total")
