"""The verb `band`: each group as its scores alone, by the statistics of arrays."""

import os
import subprocess
import sys
import warnings
from math import inf

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import prframe
from prframe._engine import frames
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
    "pointwise": {"simultaneous": False},
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@methods
def test_order_batches_and_frames_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, object]
) -> None:
    first = prframe.band(DATA, by="q", **FEW, **options)
    for rows in (DATA.sort("q"), DATA.sort("score")):
        for size in (50, 1 << 20):
            monkeypatch.setattr(frames, "_SLICE_ROWS", size)
            monkeypatch.setattr(frames, "_BATCH_ROWS", size)
            for frame in (rows, rows.lazy()):
                again = prframe.band(frame, by="q", **FEW, **options).lazy().collect()
                assert_frame_equal(again, first, check_row_order=False)
    of_pandas = prframe.band(DATA.to_pandas(), by="q", **FEW, **options)
    assert isinstance(of_pandas, pd.DataFrame)
    assert_frame_equal(pl.from_pandas(of_pandas), first)


def test_a_lazy_frame_gives_the_same_numbers_each_time() -> None:
    asked = prframe.band(DATA.lazy(), by="q", recall=LEVELS, n_resamples=50)
    assert isinstance(asked, pl.LazyFrame)
    assert_frame_equal(asked.collect(), asked.collect(engine="streaming"))


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


def test_levels() -> None:
    few = {"n_resamples": 50, "rng": 1}
    every = prframe.band(DATA, **few)["recall"]
    assert every.to_list() == pytest.approx([0.05 + 0.005 * i for i in range(181)], rel=1e-12)
    some = prframe.band(DATA, recall_range=(0.2, 0.4), **few)["recall"]
    assert (len(some), some[0], some[180]) == (181, 0.2, 0.4)
    for one in (0.3, np.float64(0.3), [0.3], np.array([0.3]), pl.Series([0.3])):
        assert prframe.band(DATA, recall=one, **few)["recall"].to_list() == [0.3]
    assert prframe.band(DATA, recall=np.float32(0.25), **few)["recall"].to_list() == [0.25]
    # At a hit, the curve of the frame.
    plain = DATA.filter(q="tied")
    curve = prframe.curve(plain).unique("tp", keep="first", maintain_order=True)
    ends = curve.filter(pl.col("recall").is_between(0, 1, closed="none"))
    found = prframe.band(plain, recall=ends["recall"].to_list(), **few)
    assert found["precision"].to_list() == pytest.approx(ends["precision"].to_list(), rel=1e-12)


def test_a_band_is_wider_than_its_levels_alone() -> None:
    rows = DATA.filter(q="tied")
    single, together, wider = (
        prframe.band(rows, rng=1, **options)
        for options in ({"simultaneous": False}, {}, {"confidence_level": 0.99})
    )
    for narrow, wide in ((single, together), (together, wider)):
        limited = narrow["conf_high"] < 1
        assert limited.sum() >= 100
        assert (wide["conf_low"] < narrow["conf_low"]).all()
        assert (wide["conf_high"] > narrow["conf_high"]).filter(limited).all()
        assert (wide["conf_high"] == 1).filter(~limited).all()


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


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@methods
def test_scores_as_32_bit_floats(options: dict[str, object]) -> None:
    rows = DATA.filter(q="plain").with_columns(score=1 + pl.col("score") * 1e-7)
    rounded = rows.with_columns(pl.col("score").cast(pl.Float32))
    assert rounded["score"].n_unique() < rows.height
    found = prframe.band(rows, float32=True, **FEW, **options)
    assert_frame_equal(found, prframe.band(rounded, **FEW, **options))
    assert (found["precision"] != prframe.band(rows, **FEW, **options)["precision"]).any()


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


def test_beyond_the_recall_of_the_retrieved_items() -> None:
    rows = DATA.filter(q="plain")
    found = prframe.band(rows, n_pos=40, recall=[0.1, 0.45, 0.55, 0.99], rng=1)
    assert (found["precision"] > 0).to_list() == [True, True, False, False]
    assert found["conf_low"].to_list()[1:] == [0, 0, 0]
    high = found["conf_high"].to_list()
    assert min(high[:3]) > 0.2
    assert high[3] == 0
    assert prframe.band(rows.with_columns(score=-inf), **FEW).sum().row(0)[1:4] == (0, 0, 0)


UNDEFINED = {
    "bayesian-bootstrap": ({}, 3),
    "smoothed-bootstrap": ({"method": "smoothed-bootstrap"}, 5),
    "asymptotic": ({"method": "asymptotic", "simultaneous": False}, 10),
}


@pytest.mark.parametrize(("options", "least"), UNDEFINED.values(), ids=UNDEFINED)
def test_groups_without_a_band(options: dict[str, object], least: int) -> None:
    def group(name: str, n_pos: int, n_neg: int) -> pl.DataFrame:
        label = [1, 0] * min(n_pos, n_neg) + [1] * (n_pos - n_neg) + [0] * (n_neg - n_pos)
        return pl.DataFrame({"q": name, "score": range(len(label)), "label": label})

    groups = {"good": (least, 40), "few": (least - 1, 9), "none": (0, 4), "only": (30, 0)}
    asked = {"by": "q", "recall": [0.3, 0.5], "n_resamples": 50, "rng": 1, **options}
    why = f"which have fewer than {least} positives or no negatives"
    start, ends = "undefined, hence null, for", ["conf_low", "conf_high"]
    for name, message in (
        ("few", f"conf_low, conf_high: {start} 1 of 2 groups, {why}, in groups ['few']"),
        ("only", f"conf_low, conf_high: {start} 1 of 2 groups, {why}, in groups ['only']"),
        (
            "none",
            f"precision, conf_low, conf_high: {start} 1 of 2 groups, which have no positives, "
            "in groups ['none']",
        ),
    ):
        rows = pl.concat([group("good", *groups["good"]), group(name, *groups[name])])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = prframe.band(rows, **asked)
        assert [str(warning.message) for warning in caught] == [message]
        assert caught[0].filename == __file__
        assert found.filter(q="good").null_count().sum_horizontal().item() == 0
        bad = found.filter(q=name)
        assert bad.select(ends).null_count().row(0) == (2, 2)
        assert bad["precision"].null_count() == (2 if name == "none" else 0)
    # Each group is named once; without groups none is.
    rows = pl.concat([group(name, *sizes) for name, sizes in groups.items()])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prframe.band(rows, **asked)
        prframe.band(group("", 1, 5), **asked | {"by": None}, positive=[1])
    assert [str(warning.message).partition(" groups, ")[2] for warning in caught] == [
        "which have no positives, in groups ['none']",
        f"{why}, in groups ['few', 'only']",
        f"which have fewer than {least} label [1] or no negatives",
    ]


def test_levels_without_an_asymptotic_interval() -> None:
    rows = pl.DataFrame({"score": range(60, 0, -1), "label": [1] * 10 + [1, 0] * 25})
    asked = {"method": "asymptotic", "simultaneous": False, "recall": [0.1, 0.6]}
    with pytest.warns(prframe.UndefinedMetricWarning) as caught:
        found = prframe.band(rows, **asked)
    assert [str(warning.message) for warning in caught] == [
        "conf_low, conf_high: undefined, hence null, for 1 of 1 groups, where precision is 0 or 1 "
        "or the next positives are far"
    ]
    assert found["conf_low"].is_null().to_list() == [True, False]
    assert found["precision"][0] == 1


def test_increasing_transforms_of_the_score() -> None:
    moved = DATA.with_columns((pl.col("score") * 3 + 1).exp())
    kept = DATA.filter(pl.col("score") > -inf)
    assert_frame_equal(
        prframe.band(kept, by="q", **FEW),
        prframe.band(moved.filter(pl.col("score") > 0), by="q", **FEW),
    )


def test_kinds_of_labels() -> None:
    rows = DATA.select("q", "score", "label")
    first = prframe.band(rows, by="q", **FEW)
    for label in (pl.Boolean, pl.Float32, pl.Int8):
        again = prframe.band(rows.with_columns(pl.col("label").cast(label)), by="q", **FEW)
        assert_frame_equal(again, first)
    graded = rows.with_columns(pl.col("label") * 3)
    assert_frame_equal(prframe.band(graded, by="q", positive=2, **FEW), first)
    words = rows.with_columns(
        label=pl.when(pl.col("label") > 0).then(pl.lit("y")).otherwise(pl.lit("n"))
    )
    assert_frame_equal(prframe.band(words, by="q", positive="y", **FEW), first)


@pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")
@methods
@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
def test_no_rows(options: dict[str, object]) -> None:
    full = prframe.band(DATA.filter(q="plain"), by="q", **FEW, **options)
    for frame in (DATA.clear(), DATA.clear().lazy()):
        found = prframe.band(frame, by="q", **FEW, **options).lazy().collect()
        assert found.schema == full.schema
        assert not found.height
    assert prframe.band(DATA.clear(), **options).columns == full.columns[1:]
    assert not len(prframe.band(DATA.clear().to_pandas(), by="q", **options))


def test_levels_that_draws_do_not_reach() -> None:
    data = pl.DataFrame({"score": range(40), "label": [0, 1] * 20})
    few = {"n_resamples": 200, "rng": 0}
    near = prframe.band(data, recall=[1e-12], n_pos=10**13, **few)
    assert near["conf_low"].item() < near["precision"].item() < near["conf_high"].item()
    with pytest.raises(prframe.ArgumentError, match=r"recall below 1e-12; got 2\.22045e-15"):
        prframe.band(data, recall=[10 / 2**52], n_pos=2**52, **few)
