"""The numbers of hits at the end of each step of a walk, and the terms that lead to them.

Many rankings are walked through side by side, each in a lane, either through every number of hits
or through those about a path. Where hits scatter widely, a sum over every d-th number, times d,
differs from the sum over all of them by less than rounding does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.steps import Steps, log_binomial
from prframe.typing import Floats, Integers

# Rows reach this many standard deviations of the hits, and so many hits more, to both sides of a
# path; the terms of a row do so about the hits to be expected above the step.
_WIDE, _MORE = 7.5, 6.0
_WIDE_GIVEN, _MORE_GIVEN = 5.5, 4.0
# Every number of hits is a row where the hits above a step, given those at its end, have a smaller
# standard deviation than the first number. Elsewhere rows are this share of it apart.
_DENSE_SCATTER, _STRIDE = 3.0, 0.7
# In walks through all hits, terms whose chance has a smaller logarithm are left out.
_DROPPED = -100.0


@dataclass(frozen=True)
class Lanes:
    """Rankings that are walked through side by side, each with steps of its own."""

    n: Floats
    n_pos: Floats
    # As in `Steps`, (n_lanes, n_steps); lanes with fewer steps end with empty ones.
    size: Floats
    single: Floats
    pair: Floats
    spread: Floats
    end: Floats

    @classmethod
    def of(cls, steps: Sequence[Steps], n_pos: "Sequence[int] | Floats | Integers") -> "Lanes":
        """Lay the steps of lanes side by side."""
        columns = np.zeros((4, len(steps), max(table.size.size for table in steps)))
        for row, table in enumerate(steps):
            columns[:, row, : table.size.size] = table[1:]
        end = np.cumsum(columns[0], axis=1)
        size, single, pair, spread = columns
        hits = np.array(n_pos, dtype=np.float64)
        return cls(end[:, -1], hits, size, single, pair, spread, end)

    def taken(self, lanes: Integers) -> "Lanes":
        """Return some of the lanes."""
        return Lanes(*(column[lanes] for column in vars(self).values()))


class Path(NamedTuple):
    """The most likely hits under a slope, and how they scatter."""

    # At the beginning and the end of each step, (n_lanes, n_steps + 1).
    hits: Floats
    # The slope and the standard deviation of T by lane.
    slope: Floats
    deviation: Floats
    # The standard deviation of the hits at the end of each step but the last.
    scatter: Floats

    def taken(self, lanes: Integers) -> "Path":
        """Return some of the lanes."""
        return Path(*(column[lanes] for column in self))


class Rows(NamedTuple):
    """The numbers of hits at the end of a step: `number` by lane from `low` on, `stride` apart."""

    low: Floats
    stride: Floats
    number: Integers
    # Where the rows of a lane begin.
    start: Integers

    @classmethod
    def of(cls, low: Floats, stride: "Floats | float", count: "Integers | int") -> "Rows":
        """Return the rows of lanes, one lane after the other."""
        number = np.broadcast_to(np.asarray(count, dtype=np.int64), low.shape)
        start = np.cumsum(number) - number
        return cls(low, np.broadcast_to(np.float64(stride), low.shape), number, start)

    @property
    def lane(self) -> Integers:
        """The lane of each row."""
        return np.repeat(np.arange(self.number.size), self.number)

    @property
    def hits(self) -> Floats:
        """The hits of each row."""
        place = np.arange(int(self.number.sum())) - self.start[self.lane]
        return self.low[self.lane] + self.stride[self.lane] * place


class Table(NamedTuple):
    """The terms of the sums of a step, padded to the same number for each row.

    `lane` and `hits` at the end of the step by row. By row and term: `column`, the place of the
    hits above the step among the rows before; the logarithm of C(m, j), -inf for no term; mean and
    variance of the growth of T; `slack`, how far the least growth is below its mean.
    """

    lane: Integers
    hits: Floats
    column: Integers
    log_ways: Floats
    growth: Floats
    variance: Floats
    slack: Floats


def rows_about(lanes: Lanes, path: Path, step: int, scatter: Floats) -> Rows:
    """Return hits about a path at the end of a step; `scatter` is theirs given the next step."""
    end, centre = lanes.end[:, step], path.hits[:, step + 1]
    half = _WIDE * path.scatter[:, step] + _MORE
    # The ranks below must have room for the other positives, and there are no more than `n_pos`.
    low = np.maximum(np.floor(centre - half), np.maximum(0.0, lanes.n_pos - (lanes.n - end)))
    high = np.minimum(np.ceil(centre + half), np.minimum(end, lanes.n_pos))
    given = np.minimum(_given(lanes, path, step + 1), scatter)
    stride = np.where(given < _DENSE_SCATTER, 1.0, np.maximum(np.floor(_STRIDE * given), 1.0))
    count = np.maximum((high - low) // stride, 0).astype(np.int64) + 1
    return Rows.of(np.minimum(low, high), stride, count)


def _given(lanes: Lanes, path: Path, step: int) -> Floats:
    """Return how much the hits above a step scatter when those at its end are known."""
    size, end, hits = lanes.size[:, step], lanes.end[:, step], path.hits[:, step + 1]
    share = np.clip(hits / end, 0.0, 1.0)
    return np.asarray(np.sqrt((end - size) * size * share * (1 - share) / end))


def step_table(
    lanes: Lanes, step: int, before: Rows, after: Rows, guide: tuple[Path, Floats] | None = None
) -> Table:
    """Return the terms of a step; with a path and its coupling, those near what these predict."""
    lane, hits = after.lane, after.hits
    size = lanes.size[lane, step]
    low, high = np.maximum(hits - size, 0.0), hits
    if guide is not None and step:
        path, rise = guide[0], hits - guide[0].hits[lane, step + 1]
        # More hits at the end of the step mean more hits above it, by an amount between those
        # under random ranking and under the tilt.
        moved = np.stack([1 - size / lanes.end[lane, step], guide[1][lane, step - 1]]) * rise
        half = (_WIDE_GIVEN * _given(lanes, path, step) + _MORE_GIVEN)[lane]
        low = np.maximum(low, path.hits[lane, step] + moved.min(axis=0) - half)
        high = np.minimum(high, path.hits[lane, step] + moved.max(axis=0) + half)
    begin, stride = before.low[lane], before.stride[lane]
    first = np.maximum(np.ceil((low - begin) / stride), 0).astype(np.int64)
    last = np.minimum(np.floor((high - begin) / stride).astype(np.int64), before.number[lane] - 1)
    place = first[:, None] + np.arange(max(int((last - first).max()), 0) + 1)
    is_term = place <= last[:, None]
    column = before.start[lane][:, None] + np.where(is_term, place, 0)
    h = np.where(is_term, begin[:, None] + stride[:, None] * place, 0.0)
    j = np.where(is_term, hits[:, None] - h, 0.0)
    columns = lanes.size, lanes.single, lanes.pair, lanes.spread
    m, single, pair, spread = (values[lane, step][:, None] for values in columns)
    ways = np.where(is_term, log_binomial(m, j), -np.inf) + np.log(stride)[:, None]
    growth = j * (h + 1) * single + j * (j - 1) * pair
    variance = j * (1 - j / np.maximum(m, 1)) * (h + j / 2) ** 2 * spread
    least = j * (h + (j + 1) / 2) / np.maximum(lanes.end[lane, step][:, None], 1)
    slack = np.where(variance > 0, np.maximum(growth - least, 0.0), 0.0)
    return Table(lane, hits, column, ways, growth, variance, slack)


def trimmed(table: Table, above: float, end: float) -> Table:
    """Drop the terms that are never likely, which come first in each row."""
    before = table.column.astype(np.float64)
    chance = table.log_ways + log_binomial(above, before) - log_binomial(end, table.hits[:, None])
    first = np.argmax(chance > _DROPPED, axis=1)
    width = int((np.isfinite(table.log_ways).sum(axis=1) - first).max())
    place = first[:, None] + np.arange(width)
    is_term = place < chance.shape[1]
    place = np.where(is_term, place, 0)
    column = np.take_along_axis(table.column, place, axis=1)
    ways, growth, variance, slack = (np.take_along_axis(each, place, axis=1) for each in table[3:])
    ways = np.where(is_term, ways, -np.inf)
    return Table(table.lane, table.hits, column, ways, growth, variance, slack)
