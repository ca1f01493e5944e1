"""The smoothed rank statistic, by kernel estimates of the scores' cdf, and how it is maximised."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from prframe import checks
from prframe.errors import PrframeError
from prframe.learn.rules import Labels, ScoringRule
from prframe.stats import (
    DCG,
    CustomFunction,
    LocalAUC,
    Median,
    ScoreGeneratingFunction,
    parse_phi,
)
from prframe.stats._arrays import finite, positive_labels
from prframe.stats._batches import batches
from prframe.stats.score_functions import Phi
from prframe.typing import Floats

# For this n, derivatives are differences over n^(-2/5), about 2e-5, which is as exact as
# differences of doubles get.
_CLOSE = 10**12
_STAND_INS = {DCG: "'logrank' or 'p-norm-push'", LocalAUC: "'rtb(u0={u0})'", Median: "'mww'"}
# Beyond this distance the kernel is below 1e-14; so is its spectrum, exp(-w^2 / 2), in frequency.
_REACH = 8.0
# The width of a panel of points, the period of its series, and the frequencies of that.
_WIDTH = 64.0
_PERIOD = _WIDTH + 2 * _REACH
_FREQUENCIES = 2 * np.pi / _PERIOD * np.arange(1, int(_REACH * _PERIOD / (2 * np.pi)) + 2)
# Arrays of points and frequencies have at most so many entries, which stay in the cache.
_POWERS = 2**16


class SmoothedCriterion(NamedTuple):
    """The criterion, and its derivatives with respect to the scores."""

    value: float
    gradient: Floats


def smoothed_criterion(
    scores: ArrayLike,
    label: ArrayLike,
    bandwidth: float,
    phi: Phi = "mww",
) -> SmoothedCriterion:
    """Return the smoothed rank statistic of scores, and its gradient.

    The statistic W is the sum over positives of ``phi(F(s_i))``, where
    ``F(t) = 1/N sum_j kappa((t - s_j) / h)``, kappa being the normal cdf and j running over all N
    items. The gradient is ``dW/ds_j = 1{j positive} w_j f(s_j) - g(s_j)`` with
    ``g(t) = 1/(N h) sum over positives of w_i K((t - s_i) / h)`` and ``w_i = phi'(F(s_i))``, where
    f is the derivative of F and K that of kappa (Clemencon, Limnios & Vayatis 2021, eqs (4.8),
    (4.10), (5.1) and (5.2)). That of a linear rule by theta is ``Z' gradient``.

    Parameters
    ----------
    scores : array_like of float, shape (N,)
        Finite.
    label : array_like of bool or number, shape (N,)
        Positive where True or above 0; at least one is.
    bandwidth : float > 0
        h, in the unit of the scores.
    phi : str, ScoreGeneratingFunction or callable
        As for `prframe.stats.parse_phi`, and smooth; it may be infinite at 0 or 1.

    Returns
    -------
    SmoothedCriterion
        ``value`` and ``gradient``, shape (N,), within about 1e-13 by Fourier series: for a given
        bandwidth relative to the spread in time ``O(N log N)``.

    Raises
    ------
    PrframeError
        Scores, labels or a bandwidth that are not as above, or a phi that is not smooth.

    Examples
    --------
    >>> criterion = smoothed_criterion([0.0, 1.0, 2.0], [False, False, True], bandwidth=0.5)
    >>> round(criterion.value, 4)
    0.8257
    >>> criterion.gradient.round(4).tolist()
    [-0.0001, -0.036, 0.0361]
    """
    values, positive = finite("scores", scores), positive_labels(label)
    if values.ndim != 1 or values.shape != positive.shape:
        raise PrframeError(
            f"`scores` and `label` must be one-dimensional and of one length; "
            f"got shapes {values.shape} and {positive.shape}."
        )
    if not positive.any():
        raise PrframeError(f"`label` must have a positive; got none of {positive.size}.")
    h = checks.number("bandwidth", bandwidth, above=0)
    return value_and_gradient(values, positive, h, smooth_phi(phi))


def value_and_gradient(
    scores: Floats, positive: NDArray[np.bool_], h: float, phi: ScoreGeneratingFunction
) -> SmoothedCriterion:
    """Compute the criterion and its gradient from checked arguments."""
    n = scores.size
    order = np.argsort(scores)
    ascending, chosen = scores[order] / h, positive[order]
    sums = kernel_sums(ascending[chosen], ascending, np.ones(n))
    ranks = np.clip(sums.cdf / n, 0.5 / n, 1 - 0.5 / n)
    weights = phi.derivative(ranks)
    sorted_gradient = -kernel_sums(ascending, ascending[chosen], weights).density
    sorted_gradient[chosen] += weights * sums.density
    gradient = np.empty(n)
    gradient[order] = sorted_gradient / (n * h)
    return SmoothedCriterion(float(phi(ranks).sum()), gradient)


def smooth_phi(phi: Phi) -> ScoreGeneratingFunction:
    """Return the score-generating function, which must be smooth."""
    function = parse_phi(phi)
    if isinstance(function, CustomFunction) and function.slope is None:
        return replace(function, n=_CLOSE)
    if not function.smooth:
        stand_in = _STAND_INS.get(type(function), "")
        hint = f" Use {stand_in} in its place." if stand_in else ""
        raise PrframeError(
            f"`phi` must be smooth for its statistic to have a gradient; {function.name} is not."
            + hint.format(u0=getattr(function, "u0", None))
        )
    return function


class KernelSums(NamedTuple):
    """Sums of ``a_j kappa(t - x_j)`` and of ``a_j K(t - x_j)``, for each t."""

    cdf: Floats
    density: Floats


def kernel_sums(points: Floats, sources: Floats, weights: Floats) -> KernelSums:
    """Add up kernels around weighted sources at points; both ascend, in units of the bandwidth.

    Points within a width form a panel. Sources beyond its reach count fully or not at all, others
    by ``K(x) = 1/P + 2/P sum_k exp(-w_k^2 / 2) cos(w_k x)``, where ``w_k = 2 pi k / P``.
    """
    cdf, density = np.empty_like(points), np.empty_like(points)
    below = np.append(0.0, np.cumsum(weights))
    factor = 2 / _PERIOD * np.exp(-(_FREQUENCIES**2) / 2)
    start = 0
    while start < points.size:
        origin = points[start] + _WIDTH / 2
        stop = max(start + 1, int(np.searchsorted(points, points[start] + _WIDTH, side="right")))
        reach = _WIDTH / 2 + _REACH
        near = slice(*np.searchsorted(sources, [origin - reach, origin + reach]).tolist())
        x, a = sources[near] - origin, weights[near]
        spectrum = np.zeros(_FREQUENCIES.size, dtype=np.complex128)
        for part in batches(x.size, _FREQUENCIES.size, _POWERS):
            spectrum += _powers(-x[part]) @ a[part]
        spectra = np.stack([spectrum * factor / _FREQUENCIES, spectrum * factor])
        total, moment = a.sum(), a @ x
        for part in batches(stop - start, _FREQUENCIES.size, _POWERS):
            own = slice(start + part.start, start + part.stop)
            t = points[own] - origin
            integrated, plain = spectra @ _powers(t)
            # The constant term, 1/P, has the integral x/P, which is not periodic.
            line = total / 2 + (total * t - moment) / _PERIOD
            cdf[own] = below[near.start] + line + integrated.imag
            density[own] = plain.real + total / _PERIOD
        start = stop
    return KernelSums(cdf, density)


def _powers(x: Floats) -> NDArray[np.complex128]:
    """Return ``exp(i w x)`` for all frequencies w, in rows, by doubling."""
    powers = np.empty((_FREQUENCIES.size, x.size), dtype=np.complex128)
    np.exp(1j * _FREQUENCIES[0] * x, out=powers[0])
    done = 1
    while done < len(powers):
        more = min(done, len(powers) - done)
        np.multiply(powers[:more], powers[done - 1], out=powers[done : done + more])
        done += more
    return powers


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
