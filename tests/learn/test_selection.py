"""The penalty by its formula, and what it chooses."""

import numpy as np
import pytest
from scipy.stats import rankdata

from prframe import PrframeError
from prframe.learn import (
    RankStatisticRanker,
    complexity_constant,
    complexity_penalty,
    select_ranker,
)
from prframe.stats import RTB, CustomFunction
from tests.refusals import refusals


def test_constants() -> None:
    assert complexity_constant("mww") == 6 * (1 + 9)
    # u^3, 3 u^2 and 6 u, all at 1.
    assert complexity_constant("p-norm-push(q=3)") == 6 * (1 + 9 * 9 + 9 * 36)
    assert complexity_constant("logistic") == pytest.approx(6 * (3 + 9 * 12))
    square = CustomFunction(np.square, slope=lambda u: 2 * u)
    assert complexity_constant(square) == pytest.approx(6 * (1 + 9 * 4 + 9 * 4), rel=1e-3)
    u = np.linspace(0, 1, 200_001)
    phi = RTB(u0=0.7)
    largest = [np.abs(f(u)).max() for f in (phi, phi.derivative, phi.second_derivative)]
    wanted = 6 * (largest[0] ** 2 + 9 * largest[1] ** 2 + 9 * largest[2] ** 2)
    assert complexity_constant("rtb(u0=0.7)") == pytest.approx(wanted, rel=1e-6)


def sample(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes that differ in the first two of four features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 4))
    x[:, :2] += y[:, None]
    return x, y


GROWING = [("linear", range(k)) for k in (1, 2, 3, 4)]


def test_selection() -> None:
    x, y = sample(600, 1)
    found = select_ranker(RankStatisticRanker(), x, y, GROWING, b1=0.2, scale=0.02)
    criterion, penalty = [], []
    for k in (1, 2, 3, 4):
        scores = RankStatisticRanker().fit(x[:, :k], y).decision_function(x[:, :k])
        criterion.append(rankdata(scores)[y == 1].sum() / 601 / 300)
        penalty.append(0.02 * complexity_penalty(600, 300, k + 1, k, b1=0.2))
    np.testing.assert_allclose(found.criterion, criterion, rtol=1e-12)
    np.testing.assert_allclose(found.penalty, penalty, rtol=1e-12)
    assert found.chosen == int(np.argmax(np.subtract(criterion, penalty))) == 1
    assert found.columns.tolist() == [0, 1]
    assert found.ranker.coef_.shape == (2,)
    # Theory asks for more than the criterion has to give.
    assert select_ranker(RankStatisticRanker(), x, y, GROWING).chosen == 0


def test_a_turn_from_linear_to_quadratic() -> None:
    rng = np.random.default_rng(2)
    y = np.arange(600) % 2
    x = rng.normal(size=(600, 2)) * np.where(y, 2.0, 1.0)[:, None]
    families = [("linear", [0, 1]), ("quadratic", [0, 1])]
    for definite in (False, True):
        ranker = RankStatisticRanker(rule="quadratic", positive_definite=definite)
        found = select_ranker(ranker, x, y, families, scale=0.1)
        assert found.chosen == 1
        assert found.ranker.positive_definite is definite
        dimensions = np.array([3, 4])
        pays = [complexity_penalty(600, 300, int(v), k) for k, v in enumerate(dimensions, 1)]
        np.testing.assert_allclose(found.penalty, 0.1 * np.array(pays))


@pytest.mark.parametrize("phi", ["logrank", "van-der-waerden", "p-norm-push(q=1.5)"])
def test_functions_without_bounds(phi: str) -> None:
    with pytest.raises(PrframeError, match=r"must be bounded with its first two derivatives"):
        complexity_constant(phi)
    x, y = sample(20, 3)
    with pytest.raises(PrframeError, match=r"must be bounded"):
        select_ranker(RankStatisticRanker(phi), x, y, GROWING)


test_errors_of_penalties = refusals(
    {
        "`n_pos` must be at most n; got n_pos = 11 with n = 10.": {"n_pos": 11},
        "`k` must be a whole number >= 1; got 0.": {"k": 0},
        "`b1` must be a number >= 0; got -1.": {"b1": -1},
        "`phi` must be bounded with its first two derivatives for a penalty to exist; "
        "logrank is not.": {"phi": "logrank"},
    },
    lambda given: complexity_penalty(**{"n": 10, "n_pos": 5, "vc_dimension": 2, "k": 2, **given}),
)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"families": []}, "`families` must hold at least one rule with its columns; got none."),
        (
            {"families": [("linear", [0, 1]), ("linear", [1, 2])]},
            "`families` must grow: columns may be added, and linear rules come before quadratic.",
        ),
        (
            {"families": [("quadratic", [0]), ("linear", [0])]},
            "`families` must grow: columns may be added, and linear rules come before quadratic.",
        ),
        (
            {"families": [("linear", [0, 4])]},
            "columns in `families` must lie between 0 and 3; got 4.",
        ),
        (
            {"families": [("linear", [])]},
            "columns in `families` must lie between 0 and 3; got a family without columns.",
        ),
        ({"X": [1.0, 2.0]}, "`X` must have two dimensions; got shape (2,)."),
    ],
)
def test_errors_of_selections(given, message: str) -> None:
    x, y = sample(20, 4)
    arguments = {"ranker": RankStatisticRanker(), "X": x, "y": y, "families": GROWING, **given}
    with pytest.raises(PrframeError) as error:
        select_ranker(**arguments)
    assert str(error.value) == message
