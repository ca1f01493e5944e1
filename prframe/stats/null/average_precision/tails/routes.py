"""Tail probabilities of AP under random ranking, each in the way that suits it.

- Few rankings, or few that are good enough: every one counts, by branch and bound ("exact").
- Few positives, or a characteristic function that does not die away, because single rankings
  carry weight: the walk with merged states ("lattice").
- Distributions that are nearly normal once they are tilted, as with many positives: a saddlepoint
  ("saddlepoint"), which needs the generating function at nine real slopes.
- All others: inversion of the characteristic function, many groups at once ("transform"). Where no
  walk is feasible it need not have settled ("estimate"), and may have nothing but an upper bound
  ("bound").

The walk with merged states and the inversion are independent of each other, and agree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from prframe.stats.null.average_precision.tails.lattice import lattice_tails
from prframe.stats.null.average_precision.tails.null_tails import NullTails
from prframe.stats.null.average_precision.tails.planned import Problem, planned_tails
from prframe.stats.null.average_precision.tails.tail import (
    APNullMethod,
    Asked,
    Hint,
    Tail,
    lattice_hints,
    planned_hint,
)
from prframe.typing import Floats, Integers

# So many values of untied groups, or more, are quicker by the walk that they share.
_MANY = 8


def all_tails(
    parts: Sequence[tuple[NullTails, Integers, Floats]], method: APNullMethod = "auto"
) -> list[list[Tail]]:
    """Return the tails of values of AP, each in its group of a part.

    Groups that are walked to each by itself are walked to side by side, whatever part they are of.
    """
    distinct = [_distinct(group, x) for _, group, x in parts]
    pairs, places = [asked for asked, _ in distinct], [place for _, place in distinct]
    found = [part.begun(asked, method) for (part, *_), asked in zip(parts, pairs, strict=True)]
    rest = [
        [pair for pair, tail in zip(asked, tails, strict=True) if tail is None]
        for asked, tails in zip(pairs, found, strict=True)
    ]
    known = _known([part for part, *_ in parts], rest, method)
    results = []
    for (part, *_), tails, others, own, place in zip(
        parts, found, rest, known, places, strict=True
    ):
        more = iter(part.finished(others, own, method))
        whole = [next(more) if tail is None else tail for tail in tails]
        results.append([whole[index] for index in place])
    return results


def _distinct(group: Integers, x: Floats) -> tuple[list[Asked], list[int]]:
    """Return the distinct pairs of group and value, and the place of each."""
    pairs = list(zip(group.tolist(), x.tolist(), strict=True))
    distinct = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
    return list(distinct), [distinct[pair] for pair in pairs]


def _known(
    parts: Sequence[NullTails], rest: Sequence[Sequence[Asked]], method: APNullMethod
) -> list[list[Hint | None]]:
    """Return what walks for groups of several parts find; None where they are not taken."""
    found: list[list[Hint | None]] = [[None] * len(asked) for asked in rest]
    if method not in {"auto", "saddlepoint"}:
        return found
    each = [
        _Open(number, place, part, *pair, alone=part.is_tied or len(asked) < _MANY)
        for number, (part, asked) in enumerate(zip(parts, rest, strict=True))
        for place, pair in enumerate(asked)
    ]
    open_ = list(each)
    for chosen, tails in _stages(open_, method):
        for one, hint in zip(chosen, tails, strict=True):
            found[one.number][one.place] = hint
        open_[:] = [one for one in each if found[one.number][one.place] is None]
    return found


def _stages(
    open_: "Sequence[_Open]", method: APNullMethod
) -> "Iterator[tuple[list[_Open], list[Hint | None]]]":
    """Yield values and what is known of them, from those that are still open."""
    deep: set[tuple[int, int]] = set()
    if method == "auto":
        is_many = sum(one.part.is_small(one.group) for one in open_) >= _MANY
        chosen = [
            one
            for one in open_
            if one.part.is_rare(one.group) or (is_many and one.part.is_small(one.group))
        ]
        deep = {(one.number, one.place) for one in chosen}
        yield chosen, _on_lattice(chosen)
    large = [one for one in open_ if one.part.is_large(one.group)]
    yield large, [planned_hint(tail) for tail in planned_tails([one.problem for one in large])]
    medium = [
        one
        for one in open_
        if one.part.is_round(one.group)
        and (one.alone or method == "saddlepoint" or (one.number, one.place) in deep)
    ]
    tails = planned_tails([one.problem for one in medium], only_saddlepoint=True)
    yield medium, [planned_hint(tail) for tail in tails]


@dataclass(frozen=True)
class _Open:
    """A value that is neither certain nor counted, and where it stands.

    `alone` tells that there are not enough like it to share the inversion.
    """

    number: int
    place: int
    part: NullTails
    group: int
    x: float
    alone: bool

    @property
    def problem(self) -> Problem:
        """The value as one of T."""
        return self.part.problem(self.group, self.x)


def _on_lattice(chosen: Sequence[_Open]) -> list[Hint | None]:
    """Return the tails of groups on a lattice; estimates where single values carry weight."""
    untied = [one for one in chosen if not one.part.is_tied]
    if len(untied) < _MANY:
        return [one.part.lattice_hint(one.group, one.x) for one in chosen]
    cases = [one.part.retrieved(one.group) for one in untied]
    tails = lattice_tails(cases, np.array([one.problem.target for one in untied]))
    shared = iter(lattice_hints(tails))
    return [
        one.part.lattice_hint(one.group, one.x) if one.part.is_tied else next(shared)
        for one in chosen
    ]
