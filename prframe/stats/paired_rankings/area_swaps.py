"""The randomization test of AUC, in which the swaps of items are random signs."""

from __future__ import annotations

import numpy as np

from prframe.stats._units import Units
from prframe.stats.paired_values import PairedTest, paired_randomization
from prframe.stats.rankings import joint_ranks
from prframe.typing import Alternative, Flags, Floats, Integers


def area_swap_test(
    levels: Integers, positive: Flags, units: Units, alternative: Alternative
) -> PairedTest:
    """Test whether two rankings differ in AUC, by all swaps of the ranks of units.

    The result is that of `paired_randomization`; NaN without positives or without negatives.
    """
    if positive.all() or not positive.any():
        return PairedTest(np.nan, np.nan, np.nan, "randomization")
    weights = units.sums(swap_weights(levels, positive))
    return paired_randomization(weights, alternative=alternative)


def swap_weights(levels: Integers, positive: Flags) -> Floats:
    """Return what each item adds to the difference of two AUC, or takes from it once swapped.

    They are whole numbers c with ``4 n_pos n_neg (AUC_a - AUC_b) = sum_i s_i c_i``, where s_i is
    -1 for items that are swapped, else 1. With the ranks a_i and b_i of an item in both rankings,
    and psi = 1 or 1/2 where the first of two ranks is better or equal, a positive i and a negative
    j add to the difference of the AUC, times n_pos n_neg, ::

        (s_i + s_j) / 2  (psi(a_i, a_j) - psi(b_i, b_j))
        + (s_i - s_j) / 2  (psi(a_i, b_j) - psi(b_i, a_j))

    which is linear in the signs. Summed over negatives, the weight of a positive is twice the
    number of their ranks, in both rankings, between a_i and b_i, equal ones counting half; that of
    a negative is the same of positives, with the other sign.

    Examples
    --------
    >>> swap_weights(np.array([[3, 2, 1], [1, 3, 2]]), np.array([True, False, False]))
    array([6., 1., 1.])
    """
    ranks = joint_ranks(levels)
    weights = np.zeros(positive.size)
    for one, other, sign in ((positive, ~positive, 1), (~positive, positive, -1)):
        each = np.bincount(ranks[:, other].ravel(), minlength=int(ranks.max()) + 1)
        # Twice the number of ranks of the other class that are worse, equal ones counting half.
        worse = 2 * np.cumsum(each) - each
        weights[one] = sign * (worse[ranks[0, one]] - worse[ranks[1, one]])
    return weights
