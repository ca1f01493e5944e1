"""Bits: counts are divided correctly, whatever the number of rows."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe._engine.rows import computed

pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning", "ignore::prframe.NoPositivesWarning"
)


def rows(n_pos: int, n_neg: int = 2) -> pl.DataFrame:
    """Return a ranking in which negatives stand after the first and the last positive."""
    label = [True, *[False] * n_neg, *[True] * (n_pos - 1)]
    return pl.DataFrame({"label": label, "score": range(len(label), 0, -1)})


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


def test_a_refusal_of_some_of_many_groups() -> None:
    number = np.arange(200_000)
    bad = (number == 100_000) | (number == 199_995)
    frame = pl.DataFrame(
        {"group": number, "score": 1.0, "label": True, "total": np.where(bad, 0, 3)}
    )
    with pytest.raises(prframe.PrframeError, match=r"in groups 100000, 199995"):
        prframe.evaluate(frame, "AP", by="group", n_pos="total")
