"""`compare(over=None)`: models on the same items, against arrays, `evaluate` and definitions."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import prframe
from prframe.errors import PrframeError, UndefinedMetricWarning
from prframe.stats import paired_rank_test

COLUMNS = ["a", "b", "c"]


def items(n=120, seed=1, digits=None):
    """Return scores of three models on the same items, in columns."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.3
    good = label + rng.normal(size=n)
    scores = {"a": good, "b": good + rng.normal(size=n) / 2, "c": rng.normal(size=n)}
    if digits is not None:
        scores = {name: score.round(digits) for name, score in scores.items()}
    extra = {"label": label, "id": np.arange(n), "day": rng.integers(0, 12, n)}
    return pl.DataFrame(scores | extra)


def long(wide):
    """Return the same with a row per model and item."""
    index = [name for name in wide.columns if name not in COLUMNS]
    return wide.unpivot(COLUMNS, index=index, variable_name="model", value_name="score")


def compared(frame, metrics, **options):
    """Compare the columns, or the models of the long layout."""
    names = frame.collect_schema().names() if isinstance(frame, pl.LazyFrame) else frame.columns
    if "a" in names:
        options["score"] = COLUMNS
    return prframe.compare(frame, metrics, over=None, item="id", **options)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize("options", [{}, {"test": "bootstrap"}, {"cluster": "day"}])
def test_layout_order_and_kind_of_frame_do_not_matter(options):
    wide = items(digits=1)
    options |= {"metrics": ["AP", "P@10", "nDCG@5"], "n_resamples": 200, "rng": 3}
    found = compared(wide, **options)
    shuffled = wide.sample(fraction=1, shuffle=True, seed=2)
    assert compared(shuffled, **options).equals(found)
    assert compared(long(wide), **options).equals(found)
    assert compared(long(shuffled), **options).equals(found)
    assert compared(wide.lazy(), **options).collect().equals(found)
    assert pl.from_pandas(compared(wide.to_pandas(), **options)).equals(found, null_equal=True)


def test_delong_is_the_array_test_of_w():
    wide = items()
    found = compared(wide, "AUC", test="delong")
    for row in found.iter_rows(named=True):
        scores = wide[row["model_a"]], wide[row["model_b"]]
        expected = paired_rank_test(*scores, wide["label"])
        assert row["statistic"] == pytest.approx(expected.z)
        assert row["p_value"] == pytest.approx(expected.p_value)
        areas = [roc_auc_score(wide["label"], score) for score in scores]
        assert row["difference"] == pytest.approx(areas[0] - areas[1])
        share = 1 - wide["label"].mean()
        # Its interval is extended to what those of both models leave room for.
        assert row["conf_low"] <= expected.conf_low / share + 1e-12
        assert row["conf_high"] >= expected.conf_high / share - 1e-12


EVERY = [str(one.example()) for one in prframe.CATALOGUE.values() if not one.without_cells]


@pytest.mark.parametrize("digits", [None, 0])
def test_every_metric_of_cells_is_that_of_evaluate(digits):
    wide = items(digits=digits).with_columns(
        c=pl.when(pl.col("c") > -1).then("c").otherwise(-np.inf)
    )
    found = compared(wide, EVERY, n_resamples=100, rng=1)
    values = prframe.evaluate(long(wide), EVERY, by="model", layout="long")
    expected = {(row[0], row[1]): row[2] for row in values.rows()}
    for row in found.iter_rows(named=True):
        a, b = (expected[row[side], row["metric"]] for side in ("model_a", "model_b"))
        assert (row["mean_a"], row["mean_b"]) == pytest.approx((a, b))
        assert row["conf_low"] <= row["difference"] <= row["conf_high"]


def test_groups_without_positives_are_null_with_one_warning():
    wide = items(200).with_columns(
        g=pl.when(pl.col("id") < 100).then(pl.lit("x")).otherwise(pl.lit("y"))
    )
    wide = wide.with_columns(pl.col("label") & (pl.col("g") == "x"))
    for test, metric in (("randomization", "AP"), ("bootstrap", "nDCG@5"), ("delong", "AUC")):
        with pytest.warns(UndefinedMetricWarning, match=r"1 of 2 groups.*'y'") as caught:
            found = compared(wide, metric, test=test, by="g", n_resamples=100, rng=1)
        assert len(caught) == 1
        numbers = ["difference", "conf_low", "p_value", "p_adjusted", "method"]
        assert found.filter(g="y").select(pl.col(numbers).is_null().all()).row(0) == (True,) * 5
        assert (
            found.filter(g="x").select(pl.col(numbers).is_not_null().all()).row(0) == (True,) * 5
        )


BAD = [
    ({"test": "t"}, "on the same items"),
    ({"metrics": "AP", "test": "delong"}, "test='delong' is for AUC; got AP"),
    ({"metrics": "AUC", "test": "delong", "interval": "percentile"}, "interval of its own"),
    ({"metrics": "ERR"}, "ERR of one ranking is not compared: it is not written as"),
    ({"interval": "bca"}, "`interval` on the same items"),
    ({"interval": "t"}, "`interval` on the same items"),
    ({"incomplete": "zero"}, "`incomplete` on the same items"),
    ({"correction": "max-t"}, "over queries"),
    ({"power": 0.8}, "`power`"),
    ({"undefined": 0.0}, "`undefined`"),
    ({"n_resamples": 20}, "`n_resamples`"),
    ({"ties": "order"}, "ties='group'"),
    ({"baseline": "d"}, "`baseline`"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[str(options) for options, _ in BAD])
def test_what_it_refuses(options, message):
    with pytest.raises(PrframeError, match=message):
        compared(items(), **({"metrics": "AP"} | options))


def test_grades_are_refused():
    graded = items().with_columns(label=2 * pl.col("label").cast(pl.Int8))
    with pytest.raises(PrframeError, match="nDCG@5 of one ranking is compared only where labels"):
        compared(graded, "nDCG@5")


def test_models_without_items_in_common_are_refused():
    day = pl.col("day")
    apart = long(items()).filter((day != 3) | (pl.col("model") != "a") | (pl.col("id") < 0))
    options = {"incomplete": "common", "n_resamples": 100}
    with pytest.raises(PrframeError, match=r"items in common, in groups 3"):
        compared(apart, "P@1", by="day", **options)
    n = 120 - items().filter(day=3).height
    assert compared(apart, "AP", **options)["n"].to_list() == [n] * 3


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize(
    ("test", "lacking"),
    [
        ("randomization", ["conf_low", "conf_high"]),
        ("delong", ["conf_low", "conf_high", "p_value"]),
    ],
)
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_warning_names_the_columns_that_are_null(
    test: str, lacking: list[str], alternative: str
) -> None:
    """In the second segment a single positive has a difference, and no interval."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "segment": ["x"] * 30 + ["y"] * 30,
            "item": range(60),
            "label": [1] * 10 + [0] * 20 + [1] + [0] * 29,
            "a": rng.normal(size=60),
            "b": rng.normal(size=60),
        }
    )
    said = (
        f"^{', '.join(lacking)}: undefined, so null or NaN, for 1 of 2 groups, which have too few items "
        r"of a class for 'AUC', or a difference without variance, in groups 'y'$"
    )
    options = {"by": "segment", "over": None, "item": "item", "n_resamples": 100}
    with pytest.warns(prframe.UndefinedMetricWarning, match=said):
        found = frame.pr.compare("AUC", ["a", "b"], test=test, alternative=alternative, **options)
    columns = ["difference", "conf_low", "conf_high", "p_value"]
    assert [name for name in columns if found[name][1] is None] == lacking
    assert found[columns].row(0).count(None) == 0
