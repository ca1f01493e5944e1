"""Few, skewed differences: the warning of `compare`, and tests that allow for skewness."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import stats

import prframe
from prframe.stats import PairedFamily

SKEWED = [0.9, 0.5] + [-0.1, -0.08, -0.06] * 5
EVEN = [0.1, -0.1, 0.2, -0.3, 0.05] * 4


def values(*groups: list[float]) -> pl.DataFrame:
    """Return the values of two models whose differences are given, for each group."""
    parts = [
        pl.DataFrame({"a": [0.5 + d for d in group], "b": [0.5] * len(group)}).with_columns(
            pl.int_range(len(group)).alias("query_id"), pl.lit(f"g{number}").alias("group")
        )
        for number, group in enumerate(groups)
    ]
    return pl.concat(parts)


def messages(frame: pl.DataFrame, **options: object) -> list[str]:
    """Return what `compare` says of skewness."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        frame.pr.compare(values=["a", "b"], rng=1, **options)
    return [
        str(item.message) for item in caught if item.category is prframe.SkewedDifferencesWarning
    ]


@pytest.mark.parametrize("test", ["randomization", "t", "wilcoxon"])
def test_few_skewed_differences_are_told_once(test: str) -> None:
    assert messages(values(SKEWED, EVEN, SKEWED), by="group", test=test) == [
        "the differences of 2 of 3 comparisons are few and skewed (value of a and b), in groups "
        f"'g0', 'g2': test={test!r} and the interval may err too often. Take test='hall' and its "
        "interval, which allow for skewness; where it does not matter, ignore "
        "SkewedDifferencesWarning."
    ]


def test_the_pairs_that_differ_by_skewed_values_are_named() -> None:
    frame = values(SKEWED).with_columns(c=0.5 + pl.Series(SKEWED) / 2)
    with pytest.warns(prframe.SkewedDifferencesWarning) as caught:
        frame.pr.compare(values=["a", "b", "c"], rng=1)
    assert str(caught[0].message).startswith(
        "the differences of 3 of 3 comparisons are few and skewed (value of a and b, value of a "
        "and c, value of b and c): "
    )
    many = values(SKEWED).with_columns(
        pl.Series(name, SKEWED) * i + 0.5 for i, name in enumerate("cdef", 2)
    )
    with pytest.warns(
        prframe.SkewedDifferencesWarning, match=r"value of a and f and \d+ more\): "
    ):
        many.pr.compare(values=list("abcdef"), rng=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"test": "t", "interval": "hall"}, "test='t' may err"),
        ({"test": "bootstrap", "equivalence": 0.2}, "the interval and `p_equivalence` may err"),
        ({"test": "hall", "equivalence": 0.2}, "`p_equivalence` may err"),
        ({"correction": "max-t"}, "Take test='hall' with correction='holm' and its interval"),
        ({"test": "t", "resampling": 0.1}, "No test that allows for skewness supports"),
    ],
)
def test_what_may_err_is_named(options: dict[str, object], said: str) -> None:
    (message,) = messages(values(SKEWED), **options)
    assert said in message


def test_halls_test_is_not_warned_of() -> None:
    assert messages(values(SKEWED), test="hall") == []


def test_skewness_is_scipys_of_the_units_with_values() -> None:
    rng = np.random.default_rng(4)
    sums, sizes = 1e3 + rng.gamma(1, size=(14, 3)), np.ones((14, 3))
    sizes[[2, 5], 1] = sums[[2, 5], 1] = 0
    sums[:, 2] = 7.0
    family = PairedFamily(sums, sizes)
    kept = sums[sizes[:, 1] > 0, 1]
    expected = [stats.skew(sums[:, 0], bias=False), stats.skew(kept, bias=False), 0.0]
    assert family.skewness == pytest.approx(expected, rel=1e-9)
    assert PairedFamily(sums[:2], sizes[:2]).skewness.tolist() == [0, 0, 0]
    limit, uneven = 25 * family.skewness**2, np.abs(family.unevenness)
    assert family.few_for_skewness.tolist() == [
        limit[0] >= 14 and uneven[0] > 3.1485 / 14**0.5,
        limit[1] >= 12 and uneven[1] > 3.148 / 12**0.5,
        False,
    ]


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    "values_", [SKEWED, EVEN, [0.2, 0.3, 0.5] * 4, [1e-9 * d for d in SKEWED]]
)
def test_halls_interval_ends_where_its_test_begins_to_reject(alternative, values_) -> None:
    frame = pl.DataFrame({"query_id": range(len(values_)), "a": values_, "b": 0.0})
    options = {"values": ["a", "b"], "test": "hall", "alternative": alternative}
    row = frame.pr.compare(**options).row(0, named=True)
    ends = [row["conf_low"], row["conf_high"]]
    finite = [end for end in ends if np.isfinite(end)]
    assert len(finite) == (2 if alternative == "two-sided" else 1)
    for end in finite:
        moved = frame.with_columns(pl.col("a") - end).pr.compare(**options)
        assert moved["p_value"].item() == pytest.approx(0.05, rel=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", prframe.SkewedDifferencesWarning)
        named = frame.pr.compare(**options | {"test": "t", "interval": "hall"})
    assert [named["conf_low"].item(), named["conf_high"].item()] == ends
