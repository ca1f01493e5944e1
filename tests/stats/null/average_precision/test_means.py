"""Tails of means of AP over groups: enumeration, and draws under a tilt."""

from math import log

import numpy as np
import pytest

from prframe.stats.null.average_precision.groups import Case, Cases
from prframe.typing import Floats
from tests.stats.null.rankings import ap_of_all

Integers = np.ndarray


@pytest.mark.parametrize(
    "cases",
    [
        [Case(5, 2, 5), Case(4, 1, 4)],
        [Case(6, 3, 6, (2, 1, 3)), Case(5, 2, 3), Case(4, 4, 4)],
        [Case(5, 2, 5), Case(5, 3, 4, (1, 3)), Case(3, 1, 3)],
        [Case(4, 2, 4)] * 4,
    ],
)
def test_means_over_few_small_groups_by_enumeration(cases: list[Case]) -> None:
    total = np.zeros(1)
    for case in cases:
        values = ap_of_all(case.n, case.n_pos, case.ties or (1,) * case.depth, float)
        total = np.add.outer(total, values).ravel()
    mean = np.sort(total) / len(cases)
    x = mean[np.diff(mean, prepend=-1) > 1e-12]
    tails = Cases(cases).mean_tails(x)
    for value, tail in zip(x, tails, strict=True):
        reached = (mean >= value - 1e-12).mean()
        assert tail.method == "exact"
        assert np.exp(tail[:2]) == pytest.approx([reached, 1 - reached], rel=1e-9, abs=1e-12)


class Tilted:
    """Rankings of one size whose T = n_pos AP has the chance under random ranking times e^sT."""

    def __init__(self, n: int, n_pos: int, slope: float) -> None:
        hits = np.arange(1, n_pos + 1)
        log_mgf = np.append(0.0, np.full(n_pos, -np.inf))
        mean = np.zeros(n_pos + 1)
        self.hit = np.zeros((n + 1, n_pos + 1))
        self.n, self.n_pos = n, n_pos
        for rank in range(1, n + 1):
            share = np.minimum(hits / rank, 1.0)
            with np.errstate(divide="ignore"):
                taken = np.log(share) + slope * share + log_mgf[:-1]
                left = np.log1p(-share) + log_mgf[1:]
            new = np.logaddexp(taken, left)
            possible = new > -np.inf
            chance = np.where(possible, np.exp(taken - np.where(possible, new, 0.0)), 0.0)
            mean[1:] = chance * (share + mean[:-1]) + (1 - chance) * mean[1:]
            log_mgf[1:], self.hit[rank, 1:] = new, chance
        self.log_mgf, self.mean = float(log_mgf[-1]), float(mean[-1])

    def draws(self, size: int, rng: np.random.Generator) -> Floats:
        """Return random T, drawn from the last rank up."""
        left, total = np.full(size, self.n_pos), np.zeros(size)
        for rank in range(self.n, 0, -1):
            hit = rng.random(size) < self.hit[rank, left]
            total += hit * (left / rank)
            left -= hit
        return total


def drawn_log_tail(n: Integers, n_pos: Integers, total: float, size: int) -> tuple[float, float]:
    """Return log P(sum of AP >= total) by tilted draws, and its standard error."""
    pairs, often = np.unique(np.array([n, n_pos]), axis=1, return_counts=True)

    def tilted(slope: float) -> list[Tilted]:
        return [Tilted(int(k), int(m), slope / m) for k, m in pairs.T]

    def mean(slope: float) -> float:
        return sum(one.mean / one.n_pos * k for one, k in zip(tilted(slope), often, strict=True))

    low, high = 0.0, 1.0
    while mean(high) < total:
        low, high = high, 2 * high
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < total else (low, middle)
    rng, drawn, groups = np.random.default_rng(7), np.zeros(size), tilted(low)
    for one, k in zip(groups, often, strict=True):
        drawn += one.draws(size * int(k), rng).reshape(k, size).sum(axis=0) / one.n_pos
    weight = np.exp(-low * np.maximum(drawn - total, 0.0)) * (drawn >= total)
    log_mgf = sum(one.log_mgf * k for one, k in zip(groups, often, strict=True))
    error = weight.std() / weight.mean() / size**0.5
    return float(log_mgf - low * total + log(weight.mean())), float(error)


def groups_of(kind: str, count: int) -> tuple[Integers, Integers]:
    """Return numbers of items and of positives."""
    rng = np.random.default_rng(count)
    if kind == "mixed":
        n = np.full(count, 300) - rng.integers(0, 20, count)
        return n, np.clip(rng.lognormal(3.2, 0.9, count).astype(int), 1, 150)
    if kind == "lumpy":
        return np.full(count, 200), rng.integers(1, 4, count)
    # One group of few positives among many that are nearly normal.
    return np.full(count, 120), np.append(1, rng.choice([30, 60], count - 1))


STUDY = [
    ("lumpy", 5, 3.0, 20_000),
    *(
        (kind, count, z, 30_000 if count == 5 else 15_000)
        for kind in ("mixed", "lumpy", "one lumpy")
        for count, *several in ((5, 1.0, 3.0, 5.0, 8.0), (40, 1.0, 5.0, 8.0))
        for z in several
    ),
    ("mixed", 200, 5.0, 3_000),
    ("lumpy", 500, 3.0, 3_000),
]


@pytest.mark.parametrize(
    ("kind", "count", "z", "size"),
    [pytest.param(*one, marks=pytest.mark.nightly if k else ()) for k, one in enumerate(STUDY)],
)
def test_means_agree_with_tilted_draws(kind: str, count: int, z: float, size: int) -> None:
    n, n_pos = groups_of(kind, count)
    group = Cases([Case(int(k), int(m), int(k)) for k, m in zip(n, n_pos, strict=True)])
    total = float(group.mean.sum() + z * group.variance.sum() ** 0.5)
    found = group.mean_tails(np.array([total / count]))[0]
    expected, error = drawn_log_tail(n, n_pos, total, size)
    within = 0.05 * abs(expected) if found.method == "estimate" else 0.01
    assert found.log_reached == pytest.approx(expected, rel=0, abs=within + 4 * error)


@pytest.mark.slow
def test_a_mean_over_forty_groups_five_deviations_out() -> None:
    rng = np.random.default_rng(40)
    n = np.full(40, 300) - rng.integers(0, 20, 40)
    n_pos = np.clip(rng.lognormal(3.2, 0.9, 40).astype(int), 1, 150)
    group = Cases([Case(int(k), int(m), int(k)) for k, m in zip(n, n_pos, strict=True)])
    x = group.mean.mean() + 5 * group.variance.sum() ** 0.5 / 40
    tail = group.mean_tails(np.array([x]))[0]
    # By 250,000 tilted draws, with a standard error of .004.
    assert tail.log_reached == pytest.approx(-8.610, abs=0.01 + 4 * 0.004)
    assert tail.method != "estimate"


def test_a_mean_does_not_depend_on_order_or_on_other_values() -> None:
    cases = [Case(40, m, 40) for m in (2, 5, 11, 20)] + [Case(40, 6, 20)]
    values = np.array([0.4, 0.45, 0.5])
    together = Cases(cases).mean_tails(values)
    logs = np.array([tail.log_reached for tail in together])
    assert (np.diff(logs) < 0).all()
    for value, tail in zip(values, together, strict=True):
        alone = Cases(cases[::-1]).mean_tails(np.array([value]))[0]
        assert alone[:2] == pytest.approx(tail[:2], abs=1e-7)
        assert np.exp(tail[:2]).sum() == pytest.approx(1, abs=1e-9)
