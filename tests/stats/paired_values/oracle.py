"""Definitions of the tests over queries in plain Python; slow and obvious on purpose.

Each takes differences, some of which are not 0, and an alternative, and returns the statistic and
its p-value.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import atan, copysign, cos, inf, pi, sqrt
from statistics import fmean, stdev


def as_extreme(drawn: Iterable[float], observed: float, alternative: str) -> float:
    """Return the share of values that are as extreme as the observed one, but for rounding."""
    sign = -1 if alternative == "less" else 1
    size = abs if alternative == "two-sided" else float
    return fmean(size(sign * value) >= size(sign * observed) - 1e-9 for value in drawn)


def by_signs(values: Sequence[float], alternative: str) -> float:
    """Return the p-value of the sum of values whose signs are fair coins."""
    drawn = (
        sum(sign * value for sign, value in zip(signs, values, strict=True))
        for signs in product([-1, 1], repeat=len(values))
    )
    return as_extreme(drawn, sum(values), alternative)


def randomization(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    return fmean(differences), by_signs(differences, alternative)


def t_of(differences: Sequence[float]) -> float:
    """Return Student's t, which is infinite if nothing but the mean is left."""
    mean, spread = fmean(differences), stdev(differences)
    if spread < 1e-9:
        return copysign(inf, mean) if abs(mean) > 1e-9 else 0.0
    return mean / spread * sqrt(len(differences))


def student(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    t = t_of(differences)
    return t, tail_of_student(t, len(differences) - 1, alternative)


def tail_of_student(t: float, df: int, alternative: str) -> float:
    """Return the p-value of t by summing up the density."""

    def area(low: float) -> float:
        """Return the area from an angle to pi / 2 below the density of the angle of t."""
        width = (pi / 2 - low) / 100_000
        return width * sum(cos(low + (i + 0.5) * width) ** (df - 1) for i in range(100_000))

    upper = area(atan(t / sqrt(df))) / area(-pi / 2)
    tails = {"greater": upper, "less": 1 - upper, "two-sided": 2 * min(upper, 1 - upper)}
    return tails[alternative]


def wilcoxon(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    kept = [round(difference, 9) for difference in differences if abs(difference) > 1e-9]
    ranks = []
    for difference in kept:
        below = sum(abs(other) < abs(difference) for other in kept)
        tied = sum(abs(other) == abs(difference) for other in kept)
        ranks.append(copysign(below + (tied + 1) / 2, difference))
    return sum(rank for rank in ranks if rank > 0), by_signs(ranks, alternative)


def sign(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    wins = [copysign(1, difference) for difference in differences if abs(difference) > 1e-9]
    return wins.count(1), by_signs(wins, alternative)


def bootstrap(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    t, mean = t_of(differences), fmean(differences)
    centred = [difference - mean for difference in differences]
    drawn = (t_of(resample) for resample in product(centred, repeat=len(centred)))
    return t, as_extreme(drawn, t, alternative)


def hall(differences: Sequence[float], alternative: str) -> tuple[float, float]:
    n, t, mean, spread = (
        len(differences),
        t_of(differences),
        fmean(differences),
        stdev(differences),
    )
    third = fmean(((difference - mean) / spread) ** 3 for difference in differences)
    bend = third * n**2 / ((n - 1) * (n - 2)) / sqrt(n)
    corrected = t + bend * t**2 / 3 + bend**2 * t**3 / 27 + bend / 6
    return corrected, tail_of_student(corrected, n - 1, alternative)


TESTS: dict[str, Callable[[Sequence[float], str], tuple[float, float]]] = {
    "randomization": randomization,
    "t": student,
    "wilcoxon": wilcoxon,
    "sign": sign,
    "bootstrap": bootstrap,
    "hall": hall,
}
