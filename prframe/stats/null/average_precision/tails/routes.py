"""Tail probabilities of AP under random ranking, each in the way that suits it.

- Few rankings, or few that are good enough: every one is counted, by branch and bound ("exact").
- Few positives: a lattice, which is tilted far out where positives are rare ("lattice"). Where it
  is too coarse, or a characteristic function does not die away, because single rankings carry
  weight: the walk with merged states ("lattice").
- Many rare positives: lists of their first hits, and a lattice of what the others add ("lattice").
- Few negatives among very many items: a closed form ("gamma").
- Distributions that are nearly normal once they are tilted, as with ties or with more positives
  than groups can share an inversion for: a saddlepoint ("saddlepoint"), which needs the generating
  function at a few real slopes.
- All others: inversion of the characteristic function, many groups at once ("transform"). Where no
  walk is feasible it may not have converged ("estimate"), and may have nothing but an upper bound
  ("bound").

Which of these is taken follows from the group and the value, whatever else is asked for.
The walk with merged states and the inversion are independent of each other, and agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TypeVar

import numpy as np

from prframe.stats.null.average_precision.likely_tails import likely_log_tails
from prframe.stats.null.average_precision.tails.low_values import are_sunk
from prframe.stats.null.average_precision.tails.mergers import Merger, merged_tails
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.on_lattices import lattice_hints
from prframe.stats.null.average_precision.tails.plain.lattice import NEVER, log_least_tails
from prframe.stats.null.average_precision.tails.planned import Problem, planned_tails
from prframe.stats.null.average_precision.tails.tail import (
    APNullMethod,
    Asked,
    Hint,
    Tail,
    planned_hint,
)
from prframe.typing import Floats, Integers

# Lattices have no tails below the first of these logarithms. Where that of a lower bound is
# smaller, the tail is looked at roughly, and no lattice is tried below the second number.
_DEEP = NEVER[-1][1]
_BEYOND_LATTICES = _DEEP - 25.0
# Tails of many rare positives are looked up on tilted lattices if their logarithms are below the
# first number, or the second one where they have steep fronts.
_FAR_OF_MANY, _FAR_OF_STEEP = -60.0, -25.0
_Other = TypeVar("_Other", Tail, Tail | None)


def all_tails(
    parts: Sequence[tuple[NullTails, Integers, Floats]], method: APNullMethod = "auto"
) -> list[list[Tail]]:
    """Return the tails of values of AP, each in its group of a part.

    Groups that need walks of their own have them side by side, whatever part they are of.
    """
    distinct = [_distinct(group, x) for _, group, x in parts]
    pairs, places = [asked for asked, _ in distinct], [place for _, place in distinct]
    each = [part.begun(asked, method) for (part, *_), asked in zip(parts, pairs, strict=True)]
    begun = _merged(each)
    open_ = [
        [pair for pair, tail in zip(asked, tails, strict=True) if tail is None]
        for asked, tails in zip(pairs, begun, strict=True)
    ]
    hints = _known([part for part, *_ in parts], open_, method)
    finished = [
        part.finished(asked, known, method)
        for (part, *_), asked, known in zip(parts, open_, hints, strict=True)
    ]
    results = []
    for (part, *_), tails, rest, asked, place in zip(
        parts, begun, _merged(finished), open_, places, strict=True
    ):
        checked = (
            part.checked(*pair, tail, method) for pair, tail in zip(asked, rest, strict=True)
        )
        whole = [next(checked) if tail is None else tail for tail in tails]
        results.append([whole[index] for index in place])
    return results


def _merged(values: Sequence[Sequence[_Other | Merger]]) -> list[list[_Other | Tail]]:
    """Replace what takes walks, in all parts, by the tails that these give side by side."""
    mergers = [value for part in values for value in part if isinstance(value, Merger)]
    tails = iter(merged_tails(mergers))
    return [
        [next(tails) if isinstance(value, Merger) else value for value in part] for part in values
    ]


def _distinct(group: Integers, x: Floats) -> tuple[list[Asked], list[int]]:
    """Return the distinct pairs of group and value, and the place of each."""
    pairs = list(zip(group.tolist(), x.tolist(), strict=True))
    distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    return list(distinct), [distinct[pair] for pair in pairs]


def _known(
    parts: Sequence[NullTails], rest: Sequence[Sequence[Asked]], method: APNullMethod
) -> list[list[Hint | None]]:
    """Return hints from walks for groups of several parts; None where there is no such walk."""
    hints: list[list[Hint | None]] = [[None] * len(asked) for asked in rest]
    if method not in {"auto", "saddlepoint"}:
        return hints
    each = [
        _Open(number, place, part, *pair)
        for number, (part, asked) in enumerate(zip(parts, rest, strict=True))
        for place, pair in enumerate(asked)
    ]
    open_ = list(each)
    for chosen, tails in _stages(open_, method):
        for value, hint in zip(chosen, tails, strict=True):
            hints[value.number][value.place] = hint
        open_[:] = [value for value in each if hints[value.number][value.place] is None]
    return hints


def _stages(
    open_: "Sequence[_Open]", method: APNullMethod
) -> "Iterator[tuple[list[_Open], list[Hint | None]]]":
    """Yield values with the hints for them, chosen from those that are still open."""
    deep: set[tuple[int, int]] = set()
    sunk = _sunk(open_)
    yield sunk, [planned_hint(tail) for tail in planned_tails([value.problem for value in sunk])]
    if method == "auto":
        chosen = [
            value
            for value in open_
            if (value.part.is_rare(value.group) and not value.part.is_crowded(value.group))
            or value.part.is_small(value.group)
        ]
        deep = {(value.number, value.place) for value in chosen}
        near = _within_lattices(chosen)
        yield near, lattice_hints([(value.part, value.group, value.x) for value in near])
        first = [value for value in open_ if value.part.begins_with_lists(value.group, value.x)]
        yield first, [_listed_hint(value.part.listed(value.group, value.x)) for value in first]
        far = _far([value for value in open_ if value.part.is_tilted_first(value.group)])
        yield far, [value.part.tilted(value.group, value.x) for value in far]
    large = [value for value in open_ if value.part.is_large(value.group)]
    walked = [planned_hint(tail) for tail in planned_tails([value.problem for value in large])]
    if method == "auto":
        walked = [_unless_bound(*pair) for pair in zip(large, walked, strict=True)]
    yield large, walked
    medium = [
        value
        for value in open_
        if value.part.is_round(value.group)
        and (value.part.is_tied or method == "saddlepoint" or (value.number, value.place) in deep)
    ]
    tails = planned_tails([value.problem for value in medium], only_saddlepoint=True)
    yield medium, [planned_hint(tail) for tail in tails]
    if method == "auto":
        rest = [value for value in open_ if value.part.is_scarce(value.group)]
        hints = _on_tilted(rest)
        # An inversion or draws may do better where tie blocks make a lattice too coarse.
        yield (
            rest,
            [
                hint if hint and (hint.is_accurate or not value.part.is_tied) else None
                for value, hint in zip(rest, hints, strict=True)
            ],
        )


def _listed_hint(tail: Tail | None) -> Hint | None:
    """Return the hint of a tail from lists of first hits; None without one."""
    return tail and Hint(tail, nan, is_accurate=True, is_from_lattice=True)


def _unless_bound(value: "_Open", hint: Hint | None) -> Hint | None:
    """Return the hint of a walk; None of a bound where a tilted lattice may tell more."""
    is_bound = hint is not None and hint.tail.method == "bound"
    return None if is_bound and value.part.is_scarce(value.group) else hint


def _on_tilted(values: "Sequence[_Open]") -> list[Hint | None]:
    """Return hints from tilted lattices, of which those of one part at a time are kept."""
    hints: list[Hint | None] = []
    for before, value in zip([None, *values], values, strict=False):
        if before is not None and before.part is not value.part:
            before.part.forget_tilted()
        hints.append(value.part.tilted(value.group, value.x))
    return hints


def _within_lattices(values: "Sequence[_Open]") -> "list[_Open]":
    """Return the values whose tails are not much too small for any lattice."""
    deep = [value for value in values if value.log_least < _DEEP]
    beyond = set(_beyond(deep, _BEYOND_LATTICES))
    return [value for value in values if value not in beyond]


def _far(values: "Sequence[_Open]") -> "list[_Open]":
    """Return the values for which tilted lattices are quicker than a generating function."""
    large = [value for value in values if value.part.is_large(value.group)]
    steep = [value for value in large if value.part.is_steep(value.group)]
    far = {*_beyond(large, _FAR_OF_MANY), *_beyond(steep, _FAR_OF_STEEP)}
    near = set(large) - far
    return [value for value in values if value not in near]


def _sunk(values: "Sequence[_Open]") -> "list[_Open]":
    """Return the values with small lower tails; of tied rankings, those that may have one."""
    low = [value for value in values if value.part.may_be_sunk(value.group, value.x)]
    untied = [value for value in low if not value.part.is_tied]
    if not untied:
        return low
    items, n_pos, targets, *_ = zip(*(value.problem for value in untied), strict=True)
    log_tails = likely_log_tails(items, n_pos, np.array(targets), is_lower=True)
    excess = [value.part.excess(value.group, value.x) for value in untied]
    sizes = np.array([each.n for each in items], float), np.array(n_pos, float)
    chosen = are_sunk(*sizes, np.array(excess), log_tails).tolist()
    shallow = {value for value, is_sunk in zip(untied, chosen, strict=True) if not is_sunk}
    return [value for value in low if value not in shallow]


def _beyond(values: "Sequence[_Open]", level: float) -> "list[_Open]":
    """Return the values the logarithms of whose upper tails are roughly below a level."""
    problems = {value: value.problem for value in values}
    known = {
        value: problem.shared.is_beyond(problem.target, level) if problem.shared else None
        for value, problem in problems.items()
    }
    if open_ := [problems[value] for value in values if known[value] is None]:
        items, n_pos, targets, *_ = zip(*open_, strict=True)
        log_tails = iter(likely_log_tails(items, n_pos, np.array(targets)).tolist())
        for value in [value for value in values if known[value] is None]:
            log_tail, problem = next(log_tails), problems[value]
            known[value] = log_tail < level
            if problem.shared is not None and not isnan(log_tail):
                problem.shared.note(problem.target, level, is_beyond=log_tail < level)
    return [value for value in values if known[value]]


@dataclass(frozen=True)
class _Open:
    """A value that is neither certain nor counted, the number of its part and its place there."""

    number: int
    place: int
    part: NullTails
    group: int
    x: float

    @property
    def problem(self) -> Problem:
        """The problem of finding the tails at this value, in terms of T."""
        return self.part.problem(self.group, self.x)

    @property
    def log_least(self) -> float:
        """A lower bound of the logarithm of the upper tail."""
        case, target = self.part.retrieved(self.group), self.problem.target
        return float(log_least_tails([case], np.array([target]))[0])
