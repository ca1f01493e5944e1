"""What a case is made of: subjects that are measured, and what is said of them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.fresh import Measurement


@dataclass(frozen=True)
class Subject:
    """Something that is measured: a task, such as ``tasks.evaluate``, with its options."""

    name: str
    task: str
    options: dict[str, Any] = field(default_factory=dict)
    later: int = 5
    rounds: int | None = None
    """In how many rounds it takes part, if not in all of them."""
    seconds: float | None = None
    """How long it may take."""
    megabytes: float | None = None
    """How much memory it should stay under, in 10^6 bytes, with or `beyond` its data."""
    beyond: bool = False
    agrees: str = ""
    """The subject from whose answer its own may differ by no more than a tolerance."""
    tolerance: float = 1e-9


@dataclass(frozen=True)
class Ratio:
    """The time of one subject over that of another, and what it should be."""

    above: str
    below: str
    target: float | None = None
    side: Literal["at most", "at least"] = "at most"

    def met(self, ratio: float) -> bool:
        """Return whether a measured ratio is on the right side of the target."""
        target = self.target or 0.0
        return ratio <= target if self.side == "at most" else ratio >= target


@dataclass(frozen=True)
class Case:
    """A table: its subjects are run in turn, round after round."""

    name: str
    text: str
    subjects: list[Subject]
    ratios: list[Ratio]
    rounds: int = 3
    prepare: Subject | None = None
    """Run once before the others; all tasks of the case are then given a temporary folder."""


Results = dict[str, list[Measurement]]
