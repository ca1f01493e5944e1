"""Systems without a significant difference: their sets, and letters for these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import copysign
from string import ascii_letters
from typing import Any

import polars as pl

from prframe import checks
from prframe._preparation.results import Result
from prframe.errors import PrframeError

Neighbours = Sequence[frozenset[int]]


@dataclass(frozen=True)
class Comparison:
    """What a comparison says of one metric."""

    # The systems, the one with the largest mean first, and their means.
    models: list[Any]
    means: list[float | None]
    # The row of the result for each pair of positions, and the pairs that differ significantly.
    rows: dict[tuple[int, int], dict[str, Any]]
    apart: frozenset[frozenset[int]]

    def require(self, argument: str, systems: Sequence[object]) -> None:
        """Refuse a comparison that lacks a system of the intervals."""
        if missing := [system for system in systems if system not in self.models]:
            raise PrframeError(
                f"`{argument}` must have the systems of `interval`; it lacks "
                f"{checks.listed(missing)}."
            )

    def beaten(self, position: int) -> list[int]:
        """Return the systems with significantly smaller means, in order."""
        return sorted(
            b if a == position else a
            for (a, b), row in self.rows.items()
            if frozenset((a, b)) in self.apart and position == (a if row["difference"] > 0 else b)
        )

    def shades(self) -> dict[tuple[int, int], float]:
        """Return how strongly each pair is coloured, from -1 to 1, and 0 without significance."""
        largest = max((abs(row["difference"] or 0.0) for row in self.rows.values()), default=0.0)
        return {
            pair: copysign(0.25 + 0.75 * abs(row["difference"]) / largest, row["difference"])
            if row["difference"] and frozenset(pair) in self.apart
            else 0.0
            for pair, row in self.rows.items()
        }

    def alike(self) -> list[frozenset[int]]:
        """Return for each system those it does not differ from significantly, of all pairs."""
        size = len(self.models)
        there = {frozenset(pair) for pair in self.rows}
        for pair in combinations(range(size), 2):
            if frozenset(pair) not in there:
                a, b = (self.models[position] for position in pair)
                raise PrframeError(
                    f"every pair of systems must be compared; {a!r} and {b!r} are not. Compare "
                    "without baseline=."
                )
        return [
            frozenset(
                other
                for other in range(size)
                if other != position and frozenset((other, position)) not in self.apart
            )
            for position in range(size)
        ]


def p_value_column(result: Result) -> str:
    """Return the column of p-values: the adjusted ones where there are any."""
    for name in ("p_adjusted", "p_value"):
        if name in result.rows.columns:
            return name
    raise PrframeError(
        "the comparison must have a column 'p_adjusted' or 'p_value'; a posterior comparison has "
        "none, and tells nothing apart at a level."
    )


def comparison(result: Result, metric: str, alpha: float) -> Comparison:
    """Return what a result of `compare` says of one metric at a level of significance."""
    checks.number("alpha", alpha, above=0, below=1)
    result.require_one_group("compare_result")
    p_value = p_value_column(result)
    rows = result.rows.filter(pl.col("metric") == metric).to_dicts()
    means: dict[Any, float | None] = {}
    for row in rows:
        means.setdefault(row["model_a"], row["mean_a"])
        means.setdefault(row["model_b"], row["mean_b"])
    models = sorted(means, key=lambda model: largest_first(means[model]))
    place = {model: position for position, model in enumerate(models)}
    by_pair = {(place[row["model_a"]], place[row["model_b"]]): row for row in rows}
    apart = {
        frozenset(pair)
        for pair, row in by_pair.items()
        if row[p_value] is not None and row[p_value] <= alpha
    }
    return Comparison(models, [means[model] for model in models], by_pair, frozenset(apart))


def largest_first(mean: float | None) -> tuple[bool, float]:
    """Return a sort key by which undefined means are last."""
    return mean is None, 0.0 if mean is None else -mean


def covering_cliques(alike: Neighbours) -> list[frozenset[int]]:
    """Return few maximal cliques that hold every pair of neighbours, and every node.

    A clique starts from a pair that none holds yet, and takes in the node that adds most of these.
    """
    waiting = [set(near) for near in alike]
    cliques = []
    for node, near in enumerate(alike):
        if not near:
            cliques.append(frozenset({node}))
        while waiting[node]:
            members = {node, min(waiting[node])}
            while shared := frozenset.intersection(*(alike[member] for member in members)):
                members.add(max(shared, key=lambda other: (len(waiting[other] & members), -other)))
            for member in members:
                waiting[member] -= members
            cliques.append(frozenset(members))
    return _needed(cliques)


def _needed(cliques: list[frozenset[int]]) -> list[frozenset[int]]:
    """Leave out the cliques whose pairs all stand in others; return the rest in their order."""
    pairs = {clique: list(combinations(sorted(clique), 2)) for clique in cliques}
    held = Counter(chain.from_iterable(pairs.values()))
    kept = []
    for clique in sorted(pairs, key=len):
        if pairs[clique] and all(held[pair] > 1 for pair in pairs[clique]):
            held.subtract(pairs[clique])
        else:
            kept.append(clique)
    return sorted(kept, key=sorted)


def letter(number: int) -> str:
    """Return a name for a set: a to z, A to Z, then a2 and so on, so that names can be joined."""
    turn, place = divmod(number, len(ascii_letters))
    return ascii_letters[place] + (str(turn + 1) if turn else "")


def letters_of(compared: Comparison) -> list[str]:
    """Return the letters of the systems of a comparison, in its order."""
    cliques = covering_cliques(compared.alike())
    return [
        "".join(letter(number) for number, members in enumerate(cliques) if position in members)
        for position in range(len(compared.models))
    ]
