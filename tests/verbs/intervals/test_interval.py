"""The verb `interval`: against SciPy, the other verbs, and by simulation."""

import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import prframe
from prframe.metrics import parse_metric
from prframe.stats.intervals.rankings import ranking_interval
from prframe.stats.rankings import (
    AveragePrecision,
    PrecisionAt,
    PrecisionAtRecall,
    RecallAt,
    RocArea,
    TrapezoidArea,
)
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
        "conf_low, conf_high: undefined, hence null, for 1 of 1 groups, which hold too little for "
        f"an interval of {', '.join(map(repr, metrics))}, or nothing that varies"
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


@pytest.mark.slow
@quiet
@given(group=items(max_size=9))
def test_rows_of_clusters_are_ranked_as_others_are(group: list[Item]) -> None:
    rows = frame({"a": group}).with_columns(cluster=pl.int_range(pl.len()) // 2)
    found = prframe.interval(rows, EVERY, cluster="cluster")
    found = found.filter(pl.col("metric") != "MaxF1 threshold")
    values = prframe.evaluate(rows, EVERY, layout="long")
    assert found["estimate"].to_list() == pytest.approx(values["value"].to_list(), nan_ok=True)


def test_large_integers_stay_apart_in_clusters() -> None:
    rows = DATA.with_columns(score=2**60 + pl.int_range(120) * 7 % 31)
    found = prframe.interval(rows, ["AP", "AUC"], cluster="query")
    values = prframe.evaluate(rows, ["AP", "AUC"], layout="long")
    assert found["estimate"].to_list() == pytest.approx(values["value"].to_list())


@pytest.mark.parametrize("method", METHODS)
def test_a_group_is_the_filtered_frame(method: str) -> None:
    found = prframe.interval(DATA, METRICS, by="model", method=method, rng=3, n_resamples=40)
    for model in "abc":
        alone = prframe.interval(
            DATA.filter(model=model), METRICS, method=method, rng=3, n_resamples=40
        )
        assert found.filter(model=model).drop("model").equals(alone)


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("options", [{}, {"cluster": "query"}, {"over": "query"}])
@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_numbers_depend_on_nothing_else(
    monkeypatch: pytest.MonkeyPatch, method: str, options: dict[str, str]
) -> None:
    def found(rows: object) -> pl.DataFrame:
        result = prframe.interval(
            rows, METRICS, by="model", method=method, rng=4, n_resamples=40, **options
        )
        return pl.DataFrame(result).sort("model", maintain_order=True)

    expected = found(DATA)
    assert expected["conf_low"].null_count() == 0
    assert found(DATA.sample(fraction=1, shuffle=True, seed=5)).equals(expected)
    assert found(DATA.sort("model", "score", descending=True)).equals(expected)
    assert found(DATA.to_pandas()).equals(expected)
    assert found(DATA.to_arrow()).equals(expected)
    for threads in (1, 5):
        monkeypatch.setattr(pl, "thread_pool_size", lambda threads=threads: threads)
        assert found(DATA).equals(expected)


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


def test_precision_at_recall_has_intervals() -> None:
    cells, _ = cells_from_scores(SMOOTH["score"], SMOOTH["label"])
    for method in METHODS:
        found = ranking_interval(cells, PrecisionAtRecall(0.5), method, rng=10)
        assert 0.2 < found.low < found.estimate < found.high <= 1
        assert found.std_error == pytest.approx(0.16, abs=0.04)


@pytest.mark.parametrize("method", METHODS)
def test_lift_is_a_multiple_of_recall(method: str) -> None:
    names = ["R@9", "Lift@9", "EF(fraction=0.15)"]
    found = prframe.interval(SMOOTH, names, method=method, rng=10, n_resamples=60)
    recall, lift, enrichment = found.select("estimate", "std_error", *ENDS).rows()
    assert lift == pytest.approx([60 / 9 * number for number in recall])
    assert enrichment == pytest.approx(lift)


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


@pytest.mark.parametrize("metric", ["RR", "R(at_precision=0.9)"])
def test_methods_that_a_metric_does_not_have_are_refused_before_any_work(metric: str) -> None:
    # Nothing is collected, and groups without positives would have no interval by any method.
    for rows in (SMOOTH.lazy(), SMOOTH.with_columns(label=0), SMOOTH.clear()):
        with pytest.raises(prframe.ArgumentError, match="has no standard error"):
            prframe.interval(rows, ["AP", metric], method="logit-t")


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


@pytest.mark.parametrize("method", METHODS)
def test_the_error_of_auc_is_delong_s(method: str) -> None:
    rows = data(300, seed=13).with_columns(pl.col("score").clip(-9, None))
    score, label = rows["score"].to_numpy(), rows["label"].to_numpy()
    higher = np.subtract.outer(score[label], score[~label])
    wins = (higher > 0) + (higher == 0) / 2
    of_pos, of_neg = wins.mean(axis=1), wins.mean(axis=0)
    found = prframe.interval(rows, "AUC", method=method, n_resamples=50, rng=1)
    delong = np.sqrt(of_pos.var(ddof=1) / of_pos.size + of_neg.var(ddof=1) / of_neg.size)
    assert found["std_error"].item() == pytest.approx(delong, rel=1e-12)


@pytest.mark.filterwarnings("ignore::prframe.CoverageWarning")
@pytest.mark.parametrize("cluster", [None, "cluster"])
def test_the_error_of_auc_is_that_of_the_comparison(cluster: str | None) -> None:
    rows = data(300, seed=13).with_columns(
        pl.col("score").clip(-9, None), cluster=pl.int_range(pl.len()) % 40, nothing=0.0
    )
    # A constant score has an AUC of one half without an error.
    options = {"score": ["score", "nothing"], "over": None, "test": "delong", "cluster": cluster}
    with_nothing = prframe.compare(rows, "AUC", **options)
    alone = prframe.interval(rows, "AUC", method="logit-t", cluster=cluster)
    assert with_nothing["mean_b"].item() == 0.5
    z = (alone["estimate"].item() - 0.5) / alone["std_error"].item()
    assert with_nothing["statistic"].item() == pytest.approx(z, rel=1e-9)


def test_one_item_of_a_class_does_not_vary() -> None:
    rows = pl.DataFrame({"score": [4, 3, 2, 1], "label": [0, 1, 0, 0]})
    found = prframe.interval(rows, "AUC", method="logit-t")
    assert found["std_error"].item() == pytest.approx((2 / 9 / 3 * 3 / 2) ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_alternatives_and_levels(method: str) -> None:
    def ends(level: float, alternative: str) -> np.ndarray:
        options = {"confidence_level": level, "alternative": alternative}
        found = prframe.interval(SMOOTH, METRICS, method=method, rng=14, **options)
        return found.select(ENDS).to_numpy().T

    low, high = ends(0.9, "two-sided")
    assert (ends(0.95, "less")[0] == 0).all()
    assert (ends(0.95, "greater")[1] == 1).all()
    # A bound of 95 % is an end of the interval of 90 %.
    assert ends(0.95, "less")[1] == pytest.approx(high)
    assert ends(0.95, "greater")[0] == pytest.approx(low)
    wider = ends(0.99, "two-sided")
    assert (wider[0] <= low).all()
    assert (wider[1] >= high).all()


@quiet
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cluster", [None, "item"])
def test_perfect_and_worst_rankings(method: str, cluster: str | None) -> None:
    if cluster and method == "bayesian-bootstrap":
        method = "auto"
    rows = pl.DataFrame({"item": range(40), "score": range(40), "label": [0] * 25 + [1] * 15})
    options = {"method": method, "cluster": cluster, "rng": 15}
    best = prframe.interval(rows, METRICS[:5], **options)
    assert best["estimate"].to_list() == [1, 1, 1, 1, 0.2]
    worst = prframe.interval(rows, ["AUC", "P@3", "R@3"], **options, positive=[0])
    assert worst["estimate"].to_list() == [0, 0, 0]
    if method == "percentile":
        columns = ["std_error", *ENDS]
        assert best.head(3).select(columns).null_count().row(0) == (3, 3, 3)
        assert worst.select(columns).null_count().row(0) == (3, 3, 3)
    else:
        assert best["conf_high"][:4].to_list() == [1, 1, 1, 1]
        assert (worst["conf_low"] == 0).all()
        assert (best["conf_low"][:4] < 0.99).all()
        assert (worst["conf_high"] > 0.01).all()


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_retrieved(method: str) -> None:
    nothing = DATA.with_columns(score=-np.inf)
    found, texts = warned(lambda: prframe.interval(nothing, METRICS, method=method, rng=16))
    assert found["estimate"].to_list() == [0, 0.5, 0, 0, 0, 0]
    assert texts == [too_little(*found.filter(pl.col("conf_low").is_null())["metric"])]
    columns = ["std_error", *ENDS]
    assert found.filter(metric="AUC").select(columns).row(0) == (None, None, None)
    others = found.filter(pl.col("metric") != "AUC")
    if method in {"auto", "logit-t"}:
        assert (others["conf_low"] == 0).all()
        assert (others["conf_high"] > 0.02).all()
    else:
        shown = others.filter(pl.col("conf_low").is_not_null())
        assert (shown["conf_high"] > shown["conf_low"]).all()


@quiet
@pytest.mark.parametrize("method", METHODS)
def test_cut_offs_beyond_the_ranking(method: str) -> None:
    found = prframe.interval(SMOOTH, ["R@60", "R@90", "P@60", "P@90"], method=method, rng=17)
    assert found["estimate"][:2].to_list() == [1, 1]
    jeffreys = method in {"auto", "logit-t"}
    assert found["conf_high"][:2].to_list() == ([1, 1] if jeffreys else [None, None])
    # All items among the first k: the prevalence over k.
    p60, p90 = found[2:].select("estimate", *ENDS).to_numpy()
    assert p60[0] == pytest.approx(SMOOTH["label"].mean())
    prevalence = stats.beta(60 * p60[0] + 0.5, 60 * (1 - p60[0]) + 0.5)
    assert p60[1:] == pytest.approx(prevalence.interval(0.95), abs=0.035)
    if method not in {"logit-t", "auto"}:
        assert p90 == pytest.approx(p60 / 1.5, abs=0.01)


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


@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_clusters_by_any_name(method: str) -> None:
    def found(cluster: pl.Expr, *, by: str | None = None) -> pl.DataFrame:
        rows = DATA.with_columns(cluster.alias("of"))
        return prframe.interval(
            rows, METRICS, method=method, cluster="of", rng=21, n_resamples=50, by=by
        )

    number, text = pl.col("query"), pl.col("query").cast(pl.String)
    expected = found(number)
    names = pl.Enum(list("012345678"))
    for cluster in (text, text.cast(pl.Categorical), text.cast(names), number * 1.5 - 3):
        assert found(cluster).equals(expected)
    assert found(number.cast(pl.Date)).equals(expected)
    assert found(text, by="model").equals(found(number, by="model"))


def test_one_cluster_has_no_interval() -> None:
    # Model "a" has one query.
    rows = DATA.with_columns(query=pl.when(pl.col("model") != "a").then("query").otherwise(0))
    for method in OF_CLUSTERS:
        options = {"by": "model", "cluster": "query", "method": method, "rng": 22}
        found, texts = warned(partial(prframe.interval, rows, ["AP", "P@3"], **options))
        without = found.filter(model="a")
        assert without["estimate"].null_count() == 0
        assert without.select("std_error", *ENDS).null_count().row(0) == (2, 2, 2)
        assert found.filter(pl.col("model") != "a").null_count().sum_horizontal().item() == 0
        assert texts == [
            "conf_low, conf_high: undefined, hence null, for 1 of 3 groups, which hold too little "
            "for an interval of 'AP', 'P@3', or nothing that varies, or lie in a single cluster, "
            "in groups ['a']"
        ]


@pytest.mark.slow
def test_clusters_cover() -> None:
    rng = np.random.default_rng(23)
    runs, number, size = 400, 8, 20
    cluster = np.tile(np.repeat(np.arange(number), size), runs)
    label = rng.random(runs * number * size) < 0.3
    shift = np.repeat(rng.normal(size=runs * number), size)
    score = (shift + rng.normal(size=label.size)) * 0.5**0.5 + label
    rows = pl.DataFrame(
        {"run": np.repeat(np.arange(runs), number * size), "c": cluster, "score": score}
    ).with_columns(label=label)
    true = stats.norm.cdf(0.5**0.5)
    found = prframe.interval(rows, "AUC", by="run", cluster="c")
    covered = (pl.col("conf_low") <= true) & (pl.col("conf_high") >= true)
    hits = found.select(covered.sum()).item()
    assert stats.binomtest(hits, runs, 0.95).pvalue > 0.001
    alone = prframe.interval(rows, "AUC", by="run", method="logit-t")
    assert alone.select(covered.mean()).item() < 0.93


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


@quiet
@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_of_means_is_scipy_s(method: str) -> None:
    values = prframe.evaluate(DATA, "DCG", by="query")["DCG"].to_numpy()
    found = prframe.interval(DATA, "DCG", over="query", method=method, rng=24, n_resamples=20_000)
    expected = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=20_000,
        method={"bca": "BCa"}.get(method, method),
        **{SCIPY_RNG: np.random.default_rng(25)},
    )
    ends = tuple(expected.confidence_interval)
    assert found.select(ENDS).row(0) == pytest.approx(ends, abs=0.02 * values.mean())
    assert found["std_error"].item() == pytest.approx(expected.standard_error, rel=0.03)


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
        "AP: undefined, hence null, for 1 of 9 groups, which have no positives, in groups [0]"
    ]
    others = prframe.interval(rows.filter(pl.col("query") > 0), "AP", over="query")
    assert found[:1].equals(others)
    assert found["conf_low"].null_count() == 0


def test_means_of_too_little() -> None:
    one = DATA.filter(query=3)
    found, texts = warned(lambda: prframe.interval(one, ["AP", "DCG"], over="query"))
    assert found["estimate"].null_count() == 0
    assert found.select("std_error", *ENDS).null_count().row(0) == (2, 2, 2)
    assert texts == [too_little("AP", "DCG")]
    none, texts = warned(
        lambda: prframe.interval(one.with_columns(label=False), "AP", over="query")
    )
    assert none.drop("metric", "method", "confidence_level").null_count().row(0) == (1, 1, 1, 1)
    assert texts == [
        "AP: undefined, hence null, for 1 of 1 groups, which have no positives, in groups [3]"
    ]


# What is missing


@pytest.mark.parametrize("cluster", [None, "query"])
def test_groups_without_positives_or_negatives(cluster: str | None) -> None:
    rows = DATA.with_columns(
        label=pl.when(model="a").then(False).when(model="b").then(True).otherwise("label")
    )
    options = {"by": "model", "cluster": cluster, "rng": 26}
    single = ", or lie in a single cluster" if cluster else ""
    found, texts = warned(lambda: prframe.interval(rows, ["AP", "R@3"], **options))
    assert texts == [
        "AP, R@3: undefined, hence null, for 1 of 3 groups, which have no positives, "
        "in groups ['a']",
        "conf_low, conf_high: undefined, hence null, for 1 of 3 groups, which hold too little for "
        f"an interval of 'R@3', or nothing that varies{single}, in groups ['b']",
    ]
    columns = ["estimate", "std_error", *ENDS]
    assert found.filter(model="a").select(columns).null_count().row(0) == (2, 2, 2, 2)
    # Where all are positive, R@3 is 3 of them in any sample.
    certain = pl.col("model").eq("b") & pl.col("metric").eq("R@3")
    shown = found.filter(pl.col("model") != "a", ~certain)
    assert shown.null_count().sum_horizontal().item() == 0
    found, texts = warned(lambda: prframe.interval(rows, ["AUC", "P@3"], **options))
    assert texts == [
        "AUC: undefined, hence null, for 2 of 3 groups, which have no positives or no negatives, "
        "in groups ['a', 'b']"
    ]
    assert found["estimate"].null_count() == 2
    assert found.filter(metric="P@3")["conf_low"].null_count() == 0
    found, texts = warned(
        lambda: prframe.interval(rows, "AP", **options | {"positive": ["x"], "label": "model"})
    )
    assert texts[0].startswith("AP: undefined, hence null, for 3 of 3 groups, which have no label")


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


@pytest.mark.slow
@quiet
def test_lazy_frames_and_options_of_rows() -> None:
    rows = DATA.with_columns(
        score=pl.when(pl.col("score").is_finite()).then("score"), grade=pl.col("label") * 2
    )
    options = {"label": "grade", "positive": 2, "missing": "last", "rng": 28, "by": "model"}
    for extra in ({}, {"cluster": "query"}, {"over": "query"}):
        plan = prframe.interval(rows.lazy(), METRICS, **options, **extra)
        assert isinstance(plan, pl.LazyFrame)
        found = plan.collect()
        expected = prframe.interval(DATA, METRICS, by="model", rng=28, **extra)
        assert found.sort("model", maintain_order=True).equals(
            expected.sort("model", maintain_order=True)
        )
        if not extra:
            assert found.schema == plan.collect_schema()


def test_float32_ties_in_clusters() -> None:
    whole = DATA.with_columns(pl.col("score").round() + 9)
    rows = whole.with_columns(pl.col("score") + pl.col("item") * 1e-12)
    found = prframe.interval(rows, "AP", cluster="query", float32=True)
    assert found.equals(prframe.interval(whole, "AP", cluster="query"))
    assert not found.equals(prframe.interval(rows, "AP", cluster="query"))


# Coverage


def ap_of_binormal(mu: float, prevalence: float) -> float:
    """AP of the population: the integral of precision over recall."""
    z, step = np.linspace(-10, 12, 40_001, retstep=True)
    found, false = prevalence * stats.norm.sf(z - mu), (1 - prevalence) * stats.norm.sf(z)
    return float(stats.norm.pdf(z - mu) * step @ (found / (found + false)))


def ap_of_levels(mu: float, prevalence: float, cuts: np.ndarray) -> float:
    """The same of scores cut into levels, which count at their end."""
    edges = np.append(cuts[::-1], -np.inf)
    recall, false = stats.norm.sf(edges - mu), stats.norm.sf(edges)
    found = prevalence * recall
    precision = found / (found + (1 - prevalence) * false)
    return float(np.diff(recall, prepend=0) @ precision)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "prevalence", "n", "cuts"),
    [
        (1.0, 0.1, 200, None),
        (2.0, 0.01, 2000, None),
        (1.5, 0.1, 500, np.array([-0.5, 0.5, 1.5, 2.5])),
    ],
    ids=["common", "rare", "ties"],
)
def test_intervals_for_ap_cover(
    mu: float, prevalence: float, n: int, cuts: np.ndarray | None
) -> None:
    rng, runs = np.random.default_rng(29), 200
    label = rng.random(runs * n) < prevalence
    score = rng.normal(size=runs * n) + mu * label
    true = ap_of_binormal(mu, prevalence)
    if cuts is not None:
        score, true = np.searchsorted(cuts, score), ap_of_levels(mu, prevalence, cuts)
    rows = pl.DataFrame({"run": np.repeat(np.arange(runs), n), "score": score, "label": label})
    found = prframe.interval(rows, "AP", by="run", rng=30, n_resamples=200)
    assert set(found["method"]) == {"bayesian-bootstrap"}
    hits = found.filter((pl.col("conf_low") <= true) & (pl.col("conf_high") >= true)).height
    # Coverage is promised to be within .92 and .98.
    assert stats.binomtest(hits, runs, 0.92, alternative="less").pvalue > 0.005
    assert stats.binomtest(hits, runs, 0.98, alternative="greater").pvalue > 0.005


def test_resamples_that_auto_takes_have_the_seed() -> None:
    """RR has no influence, so that `auto` takes resamples where clusters forbid draws."""
    rows = pl.DataFrame(
        {"score": [i // 2 for i in range(40)], "label": [0, 1, 0, 0, 1] * 8}
    ).with_columns(cluster=pl.int_range(40) // 4)
    options = {"cluster": "cluster", "n_resamples": 60}
    first, second, other = (
        prframe.interval(rows, ["AP", "RR"], rng=seed, **options) for seed in (1, 1, 2)
    )
    assert first["method"][1] == "percentile"
    assert first.equals(second)
    assert first["std_error"][1] != other["std_error"][1]
    named = prframe.interval(rows, ["AP", "RR"], method="percentile", rng=1, **options)
    assert named["std_error"][1] == first["std_error"][1]


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


@pytest.mark.parametrize("n_neg", [1000, 10**6])
def test_the_whole_partial_area_has_the_interval_of_the_area(n_neg: int) -> None:
    """Where a few negatives are listed of many, the areas of steps are small differences."""
    label = np.zeros(50, dtype=int)
    label[np.random.default_rng(0).choice(50, 10, replace=False)] = 1
    rows = pl.DataFrame({"score": np.arange(50.0), "label": label})
    found = prframe.interval(rows, ["AUC", "pAUC(max_fpr=1)"], n_neg=n_neg, rng=1)
    assert found["std_error"][1] == pytest.approx(found["std_error"][0], rel=0.02)
    for end in ("conf_low", "conf_high"):
        assert 1 - found[end][1] == pytest.approx(1 - found[end][0], rel=0.05)


@pytest.mark.parametrize("n_neg", [3, 5, 6, 7, 10, 11, 1001])
def test_mcc_stays_within_its_bounds(n_neg: int) -> None:
    score = [*(float(i) for i in range(1, n_neg + 1)), -np.inf]
    rows = pl.DataFrame({"score": score, "label": [0] * n_neg + [1]})
    value = prframe.evaluate(rows, "MCC(threshold=0.5)").item()
    assert value == pytest.approx(-1)
    assert value >= -1
    [row] = prframe.interval(rows, "MCC(threshold=0.5)").rows(named=True)
    assert -1 <= row["conf_low"] < row["conf_high"] <= 1


AT_A_THRESHOLD = ["MCC", "BalancedAccuracy", "P", "R", "F1", "Specificity"]


@quiet
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threshold", [-9, 9])
def test_thresholds_beyond_all_scores(threshold: int, method: str, alternative: Any) -> None:
    """A sample of which all items lie on one side does not say that this is certain."""
    names = [f"{name}(threshold={threshold})" for name in AT_A_THRESHOLD]
    rows = SMOOTH.with_columns(pl.col("score").clip(-8, 8))
    options = {"method": method, "alternative": alternative, "rng": 1, "n_resamples": 100}
    values = prframe.evaluate(rows, names).row(0)
    found = prframe.interval(rows, names, **options)
    assert found["estimate"].to_list() == pytest.approx(values)
    for row in found.rows(named=True):
        if row["conf_low"] is None:
            assert row["conf_high"] is None
            assert row["std_error"] is None
        else:
            assert row["conf_low"] <= row["estimate"] <= row["conf_high"]
            if alternative == "two-sided":
                assert row["conf_high"] > row["conf_low"] + 0.01
    null = set(found.filter(pl.col("conf_low").is_null())["metric"])
    # Drawn counts go beyond the items seen.
    assert {names[0], names[1]} <= null or method in {"auto", "bayesian-bootstrap"}
    # What is retrieved has a precision if anything is.
    if method == "auto":
        assert null == ({names[2]} if threshold == 9 else set())


def test_one_warning_of_all_that_does_not_vary() -> None:
    names = [f"{name}(threshold=9)" for name in AT_A_THRESHOLD]
    rows = SMOOTH.with_columns(pl.col("score").clip(-8, 8))
    (undefined,) = warned(lambda: prframe.interval(rows, names, rng=1))[1]
    assert undefined.startswith("P(threshold=9): undefined")


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


def test_draws_of_a_precision_are_at_most_one() -> None:
    """The mean number of positives above the end of a list may exceed the list; precision may not."""
    rows = pl.DataFrame({"score": [1.0], "label": [0]})
    found = prframe.interval(rows, "P@1", n_pos=30, method="bayesian-bootstrap", rng=1)
    assert found.select("estimate", *ENDS).row(0) == (0, 0, 1)
    # No variable within [0, 1] has more.
    assert found["std_error"].item() < 0.5


@pytest.mark.parametrize("metric", ["AP", "AUPRC", "BEDROC"])
@pytest.mark.parametrize("label", [[1] * 10, [1] * 9 + [0]])
def test_the_error_of_a_perfect_ranking_is_no_residue(metric: str, label: list[int]) -> None:
    rows = pl.DataFrame({"score": range(len(label), 0, -1), "label": label})
    found, _ = warned(lambda: prframe.interval(rows, metric, method="logit-t", rng=1))
    assert found["std_error"].item() in {0.0, None}


@pytest.mark.parametrize("n", [48, 60, 76, 92, 200])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_an_interval_of_no_width_is_none(n: int, alternative: Any) -> None:
    """Where nearly all items are positive, precision is at least 0.9 in nearly all draws."""
    rows = pl.DataFrame(
        {"score": range(n, 0, -1), "label": [1] * (n // 2) + [0] + [1] * (n - n // 2 - 1)}
    )
    options = {"rng": 1, "alternative": alternative}
    found, texts = warned(lambda: prframe.interval(rows, "R(at_precision=0.9)", **options))
    assert found.select("estimate", "std_error", *ENDS).row(0) == (1, None, None, None)
    assert texts == [too_little("R(at_precision=0.9)")]


def test_draws_that_differ_from_the_estimate_by_rounding_alone_have_no_interval() -> None:
    rows = pl.DataFrame({"score": [1.0], "label": [0]})
    options = {"n_pos": 3, "n_neg": 5, "method": "bayesian-bootstrap", "rng": 1}
    found, texts = warned(lambda: prframe.interval(rows, "AUC", **options))
    assert found.select("estimate", "std_error", *ENDS).row(0) == (0.4, None, None, None)
    assert texts == [too_little("AUC")]


def test_success_in_nearly_all_draws_is_nearly_certain() -> None:
    rows = pl.DataFrame({"score": range(100, 0, -1), "label": [1] * 50 + [0] + [1] * 49})
    found = prframe.interval(rows, "Success@5", rng=1)
    # Unseen negatives may be among the first five, and do not fill them.
    assert 0.95 < found["conf_low"].item() < 0.999
    assert found["conf_high"].item() == 1


@quiet
@pytest.mark.parametrize("method", OF_CLUSTERS)
def test_groups_without_positives_at_a_prior(method: str) -> None:
    rows = pl.DataFrame(
        {
            "group": ["a"] * 4 + ["b"] * 2,
            "score": [4.0, 3, 2, 1, 2, 1],
            "label": [1, 0, 1, 0, 0, 0],
        }
    )
    found = prframe.interval(
        rows, "P(threshold=1.5)", by="group", prior=0.3, method=method, rng=1, n_resamples=100
    )
    assert found["estimate"].to_list() == pytest.approx([6 / 13, 0])


@pytest.mark.parametrize("method", ["auto", "t", "logit", "percentile", "bca"])
@pytest.mark.parametrize("value", [0.0, 0.1, 0.5, 1.0])
def test_means_of_equal_values(method: str, value: float) -> None:
    """As of differences in `compare`: equal values do not show how much they vary."""
    rows = pl.DataFrame({"query": range(7), "metric": "AP", "value": value})
    options = {"values": "value", "over": "query", "method": method, "rng": 1}
    found, texts = warned(lambda: prframe.interval(rows, **options))
    assert found["estimate"].item() == pytest.approx(value)
    if method in {"auto", "logit"} and value in {0, 1}:
        # All of seven trials.
        assert found["conf_high"].item() - found["conf_low"].item() > 0.1
        assert not texts
    else:
        assert found.select("std_error", *ENDS).row(0) == (None, None, None)
        assert texts == [too_little("AP")]
