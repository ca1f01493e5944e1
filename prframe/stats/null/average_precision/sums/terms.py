"""Sums of the AP of independent rankings, as far as all kinds of walks have them in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.likely_path import log_waves
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Approximation,
    Points,
)
from prframe.stats.null.average_precision.generating_function.steps import Items, Steps
from prframe.stats.null.average_precision.generating_function.walk import DENSE, GROWTH, Course
from prframe.stats.null.average_precision.tails.planned import BACK, PROBED
from prframe.stats.null.average_precision.tails.tail import Tail
from prframe.typing import Floats, Integers

# The characteristic function of an AP with at most this many positives is computed by a walk. With
# more positives it is estimated from the most likely path.
COARSE = 7


class Term(NamedTuple):
    """Equal rankings whose AP is added up `often` times; mean and variance are those of one AP.

    Where values of the sum are low the steps of walks are fine at the end, and so are those of
    few negatives where they are high.
    """

    items: Items
    n_pos: int
    often: int
    mean: float
    variance: float
    is_low: bool = False
    is_full: bool = False

    @property
    def steps(self) -> Steps:
        """The steps of a walk."""
        return self.items.table(DENSE, GROWTH, is_fine_below=self.is_low or self.is_full)


class Part(Protocol):
    """Terms with similar numbers of positives, whose walks go side by side.

    Attributes
    ----------
    often, scale : ndarray of float, shape (n_terms,)
        How often each term is added, and 1 over its number of positives.
    lanes : Lanes
    """

    often: Floats
    scale: Floats
    lanes: Lanes

    def path_at(self, slope: float) -> Path:
        """Return the most likely paths under a slope."""
        ...


class Probes(NamedTuple):
    """Frequencies at which the characteristic function is probed under a slope.

    Attributes
    ----------
    frequency : ndarray of float
    limit, size : ndarray of float
        The size that tells of clusters, and that of the factors which are known, by frequency.
    """

    frequency: Floats
    limit: Floats
    size: Floats


class Sum(ABC):
    """A sum of AP, and the walks of its terms.

    Attributes
    ----------
    terms : list of Term
    mean, deviation : float
        Of the sum.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = sorted(terms, key=lambda term: (term.n_pos, term.mean, term.variance))
        often, mean, variance = np.array([term[2:5] for term in terms]).T
        self.mean, self.deviation = float(often @ mean), float(often @ variance) ** 0.5

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """The parts, each with terms whose walks go side by side."""

    @abstractmethod
    def saddlepoints(self, targets: Floats) -> Points:
        """Return the saddlepoints of values, NaN where none is found."""

    @abstractmethod
    def approximation(self, points: Points, targets: Floats) -> Approximation:
        """Return the tails of values from their saddlepoints."""

    @abstractmethod
    def coarse_waves(self, slopes: Floats, frequencies: Sequence[Floats]) -> list[Floats]:
        """Return the sizes of the characteristic function of terms with few positives."""

    @abstractmethod
    def product(self) -> Course:
        """Return the generating function of the sum, along the present paths."""

    def are_lumpy(self, slopes: Floats, deviations: Floats) -> NDArray[np.bool_]:
        """Whether the sum takes few values or clusters, as where rankings have few positives.

        The deviations are those of the sum under each slope.
        """
        pairs = zip(slopes.tolist(), deviations.tolist(), strict=True)
        probes = [self._probes(slope, deviation) for slope, deviation in pairs]
        waves = self.coarse_waves(slopes, [probe.frequency for probe in probes])
        lumpy = [
            (probe.size * wave > probe.limit).any()
            for probe, wave in zip(probes, waves, strict=True)
        ]
        return np.array(lumpy, dtype=np.bool_)

    def _probes(self, slope: float, deviation: float) -> Probes:
        """Return the frequencies at which terms with many positives do not rule out clusters."""
        frequency = PROBED / deviation
        limit = BACK * PROBED / (1 + abs(slope) * deviation)
        probes = Probes(frequency, limit, np.ones(frequency.size))
        # AP varies most where there are few positives.
        for part in sorted(self.parts, key=lambda part: -float(part.often @ part.scale)):
            if part.lanes.n_pos.max() > COARSE and probes.frequency.size:
                path = part.path_at(slope)
                each = log_waves(part.lanes, path, probes.frequency * part.scale[:, None])
                probes = probes._replace(size=probes.size * np.exp(part.often @ each))
                # Further factors are at most 1, so that the product can only fall.
                is_open = probes.size > probes.limit
                probes = Probes(*(column[is_open] for column in probes))
        return probes


def bounds(slopes: Floats, log_mgf: Floats, targets: Floats) -> list[Tail]:
    """Return upper bounds of both tails: exp(K(s) - s x) on the side of the slope s, and 1."""
    bound = np.minimum(log_mgf - slopes * targets, 0.0)
    return [
        Tail(log_tail, 0.0, "bound") if slope > 0 else Tail(0.0, log_tail, "bound")
        for log_tail, slope in zip(bound.tolist(), slopes.tolist(), strict=True)
    ]


def clustered(slopes: Floats, widths: Floats) -> Integers:
    """Return the number of a cluster for each slope, in which slopes are no further apart.

    They are no further apart than the least of their widths; clusters are numbered in order.
    """
    numbers = np.zeros(slopes.size, np.int64)
    number, first, width = -1, -inf, 0.0
    for place in np.argsort(slopes).tolist():
        width = min(width, float(widths[place]))
        if slopes[place] - first > width:
            number, first, width = number + 1, float(slopes[place]), float(widths[place])
        numbers[place] = number
    return numbers


def centres(slopes: Floats, numbers: Integers) -> Floats:
    """Return the middle between the least and the largest slope of each cluster."""
    least, largest = np.full((2, int(numbers.max()) + 1), inf)
    np.minimum.at(least, numbers, slopes)
    np.minimum.at(largest, numbers, -slopes)
    return np.asarray((least - largest) / 2)
