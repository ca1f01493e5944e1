"""Sums of the AP of independent rankings, as far as all kinds of walks have them in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from prframe.stats.null.average_precision.generating_function.course import Course
from prframe.stats.null.average_precision.generating_function.path import Lanes, Path, log_waves
from prframe.stats.null.average_precision.generating_function.saddlepoint import (
    Approximation,
    Points,
)
from prframe.stats.null.average_precision.generating_function.steps import Items
from prframe.stats.null.average_precision.tails.planned import BACK, PROBED
from prframe.typing import Floats

# The characteristic function of an AP with at most this many positives is computed by a walk. With
# more positives it is estimated from the most likely path.
COARSE = 7


class Term(NamedTuple):
    """Equal rankings whose AP is added up `often` times; mean and variance are those of one AP."""

    items: Items
    n_pos: int
    often: int
    mean: float
    variance: float


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


class Sum(ABC):
    """A sum of AP, and the walks of its terms.

    Attributes
    ----------
    terms : list of Term
    mean, deviation : float
        Of the sum.
    tilted_deviation : float
        Standard deviation of the sum under the last tilt that was tried.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = sorted(terms, key=lambda term: (term.n_pos, term.mean, term.variance))
        often, mean, variance = np.array([term[2:] for term in terms]).T
        self.mean, self.deviation = float(often @ mean), float(often @ variance) ** 0.5
        self.tilted_deviation = self.deviation

    @property
    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """The parts, each with terms whose walks go side by side."""

    @abstractmethod
    def saddlepoint(self, target: float) -> Points | None:
        """Return the saddlepoint of a value, NaN or None where none is found."""

    @abstractmethod
    def approximation(self, points: Points, target: float) -> Approximation:
        """Return the tail of a value from its saddlepoint."""

    @abstractmethod
    def coarse_waves(self, slope: float, frequencies: Floats) -> Floats:
        """Return the size of the characteristic function of terms with few positives."""

    @abstractmethod
    def product(self) -> Course:
        """Return the generating function of the sum, along the present paths."""

    def is_lumpy(self, slope: float) -> bool:
        """Whether the sum takes few values or clusters, as where rankings have few positives."""
        frequency = PROBED / self.tilted_deviation
        limit = BACK * PROBED / (1 + abs(slope) * self.tilted_deviation)
        waves = np.ones(frequency.size)
        # AP varies most where there are few positives.
        for part in sorted(self.parts, key=lambda part: -float(part.often @ part.scale)):
            if part.lanes.n_pos.max() > COARSE:
                path = part.path_at(slope)
                each = log_waves(part.lanes, path, frequency * part.scale[:, None])
                waves = waves * np.exp(part.often @ each)
                # Further factors are at most 1, so that the product can only fall.
                is_open = waves > limit
                if not is_open.any():
                    return False
                frequency, limit, waves = frequency[is_open], limit[is_open], waves[is_open]
        return bool((waves * self.coarse_waves(slope, frequency) > limit).any())
