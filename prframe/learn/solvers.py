"""Fit the coefficients of a scoring rule to samples of two classes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from prframe.errors import PrframeError
from prframe.learn.rules import Labels, ScoringRule
from prframe.learn.smoothed import SmoothedCriterion, value_and_gradient
from prframe.stats import ScoreGeneratingFunction
from prframe.typing import Floats


class Solution(NamedTuple):
    """Coefficients, the criterion at each iteration, and whether the iterations converged."""

    coef: Floats
    path: Floats
    n_iter: int
    converged: bool = True


@dataclass(frozen=True)
class Problem:
    """The smoothed criterion per positive, ``W / n_pos``, as a function of coefficients.

    If `standardised`, scores are first divided by their standard deviation.
    """

    rule: ScoringRule
    phi: ScoreGeneratingFunction
    z: Floats
    positive: Labels
    h: float
    standardised: bool = False

    def __call__(self, coef: Floats) -> SmoothedCriterion:
        """Return the criterion, and its gradient by coefficients."""
        scores = self.rule.scores(coef, self.z)
        spread = float(scores.std()) if self.standardised else 1.0
        if not np.isfinite(spread) or not np.isfinite(scores).all():
            raise PrframeError(
                "scores grew beyond all bounds; scale the features, or lower `step_size`."
            )
        scores = (scores - scores.mean()) / (spread or 1.0)
        value, gradient = value_and_gradient(scores, self.positive, self.h, self.phi)
        if self.standardised:
            gradient = (gradient - scores * (gradient @ scores) / scores.size) / (spread or 1.0)
        n_pos = self.positive.sum()
        return SmoothedCriterion(
            value / n_pos, self.rule.pull_back(coef, gradient / n_pos, self.z)
        )


def gradient_ascent(
    problem: Problem, start: Floats, step: float, n_steps: int, min_change: float
) -> Solution:
    """Maximise by steps along the gradient, times a constant factor (Algorithm 1).

    The last step is the first that moves the coefficients by less than `min_change`.
    """
    path: list[float] = []
    coef, arrived = problem.rule.projected(start), False
    while not arrived and len(path) < n_steps:
        value, gradient = problem(coef)
        path.append(value)
        last, coef = coef, problem.rule.projected(coef + step * gradient)
        arrived = bool(np.linalg.norm(coef - last) < min_change)
    path.append(problem(coef).value)
    return Solution(coef, np.array(path), len(path) - 1, arrived or not min_change)


def quasi_newton(problem: Problem, start: Floats, tol: float, n_steps: int) -> Solution:
    """Maximise by L-BFGS."""
    rule, d = problem.rule, problem.z.shape[1]
    path = [problem(rule.coefficients(rule.parameters(start), d)).value]

    def loss(parameters: Floats) -> tuple[float, Floats]:
        value, gradient = problem(rule.coefficients(parameters, d))
        return -value, -rule.chained(gradient, parameters)

    def note(intermediate_result: Any) -> None:  # noqa: ANN401 - SciPy hands it over by this name
        path.append(-intermediate_result.fun)

    # The criterion is about 1, so changes below 1e-12 are rounding errors.
    optimum = minimize(
        loss,
        rule.parameters(start),
        jac=True,
        method="L-BFGS-B",
        callback=note,
        options={"maxiter": n_steps, "gtol": tol, "ftol": 1e-12},
    )
    return Solution(
        rule.coefficients(optimum.x, d), np.array(path), int(optimum.nit), optimum.status != 1
    )
