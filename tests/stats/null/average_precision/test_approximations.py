"""Approximations of AP's distribution: recorded runs of pranker, rational arithmetic, simulation.

The recorded runs are not part of the repository; some of their numbers are typed in below. The
others are read where there is a directory `golden` beside `PRFRAME_TEST_DATA` (or `shared/golden`
beside the repository), and their tests are skipped elsewhere.
"""

import json
import os
from fractions import Fraction
from math import comb, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, norm

from prframe.stats import (
    ap_beta_quantile,
    ap_beta_sf,
    ap_normal_sf,
    ap_null_moments,
    beta_parameters,
    delta_moments,
)
from prframe.stats.null import ap_beta_logsf, ap_normal_logsf
from prframe.stats.null.average_precision.approximations import _log_far_beta
from tests.refusals import refusals

BESIDE = Path(__file__).resolve().parents[5] / "shared" / "data"
GOLDEN = Path(os.environ.get("PRFRAME_TEST_DATA", BESIDE)).parent / "golden"

# (n, n_pos, AP, p-value, quantiles at z = -1.5, 0, 1, 2.5) of pranker 1.0.
RUNS = [
    (12, 1, 0.2, 0.36759872193741017, [0.08333487859189108, 0.1197691905934121, 0.5415907130593908, 0.9869656090944419]),
    (40, 12, 0.6206041779571191, 0.004347755624999915, [0.24690527882687247, 0.3485995479622787, 0.4439734184045975, 0.6070880641525165]),
    (200, 100, 0.5130207140103135, 0.4778729885493635, [0.46112192650884665, 0.5110569395635176, 0.5474856512213114, 0.6052036442015964]),
]  # fmt: skip
# Relative error of the variance by pranker's default, a spline, in percent.
SPLINE = {(20, 18): -0.04, (100, 95): -0.59, (300, 30): -0.83, (1000, 50): -0.09, (2000, 100): 1.03}  # fmt: skip


def golden(name: str) -> list[dict]:
    """Return recorded runs, or skip."""
    path = GOLDEN / name
    if not path.is_file():
        pytest.skip(
            f"needs the recorded runs {name}, which are not part of the repository; "
            "they are looked for in the directory golden beside PRFRAME_TEST_DATA"
        )
    return json.loads(path.read_text())


@pytest.mark.parametrize(("n", "n_pos"), [(3, 1), (9, 4), (70, 3), (1000, 999), (10**9, 10)])
def test_the_fit_has_the_moments(n: int, n_pos: int) -> None:
    low, a, b = beta_parameters(n, n_pos)
    mean, variance = ap_null_moments(n, n_pos)
    fitted = beta(a, b, low, 1 - low)
    assert fitted.mean() == pytest.approx(float(mean), rel=1e-12)
    assert fitted.var() == pytest.approx(float(variance), rel=1e-8)


@pytest.mark.parametrize(("n", "n_pos", "ap", "p_value", "quantiles"), RUNS)
def test_recorded_p_values_and_quantiles(
    n: int, n_pos: int, ap: float, p_value: float, quantiles: list[float]
) -> None:
    assert ap_beta_sf(ap, n, n_pos) == pytest.approx(p_value, rel=1e-10)
    assert ap_beta_quantile([-1.5, 0, 1, 2.5], n, n_pos) == pytest.approx(quantiles, rel=1e-10)


def test_moments_of_the_caller() -> None:
    # pranker(scores, y, params) with 0.9 times the mean and 1.1 times the variance.
    moments = (0.32296107985974165, 0.007737903184188565)
    low, a, b = beta_parameters(40, 12, moments=moments)
    p_value = beta.sf(0.6206041779571191, a, b, low, 1 - low)
    assert p_value == pytest.approx(0.00407340320976025, rel=1e-10)
    found = ap_beta_sf(0.6206041779571191, 40, 12, moments=moments)
    assert found == pytest.approx(0.00407340320976025, rel=1e-10)
    quantile = ap_beta_quantile([-1.0, 2.0], 40, 12, moments=moments)
    assert beta.cdf(quantile, a, b, low, 1 - low) == pytest.approx(norm.cdf([-1, 2]), rel=1e-10)
    mean, variance = ap_null_moments(40, [5, 12])
    both = beta_parameters(40, [5, 12], moments=(mean, variance))
    for given, found in zip(both, beta_parameters(40, [5, 12]), strict=True):
        assert given == pytest.approx(found, rel=1e-10)


@pytest.mark.slow
@pytest.mark.shared
def test_every_recorded_run() -> None:
    for run in golden("pranker_full.json"):
        positive = [value != 0 for value in run["y"]]
        n, n_pos = len(positive), sum(positive)
        frame = pl.DataFrame({"score": run["scores"], "label": positive})
        ap = frame.pr.evaluate("AP", ties="order")["AP"].item()
        assert ap == pytest.approx(run["auprc_ap"], rel=1e-13)
        exact, given = run["v1_0_exact"], run["v1_0_given_params"]
        recorded = exact["nullparams"]
        moments = ap_null_moments(n, n_pos)
        assert moments == pytest.approx((recorded["mean"], recorded["var"]), rel=1e-10)
        assert ap_beta_sf(ap, n, n_pos) == pytest.approx(exact["pvalue"], rel=1e-10)
        shapes = run["beta_exact"]
        assert beta_parameters(n, n_pos) == pytest.approx(
            (shapes["min"], shapes["par1"], shapes["par2"]), rel=1e-10
        )
        quantiles = run["qAUPRC"]
        assert ap_beta_quantile(quantiles["zscore"], n, n_pos) == pytest.approx(
            quantiles["auprc"], rel=1e-10
        )
        low, a, b = beta_parameters(n, n_pos, moments=tuple(given["nullparams"].values()))
        assert beta.sf(ap, a, b, low, 1 - low) == pytest.approx(given["pvalue"], rel=1e-10)
        with_params = ap_beta_sf(ap, n, n_pos, moments=tuple(given["nullparams"].values()))
        assert with_params == pytest.approx(given["pvalue"], rel=1e-10)


@pytest.mark.shared
def test_the_error_of_the_spline() -> None:
    recorded = {
        (run["N"], run["P"]): run
        for run in golden("pranker_null.json")
        if run["approx"] and "mean" in run["approx"]
    }
    for (n, n_pos), run in recorded.items():
        mean, variance = ap_null_moments(n, n_pos)
        assert run["exact"]["mean"] == pytest.approx(float(mean), rel=1e-11)
        assert run["exact"]["var"] == pytest.approx(float(variance), rel=1e-8)
        # The spline touches the covariances alone.
        assert run["approx"]["mean"] == run["exact"]["mean"]
        error = 100 * (run["approx"]["var"] / float(variance) - 1)
        want = SPLINE.get((n, n_pos), 0.0)
        assert error == pytest.approx(want, abs=0.005)


@pytest.mark.slow
def test_the_tail_against_rational_arithmetic() -> None:
    # I_y(b, a) = P(at least b successes in a + b - 1 trials of chance y).
    for a, b, y in [(3, 40, Fraction(1, 10**9)), (50, 200, Fraction(1, 100)), (400, 30, Fraction(1, 10**12))]:  # fmt: skip
        trials = a + b - 1
        tail = sum(comb(trials, k) * y**k * (1 - y) ** (trials - k) for k in range(b, trials + 1))
        want = log(tail.numerator) - log(tail.denominator)
        assert want < -300
        found = _log_far_beta(*(np.array([float(one)]) for one in (y, b, a)))
        assert found == pytest.approx(want, rel=1e-13)


def test_the_tail_continues_what_scipy_computes() -> None:
    rng = np.random.default_rng(8)
    b, a = 10 ** rng.uniform(-1, 5, 500), 10 ** rng.uniform(-6, 5, 500)
    y = b / (a + b) * 10 ** rng.uniform(-3, 0, 500)
    p = beta.cdf(y, b, a)
    known = (p > 1e-290) & (p < 1e-3)
    assert known.sum() > 100
    found = _log_far_beta(y[known], b[known], a[known])
    assert found == pytest.approx(np.log(p[known]), rel=1e-9)
    # No step where one takes over from the other, and never 0 before AP = 1.
    ap = np.linspace(0.11, 0.999, 400)
    logarithm = ap_beta_logsf(ap, 1000, 100)
    assert (np.diff(logarithm, 2) < 0).all()
    assert np.isfinite(logarithm).all()
    assert logarithm[-1] < -1000
    assert (ap_beta_sf(ap, 1000, 100)[-20:] == 0).all()


# For P(AP >= ap) of .00107, .00102, .00112 and .00213.
@pytest.mark.parametrize(("n", "n_pos", "ap", "fitted"), [
    (100, 5, 0.47, 3.9e-4),
    (300, 10, 0.2390, 1.89e-4),
    (1000, 20, 0.105, 9.0e-5),
    (1000, 100, 0.15, 5.9e-4),
])  # fmt: skip
def test_the_beta_tail_is_too_light(n: int, n_pos: int, ap: float, fitted: float) -> None:
    assert ap_beta_sf(ap, n, n_pos) == pytest.approx(fitted, rel=0.02)
    assert ap_normal_sf(ap, n, n_pos) < fitted


def test_normal() -> None:
    for name, function in (("exact", ap_null_moments), ("delta", delta_moments)):
        mean, variance = function(1000, 100)
        want = norm.logsf([0.05, 0.1, 0.2, 0.9], mean, np.sqrt(variance))
        found = ap_normal_logsf([0.05, 0.1, 0.2, 0.9], 1000, 100, moments=name)
        assert found == pytest.approx(want, rel=1e-12)
    found = ap_normal_sf([0.1, 0.2], [[50], [60]], 5)
    assert found.shape == (2, 2)
    assert found == pytest.approx(np.exp(ap_normal_logsf([0.1, 0.2], [[50], [60]], 5)))


test_refusals = refusals(
    {
        "`moments` must be one of 'delta', 'exact'; got 'detla'. Did you mean 'delta'?": lambda: (
            ap_normal_sf(0.2, 10, 3, moments="detla")
        ),
        "`ap`, `n` and `n_pos` must broadcast together; got shapes (2,) and (3,).": lambda: (
            ap_beta_sf([0.1, 0.2], [10, 11, 12], 3)
        ),
        "`moments` must be those of a beta distribution between the least AP, 0.215741, and 1; got mean 0.1 and variance 0.01.": lambda: (
            beta_parameters(10, 3, moments=(0.1, 0.01))
        ),
        "`moments` must be those of a beta distribution between the least AP, 1, and 1; got mean 1 and variance 0.": lambda: (
            beta_parameters(3, 3, moments=(1.0, 0.0))
        ),
    }
)
