"""Mean curves over queries that come in clusters, such as the queries of users."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from scipy.stats import t as student

import prframe
from benchmarks import coverage, settings
from prframe.stats import mean_interval
from prframe.stats.intervals import Confidence, mean_band

Floats = NDArray[np.float64]
LEVELS = [0.0, 0.1, 0.3, 0.5, 0.7, 1.0]
SIZES = [1, 5, 2, 4, 1, 3, 4]
USERS = np.repeat(list("kbfadce"), SIZES)
QUERIES, ITEMS = len(USERS), 25
UNIT = Confidence(limits=(0, 1))
OPTIONS: dict[str, Any] = {
    "over": "query",
    "cluster": "user",
    "recall": LEVELS,
    "n_resamples": 199,
    "rng": 3,
}
SEED = int(np.random.default_rng(3).integers(1 << 62))


def runs() -> pl.DataFrame:
    """Two models that serve some users better than others."""
    rng = np.random.default_rng(2)
    query = np.repeat(np.arange(QUERIES), ITEMS)
    label = np.tile(np.arange(ITEMS) < 5, QUERIES)
    parts = []
    for model, skill in (("a", 1.0), ("b", 0.6)):
        served = skill + 0.7 * rng.normal(size=len(SIZES))
        apart = served[np.unique(USERS, return_inverse=True)[1][query]]
        score = rng.normal(size=query.size) + apart * label
        rows = {"query": query, "user": USERS[query], "item": np.tile(np.arange(ITEMS), QUERIES)}
        parts.append(pl.DataFrame(rows | {"score": score, "label": label, "model": model}))
    return pl.concat(f.with_columns(pl.col("model").cast(pl.String)) for f in parts)


RUNS = runs()
ALONE = RUNS.filter(model="a").drop("model")
CALLS: dict[str, Callable[..., Any]] = {
    "band": lambda rows, **options: prframe.band(rows, **{"by": "model"} | OPTIONS | options),
    "compare_curves": lambda rows, **options: prframe.compare_curves(rows, **OPTIONS | options),
}
skewed = pytest.mark.filterwarnings(
    "ignore::prframe.CoverageWarning", "ignore::prframe.SkewedDifferencesWarning"
)


def table(rows: pl.DataFrame) -> Floats:
    """The curve of each query, a row each."""
    drawn = prframe.curve(rows, by="query", recall=LEVELS)
    return drawn["precision"].to_numpy().reshape(-1, len(LEVELS))


def in_order(curves: Floats) -> tuple[Floats, list[int]]:
    """Curves in order, and their clusters in the order of their first ones."""
    order = np.lexsort(curves.T[::-1])
    names = USERS[order].tolist()
    return curves[order], [names.index(name) for name in names]


@pytest.mark.parametrize("model", ["a", "b"])
def test_whole_clusters_are_drawn(model: str) -> None:
    found = CALLS["band"](RUNS, anchor=True).filter(model=model)
    curves, cluster = in_order(table(RUNS.filter(model=model)))
    band = mean_band(curves, UNIT, 199, np.random.default_rng(SEED), cluster)
    single = [mean_interval(values, "logit", UNIT, cluster=cluster) for values in curves.T]
    low = np.fmin(band.low, [each.low for each in single])
    high = np.fmax(band.high, [each.high for each in single])
    low[0] = high[0] = 1  # The anchor.
    assert found["precision"].to_list() == pytest.approx(curves.mean(axis=0).tolist())
    np.testing.assert_allclose(found["conf_low"], low, rtol=1e-12)
    np.testing.assert_allclose(found["conf_high"], high, rtol=1e-12)
    assert found["n"].unique().to_list() == [QUERIES]


def test_the_standard_error_of_a_level_is_that_of_a_ratio() -> None:
    """Student's interval at each level, written out."""
    found = prframe.band(ALONE, simultaneous=False, method="t", anchor=False, **OPTIONS)
    curves, c = table(ALONE), len(SIZES)
    for level, low, high in found.select("recall", "conf_low", "conf_high").rows():
        values = curves[:, LEVELS.index(level)]
        squares = 0.0
        for user in set(USERS):
            own = values[user == USERS]
            squares += (own.sum() - len(own) * values.mean()) ** 2
        reach = student.ppf(0.975, c - 1) * (c / (c - 1) * squares) ** 0.5 / len(values)
        if level:
            ends = values.mean() - reach, values.mean() + reach
            assert (low, high) == pytest.approx(np.clip(ends, 0, 1), rel=1e-12)


@skewed
@pytest.mark.parametrize(
    ("name", "options"),
    [("band", {}), ("band", {"simultaneous": False}), ("compare_curves", {})],
)
def test_clusters_of_one_query_are_none(name: str, options: dict[str, bool]) -> None:
    call = CALLS[name]
    expected = call(RUNS, cluster=None, **options)
    assert_frame_equal(call(RUNS, cluster="query", **options), expected, check_exact=True)
    renamed = RUNS.with_columns(user=-pl.col("query"))
    assert_frame_equal(call(renamed, **options), expected, check_exact=True)


def of_users(differences: Floats) -> Floats:
    """Sums over the queries of each user."""
    return np.array([differences[user == USERS].sum(axis=0) for user in sorted(set(USERS))])


def test_the_p_value_counts_all_signs_of_clusters() -> None:
    found = CALLS["compare_curves"](RUNS, anchor=True)
    assert found["method"].unique().to_list() == ["max-t-exact"]
    differences = table(RUNS.filter(model="a")) - table(RUNS.filter(model="b"))
    sums = of_users(differences)[:, 1:]
    norms = np.sqrt((sums**2).sum(axis=0))
    drawn = [
        np.abs(np.array(signs) @ sums / norms).max()
        for signs in product([1, -1], repeat=len(sums))
    ]
    p_value = np.mean(np.array(drawn) >= np.abs(sums.sum(axis=0) / norms).max() - 1e-9)
    assert found["p_value"].to_list() == pytest.approx([p_value] * len(LEVELS))
    assert found["difference"].to_list() == pytest.approx(differences.mean(axis=0).tolist())
    band = mean_band(
        differences, Confidence(limits=(-1, 1)), 199, np.random.default_rng(SEED), USERS
    )
    assert (found["conf_low"].to_numpy() <= band.low + 1e-12).all()
    assert (found["conf_high"].to_numpy() >= band.high - 1e-12).all()


SAMPLES = 300


@pytest.mark.nightly
@skewed
@pytest.mark.parametrize("n_clusters", [15, 30])
def test_coverage_with_common_noise_in_clusters(n_clusters: int) -> None:
    band, gap = (
        settings.mean_curve(settings.OF_USERS, n_clusters, (4, 4), metric, "user")
        for metric in ("curve", "difference")
    )

    def covered(study: settings.Study, cluster: str | None) -> float:
        options = study.options | {"cluster": cluster}
        return coverage.rows_of(replace(study, options=options), SAMPLES)[0].coverage

    # Nominal 95 %; a band may err by .02, that of a difference be too wide besides.
    error = 3 * np.sqrt(0.05 / SAMPLES)
    assert covered(band, "user") == pytest.approx(0.95, abs=0.02 + error)
    assert covered(gap, "user") > 0.93 - error
    drawn = (gap.draw(np.random.default_rng([n_clusters, i])) for i in range(SAMPLES))
    rows = pl.concat(one.with_columns(sample=pl.lit(i)) for i, one in enumerate(drawn))
    assert rejected(rows, "user") == pytest.approx(0.05, abs=error)
    # Taken as independent, queries tell too much.
    assert covered(band, None) < 0.88
    assert rejected(rows, None) > 0.1


def rejected(rows: pl.DataFrame, cluster: str | None) -> float:
    """How often the curves of two models differ significantly."""
    options = OPTIONS | {"recall": np.arange(1, 11) / 10, "cluster": cluster, "n_resamples": 499}
    found = prframe.compare_curves(rows, ["score", "other"], by="sample", **options)
    p_values = found.group_by("sample").agg(pl.col("p_value").first())["p_value"]
    return float((p_values <= 0.05).to_numpy().mean())
