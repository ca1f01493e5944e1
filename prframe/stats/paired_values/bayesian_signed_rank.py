"""The Bayesian signed-rank test: whether a model is better, worse, or as good in practice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import POSTERIOR_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import random_generator, reals
from prframe.stats._batches import batch_sizes
from prframe.stats._tolerances import RESIDUE
from prframe.typing import Floats

# The number of weights in one chunk of draws, which should fit into the cache.
_CHUNK = 1 << 14


class SignedRankPosterior(NamedTuple):
    """Probabilities of three answers, and their Monte Carlo error.

    Attributes
    ----------
    less, rope, greater : ndarray of float in [0, 1]
        The probabilities that the first model is worse, as good for practical purposes, and
        better; their sum is 1.
    std_error : ndarray of float
        The largest of the Monte Carlo standard errors of these three.

    Examples
    --------
    >>> posterior = signed_rank_posterior([0.3, 0.1, 0.2, 0.1, 0.2, -0.1], rng=1)
    >>> bool(posterior.greater > 0.9)
    True
    """

    less: Floats
    rope: Floats
    greater: Floats
    std_error: Floats


def signed_rank_posterior(
    differences: ArrayLike,
    rope: float = 0.0,
    *,
    prior: float = 0.5,
    n_resamples: int = POSTERIOR_DRAWS,
    rng: int | np.random.Generator | None = None,
) -> SignedRankPosterior:
    """Return the probability that a model is better, by the Bayesian signed-rank test.

    Differences ``z_1 .. z_n`` and a pseudo-observation ``z_0 = 0`` get Dirichlet weights with
    parameters ``(prior, 1, .., 1)``. Each draw splits ``sum w_i w_j`` into the shares with
    ``z_i + z_j`` below ``-2 rope``, from there to ``2 rope``, and above ``2 rope``. The three
    probabilities are the shares of draws in which each of these is the largest.

    Parameters
    ----------
    differences : array_like of float, shape (..., n_queries)
        First model's value less the second's, query by query; finite, at least one.
    rope : float >= 0
        Region of practical equivalence: differences of at most this size do not matter. With 0
        there is no such region.
    prior : float >= 0
        Weight of the pseudo-observation, in queries; 0 leaves it out.
    n_resamples : int
        Number of draws.
    rng : int or numpy.random.Generator, optional
        Seed or generator of these draws.

    Returns
    -------
    SignedRankPosterior
        ``less``, ``rope``, ``greater`` and ``std_error``, arrays of the shape without the last
        axis.

    Raises
    ------
    PrframeError
        Differences that are not finite, no differences, or an option out of range.

    Notes
    -----
    The first axes share their draws, and a seed gives the same draws for the same number of
    queries, so that the results for many pairs of models agree with each other. A draw takes
    ``O(n)``, after one sort.

    Sums on a border, within 1e-9 of the largest difference, belong to the region. Without a
    region, sums of 0 count half for either side, and a draw in which both sides are equal, as when
    all differences are 0, counts half for either result. Without a region the pseudo-observation
    favours no side: if all differences are above 0, ``greater`` is 1, however few there are.

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon & Ruggeri, *A Bayesian Wilcoxon signed-rank test based on
    the Dirichlet process*, ICML 2014; Benavoli, Corani, Demsar & Zaffalon, *Time for a change: a
    tutorial for comparing multiple classifiers through Bayesian analysis*, JMLR 2017.

    Examples
    --------
    >>> posterior = signed_rank_posterior([0.3, 0.1, 0.2, -0.1, 0.0], rope=0.05, rng=1)
    >>> [round(float(p), 1) for p in posterior[:3]]
    [0.0, 0.3, 0.7]
    """
    values = reals("differences", differences)
    if not values.ndim or not values.shape[-1] or not np.isfinite(values).all():
        raise PrframeError(
            "`differences` must be finite numbers, at least one along the last axis; "
            f"got {checks.brief(differences)}."
        )
    rope = float(checks.number("rope", rope, at_least=0))
    prior = float(checks.number("prior", prior, at_least=0))
    draws = checks.number_of_draws(n_resamples)
    generator, n = random_generator(rng), values.shape[-1]
    samples = [_Sums(row, rope) for row in values.reshape(-1, n)]
    won = np.zeros((len(samples), 3))
    for size in batch_sizes(draws, n, _CHUNK):
        weights = _weights(n, prior, size, generator)
        won += [sample.largest(weights) for sample in samples]
    return _summary(won.reshape(*values.shape[:-1], 3), draws)


class _Sums:
    """The sums of any two differences, with the pseudo-observation, that lie beyond the rope."""

    def __init__(self, differences: Floats, rope: float) -> None:
        """Sort the differences, and find for each the others with a sum beyond either border."""
        z = np.append(0.0, differences)
        self.rope = rope
        self.order = np.argsort(z)
        z = z[self.order]
        # What is nearer to the border lies on it but for rounding.
        border = 2 * rope + RESIDUE * float(np.abs(z).max())
        self.below = np.searchsorted(z, -border - z, "left")
        self.above = np.searchsorted(z, border - z, "right")

    def largest(self, weights: Floats) -> Floats:
        """Count the draws (columns) in which each share is the largest; ties are split."""
        weights = weights[self.order]
        up_to = np.zeros((len(weights) + 1, weights.shape[1]))
        np.cumsum(weights, axis=0, out=up_to[1:])
        total = up_to[-1]
        below = np.einsum("ij,ij->j", weights, up_to[self.below])
        above = np.einsum("ij,ij->j", weights, total - up_to[self.above])
        # Without a rope, sums of 0 would count half on either side, which changes no comparison.
        within = total**2 - below - above if self.rope else np.full_like(total, -1.0)
        shares = np.stack([below, within, above])
        best = shares == shares.max(axis=0)
        return np.asarray((best / best.sum(axis=0)).sum(axis=1))


def _weights(n: int, prior: float, draws: int, generator: np.random.Generator) -> Floats:
    """Draw Dirichlet weights, one draw a column, up to a factor, which does not matter."""
    first = generator.standard_gamma(prior, size=(1, draws))
    return np.concatenate([first, generator.standard_exponential((n, draws))])


def _summary(won: Floats, draws: int) -> SignedRankPosterior:
    """Return the shares of draws, with the largest of their Monte Carlo errors."""
    # The error counts one more draw of either outcome, so that it is not 0 in clear cases.
    share = (won + 1) / (draws + 2)
    error = np.sqrt(share * (1 - share) / draws).max(axis=-1)
    less, rope, greater = np.moveaxis(won / draws, -1, 0)
    return SignedRankPosterior(less, rope, greater, error)
