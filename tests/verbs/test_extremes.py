"""Numbers at the ends of floats, and columns whose names are used inside."""

from math import comb, log10
from typing import Any

import numpy as np
import polars as pl
import pytest

import prframe
from prframe import PrframeError
from prframe.stats import APNull

RNG = np.random.default_rng(1)
N = 200
ROWS = pl.DataFrame(
    {
        "q": np.arange(N) % 2,
        "score": RNG.normal(size=N).round(1),
        "label": (RNG.random(N) < 0.3).astype(int),
        "weight": RNG.random(N) + 0.01,
    }
)
WEIGHTED = ["AP", "AUC", "AUPRC", "Prec@0.5"]


@pytest.mark.parametrize("size", [1e90, 1e-90])
@pytest.mark.parametrize("by", [None, "q"])
def test_the_size_of_weights_does_not_matter(size: float, by: str | None) -> None:
    # In one group alone, so that groups are scaled apart.
    factor = pl.when(pl.col("q") == 0).then(size).otherwise(1.0) if by else pl.lit(size)
    scaled = ROWS.with_columns(pl.col("weight") * factor)
    found, expected = (
        prframe.evaluate(rows, WEIGHTED, weight="weight", by=by).select(WEIGHTED).to_numpy()
        for rows in (scaled, ROWS)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("verb", [lambda *a, **k: prframe.evaluate(*a, "AUC", **k), prframe.curve])
def test_weights_whose_sums_have_no_products_are_refused(verb: Any) -> None:
    for size, total in ((1.7e308, "inf"), (1e-110, "")):
        with pytest.raises(PrframeError) as caught:
            verb(ROWS.with_columns(pl.col("weight") * size), weight="weight")
        must = "`weight` 'weight' must add up to a number from 1e-100 to 1e100: "
        assert str(caught.value).startswith(must + total)
        assert str(caught.value).endswith("; divide all weights by the same number.")


def known(n: int, n_pos: int, ap: float) -> pl.DataFrame:
    """Test an precomputed average precisions."""
    return prframe.ap_test({"ap": [ap], "p": [n_pos], "n": [n]}, ap="ap", n_pos="p", n="n")


@pytest.mark.slow
def test_few_positives_among_very_many_items() -> None:
    # AP of two positives is .5 or more if the first item is one, or both of the first three are.
    for n in (10**6, 10**8):
        assert known(n, 2, 0.5)["p_value"].item() == pytest.approx(2 / n, rel=1e-5)
    assert known(10**8, 5, 0.2)["p_value"].item() == pytest.approx(5e-8, rel=1e-2)


@pytest.mark.parametrize(("n", "n_pos"), [(10**9, 5), (10**15, 5), (10**15, 2)])
def test_more_items_than_floats_tell_apart_are_refused(n: int, n_pos: int) -> None:
    best = known(n, n_pos, 1.0)["log10_p_value"].item()
    assert best == pytest.approx(-log10(comb(n, n_pos)), rel=1e-12)
    with pytest.raises(PrframeError) as caught:
        known(n, n_pos, 0.2)
    assert str(caught.value) == (
        f"AP with n_pos={n_pos} and {n:,} retrieved items has no p-value here: beyond "
        "100,000,000 items, neighbouring values are as close as their rounding. Draw random rankings "
        "instead, in ap_test with method='monte-carlo'; if the ranking is cut off, say where."
    )
    drawn = prframe.ap_test(
        {"ap": [0.2], "p": [n_pos], "n": [n]},
        ap="ap",
        n_pos="p",
        n="n",
        method="monte-carlo",
        n_resamples=99,
        rng=1,
    )
    assert drawn["p_value"].item() == pytest.approx(0.01)


def test_means_among_too_many_items_are_refused() -> None:
    rows = {"ap": [0.2, 0.3], "p": [5, 5], "n": [10**15] * 2, "q": [1, 2]}
    with pytest.raises(PrframeError, match="has no p-value here: beyond 100,000,000 items"):
        prframe.ap_test(rows, ap="ap", n_pos="p", n="n", over="q")
    # What matters is how many are retrieved.
    assert APNull(10**15, 5, depth=8).sf(0.2) == pytest.approx(5e-15, rel=1e-9)


@pytest.mark.parametrize("name", ["rows with these keys", "size", "len", "by0", "value", "column"])
def test_columns_named_like_inner_ones(name: str) -> None:
    rows = pl.DataFrame({name: ["q1", "q2", "q3"], "a": [0.1, 0.5, 0.7], "b": [0.2, 0.1, 0.4]})
    plain = prframe.compare(rows.rename({name: "q"}), values=["a", "b"], over="q")
    assert prframe.compare(rows, values=["a", "b"], over=name).equals(plain)
    means = prframe.interval(rows, values=["a", "b"], over=name)
    assert means.equals(prframe.interval(rows.rename({name: "q"}), values=["a", "b"], over="q"))
    with pytest.raises(PrframeError, match="2 of 4 rows share these, in groups 'q1'"):
        prframe.compare(pl.concat([rows, rows[:1]]), values=["a", "b"], over=name)


def test_names_of_working_columns_are_refused() -> None:
    rows = ROWS.rename({"q": "prframe: row number"})
    with pytest.raises(PrframeError) as caught:
        prframe.curve(rows, by="prframe: row number", order="input")
    assert str(caught.value) == (
        "`by[0]` must not begin with 'prframe: ', as working columns do; got 'prframe: row "
        "number'; rename the column."
    )


@pytest.mark.parametrize("label", [np.inf, -np.inf])
@pytest.mark.parametrize("metric", ["nDCG", "AP", "DCG@2"])
def test_infinite_labels_in_expressions(label: float, metric: str) -> None:
    rows = pl.DataFrame({"score": [3.0, 2, 1], "label": [1.0, label, 0.0]})
    with pytest.raises(PrframeError, match=r"^`label` must be finite; mend or drop these rows\."):
        rows.select(pl.col("score").pr.metric(metric, "label"))
