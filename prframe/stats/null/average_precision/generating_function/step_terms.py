"""The numbers of hits at the end of a step of a walk, and the terms that lead to each of them."""

from typing import NamedTuple

import numpy as np

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.steps import Steps, log_binomial
from prframe.typing import Floats, Integers

# Rows reach this many standard deviations of the hits to both sides of a path.
_WIDE = 7.5
# They reach this many hits further.
_MORE = 6.0
# The terms of a row reach this many standard deviations to both sides of the hits that are to be
# expected above the step, given the row's hits at its end.
_WIDE_GIVEN = 5.5
# They reach this many hits further.
_MORE_GIVEN = 4.0
# Where the hits above a step, given those at its end, have a standard deviation below this, every
# number of hits is a row.
_DENSE_SCATTER = 3.0
# Elsewhere neighbouring rows are this many of these standard deviations apart.
_STRIDE = 0.7
# In a walk through every number of hits a term is left out if the natural logarithm of its chance,
# given the hits at the end of the step, is at most this.
_DROPPED = -100.0


class Rows(NamedTuple):
    """The numbers of hits at the end of a step, `number` for each lane, from `low` on.

    They are `stride` apart, and those of a lane begin at the row `start`.
    """

    low: Floats
    stride: Floats
    number: Integers
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

    Attributes
    ----------
    lane, hits : ndarray, shape (n_rows,)
        Lane, and hits at the end of the step.
    column : ndarray of int, shape (n_rows, n_terms)
        Places of the hits above the step, among the rows before.
    log_ways, growth, variance : ndarray of float, shape (n_rows, n_terms)
        Logarithm of C(m, j), -inf for no term; mean and variance of the growth of T.
    slack : ndarray of float, shape (n_rows, n_terms)
        How far the least growth of T is below its mean; None where there is no variance.
    """

    lane: Integers
    hits: Floats
    column: Integers
    log_ways: Floats
    growth: Floats
    variance: Floats | None
    slack: Floats | None


def last_table(cut: Steps, hits: Floats, before: Rows) -> Table:
    """Return the terms of last steps, a row per group, all from the same rows before."""
    lanes = Lanes.of([cut.at(k) for k in range(hits.size)], hits)
    none = np.zeros(hits.size, np.int64)
    shared = Rows(none + before.low, none + before.stride, none + before.number, none)
    table = step_table(lanes, 0, shared, Rows.of(hits, 1, 1))
    return table._replace(lane=none)


def rows_about(lanes: Lanes, path: Path, step: int, scatter: Floats) -> Rows:
    """Return the numbers of hits about a path at the end of a step.

    `scatter` is how they scatter under the tilt when those at the end of the next step are known.
    """
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
    above = end - size
    share = np.clip(hits / end, 0.0, 1.0)
    return np.asarray(np.sqrt(above * size * share * (1 - share) / end))


def step_table(
    lanes: Lanes,
    step: int,
    before: Rows,
    after: Rows,
    guide: tuple[Path, Floats] | None = None,
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
    inside = place <= last[:, None]
    column = before.start[lane][:, None] + np.where(inside, place, 0)
    above = begin[:, None] + stride[:, None] * place
    terms = np.where(inside, above, np.nan)
    return _table(lanes, step, (lane, hits, stride), column, terms)


def _table(
    lanes: Lanes, step: int, rows: tuple[Integers, Floats, Floats], column: Integers, above: Floats
) -> Table:
    """Return the terms for hits above the step, NaN where there is no term."""
    lane, hits, stride = rows
    size, single, pair, spread = (
        values[lane, step][:, None]
        for values in (lanes.size, lanes.single, lanes.pair, lanes.spread)
    )
    none = np.isnan(above)
    h = np.where(none, 0.0, above)
    j = np.where(none, 0.0, hits[:, None] - h)
    ways = np.where(none, -np.inf, log_binomial(size, j)) + np.log(stride)[:, None]
    growth = j * (h + 1) * single + j * (j - 1) * pair
    # This is the variance from the places of the positives within the step.
    if not spread.any():
        return Table(lane, hits, column, ways, growth, None, None)
    variance = j * (1 - j / np.maximum(size, 1)) * (h + j / 2) ** 2 * spread
    least = j * (h + (j + 1) / 2) / np.maximum(lanes.last[lane, step][:, None], 1)
    # What is not retrieved adds nothing at all.
    return Table(lane, hits, column, ways, growth, variance, np.maximum(growth - least, 0.0))


def trimmed(table: Table, above: float, end: float) -> Table:
    """Drop the terms that are never likely, which come first in each row."""
    hits = table.hits[:, None]
    before = table.column.astype(np.float64)
    chance = table.log_ways + log_binomial(above, before) - log_binomial(end, hits)
    first = np.argmax(chance > _DROPPED, axis=1)
    width = int((np.isfinite(table.log_ways).sum(axis=1) - first).max())
    place = first[:, None] + np.arange(width)
    inside = place < chance.shape[1]
    place = np.where(inside, place, 0)
    ways, growth = (
        np.take_along_axis(values, place, axis=1) for values in (table.log_ways, table.growth)
    )
    column = np.take_along_axis(table.column, place, axis=1)
    variance, slack = (
        None if values is None else np.take_along_axis(values, place, axis=1)
        for values in (table.variance, table.slack)
    )
    return table._replace(
        column=column,
        log_ways=np.where(inside, ways, -np.inf),
        growth=growth,
        variance=variance,
        slack=slack,
    )
