"""Score-generating functions, against finite differences, quadrature and their definitions."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import integrate

from prframe import PrframeError
from prframe.stats import (
    DCG,
    RTB,
    CustomFunction,
    LocalAUC,
    PNormPush,
    ScoreGeneratingFunction,
    parse_phi,
)
from prframe.stats.score_functions import SCORE_GENERATING
from tests.oracle import PHI_WORDS, SCORES

NAMED = [
    *(kind().of_size(20) for kind in SCORE_GENERATING.values()),
    LocalAUC(u0=0.25),
    PNormPush(q=1),
    PNormPush(q=1.5),
    PNormPush(q=4.5),
    RTB(u0=0.3, beta=3, lam=50),
    DCG(k=5, n=20),
    DCG(k=20, n=20),
    DCG(k=50, n=20),
]
IDS = [f"{phi.name}, {phi.n}" if isinstance(phi, DCG) else phi.name for phi in NAMED]
# The definitions of section 2.2 and 2.3 of the source, one number at a time.
DEFINITIONS = {
    "local-auc(u0=0.25)": lambda u, _: u if u >= 0.25 else 0,
    "p-norm-push(q=4.5)": lambda u, _: u**4.5,
}
DEFINITIONS |= SCORES
EVERY = pytest.mark.parametrize("phi", NAMED, ids=IDS)


def corners(phi: ScoreGeneratingFunction) -> list[float]:
    """Return where a function is not smooth within (0, 1)."""
    within = [jump.at for jump in phi.jumps]
    if isinstance(phi, DCG):
        # The discount rises up to rank 1 and stays there.
        within.append(1 - 1 / (phi.n + 1))
    return sorted(within)


def inner(phi: ScoreGeneratingFunction) -> np.ndarray:
    """Return arguments away from the ends and the corners."""
    u = np.linspace(0.0313, 0.9687, 101)
    far = [np.abs(u - corner) > 0.01 for corner in corners(phi)]
    return u[np.all(far, axis=0)] if far else u


def difference(function, u: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Return the central difference of order 8."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    return sum(w * (function(u + i * h) - function(u - i * h)) for i, w in weights.items()) / h


@pytest.mark.parametrize("name", DEFINITIONS)
@given(st.floats(0.001, 0.999))
def test_values(name: str, u: float) -> None:
    # The rank from the top at which DCG is cut off may be on either side of the cut by rounding.
    assume(not name.startswith("dcg") or abs(21 * (1 - u) - 2.5) > 1e-3)
    expected = DEFINITIONS[name](u, 20)
    assert parse_phi(name).of_size(20)(u) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_every_function_is_defined_in_the_oracle() -> None:
    assert {name.partition("(")[0] for name in SCORES} == set(SCORE_GENERATING)


@EVERY
def test_derivatives_are_those_of_differences(phi: ScoreGeneratingFunction) -> None:
    u = inner(phi)
    np.testing.assert_allclose(phi.derivative(u), difference(phi, u), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(
        phi.second_derivative(u), difference(phi.derivative, u), rtol=1e-6, atol=1e-7
    )


@EVERY
def test_integrals_are_those_of_quadrature(phi: ScoreGeneratingFunction) -> None:
    for end in (0.05, 0.2, 0.5, 0.77, 0.9, 0.97, 1.0):
        edges = [0.0, *(corner for corner in corners(phi) if corner < end), end]
        parts = [
            integrate.quad(phi, *ends, epsabs=1e-12, limit=200)[0] for ends in pairwise(edges)
        ]
        assert phi.integral(end) == pytest.approx(sum(parts), abs=1e-10)
    assert phi.integral(0.0) == pytest.approx(0, abs=1e-15)


@EVERY
def test_arguments_are_fractions_of_any_shape(phi: ScoreGeneratingFunction) -> None:
    u = np.linspace(0.1, 0.9, 6).reshape(2, 3)
    for function in (phi, phi.derivative, phi.second_derivative, phi.integral):
        assert function(u).shape == (2, 3)
        assert function(u[0, 1]) == function(u)[0, 1]
        assert function([]).shape == (0,)
        with pytest.raises(PrframeError, match=r"`u` must lie between 0 and 1; got 1\.5"):
            function([0.5, 1.5])
    assert (phi.derivative(u) >= 0).all()


class _Odd:
    """A callable without a name."""

    def __call__(self, u: np.ndarray) -> np.ndarray:
        return u


def test_functions_of_the_user() -> None:
    phi = parse_phi(np.square)
    assert isinstance(phi, CustomFunction)
    assert phi.name == "square"
    assert parse_phi(_Odd()).name == "_Odd"
    assert phi([0.5]).tolist() == [0.25]
    u = np.linspace(0, 1, 33)
    np.testing.assert_allclose(phi.integral(u), u**3 / 3, atol=1e-7)
    # Differences over ever smaller distances.
    inside = u[8:-8]
    errors = [np.abs(phi.of_size(n).derivative(inside) - 2 * inside).max() for n in (10**3, 10**6)]
    assert errors[0] < 1e-9
    assert errors[1] < 1e-9
    np.testing.assert_allclose(phi.of_size(10**5).second_derivative(inside), 2, rtol=1e-4)
    exact = CustomFunction(np.square, slope=lambda u: 2 * u)
    np.testing.assert_allclose(exact.derivative(u), 2 * u)
    assert pickle.loads(pickle.dumps(phi)) == phi  # noqa: S301 - made here


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ("mwv", f"`phi` must be one of {PHI_WORDS}; got 'mwv'. Did you mean 'mww'?"),
        ("dcg(k=2.5)", "`k` must be a whole number >= 1; got 2.5."),
        ("local-auc(u0=1)", "`u0` must be a number > 0 and < 1; got 1."),
        ("p-norm-push(q=0.5)", "`q` must be a number >= 1; got 0.5."),
        ("rtb(beta=0)", "`beta` must be a number >= 0.001 and <= 1000000.0; got 0."),
        (np.sum, r"phi must return as many numbers as it is given; sum returned shape () for "),
    ],
)
def test_what_is_no_score_generating_function(phi: object, message: str) -> None:
    with pytest.raises(PrframeError) as caught:
        parse_phi(phi)
    assert str(caught.value).startswith(message)


def test_functions_must_be_finite_where_they_are_used() -> None:
    with pytest.raises(PrframeError, match=r"phi must be finite between 0 and 1; <lambda>"):
        parse_phi(lambda u: np.where(u > 0.5, np.nan, u))
    with pytest.raises(PrframeError, match="must take an array"):
        parse_phi(lambda u: 1.0 if u > 0.5 else 0.0)
    with pytest.raises(PrframeError, match=r"`phi` and its slope must be functions\."):
        CustomFunction(np.sqrt, slope=1)
    with pytest.raises(PrframeError, match=r"slope returned shape \(\) for \(2,\)"):
        CustomFunction(np.sqrt, slope=np.sum).derivative([0.2, 0.3])


def test_names_may_be_written_as_those_of_metrics_are():
    assert parse_phi("dcg(10)") == DCG(k=10)
    assert parse_phi("Local-AUC(0.8)") == LocalAUC(u0=0.8)
    assert parse_phi("rtb(0.8, lam=5)") == RTB(u0=0.8, lam=5)
    with pytest.raises(PrframeError, match="'AUC' is a metric; its phi is 'mww'"):
        parse_phi("AUC")
    with pytest.raises(PrframeError, match=rf"write one of {PHI_WORDS}, .*'dcg\(k=10\)'"):
        parse_phi("nDCG@10")
    for text in ("mww(3)", "rtb(0.8, 5)", "dcg(10, k=10)"):
        with pytest.raises(PrframeError, match="cannot read"):
            parse_phi(text)
