"""The verb `interval`: against SciPy, the other verbs, and by simulation."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import prframe
from prframe.metrics import parse_metric
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import AveragePrecision, PrecisionAt, RecallAt, RocArea, TrapezoidArea
from prframe.stats.rankings.cells import cells_from_scores
from prframe.tie_policies import ALL_TIES, WITHOUT_LABELS
from tests.strategies import Item, frame, items

# Some calls take the rows of all queries as one ranking on purpose.
pytestmark = pytest.mark.filterwarnings(
    "ignore::prframe.NoNegativesWarning",
    "ignore::prframe.PooledRankingWarning",
    "ignore:fewer than 40 clusters:prframe.CoverageWarning",
)

# Its name before SciPy 1.15.
SCIPY_RNG = "rng" if "rng" in inspect.signature(stats.bootstrap).parameters else "random_state"

METRICS = ["AP", "AUC", "AUPRC", "P@3", "R@3", "P@60"]
STATISTICS = [
    AveragePrecision(),
    RocArea(),
    TrapezoidArea(),
    PrecisionAt(3),
    RecallAt(3),
    PrecisionAt(60),
]
# All that are functions of the counts in cells.
EVERY = [str(one.example()) for one in prframe.CATALOGUE.values() if not one.without_cells]
EVERY += [*METRICS[3:], "F1@2", "Lift@3", "RelP@2", "EF(fraction=0.4)", "SetF(beta=2)"]
EVERY += ["BEDROC(alpha=3)", "Prec@0.3"]

BOUNDED = [name for name in EVERY if parse_metric(name).range == (0, 1)]
OF_CLUSTERS = ("auto", "logit-t", "percentile")
METHODS = (*OF_CLUSTERS, "bayesian-bootstrap")
ENDS = ["conf_low", "conf_high"]
quiet = pytest.mark.filterwarnings("ignore::prframe.UndefinedMetricWarning")


def too_little(*metrics: str) -> str:
    return (
        "conf_low, conf_high: undefined, so null or NaN, for the rows, where an interval of "
        f"{', '.join(map(repr, metrics))} needs more values, or values that differ"
    )


def data(n: int = 120, seed: int = 1, digits: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.35
    score = np.round(rng.normal(size=n) + label, digits)
    return pl.DataFrame(
        {
            "model": np.sort(rng.choice(["a", "b", "c"], n)),
            "query": rng.integers(0, 9, n),
            "score": np.where(score < -1, -np.inf, score),
            "label": label,
            "item": np.arange(n),
        }
    )


DATA = data()
SMOOTH = data(60, seed=2, digits=9).with_columns(pl.col("score").clip(-9, None))


def warned(call: Callable[[], pl.DataFrame]) -> tuple[pl.DataFrame, list[str]]:
    """Return a result and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", prframe.PooledRankingWarning)
        warnings.simplefilter("ignore", prframe.NoNegativesWarning)
        warnings.simplefilter("ignore", prframe.UnretrievedWarning)
        warnings.filterwarnings("ignore", "fewer than 40 clusters", prframe.CoverageWarning)
        found = call()
    assert all(one.category is prframe.UndefinedMetricWarning for one in caught)
    return found, [str(one.message) for one in caught]


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("ties", WITHOUT_LABELS)
@pytest.mark.parametrize("totals", [{}, {"n_pos": 9, "n_neg": 30}])
@settings(max_examples=25)
@given(groups=st.lists(items(), min_size=1, max_size=3))
def test_estimates_are_those_of_evaluate(
    ties: str, totals: dict[str, int], groups: list[list[Item]]
) -> None:
    rows = frame({str(i): group for i, group in enumerate(groups)})
    shared = {"by": "group", "ties": ties, "item": "item"} | totals
    found = prframe.interval(rows, EVERY, rng=1, n_resamples=50, **shared)
    found = found.filter(pl.col("metric") != "MaxF1 threshold")
    values = prframe.evaluate(rows, EVERY, layout="long", **shared)
    assert found.select("group", "metric").equals(values.select("group", "metric"))
    assert found["estimate"].to_list() == pytest.approx(values["value"].to_list(), nan_ok=True)
    # What is not null lies where it must.
    known = found.drop_nulls()
    assert known.filter(pl.col("conf_low") > pl.col("conf_high")).is_empty()
    least = {name: parse_metric(name).range[0] for name in EVERY}
    below = pl.col("conf_low") < pl.col("metric").replace_strict(least, return_dtype=pl.Float64)
    assert known.filter(below).is_empty()
    known = known.filter(pl.col("metric").is_in(BOUNDED))
    assert known.filter(pl.col("conf_high") > 1).is_empty()
    for estimate, end in ((0, "conf_low"), (1, "conf_high")):
        assert (known.filter(estimate=estimate)[end] == estimate).all()


def test_seeds_and_generators() -> None:
    def ends(rng: object) -> list[tuple[float, ...]]:
        return prframe.interval(SMOOTH, ["AP", "P@3"], rng=rng, n_resamples=50).select(ENDS).rows()

    assert ends(6) == ends(6) != ends(7)
    assert ends(np.random.default_rng(6)) == ends(6)
    generator = np.random.default_rng(6)
    assert ends(generator) == ends(6)
    assert ends(generator) != ends(6)
    assert ends(None) != ends(None)
    # The same draws serve all metrics.
    assert ends(6)[:1] == prframe.interval(SMOOTH, "AP", rng=6, n_resamples=50).select(ENDS).rows()


@quiet
@pytest.mark.parametrize("method", METHODS)
def test_ends_are_those_of_the_statistics(method: str) -> None:
    cells, _ = cells_from_scores(SMOOTH["score"], SMOOTH["label"])
    found = prframe.interval(SMOOTH, METRICS, method=method, rng=8, n_resamples=50)
    seed = int(np.random.default_rng(8).integers(1 << 62))
    for row, one in zip(found.iter_rows(named=True), STATISTICS, strict=True):
        want = ranking_interval(cells, one, method, n_resamples=50, rng=seed)
        assert (row["metric"], row["method"]) == (one.name, want.method)
        got = [row[name] for name in ("estimate", "std_error", *ENDS)]
        got = [np.nan if number is None else number for number in got]
        expected = [want.estimate, want.std_error, want.low, want.high]
        assert got == pytest.approx(expected, nan_ok=True)


@quiet
@pytest.mark.parametrize("method", METHODS)
def test_every_metric_of_cells_has_an_interval_by_every_method(method: str) -> None:
    # The first hit has no standard error.
    refused = {"RR", "Success@10"} if method == "logit-t" else set()
    names = [name for name in EVERY if name not in refused]
    found = prframe.interval(SMOOTH, names, method=method, rng=10, n_resamples=200)
    assert found["method"].null_count() == 0
    inside = pl.col("estimate").is_between(pl.col("conf_low"), pl.col("conf_high"))
    assert found.filter(~inside).is_empty()
    # A sample in which all is retrieved does not show how much recall varies, and the first of few
    # items may be the best in all resamples.
    shown = found.filter(pl.col("conf_low").is_not_null())
    at_most = {"SetR", "RR", "Success@10", "P@3", "RelP@2"}
    assert set(found["metric"]) - set(shown["metric"]) <= at_most
    assert (shown["conf_high"] > shown["conf_low"]).all()
    assert shown.filter(metric="SetR")["conf_high"].to_list() in ([], [1])


@pytest.mark.parametrize("method", ["wald", "t", "logit", "bca"])
def test_methods_of_means_are_not_those_of_one_ranking(method: str) -> None:
    for options in ({}, {"cluster": "item"}):
        with pytest.raises(prframe.ArgumentError, match="`method`"):
            prframe.interval(SMOOTH, "AP", method=method, **options)


@quiet
def test_metrics_without_bounds_have_student_s_interval_on_their_own_scale() -> None:
    for metric in ("W", "AUPRG"):
        row = prframe.interval(SMOOTH, metric, method="logit-t").row(0, named=True)
        middle = (row["conf_low"] + row["conf_high"]) / 2
        if metric == "W":
            assert middle == pytest.approx(row["estimate"])
        assert row["conf_high"] - row["estimate"] <= 2.5 * row["std_error"]


def auc_of(score: np.ndarray, label: np.ndarray) -> float:
    """AUC by all pairs."""
    label = label > 0
    higher = np.subtract.outer(score[label], score[~label])
    return float(((higher > 0) + (higher == 0) / 2).mean())


def precision_of(score: np.ndarray, label: np.ndarray) -> float:
    """P@20 of scores whose ties are copies of one row."""
    return float(label[np.argsort(-score, kind="stable")[:20]].mean())


@pytest.mark.parametrize(("metric", "statistic"), [("AUC", auc_of), ("P@20", precision_of)])
def test_bootstrap_is_scipy_s(metric: str, statistic: Callable[..., float]) -> None:
    expected = stats.bootstrap(
        (SMOOTH["score"].to_numpy(), SMOOTH["label"].to_numpy()),
        statistic,
        paired=True,
        vectorized=False,
        n_resamples=4000,
        method="percentile",
        **{SCIPY_RNG: np.random.default_rng(11)},
    )
    found = prframe.interval(SMOOTH, metric, method="percentile", rng=12, n_resamples=20_000)
    assert found["std_error"].item() == pytest.approx(expected.standard_error, rel=0.1)
    # P@20 moves by steps of 1/20.
    tolerance = 0.012 if metric == "AUC" else 0.051
    assert found.select(ENDS).row(0) == pytest.approx(
        tuple(expected.confidence_interval), abs=tolerance
    )


# Subarachnoid haemorrhages by their outcome, poor or good, and WFNS grade 1 to 5. The areas that are
# published of these patients, whole and in part, with the interval of the whole, leave but these
# counts.
POOR, GOOD = (2, 12, 1, 8, 18), (37, 20, 3, 8, 4)


def test_the_error_of_auc_is_that_of_proc() -> None:
    grades = pl.Series("score", [1, 2, 3, 4, 5] * 2)
    label = pl.Series("label", [1] * 5 + [0] * 5)
    number = pl.Series("number", [*POOR, *GOOD])
    patients = pl.DataFrame([grades, label, number]).select(
        pl.col("score", "label").repeat_by("number").explode()
    )
    found = prframe.interval(patients, "AUC").row(0, named=True)
    published = (0.748534887819453, 0.823678861788618, 0.898822835757783)
    reach = stats.norm.ppf(0.975) * found["std_error"]
    ends = [found["estimate"] + sign * reach for sign in (-1, 0, 1)]
    assert ends == pytest.approx(published, abs=1e-14)


# Clusters


@pytest.mark.parametrize("method", ["percentile", "logit-t"])
def test_clusters_of_one_row_are_rows(method: str) -> None:
    options = {"method": method, "n_resamples": 50_000}
    for metric in ("AP", "P@20"):
        # The jackknife differs from influence values, a little more of AP.
        off = 0.04 if (method, metric) == ("logit-t", "AP") else 0.02
        plain = prframe.interval(SMOOTH, metric, rng=18, **options)
        found = prframe.interval(SMOOTH, metric, rng=19, cluster="item", **options)
        assert found["estimate"].equals(plain["estimate"])
        columns = ["std_error", *ENDS]
        assert found.select(columns).row(0) == pytest.approx(plain.select(columns).row(0), abs=off)


@pytest.mark.parametrize("method", ["percentile", "logit-t"])
def test_rows_that_stand_twice_say_nothing_new(method: str) -> None:
    twice = pl.concat([SMOOTH, SMOOTH])

    def width(rows: pl.DataFrame, cluster: str | None = None) -> float:
        found = prframe.interval(
            rows, "AUC", method=method, cluster=cluster, n_resamples=8000, rng=20
        )
        return found["conf_high"].item() - found["conf_low"].item()

    once = width(SMOOTH)
    # The jackknife corrects the middle of clusters.
    assert width(twice, "item") == pytest.approx(once, rel=0.1)
    assert width(twice) == pytest.approx(once / 2**0.5, rel=0.06)


# Means


@pytest.mark.parametrize("ties", ALL_TIES)
def test_means_are_those_of_evaluate(ties: str) -> None:
    metrics = ["AP", "P@3", "nDCG", "DCG"]
    options = {"by": "model", "over": "query", "ties": ties, "item": "item"}
    if ties not in WITHOUT_LABELS:
        metrics = ["AP", "P@3"]
    found, texts = warned(lambda: prframe.interval(DATA, metrics, method="t", **options))
    values, expected = warned(lambda: prframe.evaluate(DATA, metrics, **options))
    assert found["estimate"].to_list() == pytest.approx(values["mean"].to_list())
    assert texts == expected
    assert set(found["method"]) == {"t"}
    assert found["std_error"].to_list() == pytest.approx(
        (values["std"] / values["n"].cast(float) ** 0.5).to_list()
    )


@quiet
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_t_interval_of_means_is_scipy_s(alternative: str) -> None:
    metrics = ["AP", "DCG"]
    values = prframe.evaluate(DATA, metrics, by="query")
    options = {"over": "query", "alternative": alternative, "confidence_level": 0.9}
    found = prframe.interval(DATA, metrics, method="t", **options)
    auto = prframe.interval(DATA, metrics, **options)
    assert auto["method"].to_list() == ["logit", "t"]
    for metric in metrics:
        sample = values[metric].drop_nulls().to_numpy()
        ends = stats.ttest_1samp(sample, 0, alternative=alternative).confidence_interval(0.9)
        most = 1 if metric == "AP" else np.inf
        assert found.filter(metric=metric).select(ENDS).row(0) == pytest.approx(
            tuple(np.clip(ends, 0, most))
        )


def test_means_with_weights_judgments_and_totals() -> None:
    rows = DATA.with_columns(
        weight=pl.col("item") % 3 + 0.5, judged=pl.col("label") | (pl.col("item") % 2 == 0)
    )
    cases = [
        (["AP", "AUPRC"], {"weight": "weight"}),
        (["Bpref", "Judged@5", "infAP"], {"judged": "judged"}),
        (["AP", "R@3"], {"n_pos": 30}),
    ]
    for metrics, options in cases:
        found = prframe.interval(rows, metrics, over=["query"], **options)
        values = prframe.evaluate(rows, metrics, over=["query"], **options)
        assert found["estimate"].to_list() == pytest.approx(values["mean"].to_list())
        assert found.null_count().sum_horizontal().item() == 0


def test_undefined_values_are_left_out_of_means() -> None:
    # Query 0 has no positives.
    rows = DATA.with_columns(pl.col("label") & (pl.col("query") > 0))
    found, texts = warned(lambda: prframe.interval(rows, ["AP", "P@3"], over="query"))
    assert texts == [
        "AP: undefined, so null or NaN, for 1 of 9 groups, which have no positives, in groups 0"
    ]
    others = prframe.interval(rows.filter(pl.col("query") > 0), "AP", over="query")
    assert found[:1].equals(others)
    assert found["conf_low"].null_count() == 0


# What is missing


def test_draws_need_both_classes() -> None:
    rows = SMOOTH.with_columns(label=True)
    found, texts = warned(
        lambda: prframe.interval(rows, "AP", method="bayesian-bootstrap", rng=27)
    )
    assert found["estimate"].item() == 1
    assert found["conf_low"].item() is None
    assert texts == [too_little("AP")]


@quiet
@pytest.mark.parametrize("options", [{}, {"cluster": "item"}, {"over": "query"}])
@pytest.mark.parametrize("by", [None, "model"])
@pytest.mark.filterwarnings("ignore::prframe.EmptyFrameWarning")
def test_no_rows(options: dict[str, str], by: str | None) -> None:
    found = prframe.interval(DATA.clear(), METRICS, by=by, **options)
    assert found.height == 0
    assert found.schema == prframe.interval(DATA, METRICS, by=by, rng=1, **options).schema


# Coverage


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_thresholds_may_be_infinite() -> None:
    rows = pl.DataFrame({"score": [np.inf, np.inf, 1.0, 0.0], "label": [1, 0, 1, 0]})
    found = prframe.interval(rows, "MaxF1", rng=1)
    # Retrieving all items of so few is not excluded.
    assert found.row(1)[1:5] == (1.0, None, -np.inf, np.inf)
    # A single positive tells nothing of how the threshold varies.
    alone, texts = warned(
        lambda: prframe.interval(rows.head(1), "MaxF1", n_pos=9, n_neg=30, rng=1)
    )
    assert alone.row(1)[1:5] == (np.inf, None, None, None)
    assert texts == [too_little("MaxF1 threshold")]


AT_A_THRESHOLD = ["MCC", "BalancedAccuracy", "P", "R", "F1", "Specificity"]


@quiet
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threshold", [-9, 9])
def test_thresholds_beyond_all_scores(threshold: int, method: Any) -> None:
    """A sample of which all items lie on one side does not say that this is certain."""
    names = [f"{name}(threshold={threshold})" for name in AT_A_THRESHOLD]
    rows = SMOOTH.with_columns(pl.col("score").clip(-8, 8))
    values = prframe.evaluate(rows, names).row(0)
    found = prframe.interval(rows, names, method=method, rng=1, n_resamples=100)
    assert found["estimate"].to_list() == pytest.approx(values)
    for row in found.rows(named=True):
        if row["conf_low"] is None:
            assert row["conf_high"] is None
            assert row["std_error"] is None
        else:
            assert row["conf_low"] <= row["estimate"] <= row["conf_high"]
            assert row["conf_high"] > row["conf_low"] + 0.01
    null = set(found.filter(pl.col("conf_low").is_null())["metric"])
    # Drawn counts go beyond the items seen.
    assert {names[0], names[1]} <= null or method in {"auto", "bayesian-bootstrap"}
    # What is retrieved has a precision if anything is.
    if method == "auto":
        assert null == ({names[2]} if threshold == 9 else set())


@pytest.mark.parametrize("metric", ["AUC", "R@5", "EF", "pAUC", "W(mww)"])
def test_scores_that_are_all_the_same(metric: str) -> None:
    rows = SMOOTH.with_columns(score=0.5)
    found, texts = warned(lambda: prframe.interval(rows, metric, method="logit-t"))
    assert found["estimate"].item() == pytest.approx(prframe.evaluate(rows, metric).item())
    assert found.select("std_error", *ENDS).row(0) == (None, None, None)
    assert texts == [too_little(metric)]


def test_draws_of_zero_differ_by_rounding_alone_where_nothing_is_retrieved() -> None:
    rows = pl.DataFrame({"score": [-np.inf] * 12, "label": [1, 1] + [0] * 10})
    names = ["RR", "RBP(p=0.8)", "nDCG", "AP"]
    found, _ = warned(lambda: prframe.interval(rows, names, method="bayesian-bootstrap", rng=5))
    assert found["estimate"].to_list() == [0.0] * 4
    assert found.select("std_error", *ENDS).null_count().row(0) == (4, 4, 4)
