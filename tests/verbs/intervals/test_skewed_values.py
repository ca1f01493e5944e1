"""Means of few, skewed values: Hall's interval, and the warning where another one is taken."""

import numpy as np
import polars as pl
import pytest

import prframe
from prframe.verbs._mean_samples import few_for_skewness

RNG = np.random.default_rng(5)
# Three of twenty values carry the mean.
SKEWED = np.append(RNG.uniform(0.01, 0.02, 17), [0.7, 0.8, 0.9])
EVEN = RNG.uniform(size=20)


def frame(values: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"query_id": np.arange(values.size), "AP": values})


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("values", [SKEWED, EVEN, -1e90 * SKEWED], ids=["skewed", "even", "large"])
def test_halls_interval_is_that_of_the_differences_from_nothing(values, alternative) -> None:
    options = {"values": "AP", "over": "query_id", "alternative": alternative}
    data = frame(values).rename({"AP": "size"})
    found = prframe.interval(data, **{**options, "values": "size"}, method="hall")
    assert found["method"].item() == "hall"
    pair = data.with_columns(nothing=0.0)
    options |= {"values": ["size", "nothing"], "test": "hall"}
    expected = prframe.compare(pair, **options)
    for ours, theirs in (("estimate", "difference"), ("conf_low", "conf_low")):
        assert found[ours].item() == pytest.approx(expected[theirs].item(), rel=1e-10)
    assert found["conf_high"].item() == pytest.approx(expected["conf_high"].item(), rel=1e-10)


def test_the_ends_solve_the_equation_of_hall() -> None:
    found = prframe.interval(frame(SKEWED), values="AP", over="query_id", method="hall")
    n, error = SKEWED.size, SKEWED.std(ddof=1) / SKEWED.size**0.5
    bend = pl.Series(SKEWED).skew(bias=False) / n**0.5
    for name, sign in (("conf_low", 1), ("conf_high", -1)):
        t = (SKEWED.mean() - found[name].item()) / error
        corrected = t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6
        # The quantile of Student's t distribution with 19 degrees of freedom.
        assert corrected == pytest.approx(sign * 2.0930240544, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "t", "logit", "percentile", "bca"])
def test_few_skewed_values_are_warned_of(method: str) -> None:
    data = pl.concat(
        [
            frame(SKEWED).with_columns(system=pl.lit("a")),
            frame(EVEN).with_columns(system=pl.lit("b")),
        ]
    )
    options = {"values": "AP", "over": "query_id", "by": "system", "n_resamples": 100}
    with pytest.warns(prframe.CoverageWarning) as caught:
        prframe.interval(data, **options, method=method)
    assert [str(warning.message) for warning in caught] == [
        "a few values decide 1 of 2 means, in groups 'a': their intervals may miss the mean too "
        "often. More values help, and method='hall' allows for skewness (in interval and band); "
        "where it does not matter, ignore CoverageWarning."
    ]
    prframe.interval(data, **options, method="hall")


def test_skewed_metrics_are_named_among_several() -> None:
    data = frame(SKEWED).with_columns(P=frame(EVEN)["AP"], R=frame(SKEWED)["AP"])
    with pytest.warns(prframe.CoverageWarning, match="decide 2 of 3 means, of AP, R: their"):
        prframe.interval(data, values=["AP", "P", "R"], over="query_id")


def test_half_of_the_values_at_an_end_are_covered_by_logits() -> None:
    for values, told in (([0.3] + [1.0] * 19, False), ([0.3] + [0.99] * 19, True)):
        assert few_for_skewness(np.array(values), "logit") is told
        assert few_for_skewness(np.array(values), "percentile")
