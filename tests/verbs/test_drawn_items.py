"""Means over queries where items are drawn as well, against definitions in plain Python."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.errors import PrframeError
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence

QUERIES, ITEMS = 7, 12
OPTIONS = {"over": "query_id", "item": "doc_id", "resampling": "items"}


def drawn(shared=True):
    """Return rows of two models, for which the same items rank high or low in all queries."""
    rng = np.random.default_rng(8)
    hub = 2 * rng.normal(size=ITEMS)
    rows = []
    for model, noise in (("a", 0.5), ("b", 0.7)):
        for q in range(QUERIES):
            labels = [1, 0] + [int(i % 4 == (q % 3 == 0)) for i in range(2, ITEMS)]
            for i, label in enumerate(labels):
                doc = f"d{i}" if shared else f"d{i} of {q}"
                score = round(float(label + hub[i] + noise * rng.normal()), 1)
                rows.append([model, f"q{q}", doc, score, label])
    return pl.DataFrame(
        rows, schema=["model", "query_id", "doc_id", "score", "label"], orient="row"
    )


FRAME = drawn()


def weighted_ap(scores, labels, weights):
    """Return AP where each item counts with a weight, tied items standing together."""
    value, total = 0.0, sum(w for w, y in zip(weights, labels, strict=True) if y)
    for s, y, w in zip(scores, labels, weights, strict=True):
        if y and w:
            above = [(u, z) for t, z, u in zip(scores, labels, weights, strict=True) if t >= s]
            value += w * sum(u for u, z in above if z) / sum(u for u, _ in above)
    return value / total


def weighted_auc(scores, labels, weights):
    """Return the weighted share of pairs in the right order, ties as halves."""
    items = list(zip(scores, labels, weights, strict=True))
    pairs = [(s, t, u * w) for s, y, u in items if y for t, z, w in items if not z]
    won = sum(w * ((s > t) + (s == t) / 2) for s, t, w in pairs)
    return won / sum(w for *_, w in pairs)


METRICS = {"AP": weighted_ap, "AUC": weighted_auc}


def influence(metric, rows):
    """Return what each item contributes: of AP without it, else the derivative by its weight."""
    scores, labels = rows["score"].to_list(), rows["label"].to_list()

    def value(place, weight):
        weights = [weight if i == place else 1 for i in range(len(scores))]
        return METRICS[metric](scores, labels, weights)

    if metric == "AP":
        left = [value(place, 0) for place in range(len(scores))]
        share, mean = 1 - 1 / len(left), sum(left) / len(left)
        values = [share * (mean - each) for each in left]
    else:
        values = [(value(i, 1 + 1e-5) - value(i, 1 - 1e-5)) / 2e-5 for i in range(len(scores))]
    return dict(zip(rows["doc_id"], values, strict=True))


def shared_variance(by_query):
    """Return the mean covariance of two queries, given the influence of items by query."""
    items = {name for values in by_query for name in values}
    n, m = len(by_query), len(items)
    products = [
        sum(a.get(i, 0.0) * b.get(i, 0.0) for i in items)
        for x, a in enumerate(by_query)
        for y, b in enumerate(by_query)
        if x != y
    ]
    return max(0.0, m / (m - 1) * sum(products) / (n * (n - 1)))


@pytest.mark.parametrize("metric", METRICS)
def test_interval_adds_what_shared_items_have_in_common(metric):
    found = prframe.interval(FRAME, metric, by="model", **OPTIONS)
    for model in "ab":
        parts = FRAME.filter(model=model).partition_by("query_id")
        ones = [1.0] * ITEMS
        values = np.array([METRICS[metric](part["score"], part["label"], ones) for part in parts])
        added = shared_variance([influence(metric, part) for part in parts])
        assert added > 0
        expected = mean_interval(
            values,
            "logit",
            Confidence(limits=(0, 1)),
            test_train_ratio=added / values.var(ddof=1),
        )
        row = found.filter(model=model).row(0, named=True)
        assert [row["estimate"], row["std_error"], row["conf_low"]] == pytest.approx(
            [expected.estimate, expected.std_error, expected.low], rel=1e-6
        )
        assert row["method"] == "logit-items"


@pytest.mark.parametrize("metric", METRICS)
def test_compare_adds_what_differences_have_in_common(metric):
    row = prframe.compare(FRAME, metric, test="t", **OPTIONS).row(0, named=True)
    differences, effects = [], []
    for _, rows in FRAME.group_by("query_id", maintain_order=True):
        a, b = (rows.filter(model=model) for model in "ab")
        ones = [1.0] * ITEMS
        first, second = (METRICS[metric](x["score"], x["label"], ones) for x in (a, b))
        of_a, of_b = influence(metric, a), influence(metric, b)
        differences.append(first - second)
        effects.append({name: of_a[name] - of_b[name] for name in of_a})
    variance = np.var(differences, ddof=1) / QUERIES + shared_variance(effects)
    assert row["statistic"] == pytest.approx(np.mean(differences) / variance**0.5, rel=1e-6)
    interval = mean_interval(
        differences,
        "t",
        test_train_ratio=shared_variance(effects) / np.var(differences, ddof=1),
    )
    assert row["conf_low"] == pytest.approx(interval.low, rel=1e-6)
    assert row["method"] == "t-items"


def test_items_of_one_query_each_change_nothing_but_the_method():
    own = drawn(shared=False)
    plain = {name: value for name, value in OPTIONS.items() if name != "resampling"}
    for verb, options in ((prframe.interval, {"by": "model"}), (prframe.compare, {"test": "t"})):
        with_items = verb(own, ["AP", "AUC"], **options, **OPTIONS)
        without = verb(own, ["AP", "AUC"], **options, **plain)
        assert with_items["method"].str.ends_with("-items").all()
        assert with_items.drop("method").equals(without.drop("method"))


def test_queries_without_a_value_do_not_enter():
    empty = FRAME.head(ITEMS).with_columns(query_id=pl.lit("q99"), label=0 * pl.col("label"))
    with pytest.warns(prframe.UndefinedMetricWarning):
        found = prframe.interval(pl.concat([FRAME, empty]), "AP", by="model", **OPTIONS)
    assert found.equals(prframe.interval(FRAME, "AP", by="model", **OPTIONS))


def test_queries_that_do_not_differ_leave_an_interval_undefined():
    parts = [FRAME.head(ITEMS).with_columns(query_id=pl.lit(name)) for name in "xy"]
    with pytest.warns(prframe.UndefinedMetricWarning, match="too little for an interval"):
        row = prframe.interval(pl.concat(parts), "AP", by="model", **OPTIONS).row(0, named=True)
    assert row["estimate"] is not None
    assert row["conf_low"] is None
    assert row["method"] == "logit-items"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"item": None}, "name their column with item="),
        ({"n_pos": 5}, "`n_pos` counts items that are not listed"),
        ({"weight": "label"}, "draws whole items and takes no `weight` with resampling='items'"),
        ({"ties": "order"}, "takes ties='group' with resampling='items'"),
        ({"metrics": "infAP"}, "infAP has no influence values for resampling='items'"),
        ({"metrics": "RR"}, "the first positive alone decides it"),
        ({"resampling": "item"}, "or 'items', where items are drawn"),
    ],
)
@pytest.mark.parametrize("verb", [prframe.interval, prframe.compare])
def test_what_does_not_go_with_drawn_items_is_refused(verb, options, message):
    options = {"metrics": "AP"} | OPTIONS | options
    options |= {"by": "model"} if verb is prframe.interval else {"test": "t"}
    with pytest.raises(PrframeError, match=message):
        verb(FRAME, **options)


def test_options_of_either_verb_that_take_values_as_independent_are_refused():
    with pytest.raises(PrframeError, match="'t' and 'logit' for shared items; method='bca'"):
        prframe.interval(FRAME, "AP", by="model", method="bca", **OPTIONS)
    with pytest.raises(PrframeError, match="whose column stands in over="):
        prframe.interval(FRAME, "AP", by="model", resampling="items")
    for options in ({"test": "randomization"}, {"interval": "bca"}):
        with pytest.raises(PrframeError, match="Student's t for shared items"):
            prframe.compare(FRAME, "AP", **{"test": "t"} | options | OPTIONS)
    values = pl.DataFrame({"query_id": [1, 2, 3], "a": [0.1, 0.2, 0.4]})
    with pytest.raises(PrframeError, match="which values at hand do not tell"):
        prframe.interval(values, values="a", over="query_id", resampling="items")


def test_grades_are_refused_for_metrics_of_gains():
    graded = FRAME.with_columns(pl.col("label") * 2)
    with pytest.raises(
        PrframeError, match="takes nDCG only where labels are 0 and 1, and not where they"
    ):
        prframe.interval(graded, "nDCG", by="model", **OPTIONS)
