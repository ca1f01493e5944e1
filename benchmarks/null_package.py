"""What prframe says of P(AP >= ap): the one place where the study asks the package."""

from typing import NamedTuple

import numpy as np

from benchmarks.null_means import Queries
from benchmarks.null_steps import Floats, Shape
from prframe.stats.null.average_precision.groups import Case, Cases


class Found(NamedTuple):
    """The logarithm of P(AP >= ap), that of P(AP < ap), and how they were found."""

    log_p: float
    log_below: float
    method: str


def package(shape: Shape, ap: Floats) -> list[Found]:
    """Return what the package says of values of the AP of a ranking."""
    case = Case(shape.n, shape.n_pos, shape.depth, shape.ties)
    tails = Cases([case] * ap.size).tails(np.asarray(ap))
    return [Found(tail.log_reached, tail.log_missed, tail.method) for tail in tails]


def package_mean(queries: Queries, value: float) -> Found | None:
    """Return what the package says of a mean over queries, None if it has to draw."""
    cases = [
        Case(shape.n, shape.n_pos, shape.depth, shape.ties)
        for shape, often in zip(queries.shapes, queries.often, strict=True)
        for _ in range(often)
    ]
    tail = Cases(cases).mean_tail(value)
    return None if tail is None else Found(tail.log_reached, tail.log_missed, tail.method)
