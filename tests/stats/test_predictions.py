"""Prediction-powered means: the definition, its laws, and the reference implementation."""

from dataclasses import astuple
from math import isnan, sqrt

import numpy as np
import pytest

from prframe import PrframeError
from prframe.stats import Confidence, mean_interval, predicted_mean
from prframe.stats.intervals import IntervalEstimate

SIZES = [(20, 1000), (40, 200), (160, 200), (4, 9)]


def draws(n: int, n_all: int, noise: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Human values, known of the first n, and those of a machine that is biased and noisy."""
    rng = np.random.default_rng([seed, n, n_all])
    y = rng.beta(1, 2, n_all)
    g = np.clip(0.1 + 0.9 * y + rng.normal(0, noise, n_all), 0, 1)
    return np.where(np.arange(n_all) < n, y, np.nan), g


def definition(y: np.ndarray, g: np.ndarray) -> dict[str, float]:
    """The formulas of the docstring, in plain Python."""
    pairs = [(a, b) for a, b in zip(y.tolist(), g.tolist(), strict=True) if not isnan(a)]
    n, n_all = len(pairs), len(g)
    mean_y, mean_g = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    mean_all = sum(g.tolist()) / n_all
    product = sum((a - mean_y) * (b - mean_g) for a, b in pairs)
    slope = product / sum((b - mean_g) ** 2 for _, b in pairs)
    rest = sum((a - mean_y - slope * (b - mean_g)) ** 2 for a, b in pairs) / (n - 2)
    first = rest * (1 + (1 - n / n_all) / (n - 3)) / n
    second = slope**2 * sum((b - mean_all) ** 2 for b in g.tolist()) / (n_all - 1) / n_all
    alone = sum((a - mean_y) ** 2 for a, _ in pairs) / (n - 1) / n
    return {
        "estimate": mean_y + slope * (mean_all - mean_g),
        "std_error": sqrt(first + second),
        "df": min(
            (first + second) ** 2 / (first**2 / (n - 2) + second**2 / (n_all - 1)), n_all - 1
        ),
        "weight": slope * (1 - n / n_all),
        "bias": mean_y - mean_g,
        "n_effective": n * alone / (first + second),
    }


@pytest.mark.parametrize(("n", "n_all"), SIZES)
def test_the_definition(n: int, n_all: int) -> None:
    y, g = draws(n, n_all)
    found = predicted_mean(y, g, "t")
    assert (found.n, found.n_predicted) == (n, n_all)
    for name, value in definition(y, g).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-10), name


@pytest.mark.parametrize(("n", "n_all"), SIZES)
def test_the_estimator_of_the_paper(n: int, n_all: int) -> None:
    """With its weight the estimate is that of PPI++, the mean of the machine's other values in."""
    y, g = draws(n, n_all)
    found = predicted_mean(y, g)
    w = found.weight
    paper = w * g[n:].mean() + (y[:n] - w * g[:n]).mean()
    assert found.estimate == pytest.approx(paper, abs=1e-12)
    # The paper divides by the variance of all of the machine's values, here it is that of the n.
    cov = np.cov(y[:n], g[:n])
    of_paper = cov[0, 1] / (g.var(ddof=1) * (1 + n / (n_all - n)))
    assert w * cov[1, 1] / g.var(ddof=1) == pytest.approx(of_paper, rel=1e-12)


def ends(found: IntervalEstimate) -> tuple[float, ...]:
    return found.estimate, found.std_error, found.low, found.high


@pytest.mark.parametrize("method", ["auto", "t", "logit"])
@pytest.mark.parametrize("limits", [(0.0, 1.0), (-np.inf, np.inf)])
@pytest.mark.parametrize("clustered", [False, True])
def test_laws(method: str, limits: tuple[float, float], clustered: bool) -> None:
    y, g = draws(30, 90)
    confidence = Confidence(0.9, limits=limits)
    cluster = np.arange(90) // 2 if clustered else None
    human = None if cluster is None else cluster[:30]
    ordinary = mean_interval(y[:30], method, confidence, cluster=human)
    # Without further queries, without correlation and against it, the interval is the human one.
    for a, b, c in [
        (y[:30], g[:30], human),
        (y, np.full(90, 0.3), cluster),
        (y, 1 - g, cluster),
    ]:
        found = predicted_mean(a, b, method, confidence, cluster=c)
        assert ends(found) == pytest.approx(ends(ordinary), rel=1e-12)
        assert found.method == ordinary.method
        assert (found.weight, found.n_effective, found.df) == (0, 30, 14 if clustered else 29)
    # A perfect machine makes it that of all queries.
    every = np.where(np.isnan(y), g, y)
    found = predicted_mean(y, every, method, confidence, cluster=cluster)
    of_all = mean_interval(every, method, confidence, cluster=cluster)
    assert ends(found) == pytest.approx(ends(of_all), rel=1e-9)
    assert found.weight == pytest.approx(2 / 3)
    assert found.bias == 0


def test_clusters_are_units() -> None:
    """Values of clusters of one size are as good as the means of clusters."""
    y, g = draws(12, 40)
    cluster = np.repeat(np.arange(40), 3)
    rng = np.random.default_rng(1)
    off = rng.normal(0, 0.1, (2, 40, 3))
    off -= off.mean(axis=2, keepdims=True)
    found = predicted_mean(
        (y[:, None] + off[0]).ravel(), (g[:, None] + off[1]).ravel(), cluster=cluster
    )
    means = predicted_mean(y, g)
    assert ends(found) == pytest.approx(ends(means), rel=1e-9)
    assert (found.df, found.weight) == pytest.approx((means.df, means.weight), rel=1e-9)
    assert found.n_effective == pytest.approx(3 * means.n_effective)


def test_undefined_values_do_not_enter_their_means() -> None:
    """A judged unit without a human value is in the sample by the machine's value all the same."""
    y, g = draws(30, 90)
    g[[3, 50]] = np.nan
    y[7] = np.nan
    judged = np.arange(90) < 30
    found = predicted_mean(y, g, judged=judged)
    assert (found.n, found.n_predicted) == (29, 88)
    both = judged & ~np.isnan(g)
    slope = found.weight / (1 - both.sum() / 88)
    expected = np.nanmean(y) + slope * (np.nanmean(g) - g[both].mean())
    assert found.estimate == pytest.approx(expected, rel=1e-12)
    assert found.bias == pytest.approx(np.nanmean(y - g))


@pytest.mark.slow
def test_it_covers_where_values_are_undefined() -> None:
    """Values are undefined where they would be low, for each judge by its own."""
    rng, held = np.random.default_rng(5), []
    z = rng.normal(size=1_000_000)
    target = z[z > -0.5].mean()
    for _ in range(2000):
        y = rng.normal(size=600)
        g = y + rng.normal(0, 0.5, 600)
        judged = np.arange(600) < 60
        human = np.where(judged & (y > -0.5), y, np.nan)
        found = predicted_mean(human, np.where(g > -0.5, g, np.nan), "t", judged=judged)
        held.append(found.low <= target <= found.high)
    assert 0.935 < np.mean(held) < 0.965


def test_the_order_has_no_effect() -> None:
    y, g = draws(30, 90)
    cluster = np.arange(90) // 2
    order = np.random.default_rng(2).permutation(90)
    for names in (None, cluster):
        moved = None if names is None else names[order]
        found = predicted_mean(y[order], g[order], cluster=moved)
        assert astuple(found) == astuple(predicted_mean(y, g, cluster=names))


@pytest.mark.parametrize("size", [1e-150, 1e100])
def test_very_small_and_very_large_values(size: float) -> None:
    y, g = draws(30, 90)
    found, plain = predicted_mean(size * y, size * g, "t"), predicted_mean(y, g, "t")
    assert found.low / size == pytest.approx(plain.low, rel=1e-9)


def test_few_and_no_human_values() -> None:
    y, g = draws(3, 9)
    assert predicted_mean(y, g).weight == 0
    nothing = predicted_mean(np.full(9, np.nan), g)
    assert nothing.n == 0
    assert np.isnan([nothing.estimate, nothing.std_error, nothing.low, nothing.bias]).all()


def test_weights_and_ends_stay_within_their_ranges() -> None:
    y, g = draws(30, 90)
    assert predicted_mean(y, g / 10).weight == 1
    confidence = Confidence(limits=(0, 1))
    low = predicted_mean(
        [*[0, 0.1, 0, 0.3], np.nan, np.nan], [0.4, 0.5, 0.4, 0.9, 0, 0], "logit", confidence
    )
    assert low.estimate == 0
    assert low.low == 0
    assert 0 < low.high <= 1


def test_errors() -> None:
    must = "`human` and `predicted` must be lists of one length, of finite numbers or NaN; got "
    with pytest.raises(PrframeError) as caught:
        predicted_mean([0.1], [0.1, 0.2])
    assert str(caught.value) == f"{must}shapes (1,) and (2,)."
    with pytest.raises(PrframeError):
        predicted_mean([np.inf], [0.1])
    with pytest.raises(PrframeError, match=r"`method` must be one of"):
        predicted_mean([0.1], [0.1], "bca")
