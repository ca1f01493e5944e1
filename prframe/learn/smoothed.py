"""The smoothed rank statistic: ranks give way to a kernel estimate of the scores' cdf."""

from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prframe import checks
from prframe.errors import PrframeError
from prframe.learn.kernel_sums import KernelSums, kernel_sums
from prframe.learn.polynomial_sums import polynomial_sums
from prframe.stats import (
    DCG,
    CustomFunction,
    LocalAUC,
    Median,
    ScoreGeneratingFunction,
    parse_phi,
)
from prframe.stats._arrays import positive_labels, reals
from prframe.stats.score_functions import Phi
from prframe.typing import Floats

# For this n, derivatives are differences over n^(-2/5), about 2e-5, which is as exact as
# differences of doubles get.
_CLOSE = 10**12
Kernel: TypeAlias = Literal["gaussian", "epanechnikov", "biweight", "triweight"]
# The exponents s of the kernels (1 - x^2 / (2 s + 3))^s.
_POWERS = {"epanechnikov": 1, "biweight": 2, "triweight": 3}
KERNELS = ("gaussian", *_POWERS)
_STAND_INS = {DCG: "'logrank' or 'p-norm-push'", LocalAUC: "'rtb(u0={u0})'", Median: "'mww'"}


class SmoothedCriterion(NamedTuple):
    """The criterion, and its derivatives with respect to the scores."""

    value: float
    gradient: Floats


def smoothed_criterion(
    scores: ArrayLike,
    label: ArrayLike,
    bandwidth: float,
    phi: Phi = "mww",
    *,
    kernel: Kernel = "gaussian",
) -> SmoothedCriterion:
    """Return the smoothed rank statistic of scores, and its gradient.

    The statistic W is the sum over positives of ``phi(F(s_i))``, where
    ``F(t) = 1/N sum_j kappa((t - s_j) / h)``, kappa being the cdf of the kernel and j running over
    all N items. The gradient is ``dW/ds_j = 1{j positive} w_j f(s_j) - g(s_j)`` with
    ``g(t) = 1/(N h) sum over positives of w_i K((t - s_i) / h)`` and ``w_i = phi'(F(s_i))``, where
    f is the derivative of F and K that of kappa.

    Parameters
    ----------
    scores : array_like of float, shape (N,)
        Finite.
    label : array_like of bool or number, shape (N,)
        Positive where True or above 0; at least one is.
    bandwidth : float > 0
        h, in the unit of the scores.
    phi : str, ScoreGeneratingFunction or callable
        As for `prframe.stats.parse_phi`, and smooth.
    kernel : {"gaussian", "epanechnikov", "biweight", "triweight"}, default "gaussian"
        K: the normal density, or ``c (1 - x^2 / r^2)^s`` for ``|x| < r``, s being 1, 2 and 3.
        All have standard deviation 1 (``r^2 = 2 s + 3``), so that h means the same with each.

    Returns
    -------
    SmoothedCriterion
        ``value`` and ``gradient``, shape (N,).

    Raises
    ------
    PrframeError
        Scores, labels or a bandwidth that are not as above, or a phi that is not smooth.

    Notes
    -----
    By the chain rule, the gradient of any parametric scoring rule follows; that of a linear rule
    is ``Z' gradient``. Every item counts half in F at its own score, so F lies between 1/(2N) and
    1 - 1/(2N), and functions that are infinite at 0 or 1 can be taken.

    Sums over pairs are replaced by Fourier series where these cost less, and with kernels other
    than "gaussian" by sums of powers, with an error of about 1e-13. For a given bandwidth relative
    to the spread the time is ``O(N log N)`` and the memory ``O(N)``.

    References
    ----------
    Clemencon, Limnios & Vayatis 2021, eqs (4.8), (4.10), (5.1) and (5.2).

    Examples
    --------
    >>> criterion = smoothed_criterion([0.0, 1.0, 2.0], [False, False, True], bandwidth=0.5)
    >>> round(criterion.value, 4)
    0.8257
    >>> criterion.gradient.round(4).tolist()
    [-0.0001, -0.036, 0.0361]
    """
    values, positive = reals("scores", scores), positive_labels(label)
    if values.ndim != 1 or values.shape != positive.shape:
        raise PrframeError(
            f"`scores` and `label` must be one-dimensional and of one length; "
            f"got shapes {values.shape} and {positive.shape}."
        )
    if not positive.any():
        raise PrframeError(f"`label` must have a positive; got none of {positive.size}.")
    if not np.isfinite(values).all():
        raise PrframeError(f"`scores` must be finite; {(~np.isfinite(values)).sum()} are not.")
    h = checks.number("bandwidth", bandwidth, above=0)
    checks.one_of("kernel", kernel, KERNELS)
    return value_and_gradient(values, positive, h, smooth_phi(phi), kernel)


def value_and_gradient(
    scores: Floats,
    positive: NDArray[np.bool_],
    h: float,
    phi: ScoreGeneratingFunction,
    kernel: Kernel,
) -> SmoothedCriterion:
    """Compute the criterion and its gradient from checked arguments."""
    n = scores.size
    order = np.argsort(scores)
    ascending, chosen = scores[order] / h, positive[order]
    sums = _sums(ascending[chosen], ascending, np.ones(n), kernel)
    # These bounds hold exactly, and rounding errors are cut off at them.
    ranks = np.clip(sums.cdf / n, 0.5 / n, 1 - 0.5 / n)
    weights = phi.derivative(ranks)
    sorted_gradient = -_sums(ascending, ascending[chosen], weights, kernel).density
    sorted_gradient[chosen] += weights * sums.density
    gradient = np.empty(n)
    gradient[order] = sorted_gradient / (n * h)
    return SmoothedCriterion(float(phi(ranks).sum()), gradient)


def _sums(points: Floats, sources: Floats, weights: Floats, kernel: Kernel) -> KernelSums:
    """Add up kernels around weighted sources at points; both ascend."""
    if kernel == "gaussian":
        return kernel_sums(points, sources, weights)
    return polynomial_sums(points, sources, weights, _POWERS[kernel])


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
