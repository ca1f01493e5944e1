"""What a process that was started to be measured reports."""

from dataclasses import dataclass, field
from typing import TypeAlias

Answer: TypeAlias = dict[str, float]


@dataclass(frozen=True)
class Measurement:
    """Seconds and megabytes (10^6 bytes) of one process, or the reason why there are none.

    Attributes
    ----------
    first, later : float, tuple of float
        Seconds of the first call in the process, and of those after it.
    cpu : tuple of float
        Seconds of CPU time of each call, the first one included.
    ready, peak, peak_later : float
        The resident memory just before the first call, and the largest from there until just
        after it and until the end.
    others : float
        How many CPUs other programs kept busy meanwhile, on average.
    answer : dict
        What the result boils down to, to see that two ways agree.
    skipped : str
        Why nothing was measured.
    """

    first: float = 0.0
    later: tuple[float, ...] = ()
    ready: float = 0.0
    peak: float = 0.0
    peak_later: float = 0.0
    others: float = 0.0
    cpu: tuple[float, ...] = ()
    answer: Answer = field(default_factory=dict)
    skipped: str = ""
