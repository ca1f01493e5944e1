"""The posterior probability that one of two rankings has more positives among its first k."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from prframe import checks
from prframe.draws import TEST_DRAWS
from prframe.errors import PrframeError
from prframe.stats._arrays import positive_labels, random_generator
from prframe.stats.paired_values import larger_share
from prframe.stats.rankings import checked_levels, share_above
from prframe.typing import Floats, Integers

_PAIR = 2
# The pseudo-count of a uniform prior.
_PRIOR = 1.0


class FoundAlone(NamedTuple):
    """Numbers of positives among the first k of one ranking alone, the other alone, both, none.

    Examples
    --------
    >>> counts = found_alone([[4, 3, 2, 1], [1, 4, 3, 2]], [True, True, True, False], k=2)
    >>> counts.first_better, counts.second_better
    (0.5, 0.5)
    """

    first: float
    second: float
    both: float
    none: float

    @property
    def first_better(self) -> float:
        """The probability that the first ranking finds more."""
        return float(larger_share(self.first + _PRIOR, self.second + _PRIOR))

    @property
    def second_better(self) -> float:
        """The probability that the second ranking finds more."""
        return float(larger_share(self.second + _PRIOR, self.first + _PRIOR))

    def differences(
        self, n_resamples: int = TEST_DRAWS, rng: int | np.random.Generator | None = None
    ) -> Floats:
        """Draw the difference of recall, first less second, from its posterior distribution.

        Parameters
        ----------
        n_resamples : int
            Number of draws, >= 1.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        ndarray of float in [-1, 1], shape (n_resamples,)
            The probability that a positive is found by the first ranking alone, less that of the
            second, where the four probabilities have a Dirichlet distribution.
        """
        checks.number_of_draws(n_resamples)
        shares = random_generator(rng).dirichlet(np.array(self) + _PRIOR, n_resamples)
        return np.asarray(shares[:, 0] - shares[:, 1])


def found_alone(levels: ArrayLike, label: ArrayLike, k: int) -> FoundAlone:
    """Count the positives that one ranking has among its first k and the other has not.

    Parameters
    ----------
    levels : array_like of int, shape (2, N)
        As `ranking_levels` returns them.
    label : array_like of bool or number, shape (N,)
        True, or above 0, for positives.
    k : int >= 1
        Rank.

    Returns
    -------
    FoundAlone
        ``first``, ``second``, ``both``, ``none``, and with a uniform prior the probability that
        either ranking is better, which holds for recall and precision at k alike.

    Raises
    ------
    PrframeError
        Levels that are not of two rankings, labels of another length, or `k` below 1.

    Notes
    -----
    The counts are means over the orders of tied items, which are independent in both rankings, and
    need not be whole.

    References
    ----------
    Goutte & Gaussier, *A probabilistic interpretation of precision, recall and F-score, with
    implication for evaluation*, ECIR 2005.

    See Also
    --------
    paired_posterior_comparison : The same from counts.

    Examples
    --------
    >>> levels = [[6, 5, 4, 3, 2, 1], [1, 6, 2, 3, 4, 5]]
    >>> counts = found_alone(levels, [True, True, True, True, False, False], k=3)
    >>> counts
    FoundAlone(first=2.0, second=0.0, both=1.0, none=1.0)
    >>> counts.first_better
    0.875
    """
    checks.whole_number("k", k, at_least=1)
    rows, positive = checked_levels(levels), positive_labels(label)
    if rows.shape != (_PAIR, *positive.shape):
        raise PrframeError(
            "`levels` must have two rows and a column per label; got shapes "
            f"{rows.shape} and {positive.shape}."
        )
    a, b = (_share_of_top(row, k)[positive] for row in rows)
    parts = (a * (1 - b), b * (1 - a), a * b, (1 - a) * (1 - b))
    return FoundAlone(*(float(part.sum()) for part in parts))


def _share_of_top(level: Integers, k: int) -> Floats:
    """Return the probability of each item to be among the first k; 0 if it is not retrieved."""
    size = np.bincount(level)
    above = level.size - np.cumsum(size)
    share = share_above(k, above, size)
    share[0] = 0.0
    return np.asarray(share[level])
