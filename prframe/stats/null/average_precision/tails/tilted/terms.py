"""The terms of the steps of a tilted lattice that lead to a value of T, and how likely they are.

Which rows there are follows from the likeliest path to the value (`likely_path`), and is checked:
where the outermost rows are not negligible, more are added.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prframe.stats.null.average_precision.generating_function.lanes import Lanes, Path
from prframe.stats.null.average_precision.generating_function.steps import Steps
from prframe.stats.null.average_precision.tails.plain.plans import step_terms
from prframe.typing import Floats, Integers

# The slopes whose bounds tell which terms count.
_CHECKED = np.array([1.0, 1.15])
# Rows reach this many standard deviations of the hits, and this many hits, beyond the path. Where
# that is not enough they reach this many times as far, with so many steps on both sides, and so
# on, for so many tries.
_WIDE, _MORE, _WIDER, _AROUND, _TRIES = 7.0, 8.0, 1.5, 3, 8
# At the first ranks, this many, there are rows for every number of hits.
_WHOLE = 400
# A walk has at most so many terms. Where there would be more there is no answer.
_MOST_TERMS = 8e6
# The natural logarithm of a term's chance, given the hits at the end of its step, is above this.
_NEVER = -700.0
# The size of numbers that stand for infinite ones.
HUGE = 1e300


class Terms(NamedTuple):
    """The terms of a step, in the order of the rows at its end.

    `row` and `above` are places among the rows at the end of the step, `rows` in number, and among
    those above it.
    """

    rows: int
    row: Integers
    above: Integers
    growth: Floats
    spread: Floats
    log_chance: Floats

    def kept(self, wanted: NDArray[np.bool_]) -> "Terms":
        """Return some of the terms."""
        return Terms(
            self.rows,
            self.row[wanted],
            self.above[wanted],
            self.growth[wanted],
            self.spread[wanted],
            self.log_chance[wanted],
        )

    def gain(self, slopes: Floats) -> Floats:
        """Return the logarithms of the chances times E[exp(slope growth)], a row per slope."""
        s = slopes[:, None]
        return np.asarray(self.log_chance + s * self.growth + np.log(np.cosh(s * self.spread)))


class Levels(NamedTuple):
    """log V and log N of the rows above the first step and at the end of each, by slope."""

    slopes: Floats
    down: list[Floats]
    up: list[Floats]


def likely_terms(
    steps: Steps, lanes: Lanes, path: Path, value: tuple[float, float]
) -> list[Terms] | None:
    """Return the terms of the steps that count for a value of T; None where they are too many.

    The value comes with the logarithm of what is negligible.
    """
    x, least = value
    slopes, wide = path.slope[0] * _CHECKED, np.ones(steps.size.size)
    before: tuple[_Rows, list[Terms]] | None = None
    for _ in range(_TRIES):
        rows = _Rows.about(lanes, path, wide)
        terms = rows.terms(steps, before)
        if terms is None:
            return None
        gains = [step.gain(slopes) for step in terms]
        kept = terms_above(terms, levels_at(terms, slopes, gains), (x, least), gains)
        are_cut = [rows.is_cut(place, step) for place, step in enumerate(kept)]
        if not any(are_cut):
            return kept
        wide[np.convolve(are_cut, np.ones(2 * _AROUND + 1), "same") > 0] *= _WIDER
        before = rows, kept
    return None


class _Rows(NamedTuple):
    """The hits from which and to which the steps go.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_steps + 1,)
        The least and the most hits above the first step, and at the end of each.
    fewest, most : ndarray of int, shape (n_steps + 1,)
        The least and the most hits that there can be.
    sizes : ndarray of float, shape (n_steps,)
        The ranks of each step.
    middle, rise, reach : ndarray of float, shape (n_steps,)
        Hits h at the end of a step come from those within `reach` of ``middle + rise h`` above it.
    """

    low: Integers
    high: Integers
    fewest: Integers
    most: Integers
    sizes: Floats
    middle: Floats
    rise: Floats
    reach: Floats

    @classmethod
    def about(cls, lanes: Lanes, path: Path, wide: Floats) -> "_Rows":
        """Return the rows about a path, by step so many times as wide as they are at first."""
        end = np.append(0, lanes.end[0].astype(np.int64))
        n, n_pos = int(end[-1]), int(lanes.n_pos[0])
        hits, scatter = path.hits[0], np.pad(path.scatter[0], 1)
        fewest, most = np.maximum(0, n_pos - (n - end)), np.minimum(end, n_pos)
        half = np.where(end <= _WHOLE, n_pos, np.append(1.0, wide) * (_WIDE * scatter + _MORE))
        low = np.minimum(np.maximum(np.floor(hits - half), fewest), most).astype(np.int64)
        high = np.maximum(np.minimum(np.ceil(hits + half), most), fewest).astype(np.int64)
        # Under random ranking the hits above a step are those at its end times this.
        size, share = lanes.size[0], 1 - lanes.size[0] / lanes.end[0]
        even = np.clip(hits[1:] / end[1:], 0.0, 1.0)
        given = np.sqrt(end[:-1] * size * even * (1 - even) / end[1:])
        reach = wide * (_WIDE * given + _MORE)
        middle = hits[:-1] - share * hits[1:]
        return cls(low, high, fewest, most, size, middle, share, reach)

    def terms(
        self, steps: Steps, before: "tuple[_Rows, list[Terms]] | None"
    ) -> list[Terms] | None:
        """Return the terms of the steps; None where they are too many.

        Steps between the same rows as before have the terms that counted.
        """
        rows = self.high - self.low + 1
        above = np.minimum(np.minimum(rows[:-1], steps.size + 1), 2 * self.reach + 1)
        if (rows[1:] * above).sum() > _MOST_TERMS:
            return None
        if before is None:
            return [self._terms(steps.at(place), place) for place in range(steps.size.size)]
        old, kept = before
        same = (self.low == old.low) & (self.high == old.high)
        same = same[:-1] & same[1:] & (self.reach == old.reach)
        return [
            step if same[place] else self._terms(steps.at(place), place)
            for place, step in enumerate(kept)
        ]

    def _terms(self, step: Steps, place: int) -> Terms:
        """Return the terms of a step."""
        hits = np.arange(self.low[place + 1], self.high[place + 1] + 1)
        middle = self.middle[place] + self.rise[place] * hits
        low = np.maximum(np.floor(middle - self.reach[place]), self.low[place])
        high = np.minimum(np.ceil(middle + self.reach[place]), self.high[place])
        met = low.astype(np.int64), high.astype(np.int64)
        none = np.zeros(hits.size, np.int64)
        terms = step_terms(step, none, hits, met, np.full(hits.size, _NEVER))
        row, above, growth, spread, log_chance = terms
        return Terms(hits.size, row, above - self.low[place], growth, spread, log_chance)

    def is_cut(self, place: int, step: Terms) -> bool:
        """Whether any terms of a step are at an edge of its rows, or of what leads to them."""
        row, above = step.row + self.low[place + 1], step.above + self.low[place]
        for hits, at in ((row, place + 1), (above, place)):
            is_low = (hits == self.low[at]) & (self.low[at] > self.fewest[at])
            is_high = (hits == self.high[at]) & (self.high[at] < self.most[at])
            if is_low.any() or is_high.any():
                return True
        off = above - self.middle[place] - self.rise[place] * row
        is_free = np.where(off > 0, row > above, row - above < self.sizes[place])
        return bool((is_free & (np.abs(off) > self.reach[place] - 1)).any())


def levels_at(terms: Sequence[Terms], slopes: Floats, gains: Sequence[Floats]) -> Levels:
    """Return log V and log N at slopes, at which the terms have gains."""
    down, up = [np.zeros((slopes.size, 1))], [np.zeros((slopes.size, 1))]
    for step, gain in zip(terms, gains, strict=True):
        down.append(_log_sums(gain + down[-1][:, step.above], step.row, step.rows))
    rows_above = [1, *(step.rows for step in terms[:-1])]
    for step, gain, rows in zip(terms[::-1], gains[::-1], rows_above[::-1], strict=True):
        order = np.argsort(step.above, kind="stable")
        value = (gain + up[-1][:, step.row])[:, order]
        up.append(_log_sums(value, step.above[order], rows))
    return Levels(slopes, down, up[::-1])


def terms_above(
    terms: Sequence[Terms], levels: Levels, value: tuple[float, float], gains: Sequence[Floats]
) -> list[Terms]:
    """Return the terms that are not negligible for a value, which comes with what is."""
    x, least = value
    kept = []
    for step, gain, down, up in zip(terms, gains, levels.down[:-1], levels.up[1:], strict=True):
        # These are logarithms of bounds of what the terms add to P(T >= x).
        bounds = gain + down[:, step.above] + up[:, step.row] - (levels.slopes * x)[:, None]
        kept.append(step.kept(bounds.min(axis=0) > least))
    return kept


def _log_sums(log_values: Floats, row: Integers, rows: int) -> Floats:
    """Return the logarithms of the sums of what is in rows, given in their order."""
    sums = np.full((log_values.shape[0], rows), -np.inf)
    if not row.size:
        return sums
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    number = np.diff(np.append(starts, row.size))
    largest = np.maximum(np.maximum.reduceat(log_values, starts, axis=1), -HUGE)
    total = np.add.reduceat(
        np.exp(log_values - np.repeat(largest, number, axis=1)), starts, axis=1
    )
    with np.errstate(divide="ignore"):
        sums[:, row[starts]] = largest + np.log(total)
    return sums
