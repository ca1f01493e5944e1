"""The ranker: scikit-learn's contract, Algorithm 1 by hand, optimal rules and discriminants."""

import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from prframe import PrframeError, learn
from prframe.learn import ParametricRule, RankStatisticRanker, smoothed_criterion
from tests.refusals import refusals

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
DEFINITE = {"rule": "quadratic", "positive_definite": True}
ASCENT = {"solver": "gradient-ascent", "random_state": 0}


# Estimators are checked with few items.
pytestmark = pytest.mark.filterwarnings("ignore:there should be at most a feature")


@parametrize_with_checks(
    [
        RankStatisticRanker(),
        RankStatisticRanker("rtb", **DEFINITE, **ASCENT),
    ]
)
def test_manners(estimator, check) -> None:
    check(estimator)


def location(n: int, seed: int, d: int = 15, shift: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal classes with one covariance matrix, in the form of the source."""
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.5, 1.5, d) ** 0.5
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) * spread + np.outer(1 + shift * y, np.ones(d)), y


def scale(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw centred normal classes; return the optimal rule as well."""
    rng = np.random.default_rng(seed)
    spread = np.array([2.0, 1.4, 1.0, 0.6])
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 4))
    x[y == 1] *= spread
    return x, y, np.diag(1 - spread**-2)


@pytest.mark.parametrize("rule", ["linear", "quadratic"])
def test_algorithm_1_by_hand(rule: str) -> None:
    x, y = location(40, 2, d=2)
    theta = np.array([1.0, -0.5]) if rule == "linear" else np.array([[1.0, 0.2], [0.2, -0.5]])
    options = {"step_size": 0.7, "max_iter": 4, "bandwidth": 0.6, "init": theta}
    ranker = RankStatisticRanker("p-norm-push(q=2)", rule, solver="gradient-ascent", **options)
    ranker.fit(x, y)
    path = []
    for _ in range(4):
        s = x @ theta if rule == "linear" else np.array([z @ theta @ z for z in x])
        value, by_score = smoothed_criterion(s, y, 0.6, "p-norm-push(q=2)")
        slopes = x if rule == "linear" else np.array([np.outer(z, z) for z in x])
        path.append(value / 20)
        theta = theta + 0.7 * np.tensordot(by_score, slopes, 1) / 20
    np.testing.assert_allclose(ranker.coef_, theta, rtol=1e-10)
    np.testing.assert_allclose(ranker.path_[:-1], path, rtol=1e-12)


# Linear and quadratic rules, written as a user would.
LINEAR_RULE = ParametricRule(
    score=lambda z, theta: z @ theta,
    gradient=lambda z, _: z,
    start=lambda d, random: random.standard_normal(d),
)
QUADRATIC_RULE = ParametricRule(
    score=lambda z, theta: np.einsum("ij,jk,ik->i", z, theta, z),
    gradient=lambda z, _: z[:, :, None] * z[:, None, :],
    start=lambda d, _: np.eye(d),
)


@pytest.mark.parametrize("rule", ["linear", "quadratic"])
def test_own_rules_learn_what_the_named_ones_do(rule: str) -> None:
    x, y = location(120, 11, d=3)
    own = {"linear": LINEAR_RULE, "quadratic": QUADRATIC_RULE}[rule]
    init = np.ones(3) if rule == "linear" else np.eye(3)
    options = {"solver": "gradient-ascent", "init": init}
    named = RankStatisticRanker("p-norm-push(q=3)", rule, **options).fit(x, y)
    ours = RankStatisticRanker("p-norm-push(q=3)", own, **options).fit(x, y)
    np.testing.assert_allclose(ours.coef_, named.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.path_, named.path_, rtol=1e-12)
    # L-BFGS goes other ways, as the rule's own features are not made uncorrelated.
    named, ours = (
        RankStatisticRanker("mww", one, tol=1e-7, random_state=1).fit(x, y) for one in (rule, own)
    )
    assert ours.criterion_ == pytest.approx(named.criterion_, abs=1e-5)
    assert ours.coef_.shape == named.coef_.shape


def test_projections_of_own_rules() -> None:
    x, y = location(60, 13, d=2)
    ball = ParametricRule(
        LINEAR_RULE.score,
        LINEAR_RULE.gradient,
        LINEAR_RULE.start,
        project=lambda theta: theta / max(1.0, np.linalg.norm(theta)),
    )
    ranker = RankStatisticRanker("mww", ball, **ASCENT).fit(x, y)
    assert np.linalg.norm(ranker.coef_) <= 1 + 1e-12
    copy = clone(ranker)
    assert copy.rule == ball
    with pytest.raises(PrframeError) as error:
        copy.set_params(solver="l-bfgs").fit(x, y)
    assert str(error.value) == (
        "`solver` must be 'gradient-ascent' for a rule with `project`; got 'l-bfgs'."
    )


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("score", lambda z, _: z, "`score` must return shape (4,); got (4, 2)."),
        ("gradient", lambda z, _: z[0], "`gradient` must return shape (4, 2); got (2,)."),
        (
            "start",
            lambda d, _: np.full(d, np.nan),
            "`start` must return finite numbers; got [nan nan].",
        ),
        ("project", lambda theta: theta[:1], "`project` must return shape (2,); got (1,)."),
    ],
)
def test_errors_of_own_rules(name: str, function, message: str) -> None:
    rule = replace(LINEAR_RULE, **{name: function})
    with pytest.raises(PrframeError) as error:
        RankStatisticRanker(rule=rule, **ASCENT).fit(np.eye(4)[:, :2], [0, 1, 0, 1])
    assert str(error.value) == message


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, ASCENT], ids=["l-bfgs", "gradient-ascent"])
def test_scale_optimum(options) -> None:
    # Inverse covariance of the negatives minus that of the positives, in even dimension.
    x, y, optimum = scale(20_000, 7)
    coef = RankStatisticRanker("mww", "quadratic", **options).fit(x, y).coef_
    assert (coef * optimum).sum() / np.linalg.norm(coef) / np.linalg.norm(optimum) > 0.98


def test_labels_and_names() -> None:
    pd = pytest.importorskip("pandas")
    x, y = location(60, 12, d=2)
    frame = pd.DataFrame(x, columns=["a", "b"])
    words = np.array(["bad", "good"])[y]
    ranker = RankStatisticRanker().fit(frame, words)
    assert ranker.classes_.tolist() == ["bad", "good"]
    assert ranker.feature_names_in_.tolist() == ["a", "b"]
    assert set(ranker.predict(frame)) == {"bad", "good"}
    # Frames are laid out by columns, which may change the last digit of sums.
    np.testing.assert_allclose(ranker.coef_, RankStatisticRanker().fit(x, y).coef_, rtol=1e-12)


def test_too_few_iterations() -> None:
    x, y = location(100, 14, d=3)
    with pytest.warns(ConvergenceWarning) as caught:
        RankStatisticRanker("rtb", max_iter=2).fit(x, y)
    assert str(caught[0].message) == (
        "L-BFGS has not converged in 2 iterations; raise `max_iter` or `tol`."
    )


test_errors_of_parameters = refusals(
    {
        "`positive_definite` is for rule='quadratic'.": {"positive_definite": True},
        "`bandwidth` must be a number > 0; got 0.0.": {"bandwidth": 0.0},
        "`step_size` must be a number > 0; got -1.": {"step_size": -1},
        "`max_iter` must be a whole number >= 1; got 0.": {"max_iter": 0},
        "`init` must be finite numbers of shape (2,), not all 0; got [1.0].": {"init": [1.0]},
        "`init` must be finite numbers of shape (2, 2), not all 0; got [[0, 0], [0, 0]].": {
            "rule": "quadratic",
            "init": [[0, 0], [0, 0]],
        },
    },
    lambda options: RankStatisticRanker(**options).fit(np.eye(4)[:, :2], [0, 1, 0, 1]),
)


@pytest.mark.parametrize(
    ("x", "y", "options", "message"),
    [
        (np.eye(3), [1, 1, 1], {}, "`y` must have two classes; got one class, 1."),
        (
            np.eye(3),
            [0, 1, 2],
            {},
            "Only binary classification is supported. The type of the target is multiclass.",
        ),
        (
            np.ones((4, 2)),
            [0, 1, 0, 1],
            {},
            "`X` must have a feature that varies; none of 2 does.",
        ),
        (
            1e200 * np.eye(4),
            [0, 1, 0, 1],
            {"rule": "quadratic", **ASCENT},
            "scores grew beyond all bounds; scale the features, or lower `step_size`.",
        ),
    ],
)
def test_errors_of_data(x, y, options, message: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(PrframeError) as error:
        RankStatisticRanker(**options).fit(x, y)
    assert str(error.value) == message


@pytest.mark.slow
def test_without_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import prframe\n"
        "from prframe import *\n"
        "try:\n    prframe.learn\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "prframe.learn needs scikit-learn 1.6 or later: pip install 'prframe[learn]'."
    )


@pytest.mark.parametrize("page", ["index.rst", "learn.rst"])
def test_public_names_stand_in_the_reference(page: str) -> None:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    part = text.split(".. currentmodule:: prframe.learn")[1].split(".. rubric:: Arrays")[0]
    listed = re.findall(r"^(?: {3}| *\.\. auto\w+:: )(\w+)$", part, re.MULTILINE)
    assert sorted(listed) == sorted(learn.__all__)


def test_units_far_apart_do_not_matter() -> None:
    x, y = location(200, 3, d=3)
    units = np.array([1e-150, 1.0, 1e200])
    plain = RankStatisticRanker().fit(x, y)
    scaled = RankStatisticRanker().fit(x * units, y)
    np.testing.assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-6)
    again = RankStatisticRanker(init=scaled.coef_).fit(x * units, y)
    assert again.path_[0] == pytest.approx(plain.criterion_, abs=1e-9)


@pytest.mark.filterwarnings("default:there should be at most a feature")
@pytest.mark.parametrize(
    ("n_pos", "n_neg", "told"), [(15, 40, None), (14, 40, "14"), (40, 14, "14")]
)
def test_many_features_are_told_of(n_pos: int, n_neg: int, told: str | None) -> None:
    rng, label = np.random.default_rng(1), np.arange(n_pos + n_neg) < n_pos
    features = rng.normal(size=(label.size, 3)) + label[:, None]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RankStatisticRanker().fit(features, label)
    of_class = "positives" if n_pos < n_neg else "negatives"
    expected = [
        f"there should be at most a feature for every 5 {of_class}; got 3 features for {told}. The "
        "rule may follow their noise, above all one for the top alone, as by 'rtb'. Choose "
        "features or take their principal components; where it does not matter, ignore "
        "PrframeWarning."
    ]
    assert [str(one.message) for one in caught] == (expected if told else [])
