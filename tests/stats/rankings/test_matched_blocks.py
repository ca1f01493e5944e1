"""Tie blocks of two rankings are one level where they share most of their ranks."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.stats.rankings import joint_levels, ranking_levels
from prframe.typing import Integers


def blocks(level: Integers) -> dict[int, tuple[int, int]]:
    """Return how many items rank above each level, and how many above or on it."""
    return {
        v: (int((level > v).sum()), int((level >= v).sum())) for v in set(level.tolist()) - {0}
    }


@pytest.mark.parametrize("seed", range(20))
def test_levels_are_as_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, most = rng.integers(2, 40), rng.integers(1, 15, 2)
    levels = ranking_levels(np.stack([rng.integers(0, k, n) for k in most]).astype(float))
    levels = np.where(rng.random(levels.shape) < rng.choice([0, 0.1]), 0, levels)
    tables = joint_levels(levels)
    for ranking, (first, second) in product((0, 1), tables):
        own, joint = levels[ranking], (first, second)[ranking]
        assert ((own[:, None] < own) == (joint[:, None] < joint)).all()
    for (v, (begin, end)), (w, (start, stop)) in product(*(blocks(x).items() for x in levels)):
        larger, smaller = max(end - begin, stop - start), min(end - begin, stop - start)
        shares = smaller > 1 and 2 * (min(end, stop) - max(begin, start)) > larger
        is_matched = shares or (larger > 1 and begin + end == start + stop)
        for table in tables:
            assert (table[0][levels[0] == v][0] == table[1][levels[1] == w][0]) == is_matched


def test_enumerated_p_values_know_no_order_of_rows_or_models() -> None:
    """An item in the middle of a block of the other ranking kept its place, apart by a coin."""
    frame = pl.DataFrame(
        {
            "a": [1.0, 5.0, 1.0, 2.0, 4.0, 3.0],
            "b": [0.0, 0.0, 2.0, 2.0, 2.0, 1.0],
            "label": [False, True, True, False, True, False],
        }
    )
    found = set()
    for seed, models in product(range(6), (["a", "b"], ["b", "a"])):
        rows = frame[np.random.default_rng(seed).permutation(6)]
        compared = prframe.compare(rows, "AP", models, over=None, rng=1)
        found.add(round(compared["p_value"].item(), 9))
    assert found == {0.5}


def graded(seed: int, n: int) -> pl.DataFrame:
    """Return scores of two equally good models, rounded to whole grades."""
    rng = np.random.default_rng(seed)
    label, common = rng.random(n) < 0.2, rng.normal(size=n)
    scores = {
        name: np.round(1.5 * label + np.sqrt(0.5) * (common + rng.normal(size=n)))
        for name in ("a", "b")
    }
    return pl.DataFrame({**scores, "label": label, "sample": seed})


@pytest.mark.nightly
def test_graded_scores_of_equal_models_are_told_apart_as_rarely_as_they_should() -> None:
    """Blocks apart by a rank were levels of their own: .36 of samples rejected, and .02 of AP."""
    data = pl.concat([graded(seed, 600) for seed in range(400)])
    metrics = ["Prec@0.5", "R(at_precision=0.4)", "AP", "P@20"]
    options = {"over": None, "by": "sample", "n_resamples": 199, "rng": 1}
    found = prframe.compare(data, metrics, ["a", "b"], **options)
    for _, rows in found.group_by("metric"):
        # 20 are expected, with a standard deviation of 4.4.
        assert 6 <= (rows["p_value"] <= 0.05).sum() <= 35
