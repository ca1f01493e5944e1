"""The verb `band`: each group as its scores alone, by the statistics of arrays."""

import os
import subprocess
import sys
from math import inf

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe.stats import (
    pr_asymptotic_band,
    pr_asymptotic_interval,
    pr_bootstrap,
    pr_curve,
    pr_posterior,
)

LEVELS = [0.1, 0.25, 0.5, 0.51, 0.9]
FEW = {"recall": LEVELS, "n_resamples": 150, "rng": 3}
METHODS = {
    "bayesian-bootstrap": {},
    "pointwise": {"method": "bayesian-bootstrap", "simultaneous": False},
    "smoothed-bootstrap": {"method": "smoothed-bootstrap"},
    "asymptotic": {"method": "asymptotic", "simultaneous": False},
    "asymptotic, all levels": {"method": "asymptotic"},
}
methods = pytest.mark.parametrize("options", METHODS.values(), ids=METHODS)


def data() -> pl.DataFrame:
    """Groups of many shapes, with bands of every kind."""
    rng = np.random.default_rng(5)
    parts = []
    for name, n, shift in (
        ("plain", 80, 1.0),
        ("tied", 120, 1.0),
        (None, 60, 0.5),
        ("cut", 90, 1),
    ):
        label = np.arange(n) % 4 == 1
        score = rng.normal(size=n) + shift * label
        if name == "tied":
            score = score.round(1)
        if name == "cut":
            score[score < 0] = -inf
        parts.append(pl.DataFrame({"q": [name] * n, "score": score, "label": label.astype(int)}))
    rows = pl.concat(parts).sample(fraction=1.0, shuffle=True, seed=2)
    return rows.with_columns(doc=pl.int_range(rows.height).cast(pl.String))


DATA = data()


def classes(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The scores of positives and negatives."""
    positive = pl.col("label").cast(pl.Float64) > 0
    return tuple(rows.filter(p)["score"].to_numpy() for p in (positive, ~positive))


def seed_of(rng: int) -> int:
    """The seed of every group."""
    return int(np.random.default_rng(rng).integers(1 << 62))


def expected(rows: pl.DataFrame, options: dict[str, object], **totals: int) -> pl.DataFrame:
    """The rows of one group, from arrays."""
    size = {"n_resamples": 150, "rng": seed_of(3)}
    options = dict(options)
    simultaneous = options.pop("simultaneous", True)
    scores = *classes(rows), LEVELS
    method = options.pop("method", "auto")
    if method == "asymptotic" and simultaneous:
        name, ends = method, pr_asymptotic_band(*scores, **options, **totals, **size)
    elif method == "asymptotic":
        name, ends = "asymptotic", pr_asymptotic_interval(*scores, **options, **totals)
    elif method == "smoothed-bootstrap":
        name, ends = (
            "smoothed-bootstrap",
            pr_bootstrap(*scores, **options, **totals, **size).band(),
        )
    else:
        drawn = pr_posterior(*scores, **totals, **size)
        name, ends = "bayesian-bootstrap", drawn.band(simultaneous=simultaneous)
    columns = {"precision": pr_curve(*scores, **totals), "low": ends.low, "high": ends.high}
    low_high = {"low": "conf_low", "high": "conf_high"}
    rows = pl.DataFrame({"recall": LEVELS} | columns).rename(low_high)
    facts = {"method": name, "confidence_level": 0.95, "simultaneous": simultaneous}
    return rows.with_columns(
        pl.col(*low_high.values()).fill_nan(None),
        **{column: pl.lit(value) for column, value in facts.items()},
    )


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@methods
def test_a_group_is_its_scores_alone(options: dict[str, object]) -> None:
    found = prframe.band(DATA, by="q", **FEW, **options)
    assert found["q"].unique(maintain_order=True).to_list() == (
        DATA["q"].unique(maintain_order=True).to_list()
    )
    for (name,), rows in DATA.group_by("q"):
        mine = found.filter(pl.col("q").eq_missing(name)).drop("q")
        assert_frame_equal(mine, expected(rows, options), rel_tol=1e-12)
        assert_frame_equal(mine, prframe.band(rows, **FEW, **options))
    # Beyond the recall of the retrieved items nothing is precise.
    last = found.filter(q="cut", recall=0.9).row(0, named=True)
    assert last["precision"] == 0
    assert last["conf_low"] in {0, None}


THREADS = """
import polars as pl, prframe
from tests.verbs.curves.test_band import DATA, FEW
for options in ({}, {"method": "smoothed-bootstrap"}):
    print(repr(prframe.band(DATA, by="q", **FEW, **options).rows()))
print(pl.thread_pool_size())
"""


@pytest.mark.slow
def test_the_number_of_threads_does_not_matter() -> None:
    here = [
        repr(prframe.band(DATA, by="q", **FEW, **options).rows())
        for options in ({}, {"method": "smoothed-bootstrap"})
    ]
    for threads in ("1", "3"):
        there = subprocess.run(
            [sys.executable, "-c", THREADS],
            env=os.environ | {"POLARS_MAX_THREADS": threads, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert there.stdout.splitlines() == [*here, threads]


def test_seeds() -> None:
    one, other = (prframe.band(DATA, by="q", **FEW | {"rng": rng}) for rng in (3, 4))
    assert one["precision"].equals(other["precision"])
    assert (one["conf_low"] != other["conf_low"]).any()
    generator = np.random.default_rng(3)
    first, second = (prframe.band(DATA, by="q", **FEW | {"rng": generator}) for _ in range(2))
    assert_frame_equal(first, one)
    assert (second["conf_low"] != one["conf_low"]).any()


@pytest.mark.parametrize("ties", ["order", "trec"])
def test_ties(ties: str) -> None:
    rows = DATA.filter(q="tied")
    found = prframe.band(rows, ties=ties, item="doc", **FEW)
    order = {"order": rows, "trec": rows.sort("doc", descending=True)}[ties]
    broken = order.sort("score", descending=True, maintain_order=True).with_columns(
        score=-pl.int_range(pl.len()).cast(pl.Float64)
    )
    assert_frame_equal(found, expected(broken, {}), rel_tol=1e-12)
    assert (found["conf_low"] != prframe.band(rows, **FEW)["conf_low"]).any()


@methods
def test_totals_are_items_that_were_not_retrieved(options: dict[str, object]) -> None:
    options = options | {"recall": [0.1, 0.3], "n_resamples": 150, "rng": 3}
    listed = DATA.filter(q="plain").select("score", "label")
    more = pl.DataFrame({"score": -inf, "label": [1] * 20 + [0] * 70}, schema=listed.schema)
    whole = prframe.band(pl.concat([listed, more]), **options)
    n_pos, n_neg = 40, 130
    assert_frame_equal(prframe.band(listed, n_pos=n_pos, n_neg=n_neg, **options), whole)
    constant = listed.with_columns(all=pl.lit(n_pos))
    assert_frame_equal(prframe.band(constant, n_pos="all", n_neg=n_neg, **options), whole)
    missing = more.with_columns(score=pl.lit(None, dtype=pl.Float64))
    last = prframe.band(pl.concat([listed, missing]), missing="last", **options)
    assert_frame_equal(last, whole)


def test_levels_that_draws_do_not_reach() -> None:
    data = pl.DataFrame({"score": range(40), "label": [0, 1] * 20})
    few = {"n_resamples": 200, "rng": 0}
    near = prframe.band(data, recall=[1e-12], n_pos=10**13, **few)
    assert near["conf_low"].item() < near["precision"].item() < near["conf_high"].item()
    with pytest.raises(prframe.ArgumentError, match=r"recall below 1e-12; got 2\.22045e-15"):
        prframe.band(data, recall=[10 / 2**52], n_pos=2**52, **few)
