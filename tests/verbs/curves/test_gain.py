"""The precision-recall-gain curve against its definition, the authors' example and its area."""

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from prframe import PrframeError

GAINS = ["recall_gain", "precision_gain"]
ITEMS = st.lists(
    st.tuples(st.sampled_from([-inf, 0.0, 1.0, 2.0, 3.0]), st.booleans()), min_size=2, max_size=14
).filter(lambda items: 0 < sum(label for _, label in items) < len(items))
AUTHORS = pl.DataFrame({"score": [0.8, 0.8, 0.6, 0.4, 0.4, 0.2], "label": [1, 1, 0, 0, 1, 0]})


def frame(items: list[tuple[float, bool]]) -> pl.DataFrame:
    """Return items as a frame."""
    return pl.DataFrame(items, schema={"score": pl.Float64, "label": pl.Boolean}, orient="row")


def naive_gain(part: int, rest: int, n_pos: int, n_neg: int) -> float:
    """Return ``1 - n_pos / n_neg * rest / part``, the authors' formula of a gain."""
    return 1 - n_pos / n_neg * rest / part if part else (-inf if rest else 1.0)


@given(items=ITEMS)
def test_gains_are_the_naive_ones(items: list[tuple[float, bool]]) -> None:
    n_pos = sum(label for _, label in items)
    n_neg = len(items) - n_pos
    drawn = frame(items).pr.curve(gain=True, include_unretrieved=True)
    for row in drawn.iter_rows(named=True):
        missed = n_pos - row["tp"]
        recall_gain = naive_gain(row["tp"], missed, n_pos, n_neg)
        assert row["recall_gain"] == pytest.approx(recall_gain, abs=1e-12)
        precision_gain = naive_gain(row["tp"], row["fp"], n_pos, n_neg)
        assert row["precision_gain"] == pytest.approx(precision_gain, abs=1e-12)


def area(drawn: pl.DataFrame, n_pos: int, n_neg: int) -> float:
    """Return the area from recall gain 0 on, between points joined by lines of counts."""
    counts = [(0.0, 0.0), *drawn.select("tp", "fp").rows()]
    total = 0.0
    for (tp, fp), (tp_end, fp_end) in pairwise(counts):
        steps = np.linspace(0, 1, 2001)
        hits, false = tp + steps * (tp_end - tp), fp + steps * (fp_end - fp)
        hits, false = (side[hits > 0] for side in (hits, false))
        x = 1 - n_pos / n_neg * (n_pos - hits) / hits
        y = 1 - n_pos / n_neg * false / hits
        inside = x >= 0
        total += float(np.trapezoid(y[inside], x[inside]))
    return total


@given(items=ITEMS)
def test_the_area_is_the_metric(items: list[tuple[float, bool]]) -> None:
    data = frame(items)
    n_pos = int(data["label"].sum())
    drawn = data.pr.curve(gain=True, include_unretrieved=True, anchor=False)
    expected = data.pr.evaluate("AUPRG").item()
    # The part of a piece before its first point at a recall gain above 0 is left out.
    assert area(drawn, n_pos, data.height - n_pos) == pytest.approx(expected, abs=0.02)


def test_the_example_of_the_authors() -> None:
    drawn = AUTHORS.pr.curve(gain=True, anchor=False)
    assert drawn["recall_gain"].to_list() == pytest.approx([0.5, 0.5, 1, 1])
    assert drawn["precision_gain"].to_list() == pytest.approx([1, 0.5, 1 / 3, 0])
    assert AUTHORS.pr.evaluate("AUPRG").item() == pytest.approx(17 / 24)


def test_weights_are_copies() -> None:
    weighted = AUTHORS.with_columns(times=pl.Series([1, 2, 1, 3, 1, 2]))
    copies = weighted.select(pl.exclude("times").repeat_by("times").explode())
    columns = ["threshold", *GAINS]
    first, second = (
        rows.pr.curve(gain=True, **options).select(columns)
        for rows, options in ((weighted, {"weight": "times"}), (copies, {}))
    )
    np.testing.assert_allclose(first.to_numpy(), second.to_numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "q"}, "`gain` is of single curves, as a mean of gains is no gain of a mean"),
        ({"prior": 0}, "`gain` needs both classes; got prior=0, where one is absent."),
        ({"prior": 1.0}, "`gain` needs both classes; got prior=1, where one is absent."),
    ],
)
def test_messages(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PrframeError, match=message):
        AUTHORS.with_columns(q=pl.lit("a")).pr.curve(gain=True, **options)
