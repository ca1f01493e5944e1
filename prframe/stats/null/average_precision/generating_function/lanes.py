"""Rankings that are walked through side by side, and the paths of their hits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.steps import Steps
from prframe.typing import Floats, Integers


@dataclass(frozen=True)
class Lanes:
    """Rankings that are walked through side by side, each with steps of its own.

    Attributes
    ----------
    n, n_pos : ndarray of float, shape (n_lanes,)
        Items, and positives among them.
    size, single, pair, spread, last : ndarray of float, shape (n_lanes, n_steps)
        As in `Step`; lanes with fewer steps end with steps of no items.
    end : ndarray of float, shape (n_lanes, n_steps)
        How many items are in a step and those before it.
    """

    n: Floats
    n_pos: Floats
    size: Floats
    single: Floats
    pair: Floats
    spread: Floats
    last: Floats
    end: Floats

    @classmethod
    def of(cls, steps: Sequence[Steps], n_pos: "Sequence[int] | Floats") -> "Lanes":
        """Lay the steps of lanes side by side."""
        width = max(table.size.size for table in steps)

        def column(name: str) -> Floats:
            """Return a quantity of all steps, a row per lane, with zeros behind the last step."""
            rows = np.zeros((len(steps), width))
            for row, table in zip(rows, steps, strict=True):
                values = getattr(table, name)
                row[: values.size] = values
            return rows

        size = column("size")
        end = np.cumsum(size, axis=1)
        return cls(
            end[:, -1],
            np.array(n_pos, dtype=np.float64),
            size,
            column("single"),
            column("pair"),
            column("spread"),
            column("last"),
            end,
        )

    def taken(self, lanes: Integers) -> "Lanes":
        """Return some of the lanes."""
        columns = vars(self).values()
        return Lanes(*(column[lanes] for column in columns))


class Path(NamedTuple):
    """The most likely hits and how they scatter.

    Attributes
    ----------
    hits : ndarray of float, shape (n_lanes, n_steps + 1)
        Hits at the beginning and at the end of each step.
    slope : ndarray of float, shape (n_lanes,)
    deviation : ndarray of float, shape (n_lanes,)
        Standard deviation of T under the tilt, roughly.
    scatter : ndarray of float, shape (n_lanes, n_steps - 1)
        Standard deviation of the hits at the end of each step but the last.
    """

    hits: Floats
    slope: Floats
    deviation: Floats
    scatter: Floats

    def taken(self, lanes: Integers) -> "Path":
        """Return some of the lanes."""
        return Path(*(column[lanes] for column in self))
