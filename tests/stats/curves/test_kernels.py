"""Kernel estimates of a class: sums over every score, SciPy's bandwidths, degenerate classes."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import ndtr

import prframe
from prframe.stats.curves.kernels import ClassKernel, class_kernels
from prframe.stats.rankings.classes import positives_at, two_classes


def kernels(positives, negatives, bandwidth="scott", n_pos=None, n_neg=None):
    some, others = two_classes(positives, negatives, n_pos, n_neg)
    return class_kernels(some, others, bandwidth)


def exact(scores, threshold, bandwidth):
    """Tail and density by sums over every score."""
    tail, density = np.empty(threshold.size), np.empty(threshold.size)
    for i, t in enumerate(threshold):
        z = (scores - t) / bandwidth
        tail[i] = ndtr(z).mean()
        density[i] = np.exp(-z * z / 2).mean() / (bandwidth * np.sqrt(2 * np.pi))
    return tail, density


def worst(kernel: ClassKernel, scores: np.ndarray) -> tuple[float, float]:
    """Largest relative error of the tail at quantiles of the scores and beyond, and of the density."""
    h = kernel.bandwidth
    threshold = np.append(
        np.quantile(scores, np.linspace(0, 1, 60 if scores.size < 10**5 else 15)),
        scores.max() + h * np.arange(1, 6),
    )
    tail, density = exact(scores, threshold, h)
    return (
        np.abs(kernel.sf(threshold) / tail - 1).max(),
        np.abs(kernel.pdf(threshold) / density - 1).max(),
    )


@pytest.mark.parametrize("n", [1, 2, 7, 199, 200])
def test_few_scores_are_summed_exactly(n: int) -> None:
    scores = np.random.default_rng(n).standard_cauchy(n)
    kernel, _ = kernels(scores, [0.0, 1.0], 0.3)
    assert kernel.nodes.size == n
    assert max(worst(kernel, scores)) < 1e-12


@pytest.mark.parametrize("rule", ["scott", "undersmoothed"])
@pytest.mark.parametrize("law", ["normal", "cauchy", "five levels", "thousands"])
@pytest.mark.parametrize("n", [1000, 10**4, pytest.param(10**6, marks=pytest.mark.slow)])
def test_many_scores_are_gathered_without_loss(n: int, law: str, rule: str) -> None:
    rng = np.random.default_rng(5)
    scores = {
        "normal": lambda: rng.normal(size=n),
        "cauchy": lambda: rng.standard_cauchy(n),
        "five levels": lambda: rng.integers(0, 5, n).astype(float),
        "thousands": lambda: np.round(rng.exponential(size=n), 3),
    }[law]()
    # The standard deviation says nothing of Cauchy's distribution.
    kernel, _ = kernels(scores, [0.0, 1.0], "robust" if law == "cauchy" else rule)
    assert kernel.nodes.size <= 23_000
    tail, density = worst(kernel, scores)
    assert tail < 2e-5
    assert density < 1e-3


def test_a_bandwidth_far_below_the_runs() -> None:
    # A run is then a step in its middle, and a step is off by half a run at most.
    scores = np.sort(np.random.default_rng(6).normal(size=10**6))
    kernel, _ = kernels(scores, [0.0, 1.0], 1e-9)
    assert kernel.nodes.size < 23_000
    between = (scores[1:] + scores[:-1])[::-997] / 2
    above = np.arange(1, scores.size)[::997] / scores.size
    assert kernel.sf(between) == pytest.approx(above, rel=0.006)


@given(st.lists(st.sampled_from([-2.0, 0.0, 0.5, 0.50001, 3.0, 40.0]), min_size=1), st.data())
def test_the_inverse(scores: list[float], data: st.DataObject) -> None:
    kernel, _ = kernels(scores, [0.0, 1.0], data.draw(st.sampled_from([1e-4, 0.1, 2.0])))
    share = np.array(data.draw(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1)))
    threshold = kernel.isf(share)
    assert np.isfinite(threshold).all()
    # Where nothing is for many bandwidths the tail is flat but for rounding.
    assert kernel.sf(threshold) == pytest.approx(share, rel=1e-9)


def test_the_inverse_of_many_scores() -> None:
    kernel, _ = kernels(np.random.default_rng(1).standard_cauchy(10**5), [0.0, 1.0], "robust")
    share = np.concatenate([[1e-9, 1e-6], np.linspace(0.001, 0.999, 300), [1 - 1e-6]])
    assert kernel.sf(kernel.isf(share)) == pytest.approx(share, rel=1e-12)


def test_unretrieved_items_and_infinite_scores() -> None:
    scores = [-np.inf, 0.0, 1.0, 2.0, np.inf]
    kernel, _ = kernels(scores, [0.0, 1.0], 0.5, n_pos=10)
    tail, density = exact(np.array([0.0, 1.0, 2.0]), np.array([0.7]), 0.5)
    assert kernel.retrieved == 0.4
    assert kernel.sf(np.array([0.7])) == pytest.approx(0.1 + 0.3 * tail)
    assert kernel.pdf(np.array([0.7])) == pytest.approx(0.3 * density)
    assert kernel.isf(np.array([0.05, 0.1, 0.4, 0.5])).tolist() == [
        np.inf,
        np.inf,
        -np.inf,
        -np.inf,
    ]
    assert kernel.sf(np.array([np.inf, -np.inf])) == pytest.approx([0.1, 0.4])


@pytest.mark.parametrize("rule", ["scott", "silverman"])
@pytest.mark.parametrize("n", [2, 30, 5000])
def test_bandwidths_are_those_of_scipy(rule: str, n: int) -> None:
    scores = np.random.default_rng(n).gamma(2, size=n)
    expected = np.sqrt(stats.gaussian_kde(scores, rule).covariance.item())
    first, second = kernels(scores, -scores, rule)
    assert first.bandwidth == pytest.approx(expected, rel=1e-12)
    assert second.bandwidth == pytest.approx(expected, rel=1e-12)


def test_the_other_bandwidths() -> None:
    rng = np.random.default_rng(3)
    scores, outliers = rng.normal(size=100), rng.standard_cauchy(100)
    first, second = kernels(scores, outliers, "undersmoothed")
    assert first.bandwidth == pytest.approx(scores.std(ddof=1) / 100 ** (1 / 3))
    assert second.bandwidth == pytest.approx(outliers.std(ddof=1) / 100 ** (1 / 3))
    first, second = kernels(scores, outliers, ("robust", 0.25))
    spread = min(scores.std(ddof=1), stats.iqr(scores) / 1.349)
    assert first.bandwidth == pytest.approx(0.9 * spread * 100**-0.2)
    assert second.bandwidth == 0.25
    second = kernels(scores, outliers, ("scott", "robust"))[1]
    assert second.bandwidth == pytest.approx(0.9 * stats.iqr(outliers) / 1.349 * 100**-0.2)
    # Quartiles that coincide say nothing; scores do vary.
    tied = np.array([0.0, *[1.0] * 20, 5.0])
    first, _ = kernels(tied, scores, "robust")
    assert first.bandwidth == pytest.approx(0.9 * tied.std(ddof=1) * 22**-0.2)


def test_classes_without_spread() -> None:
    # One positive: its bandwidth is the spread of all scores.
    others = [0.0, 1.0, 4.0]
    first, _ = kernels([2.0], others)
    assert first.bandwidth == pytest.approx(np.std([2.0, *others], ddof=1))
    first, second = kernels([1.0] * 32, [0.0] * 32)
    assert first.bandwidth == pytest.approx(np.std([0, 1] * 32, ddof=1) / 2)
    assert second.bandwidth == first.bandwidth
    # A constant scorer: any bandwidth, but the same, though the classes differ in size.
    first, second = kernels([3.0] * 5, [3.0] * 500, "robust")
    assert first.bandwidth == second.bandwidth == 1
    # Nothing retrieved.
    first, _ = kernels([-np.inf], others)
    assert first.bandwidth == pytest.approx(np.std(others, ddof=1))
    assert first.sf(np.zeros(2)).tolist() == [0, 0]
    assert first.isf(np.array([0.5])).tolist() == [-np.inf]


def test_levels_are_whole_numbers_of_positives_but_for_rounding() -> None:
    levels = np.arange(1, 11) / 10
    assert positives_at(levels, 10).tolist() == list(range(1, 11))
    # 0.1 + 0.2 is not 0.3.
    assert positives_at(np.array([0.1 + 0.2, 1 - 0.9]), 10).tolist() == [3, 1]
    assert positives_at(np.array([0.25]), 10).tolist() == [2.5]


@pytest.mark.parametrize(
    ("bandwidth", "message"),
    [
        ("Scott", "`bandwidth` must be one of 'robust', 'scott', 'silverman', 'undersmoothed'; got 'Scott'. Write bandwidth='scott'."),
        (0, "`bandwidth` must be a number > 0; got 0."),
        (None, "`bandwidth` must be a number > 0; got None."),
        (("scott", -1.0), "`bandwidth` must be a number > 0; got -1.0."),
        (("scott",), "`bandwidth` must be a rule, a number, or a pair of these, for positives and negatives; got ('scott',)."),
    ],
)  # fmt: skip
def test_refusals(bandwidth: object, message: str) -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        kernels([0.0, 1.0], [0.0, 1.0], bandwidth)
    assert str(caught.value) == message


def test_scores_whose_squares_overflow() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        kernels([0.0, -1e141], [0.0, np.inf], "scott")
    assert str(caught.value) == (
        "scores to be smoothed must be at most 1e+140 in size; got 1e+141; scale them."
    )
    for kernel in kernels([0.0, -1e140], [1e140, np.inf], "scott"):
        assert np.isfinite(kernel.sf(np.array([0.0]))).all()


@pytest.mark.parametrize("n", [3, 150, 4000])
def test_boxes(n: int) -> None:
    scores = np.random.default_rng(n).normal(size=n)
    some, others = two_classes(scores, [0.0, 1.0], None, None)
    kernel, _ = class_kernels(some, others, 0.3, "box")
    half = 0.3 * np.sqrt(3)
    threshold = np.linspace(-3, 3, 41) + 1e-7
    # The share of a uniform distribution around each score that lies above a threshold.
    above = np.clip((scores[:, None] + half - threshold) / (2 * half), 0, 1).mean(axis=0)
    density = (np.abs(scores[:, None] - threshold) <= half).mean(axis=0) / (2 * half)
    gathered = kernel.nodes.size < n
    assert kernel.sf(threshold) == pytest.approx(above, abs=1e-4 if gathered else 1e-12)
    assert kernel.pdf(threshold) == pytest.approx(density, abs=0.02 if gathered else 1e-12)
    share = np.linspace(0.01, 0.99, 25)
    assert kernel.sf(kernel.isf(share)) == pytest.approx(share, rel=1e-9)


def test_a_box_that_bridges_no_gap() -> None:
    some, others = two_classes([0.0, 0.0, 9.0, 9.0], [4.0, 5.0], None, None)
    kernel, _ = class_kernels(some, others, 0.1, "box")
    assert kernel.sf(np.array([4.5])).tolist() == [0.5]
    assert kernel.sf(kernel.isf(np.array([0.25, 0.75]))) == pytest.approx([0.25, 0.75])


def test_the_shape_has_a_name() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        prframe.stats.pr_curve([1.0], [0.0], [0.5], bandwidth=1, kernel="boxes")
    assert str(caught.value).startswith("`kernel` must be one of 'box', 'gaussian'; got 'boxes'.")
