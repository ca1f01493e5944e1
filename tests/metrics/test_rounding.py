"""Sizes and levels that are decimals are not missed by the rounding of their products."""

import polars as pl
import pytest

import prframe

pytestmark = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def ranking(*ranks: int, n: int = 100) -> pl.DataFrame:
    """Return a ranking of n items with positives at the given ranks."""
    return pl.DataFrame({"score": range(n, 0, -1), "label": [r in ranks for r in range(1, n + 1)]})


def test_seven_hundredths_of_a_hundred_items_are_seven() -> None:
    found = prframe.evaluate(ranking(*range(1, 8)), "EF(fraction=0.07)")
    assert found.item() == pytest.approx(100 / 7)


def test_seven_of_a_hundred_reach_a_precision_of_seven_hundredths() -> None:
    assert prframe.evaluate(ranking(*range(94, 101)), "R(at_precision=0.07)").item() == 1


def test_seven_of_a_hundred_positives_reach_a_recall_of_seven_hundredths() -> None:
    rows = ranking(*range(1, 8), *range(9, 102), n=101)
    assert prframe.evaluate(rows, "Prec@0.07").item() == 1
