"""Corrections for all pairs of systems: how often they err, and what they find."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import expit

from benchmarks.comparisons import family
from benchmarks.data import SEED
from benchmarks.paired_laws import Floats
from prframe.stats import adjust_p_values

TEXT = """## paired-families

All pairs of systems on {queries} queries, whose values are like those of AP: in how many of \
{data_sets:,} data sets any pair of systems that are alike is told apart at .05, in per cent, and \
the share of the other pairs that is found. *One better*: one system is better than all others. \
*Half better*: half of them are, each by another amount, the others are alike. *Copies*: half of \
the systems are near copies of one, all are alike in the mean, but not exchangeable as Tukey's test \
has them; *copies differ*: near copies differ a little \
from each other, the others are alike. Standard error of 5 %: {error:.2f}. Holm is that of \
randomization tests with {many:,} signs; max-t has {few:,} draws.
"""
TESTED = ("holm", "max-t")
QUERIES, LEVEL = 50, 0.05
MANY, FEW = 9_999, 999
SYSTEMS = (7, 20)
ERROR, COPY = 0.6, 0.1


@dataclass(frozen=True)
class Plan:
    """How much better each system is, and which systems are near copies of each other."""

    effects: Floats
    copies: int = 0

    def values(self, rng: np.random.Generator) -> Floats:
        """Draw values, a row per system."""
        shape = (self.effects.size, QUERIES)
        errors = ERROR * rng.normal(size=shape)
        shared = np.sqrt(ERROR**2 - COPY**2) * rng.normal(size=QUERIES)
        errors[: self.copies] = shared + COPY / ERROR * errors[: self.copies]
        hardness = rng.normal(-0.8, 1.0, QUERIES)
        return np.asarray(expit(hardness + self.effects[:, None] + errors))

    def differs(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Tell which pairs differ."""
        return np.array([a != b for a, b in combinations(self.effects.tolist(), 2)])


def plans(systems: int) -> dict[str, Plan]:
    """Return what is studied with so many systems."""
    half, nothing = systems // 2, np.zeros(systems)
    one, several, close = nothing.copy(), nothing.copy(), nothing.copy()
    one[0] = 0.4
    several[:half] = np.linspace(0.2, 0.8, half)
    close[:half] = np.linspace(0.05, 0.2, half)
    return {
        "all alike": Plan(nothing),
        "one better": Plan(one),
        "half better": Plan(several),
        "copies": Plan(nothing, half),
        "copies differ": Plan(close, half),
    }


def study(
    rows_of: Callable[[list[str], Iterator[list[str]]], Iterator[str]], data_sets: int
) -> Iterator[str]:
    """Yield the lines of the section."""
    error = 100 * np.sqrt(LEVEL * (1 - LEVEL) / data_sets)
    yield TEXT.format(queries=QUERIES, data_sets=data_sets, error=error, many=MANY, few=FEW)
    erred, found = ([f"{what}, {test}" for test in TESTED] for what in ("error", "found"))
    yield from rows_of(["systems", "case", "pairs alike", *erred, *found], _rows(data_sets))


def _rows(data_sets: int) -> Iterator[list[str]]:
    """Return a row per number of systems and plan."""
    for systems in SYSTEMS:
        for name, plan in plans(systems).items():
            rng = np.random.default_rng([SEED, systems])
            differs = plan.differs()
            rejected = np.array([_rejected(plan.values(rng), rng) for _ in range(data_sets)])
            wrong = 100 * rejected[..., ~differs].any(axis=-1).mean(axis=0)
            right = 100 * rejected[..., differs].mean(axis=(0, -1)) if differs.any() else None
            cells = [f"{share:.1f}" for share in wrong]
            cells += [""] * len(TESTED) if right is None else [f"{share:.1f}" for share in right]
            yield [str(systems), name, f"{(~differs).sum()} of {differs.size}", *cells]


def _rejected(values: Floats, rng: np.random.Generator) -> list[Floats]:
    """Return which pairs each correction tells apart."""
    pairs = family(values)
    p_values = [
        adjust_p_values(pairs.sign_flips(MANY, rng, "two-sided").p_values, "holm"),
        pairs.max_t(FEW, rng, "two-sided").p_values,
    ]
    return [p <= LEVEL + 1e-9 for p in p_values]
