"""The verb `compare` over queries, against SciPy, statsmodels, enumeration and definitions."""

from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.stats

import prframe
from tests.compared_runs import MODELS, pair, runs, table, without_nan

# Small samples of metrics are skewed, which is of no concern to what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore::prframe.SkewedDifferencesWarning")

SIDES = ("two-sided", "less", "greater")
sides = pytest.mark.parametrize("alternative", SIDES)
DATA = runs()
# A metric of any value, and one with many ties.
METRICS = ["AP", "P@4"]
N_PAIRS = len(MODELS) * (len(MODELS) - 1) // 2


def rows(frame: pl.DataFrame = DATA, metrics: Any = METRICS, **options: Any) -> list[dict]:
    """Return the rows of a comparison."""
    return without_nan(prframe.compare(frame, metrics, **options)).rows(named=True)


def folded(x: Any, alternative: str) -> np.ndarray:
    """Return what is large where a difference is extreme."""
    return {"two-sided": np.abs(x), "less": -np.asarray(x), "greater": np.asarray(x)}[alternative]


def difference(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return differences without rounding, so that ties tie."""
    return (a - b).round(12)


def test_means_and_counts() -> None:
    found = rows()
    keys = [(row["metric"], row["model_a"], row["model_b"]) for row in found]
    assert keys == [(m, *two) for m in METRICS for two in combinations(MODELS, 2)]
    tied = 0
    for row in found:
        a, b = pair(table(DATA, row["metric"]), row)
        d = difference(a, b)
        assert row["mean_a"] == pytest.approx(a.mean(), rel=1e-12)
        assert row["mean_b"] == pytest.approx(b.mean(), rel=1e-12)
        assert row["difference"] == pytest.approx((a - b).mean(), abs=1e-12)
        counts = [(d > 0).sum(), (d == 0).sum(), (d < 0).sum(), d.size]
        assert [row[name] for name in ("wins", "ties", "losses", "n")] == counts
        tied += row["ties"]
    assert tied > 0


@sides
def test_randomization_is_the_enumeration_of_signs(alternative: str) -> None:
    signs = np.array(list(product([-1, 1], repeat=12)))
    for row in rows(alternative=alternative):
        d = difference(*pair(table(DATA, row["metric"]), row))
        extreme = folded(signs @ d, alternative) >= folded(d.sum(), alternative) - 1e-9
        assert row["p_value"] == pytest.approx(extreme.mean(), rel=1e-12)
        assert row["statistic"] == row["difference"]
        assert (row["method"], row["p_std_error"]) == ("randomization-exact", None)


@sides
def test_t_is_scipys(alternative: str) -> None:
    for row in rows(test="t", alternative=alternative, confidence_level=0.9):
        a, b = pair(table(DATA, row["metric"]), row)
        expected = scipy.stats.ttest_rel(a, b, alternative=alternative)
        assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
        assert row["p_value"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert row["method"] == "t"
        # Metrics lie between 0 and 1, and differences between -1 and 1.
        ends = np.clip(expected.confidence_interval(0.9), -1, 1)
        assert (row["conf_low"], row["conf_high"]) == pytest.approx(tuple(ends), abs=1e-9)


def test_effect_sizes_are_their_definitions() -> None:
    for row in rows():
        a, b = pair(table(DATA, row["metric"]), row)
        assert row["effect_size"] == pytest.approx((a - b).mean() / (a - b).std(ddof=1))


NAMES = {"bh": "fdr_bh", "by": "fdr_by"}


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["bonferroni", "holm", "bh", "by"])
@pytest.mark.parametrize(("within", "family"), [("all", []), ("by", ["half"])])
def test_corrections_are_statsmodels(correction: str, within: str, family: list[str]) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    # Of one group the first rows stand last, so that families are not runs of rows by chance.
    data = DATA.with_columns(half=pl.col("query_id") > "q005").sort("item", maintain_order=True)
    options: dict[str, Any] = {"test": "t", "correction": correction, "within": within}
    found = without_nan(prframe.compare(data, METRICS, by="half", **options))
    for _, part in found.group_by(family) if family else [((), found)]:
        expected = multitest.multipletests(
            part["p_value"], method=NAMES.get(correction, correction)
        )[1]
        assert part["p_adjusted"].to_list() == pytest.approx(expected, rel=1e-12)
    sizes = {"all": 12, "by": 6}
    if correction == "bonferroni":
        capped = np.minimum(1, sizes[within] * found["p_value"].to_numpy())
        assert found["p_adjusted"].to_list() == pytest.approx(capped)


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"correction": "holm"}, [N_PAIRS * 2] * 2),
        ({"correction": "bh"}, [N_PAIRS * 2] * 2),
        ({"correction": "max-t"}, [N_PAIRS * 2] * 2),
        ({"correction": "holm", "baseline": MODELS[0]}, [2 * (len(MODELS) - 1)] * 2),
    ],
)
def test_the_facts_of_a_comparison(options: dict[str, Any], sizes: list[int]) -> None:
    found = prframe.compare(DATA, ["AP", "P@1"], rng=1, confidence_level=0.9, **options)
    assert found["correction"].unique().to_list() == [options["correction"]]
    assert found["test"].unique().to_list() == ["randomization"]
    assert found["confidence_level"].unique().to_list() == [0.9]
    for metric, size in zip(("AP", "P@1"), sizes, strict=True):
        assert found.filter(metric=metric)["n_family"].unique().to_list() == [size]


def stepped_down(t: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Adjust statistics by the maxima of those that are not larger, over all draws."""
    order, adjusted, largest = np.argsort(-t), np.empty(t.size), 0.0
    for place, test in enumerate(order):
        share = (drawn[:, order[place:]].max(axis=1) >= t[test] - 1e-9).mean()
        largest = adjusted[test] = max(largest, share)
    return adjusted


@pytest.mark.slow
@sides
def test_max_t_is_the_enumeration_of_signs(alternative: str) -> None:
    data = runs(9, seed=4)
    signs = np.array(list(product([-1, 1], repeat=9)))
    options: dict[str, Any] = {"correction": "max-t", "within": "by", "rng": 1}
    found = rows(data, alternative=alternative, **options)
    d = np.column_stack([difference(*pair(table(data, row["metric"]), row)) for row in found])

    def t_statistics(d: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return d.mean(axis=0) / d.std(axis=0, ddof=1)

    t = folded(t_statistics(d), alternative)
    drawn = np.array([folded(t_statistics(row[:, None] * d), alternative) for row in signs])
    expected = stepped_down(t, drawn)
    assert [row["p_adjusted"] for row in found] == pytest.approx(expected, abs=1e-12)


@sides
def test_power_is_statsmodels(alternative: str) -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    side = {"two-sided": "two-sided", "less": "smaller", "greater": "larger"}[alternative]
    solver = power.TTestPower()
    needed = []
    for row in rows(power=0.8, alternative=alternative, confidence_level=0.9):
        d = np.subtract(*pair(table(DATA, row["metric"]), row))
        spread = d.std(ddof=1)
        effect = row["detectable_difference"] / spread
        assert solver.power(effect, 12, 0.1, alternative=side) == pytest.approx(0.8, abs=1e-6)
        n = row["n_needed"]
        if n is None:
            assert {"less": d.mean() >= 0, "greater": d.mean() <= 0}[alternative]
            continue
        # That many are enough, and one fewer is not.
        assert solver.power(d.mean() / spread, n, 0.1, alternative=side) >= 0.8
        assert n == 2 or solver.power(d.mean() / spread, n - 1, 0.1, alternative=side) < 0.8
        needed.append(n)
    assert needed or alternative == "less"


def test_baselines() -> None:
    every = prframe.compare(DATA, "AP", correction=None, test="t")
    flipped = every.select(
        model_a="model_b",
        model_b="model_a",
        difference=-pl.col("difference"),
        conf_low=-pl.col("conf_high"),
        conf_high=-pl.col("conf_low"),
        p_value="p_value",
        wins="losses",
        losses="wins",
    )
    both = pl.concat([every.select(flipped.columns), flipped])
    orders = {"y": "xy zy", ("z", "x"): "yz yx", ("x",): "yx zx"}
    for baseline, order in orders.items():
        given = baseline if isinstance(baseline, str) else list(baseline)
        found = prframe.compare(DATA, "AP", baseline=given, correction=None, test="t")
        assert [a + b for a, b in found.select("model_a", "model_b").rows()] == order.split()
        for row in found.select(flipped.columns).rows():
            (expected,) = both.filter(model_a=row[0], model_b=row[1]).rows()
            assert row[2:] == pytest.approx(expected[2:], rel=1e-9)
    arrays = [np.array(["z", "x"]), pl.Series(["z", "x"]), ("z", "x")]
    for given in arrays:
        found = prframe.compare(DATA, "AP", baseline=given)
        assert found.equals(prframe.compare(DATA, "AP", baseline=["z", "x"]))
