"""Tails of AP under random ranking: which method finds them.

- "exact": rankings are counted, where they are few, or where few of them are as good.
- "lattice": the distribution of T = n_pos AP on a lattice, where few hits are likely.
- "saddlepoint": where T, tilted until its mean is at the value, is nearly normal.
- "transform": inversion of the characteristic function of the tilted T.
- "monte-carlo": draws of the tilted T, where tie blocks make it cluster.
- "estimate": a value that no method is sure of.

Which of these is taken follows from the group and the value, whatever else is asked for.
"""

from collections.abc import Callable, Sequence
from math import inf, log
from typing import TypeAlias

import numpy as np

from prframe.errors import PrframeError
from prframe.stats.null.average_precision.counting import PAIRS, counted_tails, tail_of_one
from prframe.stats.null.average_precision.extremes import ap_extremes, ap_largest
from prframe.stats.null.average_precision.lattice.tails import lattice_tails
from prframe.stats.null.average_precision.lattice.terms import (
    Retrieved,
    are_few,
    likely_hits,
    walk_terms,
)
from prframe.stats.null.average_precision.steps import log_binomial
from prframe.stats.null.average_precision.tail import APNullMethod, Problem, Tail
from prframe.stats.null.average_precision.walks.own import drawn_tail, walked_tails
from prframe.stats.null.average_precision.walks.shared import shared_tails

_Way: TypeAlias = Callable[[Sequence[Problem]], Sequence[Tail | None]]

# So many rankings are counted at once; 1,000 such groups take about two seconds.
_COUNTED = 1 << 16
# Where the others are not sure, so many may be undecided at a time, which takes a tenth of that.
_OPEN = 1 << 13
# If so few rankings make up the smaller tail they are counted, as the other methods smooth over
# single ones: up to .7 of the logarithm at AP = 1.
_FEW = 200_000
# With at most so many likely hits any group is put on a lattice, as single hits make T lumpy.
_ANY_HITS = 16
# Rare positives are put on a lattice with up to so many likely hits, which take half a second.
_RARE_HITS = 300
# Positives are rare if they are at most this share of the items.
_RARE = 0.02
# Lattices of tie blocks have at most so many terms, which take about a second.
_MOST_TERMS = 4e5
# Groups without ties and at most so many positives share walks, in a tenth of the time.
_SHARED = 256
# Upper tails were measured down to 1e-30 and lower ones to 1e-6; beyond they are estimates.
_FAR = log(1e-30), log(1e-6)
# The method "exact" counts so many rankings at most.
_COUNTABLE = 1 << 22
# Neighbouring values of AP are as close as their rounding among more retrieved items.
LARGEST_DEPTH = 10**8


def all_tails(problems: Sequence[Problem], method: APNullMethod = "auto") -> list[Tail]:
    """Return the tails of values, each in its group."""
    distinct: dict[object, int] = {}
    place = [distinct.setdefault(problem.key, len(distinct)) for problem in problems]
    first = dict(zip(place[::-1], problems[::-1], strict=True))
    found = _decided([first[number] for number in range(len(distinct))], method)
    return [found[number] for number in place]


def _decided(problems: Sequence[Problem], method: APNullMethod) -> list[Tail]:
    """Return the tails by the first way that is sure, or the first estimate where none is."""
    tails = [_certain(problem) for problem in problems]
    ways = [_ways(problem) if method == "auto" else [*_ASKED[method]] for problem in problems]
    while True:
        open_: dict[_Way, list[int]] = {}
        for number, tail in enumerate(tails):
            if ways[number] and (tail is None or tail.method == "estimate"):
                open_.setdefault(ways[number].pop(0), []).append(number)
        if not open_:
            break
        for way, places in open_.items():
            for number, tail in zip(places, way([problems[k] for k in places]), strict=True):
                before = tails[number]
                is_better = before is None or way is _drawn
                if tail is not None and (is_better or tail.method != "estimate"):
                    tails[number] = _doubted(problems[number], tail)
    if None in tails:
        problem = problems[tails.index(None)]
        raise PrframeError(
            f"method {method!r} does not serve {problem.n_pos:,} positives among "
            f"{problem.items.n:,} items; use method 'auto'."
        )
    return [labelled(tail) for tail in tails if tail is not None]


def _ways(problem: Problem) -> list[_Way]:
    """Decide: return the ways to a tail, of which the first one that is sure is taken."""
    n_pos, n, is_tied = problem.n_pos, problem.items.n, problem.items.is_tied
    case = Retrieved(n, n_pos, problem.items.depth)
    hits = likely_hits(case)
    lattice = [_on_lattices]
    if hits > _RARE_HITS or (is_tied and walk_terms(case, hits, problem.items) > _MOST_TERMS):
        lattice = []
    walks: list[_Way] = [*[_on_shared_walks] * _shares_walks(problem), walked_tails]
    if _log_states(problem) <= log(_COUNTED) or (n_pos <= PAIRS and not is_tied):
        ways: list[_Way] = [_counted, *lattice, *walks]
    elif hits <= _ANY_HITS or n_pos <= _RARE * n:
        ways = [*lattice, _counted_if_few, *walks]
    else:
        ways = [*walks, *lattice, _counted_if_few]
    return [*ways, _drawn]


def _doubted(problem: Problem, tail: Tail) -> Tail:
    """Return a tail, which is no more than an estimate where few rankings make it up."""
    is_few = min(tail[:2]) + _log_states(problem) <= log(_FEW)
    return tail._replace(method="estimate") if is_few and tail.method != "exact" else tail


def labelled(tail: Tail) -> Tail:
    """Return a tail, which is an estimate where it is further out than methods were measured."""
    is_far = tail.log_reached < _FAR[0] or tail.log_missed < _FAR[1]
    return tail._replace(method="estimate") if is_far and tail.method != "exact" else tail


def _certain(problem: Problem) -> Tail | None:
    """Return the tails of values at and beyond the ends of the support, None between them."""
    items, n_pos, target = problem[:3]
    if not problem.deviation:
        return Tail(0.0, -inf, "exact") if target <= problem.mean else Tail(-inf, 0.0, "exact")
    if n_pos == 1:
        return tail_of_one(problem)
    if target > n_pos * ap_largest(items, n_pos):
        return Tail(-inf, 0.0, "exact")
    if target <= n_pos * ap_extremes(items, n_pos)[0]:
        return Tail(0.0, -inf, "exact")
    refuse_large(items.depth, n_pos)
    return None


def refuse_large(depth: int, n_pos: int) -> None:
    """Refuse tails among more retrieved items than floats can tell apart."""
    if depth > LARGEST_DEPTH:
        raise PrframeError(
            f"AP with n_pos={n_pos} and {depth:,} retrieved items has no p-value here: "
            f"beyond {LARGEST_DEPTH:,} items, neighbouring values are as close as their rounding. "
            "Draw random rankings instead, in ap_test with method='monte-carlo'; if the ranking "
            "is cut off, say where."
        )


def _log_states(problem: Problem) -> float:
    """Return the logarithm of the number of ways to spread positives over blocks, at most."""
    items, n_pos = problem.items, problem.n_pos
    rankings = float(log_binomial(items.n, n_pos))
    if items.depth < items.n:
        # Rankings that differ among what is not retrieved alone are one state.
        rankings = min(rankings, float(log_binomial(items.depth + n_pos, n_pos)))
    if items.ends is None:
        return rankings
    sizes = np.diff(items.blocks(items.n), prepend=0)
    ways = np.log1p(np.minimum(sizes, min(n_pos, items.n - n_pos)))
    return min(rankings, float(ways.sum() - ways.max()))


def _on_lattices(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails on lattices, which groups without ties share."""
    tails: list[Tail | None] = [None] * len(problems)
    cases = [Retrieved(p.items.n, p.n_pos, p.items.depth) for p in problems]
    parts: dict[object, list[int]] = {}
    for number, (problem, case) in enumerate(zip(problems, cases, strict=True)):
        parts.setdefault((are_few(case), problem.key[2]), []).append(number)
    for members in parts.values():
        targets = np.array([problems[number].target for number in members])
        ends = problems[members[0]].items.ends
        logs, rough = lattice_tails([cases[number] for number in members], targets, ends)
        for number, pair, is_rough in zip(members, logs.T.tolist(), rough.tolist(), strict=True):
            if not np.isnan(pair[0]):
                method = "estimate" if is_rough else "lattice"
                tails[number] = Tail(min(pair[0], 0.0), min(pair[1], 0.0), method)
    return tails


def _if(serves: Callable[[Problem], bool], way: _Way) -> _Way:
    """Return a way that is not taken where it does not serve."""

    def taken(problems: Sequence[Problem]) -> list[Tail | None]:
        chosen = [number for number, problem in enumerate(problems) if serves(problem)]
        found = dict(zip(chosen, way([problems[number] for number in chosen]), strict=True))
        return [found.get(number) for number in range(len(problems))]

    return taken


def _on_shared_walks(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails of groups without ties, which share walks if they retrieve as many."""
    tails: list[Tail | None] = [None] * len(problems)
    parts: dict[int, list[int]] = {}
    for number, problem in enumerate(problems):
        depth, n = problem.items.depth, problem.items.n
        parts.setdefault(depth if depth < n else -1, []).append(number)
    for members in parts.values():
        found = shared_tails([problems[number] for number in members])
        for number, tail in zip(members, found, strict=True):
            tails[number] = tail
    return tails


def _counted(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails by counting."""
    return counted_tails(problems, _COUNTED)


def _counted_if_few(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails by counting, which is given up where many rankings are open."""
    return counted_tails(problems, _OPEN)


def _drawn(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails by draws."""
    return [drawn_tail(problem) for problem in problems]


def _shares_walks(problem: Problem) -> bool:
    """Whether groups of this kind share walks."""
    is_plain = not (problem.items.is_tied or problem.is_fine_below)
    return is_plain and problem.n_pos <= _SHARED


def _is_quick_on_lattice(problem: Problem) -> bool:
    """Whether hits are not too many for a lattice."""
    case = Retrieved(problem.items.n, problem.n_pos, problem.items.depth)
    return likely_hits(case) <= _RARE_HITS


def _inverted(problems: Sequence[Problem]) -> list[Tail]:
    """Return the tails by inversion."""
    return walked_tails(problems, only_inversion=True)


def _counted_at_length(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails by counting, however long it takes."""
    for problem in problems:
        if _log_states(problem) > log(_COUNTABLE):
            rankings = float(log_binomial(problem.items.n, problem.n_pos)) / log(10)
            raise PrframeError(
                f"method 'exact' cannot follow 10^{rankings:.0f} rankings of {problem.n_pos} "
                f"positives among {problem.items.n} items; use method 'auto'."
            )
    return [counted_tails([problem], _COUNTABLE)[0] for problem in problems]


_INVERTED_TOGETHER = _if(_shares_walks, _on_shared_walks)
_ASKED: dict[APNullMethod, list[_Way]] = {
    "exact": [_counted_at_length],
    "lattice": [_if(_is_quick_on_lattice, _on_lattices)],
    "saddlepoint": [walked_tails, _INVERTED_TOGETHER],
    "transform": [_INVERTED_TOGETHER, _inverted],
}
