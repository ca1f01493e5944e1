"""What a table says, whatever it is written in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A value with what is said of it.

    Attributes
    ----------
    text : str
        The value with the decimals of its metric.
    interval : str
        Its confidence interval in brackets, empty where there is none.
    marks : str
        What is raised after the value.
    is_best : bool
        Whether no value of the metric is printed as a larger one.
    """

    text: str
    interval: str
    marks: str
    is_best: bool


@dataclass(frozen=True)
class Line:
    """A system: the letter that others refer to it by, its name, and a cell per metric."""

    key: str
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Content:
    """What a table says: its caption, and a cell for each system and metric."""

    caption: str
    metrics: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def has_keys(self) -> bool:
        """Whether the lines have letters that marks refer to."""
        return any(line.key for line in self.lines)
