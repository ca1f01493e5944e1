"""What a study of coverage finds of one interval in one setting, as a row of a table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from prframe.typing import Floats

LOW, HIGH = 0.93, 0.97
# From these shares on, the ends of the range or equal estimates explain a coverage.
OFTEN_AT_END, OFTEN_ALIKE = 0.5, 0.04
HAIR = 1e-12
HEADER = ["part", "metric", "scores", "size", "value", "coverage", "at an end", "alike"]
HEADER += ["verdict", "reason"]


@dataclass(frozen=True)
class Row:
    """What was found of a metric in one setting.

    Attributes
    ----------
    part, metric, scores, size : str
    true : float
        The value in the population.
    limits : tuple of float
        The range of the metric.
    found : ndarray, shape (n_samples, 3)
        Estimate, low and high in each sample.
    width : float, optional
        The mean width, if low and high do not tell it.
    """

    part: str
    metric: str
    scores: str
    size: str
    true: float
    limits: tuple[float, float]
    found: Floats
    width: float | None = None

    @property
    def misses(self) -> tuple[float, float]:
        """How often intervals lie above the value, and below it."""
        _, low, high = self.found.T
        above, below = ~(low <= self.true + HAIR), high < self.true - HAIR
        return float(above.mean()), float(below.mean())

    @property
    def coverage(self) -> float:
        """How often intervals cover."""
        return 1 - sum(self.misses)

    @property
    def side(self) -> int:
        """-1 or 1 if the coverage is below or above the band by two standard errors, else 0."""
        n, coverage = len(self.found), self.coverage
        low, high = (2 * (end * (1 - end) / n) ** 0.5 for end in (LOW, HIGH))
        return int(coverage > HIGH + high) - int(coverage < LOW - low)

    @property
    def at_end(self) -> float:
        """The share of intervals with an end at that of the range."""
        _, low, high = self.found.T
        return float(((low <= self.limits[0]) | (high >= self.limits[1])).mean())

    @property
    def alike(self) -> float:
        """The share of samples with the most frequent estimate."""
        counts = np.unique(self.found[:, 0].round(9), return_counts=True)[1]
        return float(counts.max() / len(self.found))

    def why(self) -> str:
        """Return what explains a coverage outside of the band."""
        reasons = {
            "an end of the range": self.at_end > OFTEN_AT_END and self.side > 0,
            "few counts": self.alike > OFTEN_ALIKE,
        }
        return ", ".join(reason for reason, holds in reasons.items() if holds)

    def cells(self) -> list[str]:
        """Return the cells of a line in the table."""
        above, below = self.misses
        width = self.width
        if width is None:
            width = float(np.nanmean(self.found[:, 2] - self.found[:, 1]))
        return [
            self.part,
            self.metric,
            self.scores,
            self.size,
            f"{self.true:.4g}",
            f"{self.coverage:.3f} ({above:.3f}, {below:.3f}) {width:.3f}",
            f"{self.at_end:.2f}",
            f"{self.alike:.2f}",
            ("within", "too high", "too low")[self.side],
            self.why() if self.side else "",
        ]


Task: TypeAlias = Callable[[], list[Row]]


def of_band(about: tuple[str, str, str, str], low: Floats, high: Floats, true: Floats) -> Row:
    """Return the row of bands, a row per sample and a column per level, around a curve.

    A band covers if its lower end is nowhere above the curve, and its upper end nowhere below.
    """
    found = [np.arange(len(low)), (low - true).max(axis=1), (high - true).min(axis=1)]
    width = float((high - low).mean())
    return Row(*about, 0.0, (-np.inf, np.inf), np.column_stack(found), width)
