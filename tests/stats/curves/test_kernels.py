"""Kernel estimates of a class: sums over every score, SciPy's bandwidths, degenerate classes."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

import prframe
from prframe.stats.curves.kernels import ClassKernel, class_kernels
from prframe.stats.rankings.classes import two_classes
from tests.refusals import refusals


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


@pytest.mark.parametrize(
    ("law", "rule"),
    [
        ("normal", "scott"),
        ("normal", "undersmoothed"),
        # The standard deviation says nothing of Cauchy's distribution.
        ("cauchy", "robust"),
        ("five levels", "scott"),
        ("thousands", "undersmoothed"),
    ],
)
@pytest.mark.parametrize("n", [10**4, pytest.param(10**6, marks=pytest.mark.slow)])
def test_many_scores_are_gathered_without_loss(n: int, law: str, rule: str) -> None:
    rng = np.random.default_rng(5)
    scores = {
        "normal": lambda: rng.normal(size=n),
        "cauchy": lambda: rng.standard_cauchy(n),
        "five levels": lambda: rng.integers(0, 5, n).astype(float),
        "thousands": lambda: np.round(rng.exponential(size=n), 3),
    }[law]()
    kernel, _ = kernels(scores, [0.0, 1.0], rule)
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


@pytest.mark.parametrize("rule", ["scott", "silverman"])
@pytest.mark.parametrize("n", [2, 5000])
def test_bandwidths_are_those_of_scipy(rule: str, n: int) -> None:
    scores = np.random.default_rng(n).gamma(2, size=n)
    expected = np.sqrt(stats.gaussian_kde(scores, rule).covariance.item())
    first, second = kernels(scores, -scores, rule)
    assert first.bandwidth == pytest.approx(expected, rel=1e-12)
    assert second.bandwidth == pytest.approx(expected, rel=1e-12)


test_refusals = refusals(
    {
        "`bandwidth` must be one of 'robust', 'scott', 'silverman', 'undersmoothed'; got 'Scott'. Did you mean 'scott'?": "Scott",
        "`bandwidth` must be a number > 0; got 0.": 0,
        "`bandwidth` must be a number > 0; got None.": None,
        "`bandwidth` must be a number > 0; got -1.0.": (("scott", -1.0),),
        "`bandwidth` must be a rule, a number, or a pair of these, for positives and negatives; got ('scott',).": (
            ("scott",),
        ),
    },
    lambda bandwidth: kernels([0.0, 1.0], [0.0, 1.0], bandwidth),
)


def test_scores_whose_squares_overflow() -> None:
    with pytest.raises(prframe.PrframeError) as caught:
        kernels([0.0, -1e141], [0.0, np.inf], "scott")
    assert str(caught.value) == (
        "scores to be smoothed must be at most 1e+140 in size; got 1e+141; scale them."
    )
    for kernel in kernels([0.0, -1e140], [1e140, np.inf], "scott"):
        assert np.isfinite(kernel.sf(np.array([0.0]))).all()
