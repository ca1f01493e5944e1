"""What a case is made of: subjects that are measured, and what is said of them."""

from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.fresh import Measurement


@dataclass(frozen=True)
class Subject:
    """Something that is measured: a task with its options, or a statement of a whole process."""

    name: str
    task: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    statement: str = ""
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
    tolerance: float = 1e-12


@dataclass(frozen=True)
class Ratio:
    """The time of one subject over that of another, and what it should be."""

    above: str
    below: str
    target: float | None = None
    side: Literal["at most", "at least"] = "at most"

    def met(self, ratio: float) -> bool:
        """Tell whether a measured ratio is on the right side of the target."""
        target = self.target or 0.0
        return ratio <= target if self.side == "at most" else ratio >= target


@dataclass(frozen=True)
class Case:
    """A table: its subjects are run in turn, round after round."""

    name: str
    text: str
    subjects: list[Subject]
    ratios: list[Ratio]
    rounds: int = 5
    checks: list[Subject] = field(default_factory=list)
    """Subjects whose answers are differences, none of which may exceed the tolerance."""
    prepare: Subject | None = None
    """Run once before the others; all tasks of the case are then told a temporary folder."""


Results = dict[str, list[Measurement]]


@dataclass(frozen=True)
class Sizes:
    """How much there is to do."""

    groups: int = 7_000
    per_group: int = 1_000
    one_group: int = 10_000_000
    peer_groups: int = 1_000
    slow_peer_groups: int = 200
    parquet_groups: int = 80_000
    small_groups: int = 200_000
    odd_megabytes: int = 1_000
    many_rounds: int = 11
    rounds: int = 5
    few_rounds: int = 3
    import_pairs: int = 15
    null_pairs: int = 1_000_000
    null_groups: int = 1_000
    null_part: int = 50
    null_queries: int = 93
    null_items: int = 1_000_000
    null_draws: int = 990_000
    null_tied: int = 225
    null_small: int = 10_000
    null_half: int = 20_000_000
    band_items: int = 1_000_000
    band_groups: int = 1_000
    interval_items: int = 100_000
    learn_items: int = 20_000
    compare_systems: int = 20
    compare_queries: int = 200
    compare_draws: int = 100_000
    compare_many: int = 300
    compare_long: int = 1_000
    compare_items: int = 20_000
