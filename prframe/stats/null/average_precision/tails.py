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
from functools import partial
from math import inf, log
from typing import TypeAlias

import numpy as np

from prframe.errors import PrframeError
from prframe.stats._tolerances import EQUAL
from prframe.stats.null.average_precision.counting import (
    PAIRS,
    ap_extremes,
    ap_largest,
    counted_tails,
    tail_of_one,
)
from prframe.stats.null.average_precision.lattice import lattice_tails
from prframe.stats.null.average_precision.lattice_terms import are_few, is_quick, likely_hits
from prframe.stats.null.average_precision.steps import (
    APNullMethod,
    Problem,
    Tail,
    log_binomial,
    refuse_large,
)
from prframe.stats.null.average_precision.walks.own import drawn_tails, walked_tails
from prframe.stats.null.average_precision.walks.waves import shared_tails

_Way: TypeAlias = Callable[[Sequence[Problem]], Sequence[Tail | None]]

# So many rankings are counted, and so many where other ways are not sure.
_COUNTED, _OPEN = 1 << 16, 1 << 13
# The method "exact" counts so many rankings at most.
_COUNTABLE = 1 << 22
# If so few rankings make up the smaller tail only counting is sure: others smooth over them.
_FEW = 200_000
# With at most so many likely hits any group is put on a lattice, as single hits make T cluster.
_ANY_HITS = 16
# Positives are rare if they are at most this share of the items.
_RARE = 0.02
# Groups without ties and so few positives share walks; with fine steps, among twice as many items.
_SHARED = 256
# Upper tails were measured down to 1e-30 and lower ones to 1e-6; beyond they are estimates.
_FAR = log(1e-30), log(1e-6)


def all_tails(problems: Sequence[Problem], method: APNullMethod = "auto") -> list[Tail]:
    """Return the tails of values, each in its group."""
    keys = [problem.key for problem in problems]
    distinct = dict(zip(keys, problems, strict=True))
    found = dict(zip(distinct, _decided([*distinct.values()], method), strict=True))
    return [found[key] for key in keys]


def _decided(problems: Sequence[Problem], method: APNullMethod) -> list[Tail]:
    """Return the tails by the first way that is sure, or the first estimate where none is."""
    tails = [_certain(problem) for problem in problems]
    ways = [_ways(problem, method) for problem in problems]
    while True:
        open_: dict[_Way, list[int]] = {}
        for number, tail in enumerate(tails):
            if ways[number] and (tail is None or tail.method == "estimate"):
                way = ways[number].pop(0)
                # Far out no draws are needed for an estimate.
                if tail is None or way is not drawn_tails or min(tail[:2]) >= min(_FAR):
                    open_.setdefault(way, []).append(number)
        if not open_:
            break
        for way, places in open_.items():
            for number, tail in zip(places, way([problems[k] for k in places]), strict=True):
                is_better = tails[number] is None or way is drawn_tails
                if tail is not None and (is_better or tail.method != "estimate"):
                    tails[number] = _doubted(problems[number], tail)
    if None in tails:
        problem = problems[tails.index(None)]
        raise PrframeError(
            f"method {method!r} does not serve {problem.n_pos:,} positives among "
            f"{problem.items.n:,} items; use method 'auto'."
        )
    return [labelled(tail) for tail in tails if tail is not None]


def _ways(problem: Problem, method: APNullMethod) -> list[_Way]:
    """Decide: return the ways to a tail, of which the first one that is sure is taken."""
    n_pos, n, is_tied = problem.n_pos, problem.items.n, problem.items.is_tied
    lattice: list[_Way] = [_on_lattices] if is_quick(problem) else []
    is_long = problem.is_fine_below and n > 2 * _SHARED
    is_shared = n_pos <= _SHARED and not (is_tied or is_long)
    together: list[_Way] = [_on_shared_walks] if is_shared else []
    asked: dict[APNullMethod, list[_Way]] = {
        "exact": [_counted_at_length],
        "lattice": lattice,
        "saddlepoint": [walked_tails, *together],
        "transform": [*together, _inverted],
    }
    if method != "auto":
        return asked[method]
    if _log_states(problem) <= log(_COUNTED) or (n_pos <= PAIRS and not is_tied):
        return [_counted, *lattice, *together, walked_tails, drawn_tails]
    if likely_hits(problem.retrieved) <= _ANY_HITS or n_pos <= _RARE * n:
        return [*lattice, _counted_if_few, *together, walked_tails, drawn_tails]
    return [*together, walked_tails, *lattice, _counted_if_few, drawn_tails]


_counted = partial(counted_tails, most=_COUNTED)
_counted_if_few = partial(counted_tails, most=_OPEN)
_inverted = partial(walked_tails, only_inversion=True)


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
    (items, n_pos, target), largest = problem[:3], problem.n_pos * ap_largest(*problem[:2])
    if not problem.deviation:
        return Tail(0.0, -inf, "exact") if target <= problem.mean else Tail(-inf, 0.0, "exact")
    if n_pos == 1:
        return tail_of_one(problem)
    if target > largest:
        return Tail(-inf, 0.0, "exact")
    if target > largest * (1 - 3 * EQUAL) and not items.is_tied:
        # The first ranks are all positive.
        most = min(n_pos, items.depth)
        ways = log_binomial([items.n - most, items.n], [n_pos - most, n_pos])
        return Tail.of(float(ways[0] - ways[1]), "exact", is_upper=True)
    if target <= n_pos * ap_extremes(items, n_pos)[0]:
        return Tail(0.0, -inf, "exact")
    refuse_large(items.depth, n_pos)
    return None


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


def _parts(keys: Sequence[object]) -> list[list[int]]:
    """Return the places of equal keys."""
    parts: dict[object, list[int]] = {}
    for place, key in enumerate(keys):
        parts.setdefault(key, []).append(place)
    return list(parts.values())


def _on_lattices(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails on lattices, which groups without ties share."""
    tails: list[Tail | None] = [None] * len(problems)
    for members in _parts([(are_few(p.retrieved), p.key[2]) for p in problems]):
        targets = np.array([problems[place].target for place in members])
        cases = [problems[place].retrieved for place in members]
        logs, rough = lattice_tails(cases, targets, problems[members[0]].items.ends)
        for place, pair, is_rough in zip(members, logs.T.tolist(), rough.tolist(), strict=True):
            if not np.isnan(pair[0]):
                method = "estimate" if is_rough else "lattice"
                tails[place] = Tail(min(pair[0], 0.0), min(pair[1], 0.0), method)
    return tails


def _on_shared_walks(problems: Sequence[Problem]) -> list[Tail | None]:
    """Return the tails of groups without ties, which share walks if they retrieve as many."""
    tails: list[Tail | None] = [None] * len(problems)
    cuts = [(p.items.depth if p.items.depth < p.items.n else -1) for p in problems]
    fine = [p.items.n * p.is_fine_below for p in problems]
    for members in _parts(list(zip(cuts, fine, strict=True))):
        found = shared_tails([problems[place] for place in members])
        for place, tail in zip(members, found, strict=True):
            tails[place] = tail
    return tails


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
