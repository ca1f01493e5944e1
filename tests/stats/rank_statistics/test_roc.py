"""The ROC curve and linear rank statistics, by enumeration, quadrature and simulation."""

from itertools import pairwise
from math import log, sqrt
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate
from scipy.stats import norm

from prframe import PrframeError
from prframe.stats import (
    concentration_radius,
    parse_phi,
    ranking_performance,
    roc_distances,
    roc_from_ranks,
)

PHIS = ["mww", "local-auc(u0=0.8)", "p-norm-push(q=4)", "rtb", "logrank", "van-der-waerden"]
PHIS += ["median", "logistic"]


def test_corners_of_the_curve_may_lie_on_the_border() -> None:
    # The best item is positive: a corner at fpr = 0, below tpr = 1.
    assert roc_from_ranks([4, 1], 2).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("ranks", "n_neg", "message"),
    [
        ([1, 1], 3, "`ranks` must be distinct; got 1 more than once"),
        ([1, 6], 3, r"`ranks` must be at most n_pos \+ n_neg; got ranks = 6 with"),
        ([1.5], 3, "`ranks` must be whole numbers >= 1; got 1.5"),
        ([[1]], 3, "`ranks` must be a list of at least one rank; got shape"),
        ([1], 0, "`n_neg` must be a whole number >= 1; got 0"),
    ],
)
def test_what_are_no_ranks(ranks: object, n_neg: int, message: str) -> None:
    with pytest.raises(PrframeError, match=message):
        roc_from_ranks(ranks, n_neg)


@st.composite
def curves(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Broken lines from (0, 0) to (1, 1), flat and upright segments among them."""
    fpr = draw(st.lists(st.sampled_from([i / 8 for i in range(9)]), max_size=6).map(sorted))
    steps = st.sampled_from([i / 7 for i in range(8)])
    tpr = sorted(draw(st.lists(steps, min_size=len(fpr), max_size=len(fpr))))
    return [0.0, *fpr, 1.0], [0.0, *tpr, 1.0]


@pytest.mark.parametrize("phi", PHIS)
@given(curve=curves(), p=st.sampled_from([0.03, 0.25, 0.5, 0.9]))
def test_lemma_3(phi: str, curve: tuple[list[float], list[float]], p: float) -> None:
    function = parse_phi(phi)

    def along(fpr: float, low: tuple[float, float], high: tuple[float, float]) -> float:
        share = (fpr - low[0]) / (high[0] - low[0])
        roc = low[1] + share * (high[1] - low[1])
        return float(function(min(max(p * (1 - roc) + (1 - p) * (1 - fpr), 0), 1)))

    total = 0.0
    for low, high in pairwise(zip(*curve, strict=True)):
        if high[0] > low[0]:
            # Where the argument of phi passes a jump.
            u_low, u_high = (p * (1 - b) + (1 - p) * (1 - a) for a, b in (low, high))
            breaks = [
                low[0] + (u_low - jump.at) / (u_low - u_high) * (high[0] - low[0])
                for jump in function.jumps
                if u_high < jump.at < u_low
            ]
            total += sum(
                integrate.quad(along, *ends, (low, high), epsabs=1e-10, limit=200)[0]
                for ends in pairwise([low[0], *breaks, high[0]])
            )
    wanted = (function.integral(1) - (1 - p) * total) / p
    assert ranking_performance(*curve, p, phi) == pytest.approx(float(wanted), abs=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0, 0.5, 1], 0.5), r"must be lists of one length; got shapes \(2,\) and \(3,\)"),
        (([0.1, 1], [0, 1], 0.5), r"`fpr` must begin with 0 and end with 1; got \[0.1, 1.0\]"),
        (([0, 0.6, 0.5, 1], [0, 0.1, 0.2, 1], 0.5), "`fpr` must be sorted, rising from 0 to 1"),
        (([0, 0.5, 1], [0, np.nan, 1], 0.5), "`tpr` must be sorted, rising from 0 to 1"),
        (([0, 1], [0, 1], 0.5, "dcg"), "DCG depends on the number of items"),
        (([0, 1], [0, 1], 0.5, "dcg", 0), "`n` must be a whole number >= 1; got 0"),
    ],
)
def test_what_is_no_curve(arguments: tuple, message: str) -> None:
    with pytest.raises(PrframeError, match=message):
        ranking_performance(*arguments)


def height(curve: tuple[list[float], list[float]], a: float) -> float:
    """Return the height of a broken line where it does not jump."""
    for (x0, y0), (x1, y1) in pairwise(zip(*curve, strict=True)):
        if x0 <= a <= x1 and x0 < x1:
            return y0 + (y1 - y0) * (a - x0) / (x1 - x0)
    raise AssertionError


@given(curves(), curves())
def test_distances_against_sums_over_a_grid(one: tuple, other: tuple) -> None:
    found = roc_distances(*one, *other)
    # Midpoints of a fine grid, none of which is a corner.
    steps = 2000
    middle = [(i + 0.5) / steps for i in range(steps)]
    apart = [abs(height(one, a) - height(other, a)) for a in middle]
    assert found.area == pytest.approx(fmean(apart), abs=1e-3)
    # Slopes are at most 10, so that between two points lines go apart by 10 / 2000 each.
    assert max(apart) - 1e-12 <= found.sup <= max(apart) + 10 / steps
    assert found == pytest.approx(roc_distances(*other, *one), abs=1e-15)
    assert roc_distances(*one, *one) == (0, 0)


def test_distances_from_the_best_curve_of_normal_classes() -> None:
    # All linear rules have curves Phi(d + Phi^-1(a)), which are ordered by d.
    fpr = np.concatenate([[0.0], norm.cdf(np.linspace(-9, 9, 20_001)), [1.0]])
    curve, best = (np.concatenate([norm.cdf(d + norm.ppf(fpr[:-1])), [1.0]]) for d in (0.7, 1.0))
    found = roc_distances(fpr, curve, fpr, best)
    assert found.area == pytest.approx(norm.cdf(1 / sqrt(2)) - norm.cdf(0.7 / sqrt(2)), abs=1e-7)
    # They are farthest apart where their slopes agree, half way.
    assert found.sup == pytest.approx(norm.cdf(0.15) - norm.cdf(-0.15), abs=1e-7)
    # Lemma 3: the deficit of W_phi is at most that of AUC times (1 - p) and the largest slope.
    for phi, slope in (("mww", 1.0), ("p-norm-push(q=4)", 4.0)):
        deficit = ranking_performance(fpr, best, 0.2, phi) - ranking_performance(
            fpr, curve, 0.2, phi
        )
        assert deficit <= 0.8 * slope * found.area + 1e-12
        if phi == "mww":
            assert deficit == pytest.approx(0.8 * found.area, abs=1e-9)


def test_the_form_of_theorem_5() -> None:
    # A function with a bounded slope: C3 stays below L sqrt((1 - p) / 2) as N grows.
    for total in (100, 1000, 100_000):
        radius = concentration_radius(total // 5, total - total // 5, "p-norm-push(q=3)", 0.1)
        scaled = radius * sqrt(total / 5 / log(2 / 0.1))
        assert 0.3 < scaled < 3 * sqrt(0.8 / 2)


@pytest.mark.parametrize("phi", ["mww", "p-norm-push(q=4)", "local-auc(u0=0.9)", "rtb"])
def test_the_radius_covers(phi: str) -> None:
    n_pos, n_neg, runs, delta = 30, 70, 4000, 0.2
    rng = np.random.default_rng(11)
    scores = rng.normal(size=(runs, n_pos + n_neg))
    scores[:, :n_pos] += 1.5
    ranks = np.argsort(np.argsort(scores, axis=1), axis=1)[:, :n_pos] + 1
    values = parse_phi(phi)(ranks / (n_pos + n_neg + 1)).mean(axis=1)
    far = np.abs(values - values.mean())
    radius = concentration_radius(n_pos, n_neg, phi, delta)
    assert (far >= radius).mean() <= delta
    # It is wide, but not without bounds.
    assert 1 < radius / np.quantile(far, 1 - delta) < 25
