"""Tilts that move the mean of a sum with random signs to where the sum was observed."""

import numpy as np

from prframe.typing import Flags, Floats

# Newton's method takes few steps, since the sum is nearly normal.
_STEPS, _CLOSE = 50, 1e-11


def tilts(sizes: Floats, total: Floats) -> tuple[Floats, Flags]:
    """Solve ``sum_i d_i tanh(t d_i) = s`` for t, column by column.

    Parameters
    ----------
    sizes : ndarray, shape (n_numbers, n_sums)
        Numbers d >= 0; the squares of each column add up to 1.
    total : ndarray, shape (n_sums,)
        Sums s >= 0.

    Returns
    -------
    tilt : ndarray, shape (n_sums,)
    converged : ndarray of bool, shape (n_sums,)
    """
    tilt, converged = total.copy(), np.zeros(total.shape, np.bool_)
    for _ in range(_STEPS):
        tanh = np.tanh(tilt * sizes)
        curvature = (sizes**2 * (1 - tanh**2)).sum(axis=0)
        step = (total - (sizes * tanh).sum(axis=0)) / curvature
        # The sum of tanh is concave, so that Newton's steps from below 0 overshoot nowhere.
        tilt = tilt + step
        converged = np.abs(step) <= _CLOSE * tilt
        if converged.all():
            break
    return tilt, converged


def log_cosh(x: Floats) -> Floats:
    """Return log cosh x for x >= 0, where cosh may overflow."""
    return np.asarray(x + np.log1p(np.exp(-2 * x)) - np.log(2))
