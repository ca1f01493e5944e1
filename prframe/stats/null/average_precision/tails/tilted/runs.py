"""Tails at and right above a whole T, where rankings that begin with a run of hits decide.

Where all of the first m ranks are hits, T is m and what the others add, which is little if
positives are rare. The tail falls steeply from m on, and more so than a lattice shows.
"""

from collections.abc import Callable
from math import exp, log

import numpy as np

from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.tails.plain.lattice import log_least_tails
from prframe.stats.null.average_precision.tails.plain.plans import Retrieved
from prframe.stats.null.average_precision.tails.tilted.lattice import TiltedLattice

# A tail is computed from runs where it would fall by less than this, in natural logarithms, from
# the whole value on, if it fell as over a long way. The closest lattices tell tails further on.
_NEXT = 0.04


def log_tail_beside_run(
    lattice: TiltedLattice,
    case: Retrieved,
    rest_of_run: Callable[[int, float], float],
    x: float,
) -> float | None:
    """Return log P(T >= x); None where x is not next to a whole value, or has no answer.

    `rest_of_run` gives the chance that others add so much to a run of so many hits.

    Rankings with the run are told by what the others add. Those without it are as many as a
    lattice has a little further on, less those with the run.
    """
    n, n_pos, _ = case
    # Values of T stand for those of AP less their rounding.
    run, slope = int(x * (1 + 2 * EQUAL)), log(n / n_pos)
    lack, further = max(x - run, 0.0), _NEXT / slope
    if lack >= further or run >= n_pos:
        return None
    log_beyond = float(lattice.tails(np.array([run + further])).reached[0])
    if np.isnan(log_beyond):
        return None
    log_run = float(log_least_tails([case], np.array([float(run)]))[0])
    here, there = (rest_of_run(run, rest) if rest else 1.0 for rest in (lack, further))
    without = max(exp(log_beyond - log_run) - there, 0.0) * exp(slope * (further - lack))
    share = here + without
    return log_run + log(share) if share > 0 else None
