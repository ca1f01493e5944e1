"""The compact letter display."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from prframe import tables
from tests.refusals import refusals
from tests.tables.cases import comparison


def letter_set(letters: str) -> set[str]:
    signs: list[str] = []
    for sign in letters:
        if sign.isdigit():
            signs[-1] += sign
        else:
            signs.append(sign)
    return set(signs)


@pytest.mark.parametrize(("size", "share"), [(2, 0), (8, 0.5), (30, 0.5), (30, 1)])
def test_pairs_share_no_letter_exactly_if_they_are_told_apart(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    models = list(range(size))
    apart = {pair for pair in combinations(models, 2) if rng.random() < share}
    letters = tables.letters(comparison(models, apart))
    given = {model: letter_set(text) for model, text in letters.select("model", "letters").rows()}
    assert all(given.values())
    for a, b in combinations(models, 2):
        assert bool(given[a] & given[b]) == ((a, b) not in apart), (a, b)


def test_the_kind_of_frame_comes_back() -> None:
    letters = tables.letters(comparison(["x", "y"]).to_pandas())
    assert isinstance(letters, pd.DataFrame)
    assert letters["letters"].tolist() == ["a", "a"]


XYZ = comparison(["x", "y", "z"])


test_messages = refusals(
    {
        "`metric` must name one of the metrics of `compare_result`: 'AP', 'RR'.": (
            comparison(["x", "y"], metrics=["AP", "RR"])
        ),
        "every pair of systems must be compared; 'y' and 'z' are not. Compare without baseline=.": (
            XYZ.filter(pl.col("model_a") == "x")
        ),
        "`compare_result` must have rows; got a frame without any.": XYZ.clear(),
        "the comparison must have a column 'p_adjusted' or 'p_value'; a posterior comparison has "
        "none, and tells nothing apart at a level.": XYZ.drop("p_adjusted", "p_value"),
        "`compare_result` must be of one group; got the columns 'data'. Choose the rows of a "
        "group, and leave these columns out.": (XYZ.select(pl.lit("d").alias("data"), pl.all())),
    },
    tables.letters,
)
