"""The smoothed rank statistic against double loops and finite differences."""

from math import erf, exp, pi, sqrt

import numpy as np
import pytest

from prframe import PrframeError
from prframe.learn import smoothed, smoothed_criterion
from prframe.learn.rules import DefiniteRule, LinearRule, QuadraticRule
from prframe.learn.smoothed import Problem
from prframe.stats import CustomFunction, parse_phi

PHIS = [
    "mww",
    "p-norm-push(q=3)",
    "p-norm-push(q=1.5)",
    "rtb(u0=0.9)",
    "rtb(u0=0.7, beta=100, lam=50)",
    "logistic",
    "logrank",
    "van-der-waerden",
    CustomFunction(np.sqrt),
    CustomFunction(np.square, slope=lambda u: 2 * u),
]
RULES = [LinearRule(), QuadraticRule(), DefiniteRule()]


def name_of(value: object) -> str:
    return getattr(value, "name", None) or (
        value if isinstance(value, str) else type(value).__name__
    )


def naive_sums(points, sources, weights):
    cdf = [
        sum(a * (1 + erf((t - x) / sqrt(2))) / 2 for x, a in zip(sources, weights, strict=True))
        for t in points
    ]
    density = [
        sum(
            a * exp(-((t - x) ** 2) / 2) / sqrt(2 * pi)
            for x, a in zip(sources, weights, strict=True)
        )
        for t in points
    ]
    return cdf, density


def places(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return points and sources, in units of the bandwidth."""
    sources = {
        "narrow": rng.normal(scale=0.01, size=150),
        "many panels": rng.uniform(-500, 500, 400),
        "outliers": np.r_[-1e7, rng.normal(scale=3, size=120), 4e3, 2e5],
        "heavy tails": 5 * rng.standard_cauchy(300),
        "ties": rng.integers(0, 5, 150).astype(float),
        "far": 1e5 + rng.normal(scale=3, size=150),
        "one": np.array([2.0]),
    }[kind]
    return np.sort(sources[::2]), np.sort(sources)


@pytest.mark.parametrize(
    "kind", ["narrow", "many panels", "outliers", "heavy tails", "ties", "far", "one"]
)
@pytest.mark.parametrize("at_once", [1000, 2**16])
def test_sums_of_kernels(kind: str, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    points, sources = places(kind, rng)
    weights = rng.uniform(0, 2, sources.size)
    monkeypatch.setattr(smoothed, "_POWERS", at_once)
    found = smoothed.kernel_sums(points, sources, weights)
    for got, wanted in zip(found, naive_sums(points, sources, weights), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-13 * weights.sum())


def naive_criterion(scores, label, h, phi):
    n = len(scores)
    ranks = [
        sum((1 + erf((s - other) / h / sqrt(2))) / 2 for other in scores) / n
        for s, positive in zip(scores, label, strict=True)
        if positive
    ]
    return float(np.sum(phi(np.array(ranks))))


@pytest.mark.parametrize("phi", PHIS, ids=name_of)
def test_criterion_and_gradient(phi) -> None:
    rng = np.random.default_rng(2)
    scores, label = rng.normal(size=40), rng.random(40) < 0.4
    value, gradient = smoothed_criterion(scores, label, 0.3, phi)
    function = parse_phi(phi)
    assert value == pytest.approx(naive_criterion(scores, label, 0.3, function), abs=1e-11)
    step = 1e-5
    for j in range(0, 40, 4):
        up, down = scores.copy(), scores.copy()
        up[j], down[j] = scores[j] + step, scores[j] - step
        rise = [naive_criterion(moved, label, 0.3, function) for moved in (up, down)]
        assert gradient[j] == pytest.approx((rise[0] - rise[1]) / 2 / step, abs=1e-6)
    # Moving all scores changes nothing.
    assert gradient.sum() == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("standardised", [False, True])
@pytest.mark.parametrize("rule", RULES, ids=name_of)
@pytest.mark.parametrize("phi", PHIS[::4], ids=name_of)
def test_gradient_by_parameters(phi, rule, standardised: bool) -> None:
    rng = np.random.default_rng(3)
    z, positive = rng.normal(size=(60, 4)), rng.random(60) < 0.5
    problem = Problem(rule, smoothed.smooth_phi(phi), z, positive, 0.4, standardised)
    at = rule.parameters(rule.drawn(4, np.random.RandomState(4)))
    gradient = rule.chained(problem(rule.coefficients(at, 4)).gradient, at)
    step = 1e-5
    for i, unit in enumerate(np.eye(at.size)):
        up, down = (
            problem(rule.coefficients(at + sign * step * unit, 4)).value for sign in (1, -1)
        )
        assert gradient[i] == pytest.approx((up - down) / 2 / step, abs=1e-6)


def test_both_equations_of_the_source() -> None:
    # (5.1) with (5.2), for a linear rule, as printed.
    rng = np.random.default_rng(5)
    z, positive, h = rng.normal(size=(30, 3)), np.arange(30) < 12, 0.5
    theta = np.array([1.0, -0.5, 0.2])
    s, n = z @ theta, 30
    wanted = np.zeros(3)
    for i in range(12):
        rank = sum((1 + erf((s[i] - t) / h / sqrt(2))) / 2 for t in s) / n
        kernel = np.exp(-(((s[i] - s) / h) ** 2) / 2) / sqrt(2 * pi)
        wanted += 3 * rank**2 * (kernel[:, None] * (z[i] - z)).sum(axis=0) / (n * h)
    gradient = smoothed_criterion(s, positive, h, "p-norm-push(q=3)").gradient
    np.testing.assert_allclose(z.T @ gradient, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"phi": "dcg"},
            "`phi` must be smooth for its statistic to have a gradient; dcg is not. "
            "Use 'logrank' or 'p-norm-push' in its place.",
        ),
        (
            {"phi": "median"},
            "`phi` must be smooth for its statistic to have a gradient; median is not. "
            "Use 'mww' in its place.",
        ),
        ({"label": [0, 0]}, "`label` must have a positive; got none of 2."),
        ({"scores": [0.0, np.inf]}, "`scores` must be finite; got inf."),
        (
            {"scores": [0.0]},
            "`scores` and `label` must be one-dimensional and of one length; "
            "got shapes (1,) and (2,).",
        ),
    ],
)
def test_errors(given, message: str) -> None:
    arguments = {"scores": [0.0, 1.0], "label": [0, 1], "bandwidth": 1.0, **given}
    with pytest.raises(PrframeError) as error:
        smoothed_criterion(**arguments)
    assert str(error.value) == message
