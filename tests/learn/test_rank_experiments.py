"""Tests of the experiments in examples/rank_experiments.py."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata

pytest.importorskip("sklearn", reason="the experiments compare with scikit-learn")
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module("rank_experiments")


def test_judge_against_definitions(study: Any) -> None:
    model = study.scale(3)
    sample = model.sample(150, np.random.default_rng(3))
    z, y = sample.pooled()
    rule = model.optimum()
    scores = rule(z)
    found = study.judge(rule, sample, "p-norm-push(q=3)")
    assert found.auc == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert found.w == pytest.approx(((rankdata(scores)[y == 1] / 301) ** 3).mean(), abs=1e-12)
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    # The highest point at which no more than so many negatives are let in.
    at = [tpr[fpr <= np.floor(level * 150 + 1e-9) / 150 + 1e-12].max() for level in study.FPR]
    np.testing.assert_allclose(found.roc, at, atol=1e-12)


@pytest.mark.slow
def test_forms_are_what_scikit_learn_has_fitted(study: Any) -> None:
    train = study.scale(2).sample(150, np.random.default_rng(4))
    z, y = train.pooled()
    rows, columns = np.triu_indices(15)
    products = z[:, rows] * z[:, columns]
    pairs = [
        (study.lda(z, y, "linear"), LinearDiscriminantAnalysis().fit(z, y).decision_function(z)),
        (
            study.qda(z, y, "quadratic"),
            QuadraticDiscriminantAnalysis().fit(z, y).decision_function(z),
        ),
        (
            study.logistic(z, y, "quadratic"),
            LogisticRegression(max_iter=1000).fit(products, y).decision_function(products),
        ),
    ]
    for form, scores in pairs:
        difference = form(z) - scores
        np.testing.assert_allclose(difference, difference[0], atol=1e-8)
        np.testing.assert_allclose(form(z.astype(np.float32)), form(z), atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_inverse_rules(study: Any, seed: int) -> None:
    model = study.scale(2)
    z = model.sample(30, np.random.default_rng(5)).positives
    theta = study.wishart(15, np.random.RandomState(seed))
    scores = [one @ np.linalg.solve(theta, one) for one in z]
    np.testing.assert_allclose(study.inverse_score(z, theta), scores, rtol=1e-8)
    # The least eigenvalue is the scale on which the inverse changes.
    step = np.zeros((15, 15))
    step[2, 7] = 1e-4 * np.linalg.eigvalsh(theta).min()
    up, down = (study.inverse_score(z, theta + sign * step) for sign in (1, -1))
    slopes = study.inverse_gradient(z, theta)[:, 2, 7]
    np.testing.assert_allclose(slopes, (up - down) / 2 / step[2, 7], rtol=1e-3)
    # (S_Y^-1 - S_X^-1)^-1 gives the order of the ratio of densities.
    model = study.scale(2, low=1.0)
    best = np.linalg.inv(model.optimum().quadratic)
    np.testing.assert_allclose(study.inverse_score(z, best), model.optimum()(z), rtol=1e-9)
    assert np.linalg.eigvalsh(best).min() > 0


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::prframe.PrframeWarning")
def test_command(
    study: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(study, "REDUCED", (2, 300, 2, 200))
    monkeypatch.setattr(study, "STEPS", (2, 4))
    monkeypatch.setattr(study, "SIZES", (40, 50))
    monkeypatch.setattr(importlib.import_module("rank_remarks"), "MIN_CHANGE", 1.0)
    study.main(["--out", str(tmp_path)])
    printed = capsys.readouterr().out
    table = [text for text in printed.splitlines() if text.startswith("| Loc2 |")]
    assert [text.split(" | ")[1] for text in table[:3]] == [
        "optimum",
        "MWW, Algorithm 1",
        "Pol, Algorithm 1",
    ]
    assert "steps = 4" in printed
    assert "n = m = 50" in printed
    assert "| Scale2 | RTB, Algorithm 1, inverse |" in printed
    assert "of 18" in printed
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept[-1] == "u0_Scale.png"
    assert len(kept) == 19
    curves = np.load(tmp_path / "curves.npz")
    assert curves["Scale3: QDA"].shape == (2, curves["fpr"].size)
